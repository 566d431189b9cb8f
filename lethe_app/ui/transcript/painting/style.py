"""Colours, fonts and text formats of messages, derived from a palette and the user's font."""

from __future__ import annotations

from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
)

from lethe_app.ui.core.palette import LINE_HEIGHT, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6, Palette
from lethe_app.ui.transcript.markdown.blocks import Block, BlockKind
from lethe_app.ui.transcript.markdown.spans import TextSpan, Voice

FIXED_HEIGHT = QTextBlockFormat.LineHeightTypes.FixedHeight.value
INDENT = SPACE_6
"""Indentation per list level, in pixels."""
QUOTE_INDENT = SPACE_4
"""Indentation per level of block quotes, in pixels."""
CODE_PAD = SPACE_3
"""Padding of code boxes, in pixels."""
_HEADINGS = {1: 1.35, 2: 1.2, 3: 1.08}
"""Font size of headings by level, relative to the text; 1.0 from level 4."""


def mix(first: str, second: str, share: float) -> QColor:
    """Return the colour between two: `share` of the second, from 0 to 1."""
    one, two = QColor(first), QColor(second)
    parts = zip((one.redF(), one.greenF(), one.blueF()), (two.redF(), two.greenF(), two.blueF()), strict=True)
    return QColor.fromRgbF(*(a + (b - a) * share for a, b in parts))


def clear(colour: str, alpha: float) -> QColor:
    """Return a colour with the opacity `alpha`, from 0 to 1."""
    result = QColor(colour)
    result.setAlphaF(alpha)
    return result


