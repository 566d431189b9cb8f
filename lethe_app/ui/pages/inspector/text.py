"""Text view of a prompt with a background colour per section, or of a comparison; made for prompts of 30,000 tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QCoreApplication, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from lethe_app.domain.prompt import PromptPart, PromptSpan, join_spans
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.palette import SPACE_3, Palette
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.pages.inspector.colours import TINT_STRENGTH, section_colours, section_tints
from lethe_app.ui.pages.inspector.diff import DiffLine, LineChange

STRIPE_WIDTH = 3
MAX_HIGHLIGHTED = 500
"""Search matches highlighted at once, around the current one; the count covers all of them."""
PARTS = list(PromptPart)


class _PromptHighlighter(QSyntaxHighlighter):
    """Highlighter that stores the section of a line as its block state and formats the parts of a line in other sections."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.starts: list[int] = []
        self.parts: list[PromptPart] = []
        self.palette: Palette | None = None

    def highlightBlock(self, text: str) -> None:
        if not self.starts or self.palette is None:
            return
        begin = self.currentBlock().position()
        # An empty line has a section, too, as its background is painted.
        pieces = self._spans_in_range(begin, begin + max(len(text), 1))
        main_part = next((part for _start, _end, part in pieces if part is not PromptPart.TEMPLATE), PromptPart.TEMPLATE)
        self.setCurrentBlockState(PARTS.index(main_part))
        for start, end, part in pieces:
            if part is PromptPart.TEMPLATE:
                self.setFormat(start - begin, end - start, self._build_format(foreground=self.palette.muted))
            elif part is not main_part:
                self.setFormat(start - begin, end - start, self._build_format(background=section_tints(self.palette)[part]))

    def _spans_in_range(self, begin: int, end: int) -> list[tuple[int, int, PromptPart]]:
        """Return (start, end, section) of the spans within a range of characters."""
        index = max(0, bisect_right(self.starts, begin) - 1)
        spans = []
        while index < len(self.parts) and self.starts[index] < end:
            next_start = self.starts[index + 1] if index + 1 < len(self.starts) else end
            spans.append((max(begin, self.starts[index]), min(end, next_start), self.parts[index]))
            index += 1
        return spans

    def _build_format(self, foreground: str = "", background: str = "") -> QTextCharFormat:
        text_format = QTextCharFormat()
        if foreground:
            text_format.setForeground(QColor(foreground))
        if background:
            text_format.setBackground(QColor(background))
        return text_format


