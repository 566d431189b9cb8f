"""List view of facts below headings for months and conversations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from uuid import UUID

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from lethe_app.domain.memory import MemoryUnit
from lethe_app.searchable_text import fold
from lethe_app.services.search.timeline import TimelineItem
from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.line_list import LINE_ROLE, Index, Line, LineList, LinePainter, column_rect

MARK_SIZE = 14


class TimelineRowKind(Enum):
    """Kind of a row."""

    MONTH = 1
    """Heading of a month, or of the pinned facts."""
    TALK = 2
    LINE = 3


@dataclass(frozen=True)
class TimelineRow(Line):
    """Line of the list: a heading, the title of a conversation, a fact, or a key moment."""

    kind: TimelineRowKind = TimelineRowKind.LINE
    day: str = ""
    """Date at the right end of the row."""
    item: TimelineItem | None = None
    session: UUID | None = None
    moment: MemoryUnit | None = None

    @property
    def record_key(self) -> Hashable | None:
        """Id of the fact or key moment; None for other rows."""
        return self.item.fact.guid if self.item is not None else self.moment.guid if self.moment is not None else None

    @property
    def when(self) -> datetime | None:
        """Time of the fact or key moment, in the local time zone; None for other rows."""
        return self.item.when if self.item is not None else self.moment.added.astimezone() if self.moment is not None else None

    @property
    def can_open(self) -> bool:
        """Return True unless it is a heading without a conversation."""
        return self.item is not None or self.session is not None or self.moment is not None

    @property
    def accessible_text(self) -> str:
        return f"{self.text} {self.day}".strip()


class TimelineList(LineList[TimelineRow]):
    """List view in which F2 and Del are for the fact in a line."""

    edit_requested = Signal(object)
    """Fact to edit."""
    forget_requested = Signal(object)
    """Fact to forget."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme, name)
        self.setItemDelegate(_Painter(theme, self))
        self.setBatchSize(200)
        self.setWordWrap(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current_line
        signals = {Qt.Key.Key_F2: self.edit_requested, Qt.Key.Key_Delete: self.forget_requested}
        if row is not None and row.item is not None and event.key() in signals:
            signals[Qt.Key(event.key())].emit(row.item.fact)
        else:
            super().keyPressEvent(event)


class _Painter(LinePainter):
    """Delegate that wraps the texts of facts, with their dates at the right end."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row, width = index.data(LINE_ROLE), self._view.viewport().width()
        metrics = QFontMetrics(self._row_font(option.font, row.kind))
        if row.kind is TimelineRowKind.MONTH:
            return QSize(width, metrics.height() + SPACE_6 + SPACE_2)
        if row.kind is TimelineRowKind.TALK:
            return QSize(width, metrics.height() + SPACE_4 + SPACE_1)
        column = self._text_rect(QRect(0, 0, width, 0), self._day_width(option.font, row))
        wrapped = metrics.boundingRect(QRect(0, 0, column.width(), 10_000), int(Qt.TextFlag.TextWordWrap), row.text)
        return QSize(width, wrapped.height() + 2 * SPACE_2)

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, line: TimelineRow) -> None:
        if line.kind is not TimelineRowKind.MONTH:
            self._paint_background(painter, option, shows_current=False)
        if line.kind is TimelineRowKind.LINE:
            self._paint_fact(painter, option, line)
        else:
            palette, font = self._theme.palette, self._row_font(option.font, line.kind)
            colour = palette.text if line.kind is TimelineRowKind.MONTH else palette.muted
            self._paint_heading(painter, option, font, colour, line.text)

    def _paint_fact(self, painter: QPainter, option: QStyleOptionViewItem, row: TimelineRow) -> None:
        palette, column = self._theme.palette, column_rect(option.rect)
        font = self._row_font(option.font, row.kind)
        metrics, small_font = QFontMetrics(font), self._small_font(option.font)
        day_width = self._day_width(option.font, row)
        text_rect = self._text_rect(option.rect, day_width)
        pixel_ratio = option.widget.devicePixelRatioF() if option.widget else 1.0
        top = text_rect.top() + (metrics.height() - MARK_SIZE) // 2
        is_pinned = row.item is not None and row.item.fact.pinned
        icon_name = "star" if row.moment is not None else "pin" if is_pinned else "memory"
        mark = render_icon(icon_name, palette.amber, MARK_SIZE, pixel_ratio)
        painter.drawPixmap(column.left(), top, mark)
        painter.setFont(font)
        painter.setPen(QColor(palette.text))
        painter.drawText(text_rect, int(Qt.TextFlag.TextWordWrap), row.text)
        painter.setFont(small_font)
        painter.setPen(QColor(palette.muted))
        day_rect = QRect(column.right() - day_width, text_rect.top(), day_width, metrics.height())
        painter.drawText(day_rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.day)

    def _text_rect(self, rect: QRect, day_width: int) -> QRect:
        return column_rect(rect).adjusted(MARK_SIZE + SPACE_3, SPACE_2, -day_width - SPACE_3, -SPACE_2)

    def _day_width(self, font: QFont, row: TimelineRow) -> int:
        return QFontMetrics(self._small_font(font)).horizontalAdvance(row.day)

    def _row_font(self, font: QFont, kind: TimelineRowKind) -> QFont:
        row_font = self._prose_font(font) if kind is TimelineRowKind.LINE else QFont(font)
        if kind is TimelineRowKind.MONTH:
            row_font.setPixelSize(font.pixelSize() + 4)
            row_font.setWeight(QFont.Weight.DemiBold)
        return row_font

    def _small_font(self, font: QFont) -> QFont:
        small_font = QFont(font)
        small_font.setPixelSize(max(11, font.pixelSize() - 1))
        return small_font


def filter_rows(rows: Iterable[TimelineRow], query: str) -> list[TimelineRow]:
    """Return the facts and key moments that contain all words, with the headings above them."""
    words, shown, headings = fold(query).split(), list[TimelineRow](), list[TimelineRow]()
    for row in rows:
        if row.kind is not TimelineRowKind.LINE:
            # A heading ends what stood below the one before of its kind, and a month what stood below a conversation.
            headings = [*(each for each in headings if each.kind.value < row.kind.value), row]
        elif all(word in fold(row.text) for word in words):
            shown += [*headings, row]
            headings = []
    return shown
