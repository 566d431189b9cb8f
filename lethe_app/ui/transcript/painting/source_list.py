"""Numbered list of web sources below a reply."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

from lethe_app.domain.web import WebHit
from lethe_app.services.web.chat_lookup import WebLookup
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.painting.style import MessageStyle

ICON_SIZE = 13
ALIGN_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class SourceList:
    """Layout and painting of the list, from its own top left: a heading and one row per source."""

    def __init__(self, style: MessageStyle, width: int, web_lookup: WebLookup) -> None:
        self.web_lookup, self._style, self._width = web_lookup, style, width
        self._row_height = round(QFontMetrics(style.small_font).height() * 1.25)

    @property
    def height(self) -> int:
        return SPACE_2 + self._row_height * (1 + len(self.web_lookup.sources))

    @property
    def addresses(self) -> list[str]:
        return [one.address for one in self.web_lookup.sources]

    def address_at(self, x: float, y: float) -> str:
        """Return the address at a point; empty if there is none."""
        for position, source in enumerate(self.web_lookup.sources):
            if self._row_rect(position + 1, self._source_text(position, source)).contains(QPoint(int(x), int(y))):
                return source.address
        return ""

    def draw(self, painter: QPainter) -> None:
        """Paint the list; the painter's origin is its top left."""
        style = self._style
        top = SPACE_2
        icon_rect = QRect(0, top + (self._row_height - ICON_SIZE) // 2, ICON_SIZE, ICON_SIZE)
        load_icon("globe", style.palette.muted, ICON_SIZE).paint(painter, icon_rect)
        painter.setFont(style.small_font)
        painter.setPen(style.muted)
        left = ICON_SIZE + SPACE_1 + 2
        metrics = QFontMetrics(style.small_font)
        heading = metrics.elidedText(self.heading, Qt.TextElideMode.ElideMiddle, self._width - left)
        painter.drawText(QRect(left, top, self._width - left, self._row_height), ALIGN_LEFT, heading)
        painter.setPen(QColor(style.palette.water))
        for position, source in enumerate(self.web_lookup.sources):
            text = self._source_text(position, source)
            painter.drawText(self._row_rect(position + 1, text), ALIGN_LEFT, text)

    @property
    def heading(self) -> str:
        """Return the heading with the topic that was searched for."""
        template = (
            QCoreApplication.translate("SourceList", "Sources for “{topic}”")
            if self.web_lookup.sources
            else QCoreApplication.translate("SourceList", "No results for “{topic}”")
        )
        return template.format(topic=self.web_lookup.topic)

    def _source_text(self, position: int, source: WebHit) -> str:
        metrics = QFontMetrics(self._style.small_font)
        return metrics.elidedText(
            format_source(position + 1, source), Qt.TextElideMode.ElideMiddle, self._width - ICON_SIZE - SPACE_2
        )

    def _row_rect(self, row: int, text: str) -> QRect:
        left = ICON_SIZE + SPACE_1 + 2
        width = min(QFontMetrics(self._style.small_font).horizontalAdvance(text) + SPACE_2, self._width - left)
        return QRect(left, SPACE_2 + row * self._row_height, width, self._row_height)


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
