"""Text view of a prompt with a background colour per section, or of a comparison; made for prompts of 30,000 tokens."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontDatabase, QKeyEvent, QPainter, QPaintEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit

from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.pages.inspector.colours import TINT_STRENGTH, section_colours, section_tints
from lethe_app.ui.pages.inspector.diff import DiffLine, LineChange, split_lines

STRIPE_WIDTH = 3
WIDE_CHARACTER = re.compile("[\U00010000-\U0010ffff]")
"""Character that counts as two in the positions of a QTextCursor."""
MAX_HIGHLIGHTED = 500
"""Search matches highlighted at once, around the current one; the count covers all of them."""


class PromptText(QPlainTextEdit):
    """Read-only view of prompt spans or of the lines of a comparison."""

    matches_changed = Signal(int, int)
    """Number of the current match, from 1, and number of matches; both 0 if there are none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._show_again: Callable[[], None] = lambda: None
        """Shows the same content in the colours of another theme."""
        self._line_colours: list[tuple[str, str]] = []
        """Background colour and stripe colour of each line."""
        self._part_starts: dict[tuple[PromptPart, str], int] = {}
        """Position of the first text of each section, and of each earlier session."""
        self._matches: list[tuple[int, int]] = []
        """Start and end of each search match."""
        self._query, self._current_match = "", -1
        self.spans: tuple[PromptSpan, ...] = ()
        self.setReadOnly(True)
        self.setObjectName("prompt_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setAccessibleName(self.tr("Prompt text"))
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(SPACE_3)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(max(11, round(self._theme.prose_size * 0.86)))
        self.setFont(font)
        line = self.verticalScrollBar().value()
        self._show_again()
        self.verticalScrollBar().setValue(line)

    # what is shown

    def show_spans(self, spans: Sequence[PromptSpan]) -> None:
        """Show a prompt with a background colour per section."""
        self.spans, self._show_again = tuple(spans), partial(self.show_spans, spans)
        colours, tints = section_colours(self._theme.palette), section_tints(self._theme.palette)
        del tints[PromptPart.TEMPLATE]  # template tokens are muted instead
        self._line_colours = [(tints.get(part, ""), colours[part]) for _text, part in split_lines(spans)]
        pieces = []
        for span in spans:
            text_format = QTextCharFormat()
            if span.part in tints:
                text_format.setBackground(QColor(tints[span.part]))
            else:
                text_format.setForeground(QColor(self._theme.palette.muted))
            pieces.append((span.text, text_format))
        starts = self._set_content(pieces)
        self._part_starts = {}
        for span, start in zip(spans, starts, strict=True):
            if span.text.strip():
                self._part_starts.setdefault((span.part, span.session), start)

    def show_lines(self, lines: Sequence[DiffLine]) -> None:
        """Show the lines of a comparison, added lines in green and removed ones in red."""
        self.spans, self._show_again = (), partial(self.show_lines, lines)
        palette, colours = self._theme.palette, section_colours(self._theme.palette)
        backgrounds = {
            change: mix_colours(palette.background, colour, TINT_STRENGTH)
            for change, colour in ((LineChange.ADDED, palette.good), (LineChange.REMOVED, palette.danger))
        }
        self._line_colours = [
            (backgrounds.get(line.change, ""), "" if line.change is LineChange.SKIPPED else colours[line.part])
            for line in lines
        ]
        self._part_starts = {}
        self._set_content([("\n".join(map(_format_line, lines)), QTextCharFormat())])

    def _set_content(self, pieces: Iterable[tuple[str, QTextCharFormat]]) -> list[int]:
        """Replace the text, and return the position of each piece."""
        self.clear()
        cursor, starts = QTextCursor(self.document()), []
        cursor.beginEditBlock()
        for text, text_format in pieces:
            starts.append(cursor.position())
            cursor.insertText(text, text_format)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.search(self._query)
        return starts

    def go_to_part(self, part: PromptPart, session: str = "") -> bool:
        """Scroll to the beginning of a section, or of an earlier session; return False if it has no text here."""
        start = self._part_starts.get((part, session))
        if start is not None:
            self._scroll_to(start, lines_above=2)
        return start is not None

    def _scroll_to(self, position: int, lines_above: int) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)
        # The vertical scroll bar of a QPlainTextEdit counts lines, not pixels.
        self.verticalScrollBar().setValue(max(0, cursor.block().firstLineNumber() - lines_above))
        self.ensureCursorVisible()

    # searching

    def search(self, query: str) -> None:
        """Find all occurrences of a text regardless of case, highlight them and go to the first one."""
        self._query, self._current_match = query, -1
        text, wanted = (WIDE_CHARACTER.sub(_split_wide, one) for one in (self.toPlainText(), query))
        matches = re.finditer(re.escape(wanted), text, re.IGNORECASE) if query.strip() else ()
        self._matches = [match.span() for match in matches]
        self.go_to_match(1)

    def go_to_match(self, offset: int) -> None:
        """Go to the next or previous match, wrapping around."""
        if self._matches:
            self._current_match = (self._current_match + offset) % len(self._matches)
            half_page = self.viewport().height() // max(1, self.fontMetrics().lineSpacing()) // 2
            self._scroll_to(self._matches[self._current_match][0], lines_above=max(1, half_page))
        self._highlight_matches()
        self.matches_changed.emit(self._current_match + 1, len(self._matches))

    def _highlight_matches(self) -> None:
        palette, selections = self._theme.palette, []
        first = max(0, self._current_match - MAX_HIGHLIGHTED // 2)
        for number, (start, end) in enumerate(self._matches[first : first + MAX_HIGHLIGHTED], first):
            is_current = number == self._current_match
            selection, cursor, text_format = QTextEdit.ExtraSelection(), QTextCursor(self.document()), QTextCharFormat()
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            background = palette.water if is_current else mix_colours(palette.background, palette.water, 0.35)
            text_format.setBackground(QColor(background))
            text_format.setForeground(QColor(palette.background if is_current else palette.text))
            selection.cursor, selection.format = cursor, text_format
            selections.append(selection)
        self.setExtraSelections(selections)

    # drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the background of the visible lines; the formats of the text would colour only as far as the text reaches."""
        painter = QPainter(self.viewport())
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid() and block.blockNumber() < len(self._line_colours):
            rect = self.blockBoundingGeometry(block).translated(offset)
            if rect.top() > event.rect().bottom():
                break
            background, stripe = self._line_colours[block.blockNumber()]
            for colour, width in ((background, self.viewport().width()), (stripe, STRIPE_WIDTH)):
                if colour:
                    painter.fillRect(QRectF(0, rect.top(), width, rect.height()), QColor(colour))
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)


def _split_wide(match: re.Match[str]) -> str:
    """Return a wide character, in lower case, as its two surrogates: the positions in a text of these are those in Qt."""
    return "".join(map(chr, struct.unpack("<2H", match[0].lower().encode("utf-16-le"))))


def _format_line(line: DiffLine) -> str:
    if line.change is not LineChange.SKIPPED:
        return f"{line.change} {line.text}"
    singular = QCoreApplication.translate("PromptText", "{n} unchanged line")
    plural = QCoreApplication.translate("PromptText", "{n} unchanged lines")
    return f"{line.change} {format_count(line.count, singular, plural)}"
