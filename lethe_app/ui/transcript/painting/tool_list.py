"""Collapsible line below a reply that lists its tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from lethe_app.domain.tools import ToolResult
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.painting.style import MessageStyle

SIGN, ARROW = 13, 14
MOST_LINES = 8
"""Maximum number of lines shown of one result."""
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class ToolList:
    """Layout and painting of the list, from its own top left."""

    def __init__(self, style: MessageStyle, width: int, results: Sequence[ToolResult], *, is_open: bool) -> None:
        self.results, self._style, self._width, self._is_open = results, style, width, is_open
        self._metrics = QFontMetrics(style.small_font)
        self._row = round(self._metrics.height() * 1.25)
        self._left = SIGN + SPACE_1 + 2
        self._pieces = list(self._laid_out()) if is_open else []

    @property
    def height(self) -> int:
        below = self._pieces[-1][0].bottom() + 1 if self._pieces else 0
        return max(SPACE_2 + self._row, below)

    @property
    def head(self) -> QRect:
        """Return the clickable line that expands or collapses the list."""
        width = self._left + self._metrics.horizontalAdvance(self._words()) + ARROW + 2 * SPACE_1
        return QRect(0, SPACE_2, min(width, self._width), self._row)

    def draw(self, painter: QPainter) -> None:
        """Paint the list; the painter's origin is its top left."""
        muted = self._style.palette.muted
        painter.setFont(self._style.small_font)
        painter.setPen(self._style.muted)
        top = SPACE_2
        icon("sliders", muted, SIGN).paint(painter, QRect(0, top + (self._row - SIGN) // 2, SIGN, SIGN))
        words = self._words()
        painter.drawText(QRect(self._left, top, self._width - self._left, self._row), LEFT, words)
        place = QRect(self._left + self._metrics.horizontalAdvance(words) + SPACE_1, 0, ARROW, ARROW)
        place.moveTop(top + (self._row - ARROW) // 2)
        icon("chevron-down" if self._is_open else "chevron-right", muted, ARROW).paint(painter, place)
        for rect, text, is_call in self._pieces:
            painter.setPen(self._style.text if is_call else self._style.muted)
            painter.drawText(rect, WRAPPED, text)

    def _words(self) -> str:
        """Return the heading, elided to the width: “Kept a memory · rolled 2d6: 7”."""
        room = self._width - self._left - ARROW - SPACE_1
        return self._metrics.elidedText(in_words(self.results), Qt.TextElideMode.ElideRight, room)

    def _laid_out(self) -> Iterator[tuple[QRect, str, bool]]:
        top = SPACE_2 + self._row
        width = self._width - self._left
        for result in self.results:
            for text, is_call in ((spelled(result), True), (result.text.strip(), False)):
                whole = self._metrics.boundingRect(QRect(0, 0, width, 100_000), int(WRAPPED), text).height()
                height = min(whole, MOST_LINES * self._metrics.lineSpacing())
                yield QRect(self._left, top, width, height), text, is_call
                top += height
            top += SPACE_1


def in_words(results: Sequence[ToolResult]) -> str:
    """Return the results of tool calls as one line."""
    words = " · ".join(result.shown for result in results)
    return words[:1].upper() + words[1:]


def spelled(result: ToolResult) -> str:
    """Return a tool call with its arguments: “memory_save (content: Tomas keeps bees.)”."""
    given = ", ".join(f"{name}: {value}" for name, value in result.call.arguments.items())
    name = result.call.name or "?"
    return f"{name} ({given})" if given else name
