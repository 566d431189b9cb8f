"""Lists below a reply: its numbered web sources, and its tool calls with their results, which can be collapsed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from lethe_app.domain.tools import ToolResult
from lethe_app.domain.web import WebHit
from lethe_app.services.web.chat_lookup import WebLookup
from lethe_app.ui.core.formatting import format_tool_results
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.painting.style import MessageStyle

ICON_SIZE, ARROW_SIZE = 13, 14
TEXT_LEFT = ICON_SIZE + SPACE_1 + 2
MAX_RESULT_LINES = 8
"""Maximum number of lines shown of one result."""
ALIGN_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
WRAP_FLAGS = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class ReplyList:
    """Layout and painting of a list, from its own top left: a heading with an icon, and rows below it."""

    icon_name: str

    def __init__(self, style: MessageStyle, width: int) -> None:
        self._style, self._width = style, width
        self._metrics = QFontMetrics(style.small_font)
        self._row_height = round(self._metrics.height() * 1.25)

    @property
    def heading(self) -> str:
        raise NotImplementedError

    def draw(self, painter: QPainter) -> None:
        """Paint the list; the painter's origin is its top left."""
        icon_rect = QRect(0, SPACE_2 + (self._row_height - ICON_SIZE) // 2, ICON_SIZE, ICON_SIZE)
        load_icon(self.icon_name, self._style.palette.muted, ICON_SIZE).paint(painter, icon_rect)
        painter.setFont(self._style.small_font)
        painter.setPen(self._style.muted)
        painter.drawText(QRect(TEXT_LEFT, SPACE_2, self._width - TEXT_LEFT, self._row_height), ALIGN_LEFT, self.heading)

    def _elide(self, text: str, mode: Qt.TextElideMode, reserved: int = 0) -> str:
        return self._metrics.elidedText(text, mode, self._width - TEXT_LEFT - reserved)


class SourceList(ReplyList):
    """Sources of a web look-up, one in a row."""

    icon_name = "globe"

    def __init__(self, style: MessageStyle, width: int, web_lookup: WebLookup) -> None:
        super().__init__(style, width)
        self.web_lookup = web_lookup
        sources = enumerate(web_lookup.sources, 1)
        texts = [self._elide(format_source(number, one), Qt.TextElideMode.ElideMiddle) for number, one in sources]
        self._rows = [(self._row_rect(number, text), text) for number, text in enumerate(texts, 1)]

    @property
    def height(self) -> int:
        return SPACE_2 + self._row_height * (1 + len(self._rows))

    @property
    def addresses(self) -> list[str]:
        return [one.address for one in self.web_lookup.sources]

    def address_at(self, x: float, y: float) -> str:
        """Return the address at a point; empty if there is none."""
        point = QPoint(int(x), int(y))
        rows = zip(self.addresses, self._rows, strict=True)
        return next((address for address, (rect, _text) in rows if rect.contains(point)), "")

    def draw(self, painter: QPainter) -> None:
        super().draw(painter)
        painter.setPen(self._style.water)
        for rect, text in self._rows:
            painter.drawText(rect, ALIGN_LEFT, text)

    @property
    def heading(self) -> str:
        """Return the heading with the topic that was searched for."""
        template = (
            QCoreApplication.translate("SourceList", "Sources for “{topic}”")
            if self.web_lookup.sources
            else QCoreApplication.translate("SourceList", "No results for “{topic}”")
        )
        return self._elide(template.format(topic=self.web_lookup.topic), Qt.TextElideMode.ElideMiddle)

    def _row_rect(self, row: int, text: str) -> QRect:
        width = min(self._metrics.horizontalAdvance(text) + SPACE_2, self._width - TEXT_LEFT)
        return QRect(TEXT_LEFT, SPACE_2 + row * self._row_height, width, self._row_height)


class ToolList(ReplyList):
    """Tool calls in one line, which expands to the calls with their arguments and results."""

    icon_name = "sliders"

    def __init__(self, style: MessageStyle, width: int, results: Sequence[ToolResult], *, is_open: bool) -> None:
        super().__init__(style, width)
        self._results, self._is_open = results, is_open
        self._text_blocks = list(self._iter_text_blocks()) if is_open else []

    @property
    def height(self) -> int:
        below = self._text_blocks[-1][0].bottom() + 1 if self._text_blocks else 0
        return max(SPACE_2 + self._row_height, below)

    @property
    def header_rect(self) -> QRect:
        """Return the clickable line that expands or collapses the list."""
        width = TEXT_LEFT + self._metrics.horizontalAdvance(self.heading) + ARROW_SIZE + 2 * SPACE_1
        return QRect(0, SPACE_2, min(width, self._width), self._row_height)

    def draw(self, painter: QPainter) -> None:
        super().draw(painter)
        left, top = TEXT_LEFT + self._metrics.horizontalAdvance(self.heading) + SPACE_1, (self._row_height - ARROW_SIZE) // 2
        arrow = load_icon("chevron-down" if self._is_open else "chevron-right", self._style.palette.muted, ARROW_SIZE)
        arrow.paint(painter, QRect(left, SPACE_2 + top, ARROW_SIZE, ARROW_SIZE))
        for rect, text, is_call in self._text_blocks:
            painter.setPen(self._style.text if is_call else self._style.muted)
            painter.drawText(rect, WRAP_FLAGS, text)

    @property
    def heading(self) -> str:
        """Return the heading, elided to the width: “Kept a memory · rolled 2d6: 7”."""
        return self._elide(format_tool_results(self._results), Qt.TextElideMode.ElideRight, ARROW_SIZE + SPACE_1)

    def _iter_text_blocks(self) -> Iterator[tuple[QRect, str, bool]]:
        top, width = SPACE_2 + self._row_height, self._width - TEXT_LEFT
        for result in self._results:
            for text, is_call in ((format_tool_call(result), True), (result.text.strip(), False)):
                full_height = self._metrics.boundingRect(QRect(0, 0, width, 100_000), int(WRAP_FLAGS), text).height()
                height = min(full_height, MAX_RESULT_LINES * self._metrics.lineSpacing())
                yield QRect(TEXT_LEFT, top, width, height), text, is_call
                top += height
            top += SPACE_1


def format_tool_call(result: ToolResult) -> str:
    """Return a tool call with its arguments: “memory_save (content: Tomas keeps bees.)”."""
    arguments = ", ".join(f"{name}: {value}" for name, value in result.call.arguments.items())
    name = result.call.name or "?"
    return f"{name} ({arguments})" if arguments else name


def format_source(number: int, source: WebHit) -> str:
    """Return the text of a source: “1  The lighthouse of Brenn – keepers.example.org”."""
    host = host_of(source.address)
    title = " ".join(source.title.split())
    return f"{number}  {title} – {host}" if title and title != host else f"{number}  {host}"


def host_of(address: str) -> str:
    """Return the host name of an address without “www.”; the address itself if it cannot be parsed."""
    try:
        return (urlsplit(address).hostname or address).removeprefix("www.")
    except ValueError:
        return address
