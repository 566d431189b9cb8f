"""Numbered list of web sources below a reply."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

from lethe_app.domain.web import WebHit
from lethe_app.services.web.chat_lookup import LookedUp
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.painting.style import MessageStyle

SIGN = 13
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class SourceList:
    """Layout and painting of the list, from its own top left: a heading and one row per source."""

    def __init__(self, style: MessageStyle, width: int, told: LookedUp) -> None:
        self.told, self._style, self._width = told, style, width
        self._row = round(QFontMetrics(style.small_font).height() * 1.25)

    @property
    def height(self) -> int:
        return SPACE_2 + self._row * (1 + len(self.told.sources))

    @property
    def addresses(self) -> list[str]:
        return [one.address for one in self.told.sources]

    def address_at(self, x: float, y: float) -> str:
        """Return the address at a point; empty if there is none."""
        for place, one in enumerate(self.told.sources):
            if self._rect(place + 1, self._words(place, one)).contains(QPoint(int(x), int(y))):
                return one.address
        return ""

    def draw(self, painter: QPainter) -> None:
        """Paint the list; the painter's origin is its top left."""
        style = self._style
        heading = self._heading()
        top = SPACE_2
        sign = QRect(0, top + (self._row - SIGN) // 2, SIGN, SIGN)
        icon("globe", style.palette.muted, SIGN).paint(painter, sign)
        painter.setFont(style.small_font)
        painter.setPen(style.muted)
        left = SIGN + SPACE_1 + 2
        metrics = QFontMetrics(style.small_font)
        heading = metrics.elidedText(heading, Qt.TextElideMode.ElideMiddle, self._width - left)
        painter.drawText(QRect(left, top, self._width - left, self._row), LEFT, heading)
        painter.setPen(QColor(style.palette.water))
        for place, one in enumerate(self.told.sources):
            words = self._words(place, one)
            painter.drawText(self._rect(place + 1, words), LEFT, words)

    def _heading(self) -> str:
        words = (
            QCoreApplication.translate("SourceList", "Sources for “{topic}”")
            if self.told.sources
            else QCoreApplication.translate("SourceList", "No results for “{topic}”")
        )
        return words.format(topic=self.told.topic)

    def _words(self, place: int, one: WebHit) -> str:
        metrics = QFontMetrics(self._style.small_font)
        return metrics.elidedText(spelled(place + 1, one), Qt.TextElideMode.ElideMiddle, self._width - SIGN - SPACE_2)

    def _rect(self, row: int, words: str) -> QRect:
        left = SIGN + SPACE_1 + 2
        width = min(QFontMetrics(self._style.small_font).horizontalAdvance(words) + SPACE_2, self._width - left)
        return QRect(left, SPACE_2 + row * self._row, width, self._row)


def spelled(number: int, one: WebHit) -> str:
    """Return the text of a source: “1  The lighthouse of Brenn – keepers.example.org”."""
    host = host_of(one.address)
    title = " ".join(one.title.split())
    return f"{number}  {title} – {host}" if title and title != host else f"{number}  {host}"


def host_of(address: str) -> str:
    """Return the host name of an address without “www.”; the address itself if it cannot be parsed."""
    try:
        return (urlsplit(address).hostname or address).removeprefix("www.")
    except ValueError:
        return address
