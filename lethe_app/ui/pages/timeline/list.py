"""List view of facts below headings for months and conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import UUID

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lethe_app.services.search.timeline import TimelineItem
from lethe_app.ui.core.icons import picture
from lethe_app.ui.core.palette import PROSE_WIDTH, RADIUS_CONTROL, SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6, SPACE_8
from lethe_app.ui.core.theme import Theme, mixed

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
MARK = 14


class TimelineRowKind(Enum):
    """Kind of a row."""

    MONTH = 1
    """Heading of a month, or of the pinned facts."""
    TALK = 2
    LINE = 3


@dataclass(frozen=True)
class TimelineRow:
    """Row of the list: a heading, the title of a conversation, or a fact."""

    kind: TimelineRowKind
    text: str
    day: str = ""
    """Date at the right end of the row."""
    known: TimelineItem | None = None
    session: UUID | None = None


class TimelineModel(QAbstractListModel):
    """List model of all rows in display order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.shown: list[TimelineRow] = []

    def fill(self, rows: Sequence[TimelineRow]) -> None:
        self.beginResetModel()
        self.shown = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        row = self.shown[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.text} {row.day}".strip()
        return row if role == ROW else row.text if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        is_heading = index.isValid() and self.shown[index.row()].kind is TimelineRowKind.MONTH
        return Qt.ItemFlag.ItemIsEnabled if is_heading else Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class TimelineList(QListView):
    """List view in which Enter or a click opens the source of a row. Rows are laid out in batches, and only visible ones are
    painted.
    """

    opened = Signal(object)

    def __init__(self, model: TimelineModel, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines, self._theme = model, theme
        self.empty = ""
        """Text shown while there are no rows."""
        self.setModel(model)
        self.setItemDelegate(_Painter(theme, self))
        self.setAccessibleName(name)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(200)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrap(True)
        self.setMouseTracking(True)
        self.clicked.connect(self._open)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def _open(self, index: QModelIndex) -> None:
        row = self.lines.data(index, ROW)
        if isinstance(row, TimelineRow) and row.kind is not TimelineRowKind.MONTH:
            self.opened.emit(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self._open(self.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.lines.shown:
            return
        painter = QPainter(self.viewport())
        painter.setPen(QColor(self._theme.palette.muted))
        place = self.viewport().rect().adjusted(SPACE_8, SPACE_8, -SPACE_8, -SPACE_8)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap), self.empty)
        painter.end()


class _Painter(QStyledItemDelegate):
    """Delegate that paints a centred column of text, as in the chat."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row, width = index.data(ROW), self._view.viewport().width()
        if not isinstance(row, TimelineRow):
            return QSize(width, 0)
        metrics = QFontMetrics(self._font(option.font, row.kind))
        if row.kind is TimelineRowKind.MONTH:
            return QSize(width, metrics.height() + SPACE_6 + SPACE_2)
        if row.kind is TimelineRowKind.TALK:
            return QSize(width, metrics.height() + SPACE_4 + SPACE_1)
        column = self._words(QRect(0, 0, width, 0), self._day_width(option.font, row))
        wrapped = metrics.boundingRect(QRect(0, 0, column.width(), 10_000), int(Qt.TextFlag.TextWordWrap), row.text)
        return QSize(width, wrapped.height() + 2 * SPACE_2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW)
        if not isinstance(row, TimelineRow):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.kind is not TimelineRowKind.MONTH:
            self._paint_ground(painter, option)
        if row.kind is TimelineRowKind.LINE:
            self._paint_line(painter, option, row)
        else:
            self._paint_heading(painter, option, row)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        palette, area = self._theme.palette, self._column(option.rect).adjusted(-SPACE_2, 0, SPACE_2, 0)
        if option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mixed(palette.background, palette.text, 0.05)))
            painter.drawRoundedRect(area, RADIUS_CONTROL, RADIUS_CONTROL)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(palette.water), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), RADIUS_CONTROL, RADIUS_CONTROL)

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, row: TimelineRow) -> None:
        area = self._column(option.rect).adjusted(0, 0, 0, -SPACE_1)
        font = self._font(option.font, row.kind)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.palette.text if row.kind is TimelineRowKind.MONTH else self._theme.palette.muted))
        words = QFontMetrics(font).elidedText(row.text, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignBottom, words)

    def _paint_line(self, painter: QPainter, option: QStyleOptionViewItem, row: TimelineRow) -> None:
        palette, column = self._theme.palette, self._column(option.rect)
        font = self._font(option.font, row.kind)
        metrics, small = QFontMetrics(font), self._small(option.font)
        day_width = self._day_width(option.font, row)
        words = self._words(option.rect, day_width)
        density = option.widget.devicePixelRatioF() if option.widget else 1.0
        top = words.top() + (metrics.height() - MARK) // 2
        is_pinned = row.known is not None and row.known.fact.pinned
        mark = picture("pin" if is_pinned else "memory", palette.amber, MARK, density)
        painter.drawPixmap(column.left(), top, mark)
        painter.setFont(font)
        painter.setPen(QColor(palette.text))
        painter.drawText(words, int(Qt.TextFlag.TextWordWrap), row.text)
        painter.setFont(small)
        painter.setPen(QColor(palette.muted))
        day = QRect(column.right() - day_width, words.top(), day_width, metrics.height())
        painter.drawText(day, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.day)

    def _column(self, rect: QRect) -> QRect:
        width = min(PROSE_WIDTH, rect.width() - 2 * SPACE_4)
        return QRect(rect.left() + (rect.width() - width) // 2, rect.top(), width, rect.height())

    def _words(self, rect: QRect, day_width: int) -> QRect:
        return self._column(rect).adjusted(MARK + SPACE_3, SPACE_2, -day_width - SPACE_3, -SPACE_2)

    def _day_width(self, font: QFont, row: TimelineRow) -> int:
        return QFontMetrics(self._small(font)).horizontalAdvance(row.day)

    def _font(self, font: QFont, kind: TimelineRowKind) -> QFont:
        made = QFont(font)
        if kind is TimelineRowKind.LINE:
            made.setPixelSize(self._theme.prose_size)
        if kind is TimelineRowKind.MONTH:
            made.setPixelSize(font.pixelSize() + 4)
            made.setWeight(QFont.Weight.DemiBold)
        return made

    def _small(self, font: QFont) -> QFont:
        made = QFont(font)
        made.setPixelSize(max(11, font.pixelSize() - 1))
        return made


def passing(rows: Sequence[TimelineRow], words: str) -> Iterator[TimelineRow]:
    """Yield the facts that contain all words, with the headings above them."""
    wanted, waiting = words.casefold().split(), list[TimelineRow]()
    for row in rows:
        if row.kind is not TimelineRowKind.LINE:
            waiting = (
                [row]
                if row.kind is TimelineRowKind.MONTH
                else [*(each for each in waiting if each.kind is TimelineRowKind.MONTH), row]
            )
        elif all(word in row.text.casefold() for word in wanted):
            yield from waiting
            waiting = []
            yield row
