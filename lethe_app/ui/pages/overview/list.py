"""List view of facts below headings for months and conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import UUID

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFont, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.search.timeline import TimelineItem
from lethe_app.ui.core.icons import render_icon
from lethe_app.ui.core.palette import RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.widgets.line_list import LineList, column_rect

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole
MARK_SIZE = 14


class TimelineRowKind(Enum):
    """Kind of a row."""

    MONTH = 1
    """Heading of a month, or of the pinned facts."""
    TALK = 2
    LINE = 3


@dataclass(frozen=True)
class TimelineRow:
    """Row of the list: a heading, the title of a conversation, a fact, or a key moment."""

    kind: TimelineRowKind
    text: str
    day: str = ""
    """Date at the right end of the row."""
    item: TimelineItem | None = None
    session: UUID | None = None
    moment: MemoryUnit | None = None

    @property
    def record_id(self) -> UUID | None:
        """Id of the fact or key moment; None for other rows."""
        return self.item.fact.guid if self.item is not None else self.moment.guid if self.moment is not None else None

    @property
    def has_source(self) -> bool:
        """True unless the row is a heading without a conversation."""
        return self.item is not None or self.session is not None or self.moment is not None


class TimelineModel(QAbstractListModel):
    """List model of all rows in display order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.timeline_rows: list[TimelineRow] = []

    def fill(self, rows: Sequence[TimelineRow]) -> None:
        self.beginResetModel()
        self.timeline_rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.timeline_rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if not index.isValid() or index.row() >= len(self.timeline_rows):
            return None
        row = self.timeline_rows[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.text} {row.day}".strip()
        return row if role == ROW_ROLE else row.text if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or not self.timeline_rows[index.row()].has_source:
            return Qt.ItemFlag.NoItemFlags  # the arrow keys pass over headings that lead nowhere
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class TimelineList(LineList):
    """List view in which Enter or a click opens the source of a row; F2 and Del are for the fact in it."""

    opened = Signal(object)
    edit_requested = Signal(object)
    """Fact to edit."""
    forget_requested = Signal(object)
    """Fact to forget."""

    def __init__(self, model: TimelineModel, theme: Theme, name: str) -> None:
        super().__init__(model, theme, name)
        self.row_model = model
        self.setItemDelegate(_Painter(theme, self))
        self.setBatchSize(200)
        self.setWordWrap(True)

    def _open_index(self, index: QModelIndex) -> None:
        row = self.row_model.data(index, ROW_ROLE)
        if isinstance(row, TimelineRow) and row.has_source:
            self.opened.emit(row)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason:
            self.move_to_first()

    def fill_rows(self, rows: Sequence[TimelineRow]) -> None:
        """Show other rows. The fact or key moment that was current stays so; if it is gone, the next one is, or the last."""
        number, row = self.currentIndex().row(), self.currentIndex().data(ROW_ROLE)
        self.row_model.fill(rows)
        if isinstance(row, TimelineRow):
            lines = [place for place, other in enumerate(rows) if other.kind is TimelineRowKind.LINE]
            same = [place for place in lines if row.record_id and rows[place].record_id == row.record_id]
            candidates = [*same, *(place for place in lines if place >= number), *lines[-1:]]
            self.setCurrentIndex(self.row_model.index(candidates[0] if candidates else -1))
        elif self.hasFocus():
            self.move_to_first()

    def move_to_first(self) -> None:
        """Move to the first fact or key moment unless a row is current, so that it is visible where the focus is."""
        rows = self.row_model.timeline_rows
        first = next((number for number, row in enumerate(rows) if row.kind is TimelineRowKind.LINE), None)
        if first is not None and not self.currentIndex().isValid():
            self.setCurrentIndex(self.row_model.index(first))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().data(ROW_ROLE)
        signals = {Qt.Key.Key_F2: self.edit_requested, Qt.Key.Key_Delete: self.forget_requested}
        if isinstance(row, TimelineRow) and row.item is not None and event.key() in signals:
            signals[Qt.Key(event.key())].emit(row.item.fact)
        else:
            super().keyPressEvent(event)


class _Painter(QStyledItemDelegate):
    """Delegate that paints a centred column of text, as in the chat."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row, width = index.data(ROW_ROLE), self._view.viewport().width()
        if not isinstance(row, TimelineRow):
            return QSize(width, 0)
        metrics = QFontMetrics(self._row_font(option.font, row.kind))
        if row.kind is TimelineRowKind.MONTH:
            return QSize(width, metrics.height() + SPACE_6 + SPACE_2)
        if row.kind is TimelineRowKind.TALK:
            return QSize(width, metrics.height() + SPACE_4 + SPACE_1)
        column = self._text_rect(QRect(0, 0, width, 0), self._day_width(option.font, row))
        wrapped = metrics.boundingRect(QRect(0, 0, column.width(), 10_000), int(Qt.TextFlag.TextWordWrap), row.text)
        return QSize(width, wrapped.height() + 2 * SPACE_2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, TimelineRow):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.kind is not TimelineRowKind.MONTH:
            self._paint_background(painter, option)
        if row.kind is TimelineRowKind.LINE:
            self._paint_fact(painter, option, row)
        else:
            self._paint_heading(painter, option, row)
        painter.restore()

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        palette, area = self._theme.palette, column_rect(option.rect).adjusted(-SPACE_2, 0, SPACE_2, 0)
        if option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mix_colours(palette.background, palette.text, 0.05)))
            painter.drawRoundedRect(area, RADIUS_CONTROL, RADIUS_CONTROL)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(palette.water), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), RADIUS_CONTROL, RADIUS_CONTROL)

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, row: TimelineRow) -> None:
        area = column_rect(option.rect).adjusted(0, 0, 0, -SPACE_1)
        font = self._row_font(option.font, row.kind)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.palette.text if row.kind is TimelineRowKind.MONTH else self._theme.palette.muted))
        text = QFontMetrics(font).elidedText(row.text, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom, text)

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
        row_font = QFont(font)
        if kind is TimelineRowKind.LINE:
            row_font.setPixelSize(self._theme.prose_size)
        if kind is TimelineRowKind.MONTH:
            row_font.setPixelSize(font.pixelSize() + 4)
            row_font.setWeight(QFont.Weight.DemiBold)
        return row_font

    def _small_font(self, font: QFont) -> QFont:
        small_font = QFont(font)
        small_font.setPixelSize(max(11, font.pixelSize() - 1))
        return small_font


def filter_rows(rows: Sequence[TimelineRow], query: str) -> Iterator[TimelineRow]:
    """Yield the facts that contain all words, with the headings above them."""
    query_words, pending_headings = query.casefold().split(), list[TimelineRow]()
    for row in rows:
        if row.kind is not TimelineRowKind.LINE:
            pending_headings = (
                [row]
                if row.kind is TimelineRowKind.MONTH
                else [*(each for each in pending_headings if each.kind is TimelineRowKind.MONTH), row]
            )
        elif all(word in row.text.casefold() for word in query_words):
            yield from pending_headings
            pending_headings = []
            yield row
