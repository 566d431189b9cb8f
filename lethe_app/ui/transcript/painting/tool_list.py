"""Collapsible line below a reply that lists its tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from lethe_app.domain.tools import ToolResult
from lethe_app.ui.core.formatting import format_tool_results
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.painting.style import MessageStyle

ICON_SIZE, ARROW_SIZE = 13, 14
MAX_RESULT_LINES = 8
"""Maximum number of lines shown of one result."""
ALIGN_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
WRAP_FLAGS = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class ToolList:
    """Layout and painting of the list, from its own top left."""

    def __init__(self, style: MessageStyle, width: int, results: Sequence[ToolResult], *, is_open: bool) -> None:
        self.results, self._style, self._width, self._is_open = results, style, width, is_open
        self._metrics = QFontMetrics(style.small_font)
        self._row_height = round(self._metrics.height() * 1.25)
        self._text_left = ICON_SIZE + SPACE_1 + 2
        self._text_blocks = list(self._iter_text_blocks()) if is_open else []

    @property
    def height(self) -> int:
        below = self._text_blocks[-1][0].bottom() + 1 if self._text_blocks else 0
        return max(SPACE_2 + self._row_height, below)

    @property
    def header_rect(self) -> QRect:
        """Return the clickable line that expands or collapses the list."""
        width = self._text_left + self._metrics.horizontalAdvance(self._heading_text()) + ARROW_SIZE + 2 * SPACE_1
        return QRect(0, SPACE_2, min(width, self._width), self._row_height)

    def draw(self, painter: QPainter) -> None:
        """Paint the list; the painter's origin is its top left."""
        muted = self._style.palette.muted
        painter.setFont(self._style.small_font)
        painter.setPen(self._style.muted)
        top = SPACE_2
        load_icon("sliders", muted, ICON_SIZE).paint(
            painter, QRect(0, top + (self._row_height - ICON_SIZE) // 2, ICON_SIZE, ICON_SIZE)
        )
        heading = self._heading_text()
        painter.drawText(QRect(self._text_left, top, self._width - self._text_left, self._row_height), ALIGN_LEFT, heading)
        arrow_rect = QRect(self._text_left + self._metrics.horizontalAdvance(heading) + SPACE_1, 0, ARROW_SIZE, ARROW_SIZE)
        arrow_rect.moveTop(top + (self._row_height - ARROW_SIZE) // 2)
        load_icon("chevron-down" if self._is_open else "chevron-right", muted, ARROW_SIZE).paint(painter, arrow_rect)
        for rect, text, is_call in self._text_blocks:
            painter.setPen(self._style.text if is_call else self._style.muted)
            painter.drawText(rect, WRAP_FLAGS, text)

    def _heading_text(self) -> str:
        """Return the heading, elided to the width: “Kept a memory · rolled 2d6: 7”."""
        max_width = self._width - self._text_left - ARROW_SIZE - SPACE_1
        return self._metrics.elidedText(format_tool_results(self.results), Qt.TextElideMode.ElideRight, max_width)

    def _iter_text_blocks(self) -> Iterator[tuple[QRect, str, bool]]:
        top = SPACE_2 + self._row_height
        width = self._width - self._text_left
        for result in self.results:
            for text, is_call in ((format_tool_call(result), True), (result.text.strip(), False)):
                full_height = self._metrics.boundingRect(QRect(0, 0, width, 100_000), int(WRAP_FLAGS), text).height()
                height = min(full_height, MAX_RESULT_LINES * self._metrics.lineSpacing())
                yield QRect(self._text_left, top, width, height), text, is_call
                top += height
            top += SPACE_1


def format_tool_call(result: ToolResult) -> str:
    """Return a tool call with its arguments: “memory_save (content: Tomas keeps bees.)”."""
    arguments = ", ".join(f"{name}: {value}" for name, value in result.call.arguments.items())
    name = result.call.name or "?"
    return f"{name} ({arguments})" if arguments else name
