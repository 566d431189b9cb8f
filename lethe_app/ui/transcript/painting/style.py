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
from lethe_app.ui.core.theme import mix_colours
from lethe_app.ui.transcript.markdown.blocks import Block, BlockKind
from lethe_app.ui.transcript.markdown.highlighting import CodeKind
from lethe_app.ui.transcript.markdown.spans import TextKind, TextSpan

FIXED_HEIGHT = QTextBlockFormat.LineHeightTypes.FixedHeight.value
INDENT = SPACE_6
"""Indentation per list level, in pixels."""
QUOTE_INDENT = SPACE_4
"""Indentation per level of block quotes, in pixels."""
COPY_SIZE = 14
"""Size of the icon that copies a code block, at the end of its first line."""
CODE_PAD = SPACE_3
"""Padding of code boxes, in pixels."""
_HEADING_SCALES = {1: 1.35, 2: 1.2, 3: 1.08}
"""Font size of headings by level, relative to the text; 1.0 from level 4."""


def with_opacity(colour: str, alpha: float) -> QColor:
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
        self.line_height = round(pixels * LINE_HEIGHT)
        self._set_colours(palette)
        self._char_formats: dict[tuple[object, ...], QTextCharFormat] = {}
        self._block_formats: dict[tuple[object, ...], QTextBlockFormat] = {}
        self.letter_width = QFontMetricsF(self.font).averageCharWidth()

    def _set_colours(self, palette: Palette) -> None:
        self.background, self.text, self.muted = QColor(palette.background), QColor(palette.text), QColor(palette.muted)
        self.narration = QColor(mix_colours(palette.text, palette.muted, 0.25))
        self.action = QColor(palette.muted)
        self.water, self.raised, self.border = QColor(palette.water), QColor(palette.raised), QColor(palette.border)
        self.code_box = QColor(palette.surface)
        self._code_colours = {
            CodeKind.PLAIN: self.text,
            CodeKind.COMMENT: self.muted,
            CodeKind.KEYWORD: self.water,
            CodeKind.NAME: QColor(mix_colours(palette.text, palette.water, 0.5)),
            CodeKind.STRING: QColor(palette.good),
            CodeKind.NUMBER: QColor(mix_colours(palette.danger, palette.text, 0.25)),
            CodeKind.INSERTED: QColor(palette.good),
            CodeKind.DELETED: QColor(palette.danger),
        }
        self.code_tint = self.raised if palette.is_dark else QColor(mix_colours(palette.background, palette.border, 0.5))
        self.quote_bar = QColor(mix_colours(palette.border, palette.muted, 0.35))
        self.selection = with_opacity(palette.water, 0.32 if palette.is_dark else 0.24)
        self.focus = QColor(palette.water)
        self.placeholder = QColor(mix_colours(palette.background, palette.border, 0.7))

    @property
    def paragraph_gap(self) -> int:
        return round(self.pixels * 0.66)

    def char_format(
        self, span: TextSpan, kind: BlockKind = BlockKind.PARAGRAPH, level: int = 0, is_muted: bool = False
    ) -> QTextCharFormat:
        """Return the format of a span in a block of this kind; `is_muted` is for notes and thinking."""
        shape = (span.text_kind, span.italic, span.bold, span.strikethrough, span.code, span.code_kind, span.href)
        key = (*shape, kind, level, is_muted)
        if key not in self._char_formats:
            if len(self._char_formats) > 500:  # one entry for each address ever linked would grow for ever
                self._char_formats.clear()
            self._char_formats[key] = self._make_char_format(span, kind, level, is_muted)
        return self._char_formats[key]

    def _make_char_format(self, span: TextSpan, kind: BlockKind, level: int, is_muted: bool) -> QTextCharFormat:
        char_format = QTextCharFormat()
        char_format.setForeground(self._text_colour(span, kind, level, is_muted))
        if span.code:
            char_format.setFontFamilies(self.mono_font.families())
            char_format.setProperty(QTextFormat.Property.FontPixelSize, self.mono_font.pixelSize())
            if kind is not BlockKind.CODE:
                char_format.setBackground(self.code_tint)
        if kind is BlockKind.HEADING:
            char_format.setProperty(QTextFormat.Property.FontPixelSize, round(self.pixels * _HEADING_SCALES.get(level, 1.0)))
        if is_muted or kind is BlockKind.NOTE:
            char_format.setProperty(QTextFormat.Property.FontPixelSize, round(self.pixels * 0.9))
        char_format.setFontItalic(span.italic)
        char_format.setFontWeight(self._font_weight(span, kind))
        char_format.setFontStrikeOut(span.strikethrough)
        if span.href:
            char_format.setAnchor(True)
            char_format.setAnchorHref(span.href)
            char_format.setFontUnderline(True)
        return char_format

    def _text_colour(self, span: TextSpan, kind: BlockKind, level: int, is_muted: bool) -> QColor:
        if span.href:
            return self.water
        if is_muted or kind is BlockKind.NOTE or (kind is BlockKind.CODE and level):
            return self.muted
        if kind in {BlockKind.HEADING, BlockKind.TABLE} or span.code:
            return self._code_colours[span.code_kind]
        return {TextKind.SPEECH: self.text, TextKind.ACTION: self.action, TextKind.NARRATION: self.narration}[span.text_kind]

    def _font_weight(self, span: TextSpan, kind: BlockKind) -> int:
        if span.bold or kind is BlockKind.HEADING:
            return QFont.Weight.DemiBold.value
        return QFont.Weight.Medium.value if span.text_kind is TextKind.SPEECH else QFont.Weight.Normal.value

    def block_format(self, block: Block, is_first: bool) -> QTextBlockFormat:
        """Return the format of a block; the first one of a message has no top margin."""
        key = (block.kind, block.quote, block.indent, block.tight, block.level, block.edges, is_first)
        if key not in self._block_formats:
            self._block_formats[key] = self._make_block_format(block, is_first)
        return self._block_formats[key]

    def _make_block_format(self, block: Block, is_first: bool) -> QTextBlockFormat:
        block_format = QTextBlockFormat()
        left = self.left_of(block)
        line_height, top, bottom = self.line_height, 0, (SPACE_1 if block.indent else 0) if block.tight else self.paragraph_gap
        if block.kind is BlockKind.CODE:
            line_height = round(self.pixels * 1.4)
            left += CODE_PAD
            block_format.setRightMargin(CODE_PAD + (COPY_SIZE + SPACE_2 if block.edges[0] else 0))
            block_format.setNonBreakableLines(False)
            top = (CODE_PAD if is_first else CODE_PAD + SPACE_2) if block.edges[0] else 0
            bottom = CODE_PAD + self.paragraph_gap if block.edges[1] else 0
        elif block.kind is BlockKind.HEADING:
            line_height = round(self.pixels * _HEADING_SCALES.get(block.level, 1.0) * 1.4)
            top, bottom = 0 if is_first else SPACE_4, SPACE_2
        elif block.kind is BlockKind.RULE:
            line_height, top, bottom = 1, SPACE_2, SPACE_4
        block_format.setLeftMargin(left)
        block_format.setTopMargin(top)
        block_format.setBottomMargin(bottom)
        block_format.setLineHeight(line_height, FIXED_HEIGHT)
        return block_format

    @staticmethod
    def left_of(block: Block) -> int:
        """Return the left edge of a block, indented by its quotes and lists."""
        return block.quote * QUOTE_INDENT + block.indent * INDENT

    @staticmethod
    def fixed_block_format(line_height: int) -> QTextBlockFormat:
        """Return the format of a block with lines of this height, such as those of a table."""
        block_format = QTextBlockFormat()
        block_format.setLineHeight(line_height, FIXED_HEIGHT)
        return block_format