class PromptText(QPlainTextEdit):
    """Read-only view of prompt spans or of the lines of a comparison."""

    matches_changed = Signal(int, int)
    """Number of the current match, from 1, and number of matches; both 0 if there are none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._line_colours: list[tuple[str, str]] = []
        """Background colour and stripe colour of each line of a comparison; empty while a prompt is shown."""
        self._match_positions: list[int] = []
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
        self._highlighter = _PromptHighlighter(self.document())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(max(11, round(self._theme.prose_size * 0.86)))
        self.setFont(font)
        self._highlighter.palette = self._theme.palette
        self._highlighter.rehighlight()
        self._highlight_matches()

    # what is shown

    def show_spans(self, spans: Sequence[PromptSpan]) -> None:
        """Show a prompt with a background colour per section."""
        self.spans, self._line_colours = tuple(spans), []
        # Set before the text: the highlighter runs when the text is set.
        self._highlighter.starts = [0, *accumulate(utf16_length(span.text) for span in spans)][:-1]
        self._highlighter.parts = [span.part for span in spans]
        self._set_content(join_spans(spans))

    def show_lines(self, lines: Sequence[DiffLine]) -> None:
        """Show the lines of a comparison, added lines in green and removed ones in red."""
        palette = self._theme.palette
        backgrounds = {LineChange.ADDED: palette.good, LineChange.REMOVED: palette.danger}
        stripe_colours = section_colours(palette)
        self.spans = ()
        self._highlighter.starts, self._highlighter.parts = [], []
        self._line_colours = [
            (
                mix_colours(palette.background, backgrounds[line.change], TINT_STRENGTH) if line.change in backgrounds else "",
                "" if line.change is LineChange.SKIPPED else stripe_colours[line.part],
            )
            for line in lines
        ]
        self._set_content("\n".join(_diff_line_text(line) for line in lines))

    def _set_content(self, text: str) -> None:
        self.setPlainText(text)
        self.search(self._query)

    def go_to_part(self, part: PromptPart, session: str = "") -> bool:
        """Scroll to the beginning of a section, or of an earlier session; return False if it has no text here."""
        position = 0
        for span in self.spans:
            if span.part is part and span.session == session and span.text.strip():
                self._scroll_to(position)
                return True
            position += utf16_length(span.text)
        return False

    def _scroll_to(self, position: int, length: int = 0) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)
        bar = self.verticalScrollBar()
        # The vertical scroll bar of a QPlainTextEdit counts lines, not pixels.
        bar.setValue(max(0, cursor.block().firstLineNumber() - (2 if not length else self._half_page_lines())))
        self.ensureCursorVisible()

    def _half_page_lines(self) -> int:
        return max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()) // 2)

    # searching

    def search(self, query: str) -> None:
        """Find all occurrences of a text regardless of case, highlight them and go to the first one."""
        self._query = query
        text = self.toPlainText()
        self._match_positions = []
        # Positions are advanced from match to match; counting code units from the start for each would be quadratic.
        position = consumed = 0
        for match in re.finditer(re.escape(query), text, re.IGNORECASE) if query.strip() else ():
            position, consumed = position + utf16_length(text[consumed : match.start()]), match.start()
            self._match_positions.append(position)
        self._current_match = -1
        self.go_to_match(1)

    def go_to_match(self, offset: int) -> None:
        """Go to the next or previous match, wrapping around."""
        if self._match_positions:
            self._current_match = (self._current_match + offset) % len(self._match_positions)
            self._scroll_to(self._match_positions[self._current_match], len(self._query))
        self._highlight_matches()
        self.matches_changed.emit(self._current_match + 1 if self._match_positions else 0, len(self._match_positions))

    def _highlight_matches(self) -> None:
        palette, selections = self._theme.palette, []
        first = max(0, self._current_match - MAX_HIGHLIGHTED // 2)
        for number, position in enumerate(self._match_positions[first : first + MAX_HIGHLIGHTED], first):
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(position)
            cursor.setPosition(position + utf16_length(self._query), QTextCursor.MoveMode.KeepAnchor)
            text_format = QTextCharFormat()
            is_current = number == self._current_match
            text_format.setBackground(
                QColor(palette.water if is_current else mix_colours(palette.background, palette.water, 0.35))
            )
            text_format.setForeground(QColor(palette.background if is_current else palette.text))
            selection.cursor, selection.format = cursor, text_format
            selections.append(selection)
        self.setExtraSelections(selections)

    # drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the background of the visible lines; the formats of a highlighter would colour only as far as the text
        reaches.
        """
        painter = QPainter(self.viewport())
        stripe_colours, backgrounds = section_colours(self._theme.palette), section_tints(self._theme.palette)
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(offset)
            if rect.top() > event.rect().bottom():
                break
            background, stripe = self._line_background(block.blockNumber(), block.userState(), backgrounds, stripe_colours)
            if background:
                painter.fillRect(QRectF(0, rect.top(), self.viewport().width(), rect.height()), QColor(background))
            if stripe:
                painter.fillRect(QRectF(0, rect.top(), STRIPE_WIDTH, rect.height()), QColor(stripe))
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def _line_background(
        self, number: int, state: int, backgrounds: dict[PromptPart, str], stripe_colours: dict[PromptPart, str]
    ) -> tuple[str, str]:
        if self._line_colours:
            return self._line_colours[number] if number < len(self._line_colours) else ("", "")
        if state < 0 or PARTS[state] is PromptPart.TEMPLATE:
            return "", stripe_colours[PromptPart.TEMPLATE] if state >= 0 else ""
        return backgrounds[PARTS[state]], stripe_colours[PARTS[state]]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 code units, in which QTextCursor counts positions."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def _diff_line_text(line: DiffLine) -> str:
    if line.change is LineChange.SKIPPED:
        singular = QCoreApplication.translate("PromptText", "⋯ {n} unchanged line")
        plural = QCoreApplication.translate("PromptText", "⋯ {n} unchanged lines")
        return format_count(line.count, singular, plural)
    prefix = {LineChange.ADDED: "+", LineChange.REMOVED: "−"}.get(line.change, " ")
    return f"{prefix} {line.text}"
