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

from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.palette import SPACE_3, Palette
from lethe_app.ui.core.theme import Theme, mixed
from lethe_app.ui.pages.inspector.colours import TINT, colours, tints
from lethe_app.ui.pages.inspector.diff import DiffLine, LineChange, text_of

STRIPE = 3
MOST_MARKED = 500
"""Search matches highlighted at once, around the current one; the count covers all of them."""
PARTS = list(PromptPart)


class _Inks(QSyntaxHighlighter):
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
        pieces = self._pieces(begin, begin + max(len(text), 1))
        spoken = next((part for _start, _end, part in pieces if part is not PromptPart.TEMPLATE), PromptPart.TEMPLATE)
        self.setCurrentBlockState(PARTS.index(spoken))
        for start, end, part in pieces:
            if part is PromptPart.TEMPLATE:
                self.setFormat(start - begin, end - start, self._format(ink=self.palette.muted))
            elif part is not spoken:
                self.setFormat(start - begin, end - start, self._format(ground=tints(self.palette)[part]))

    def _pieces(self, begin: int, end: int) -> list[tuple[int, int, PromptPart]]:
        """Return (start, end, section) of the spans within a range of characters."""
        place = max(0, bisect_right(self.starts, begin) - 1)
        found = []
        while place < len(self.parts) and self.starts[place] < end:
            after = self.starts[place + 1] if place + 1 < len(self.starts) else end
            found.append((max(begin, self.starts[place]), min(end, after), self.parts[place]))
            place += 1
        return found

    def _format(self, ink: str = "", ground: str = "") -> QTextCharFormat:
        made = QTextCharFormat()
        if ink:
            made.setForeground(QColor(ink))
        if ground:
            made.setBackground(QColor(ground))
        return made


class PromptText(QPlainTextEdit):
    """Read-only view of prompt spans or of the lines of a comparison."""

    found = Signal(int, int)
    """Number of the current match, from 1, and number of matches; both 0 if there are none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._grounds: list[tuple[str, str]] = []
        """Background colour and stripe colour of each line of a comparison; empty while a prompt is shown."""
        self._places: list[int] = []
        self._words, self._at = "", -1
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
        self._inks = _Inks(self.document())
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(max(11, round(self._theme.prose_size * 0.86)))
        self.setFont(font)
        self._inks.palette = self._theme.palette
        self._inks.rehighlight()
        self._mark()

    # what is shown

    def show_spans(self, spans: Sequence[PromptSpan]) -> None:
        """Show a prompt with a background colour per section."""
        self.spans, self._grounds = tuple(spans), []
        # Set before the text: the highlighter runs when the text is set.
        self._inks.starts = [0, *accumulate(units(span.text) for span in spans)][:-1]
        self._inks.parts = [span.part for span in spans]
        self._put(text_of(spans))

    def show_lines(self, lines: Sequence[DiffLine]) -> None:
        """Show the lines of a comparison, added lines in green and removed ones in red."""
        palette = self._theme.palette
        grounds = {LineChange.CAME: palette.good, LineChange.WENT: palette.danger}
        shades = colours(palette)
        self.spans = ()
        self._inks.starts, self._inks.parts = [], []
        self._grounds = [
            (
                mixed(palette.background, grounds[line.change], TINT) if line.change in grounds else "",
                "" if line.change is LineChange.SKIPPED else shades[line.part],
            )
            for line in lines
        ]
        self._put("\n".join(_told(line) for line in lines))

    def _put(self, text: str) -> None:
        self.setPlainText(text)
        self.search(self._words)

    def go_to_part(self, part: PromptPart) -> bool:
        """Scroll to the beginning of a section; return False if it has no text here."""
        place = 0
        for span in self.spans:
            if span.part is part and span.text.strip():
                self._go_to(place)
                return True
            place += units(span.text)
        return False

    def _go_to(self, place: int, length: int = 0) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(place)
        self.setTextCursor(cursor)
        bar = self.verticalScrollBar()
        # The vertical scroll bar of a QPlainTextEdit counts lines, not pixels.
        bar.setValue(max(0, cursor.block().firstLineNumber() - (2 if not length else self._half())))
        self.ensureCursorVisible()

    def _half(self) -> int:
        return max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()) // 2)

    # searching

    def search(self, words: str) -> None:
        """Find all occurrences of a text regardless of case, highlight them and go to the first one."""
        self._words = words
        text = self.toPlainText()
        self._places = []
        # Positions are advanced from match to match; counting code units from the start for each would be quadratic.
        place = read = 0
        for match in re.finditer(re.escape(words), text, re.IGNORECASE) if words.strip() else ():
            place, read = place + units(text[read : match.start()]), match.start()
            self._places.append(place)
        self._at = -1
        self.step(1)

    def step(self, by: int) -> None:
        """Go to the next or previous match, wrapping around."""
        if self._places:
            self._at = (self._at + by) % len(self._places)
            self._go_to(self._places[self._at], len(self._words))
        self._mark()
        self.found.emit(self._at + 1 if self._places else 0, len(self._places))

    def _mark(self) -> None:
        palette, marks = self._theme.palette, []
        first = max(0, self._at - MOST_MARKED // 2)
        for number, place in enumerate(self._places[first : first + MOST_MARKED], first):
            mark = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(place)
            cursor.setPosition(place + units(self._words), QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            is_here = number == self._at
            look.setBackground(QColor(palette.water if is_here else mixed(palette.background, palette.water, 0.35)))
            look.setForeground(QColor(palette.background if is_here else palette.text))
            mark.cursor, mark.format = cursor, look
            marks.append(mark)
        self.setExtraSelections(marks)

    # drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the background of the visible lines; the formats of a highlighter would colour only as far as the text
        reaches.
        """
        painter = QPainter(self.viewport())
        shades, grounds = colours(self._theme.palette), tints(self._theme.palette)
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(offset)
            if rect.top() > event.rect().bottom():
                break
            ground, stripe = self._ground_of(block.blockNumber(), block.userState(), grounds, shades)
            if ground:
                painter.fillRect(QRectF(0, rect.top(), self.viewport().width(), rect.height()), QColor(ground))
            if stripe:
                painter.fillRect(QRectF(0, rect.top(), STRIPE, rect.height()), QColor(stripe))
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def _ground_of(
        self, number: int, state: int, grounds: dict[PromptPart, str], shades: dict[PromptPart, str]
    ) -> tuple[str, str]:
        if self._grounds:
            return self._grounds[number] if number < len(self._grounds) else ("", "")
        if state < 0 or PARTS[state] is PromptPart.TEMPLATE:
            return "", shades[PromptPart.TEMPLATE] if state >= 0 else ""
        return grounds[PARTS[state]], shades[PARTS[state]]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)


def units(text: str) -> int:
    """Return the length of a text in UTF-16 code units, in which QTextCursor counts positions."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def _told(line: DiffLine) -> str:
    if line.change is LineChange.SKIPPED:
        one = QCoreApplication.translate("PromptText", "⋯ {n} unchanged line")
        many = QCoreApplication.translate("PromptText", "⋯ {n} unchanged lines")
        return counted(line.count, one, many)
    sign = {LineChange.CAME: "+", LineChange.WENT: "−"}.get(line.change, " ")
    return f"{sign} {line.text}"