class MessageStyle:
    """Appearance of messages in one palette and font; text formats are cached."""

    def __init__(self, palette: Palette, family: str = "", pixels: int = 15) -> None:
        self.palette, self.family, self.pixels = palette, family, pixels
        self.font = QFont(family) if family else QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        self.font.setPixelSize(pixels)
        self.small_font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        self.small_font.setPixelSize(max(11, round(pixels * 0.8)))
        self.name_font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        self.name_font.setPixelSize(max(12, round(pixels * 0.93)))
        self.name_font.setWeight(QFont.Weight.DemiBold)
        self.mono_font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        self.mono_font.setPixelSize(round(pixels * 0.88))
        self.line = round(pixels * LINE_HEIGHT)
        self._inks(palette)
        self._formats: dict[tuple[object, ...], QTextCharFormat] = {}
        self._blocks: dict[tuple[object, ...], QTextBlockFormat] = {}
        self.letter = QFontMetricsF(self.font).averageCharWidth()

    def _inks(self, palette: Palette) -> None:
        self.background, self.text, self.muted = QColor(palette.background), QColor(palette.text), QColor(palette.muted)
        self.narration = mix(palette.text, palette.muted, 0.25)
        self.action = QColor(palette.muted)
        self.water, self.raised, self.border = QColor(palette.water), QColor(palette.raised), QColor(palette.border)
        self.code_box = QColor(palette.surface)
        self.code_tint = self.raised if palette.is_dark else mix(palette.background, palette.border, 0.5)
        self.quote_bar = mix(palette.border, palette.muted, 0.35)
        self.selection = clear(palette.water, 0.32 if palette.is_dark else 0.24)
        self.focus = QColor(palette.water)
        self.placeholder = mix(palette.background, palette.border, 0.7)

    @property
    def paragraph_gap(self) -> int:
        return round(self.pixels * 0.66)

    def char_format(
        self, span: TextSpan, kind: BlockKind = BlockKind.PARAGRAPH, level: int = 0, quiet: bool = False
    ) -> QTextCharFormat:
        """Return the format of a span in a block of this kind; `quiet` is for notes and thinking."""
        key = (span.voice, span.italic, span.bold, span.struck, span.code, span.href, kind, level, quiet)
        if key not in self._formats:
            if len(self._formats) > 500:  # one entry for each address ever linked would grow for ever
                self._formats.clear()
            self._formats[key] = self._make_char_format(span, kind, level, quiet)
        return self._formats[key]

    def _make_char_format(self, span: TextSpan, kind: BlockKind, level: int, quiet: bool) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(self._ink(span, kind, level, quiet))
        if span.code:
            made.setFontFamilies(self.mono_font.families())
            made.setProperty(QTextFormat.Property.FontPixelSize, self.mono_font.pixelSize())
            if kind is not BlockKind.CODE:
                made.setBackground(self.code_tint)
        if kind is BlockKind.HEADING:
            made.setProperty(QTextFormat.Property.FontPixelSize, round(self.pixels * _HEADINGS.get(level, 1.0)))
        if quiet or kind is BlockKind.NOTE:
            made.setProperty(QTextFormat.Property.FontPixelSize, round(self.pixels * 0.9))
        made.setFontItalic(span.italic)
        made.setFontWeight(self._weight(span, kind))
        made.setFontStrikeOut(span.struck)
        if span.href:
            made.setAnchor(True)
            made.setAnchorHref(span.href)
            made.setFontUnderline(True)
        return made

    def _ink(self, span: TextSpan, kind: BlockKind, level: int, quiet: bool) -> QColor:
        if span.href:
            return self.water
        if quiet or kind is BlockKind.NOTE or (kind is BlockKind.CODE and level):
            return self.muted
        if kind in {BlockKind.HEADING, BlockKind.TABLE} or span.code:
            return self.text
        return {Voice.SPEECH: self.text, Voice.ACTION: self.action, Voice.NARRATION: self.narration}[span.voice]

    def _weight(self, span: TextSpan, kind: BlockKind) -> int:
        if span.bold or kind is BlockKind.HEADING:
            return QFont.Weight.DemiBold.value
        return QFont.Weight.Medium.value if span.voice is Voice.SPEECH else QFont.Weight.Normal.value

    def block_format(self, block: Block, first: bool) -> QTextBlockFormat:
        """Return the format of a block; the first one of a message has no top margin."""
        key = (block.kind, block.quote, block.indent, block.tight, block.level, block.edges, first)
        if key not in self._blocks:
            self._blocks[key] = self._make_block_format(block, first)
        return self._blocks[key]

    def _make_block_format(self, block: Block, first: bool) -> QTextBlockFormat:
        made = QTextBlockFormat()
        left = self.left_of(block)
        line, top, bottom = self.line, 0, (SPACE_1 if block.indent else 0) if block.tight else self.paragraph_gap
        if block.kind is BlockKind.CODE:
            line = round(self.pixels * 1.4)
            left += CODE_PAD
            made.setRightMargin(CODE_PAD)
            made.setNonBreakableLines(False)
            top = (CODE_PAD if first else CODE_PAD + SPACE_2) if block.edges[0] else 0
            bottom = CODE_PAD + self.paragraph_gap if block.edges[1] else 0
        elif block.kind is BlockKind.HEADING:
            line = round(self.pixels * _HEADINGS.get(block.level, 1.0) * 1.4)
            top, bottom = 0 if first else SPACE_4, SPACE_2
        elif block.kind is BlockKind.RULE:
            line, top, bottom = 1, SPACE_2, SPACE_4
        made.setLeftMargin(left)
        made.setTopMargin(top)
        made.setBottomMargin(bottom)
        made.setLineHeight(line, FIXED_HEIGHT)
        return made

    @staticmethod
    def left_of(block: Block) -> int:
        """Return the left edge of a block, indented by its quotes and lists."""
        return block.quote * QUOTE_INDENT + block.indent * INDENT

    def thin_block_format(self) -> QTextBlockFormat:
        """Return the format of the empty blocks that a QTextDocument must have before and after a table."""
        made = QTextBlockFormat()
        made.setLineHeight(1, FIXED_HEIGHT)
        return made

    def cell_block_format(self) -> QTextBlockFormat:
        """Return the format of the block in a table cell."""
        made = QTextBlockFormat()
        made.setLineHeight(round(self.pixels * 1.4), FIXED_HEIGHT)
        return made
