"""Scroll area of the transcript: places of the rows, scroll bar, and what Qt requires of an item view."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QScrollBar, QWidget

from lethe_app.ui.core.palette import NIGHT
from lethe_app.ui.transcript.background_image import Backdrop
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.painting.layout_cache import Sheets
from lethe_app.ui.transcript.painting.message_layout import MessageSheet
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import AVATAR_ROOM, ChatLayout, PlacedRow, column_in
from lethe_app.ui.transcript.selection import TextSelection

JUMP = 3
"""Scroll distance in viewport heights beyond which the rows between are not measured."""

Index = QModelIndex | QPersistentModelIndex


class _SteadyScrollBar(QScrollBar):
    """Scroll bar that always keeps its space, so that text does not move when it is needed, and paints nothing if there is
    nothing to scroll.
    """

    behind: Backdrop | None = None
    """Background image to paint below the bar."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.behind is not None:
            painter = QPainter(self)
            self.behind.draw(painter, self)
            painter.end()
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class ChatCanvas(QListView):
    """Item view that lays out the rows but does not paint them. It is a QListView because Qt exposes only lists, tables and
    trees to assistive technology row by row; the layout of QListView itself, which visits every row, never runs.
    """

    at_end_changed = Signal(bool)
    """Emitted when the view reaches or leaves the end."""

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chat = model
        self.shown: list[PlacedRow] = []
        self.sheets = Sheets(MessageStyle(NIGHT))
        self.selection = TextSelection()
        self.places = ChatLayout(self._measure)
        self._syncing = False
        self._scrolled_to = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.bar = _SteadyScrollBar(self)
        self.setVerticalScrollBar(self.bar)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAutoScroll(False)
        self.setMinimumWidth(280)

    def column(self) -> tuple[int, int]:
        """Return left edge and width of the text column. It is centred in the whole view, scroll bar included, so that it
        lines up with the composer.
        """
        left, width = column_in(self.width())
        return left + AVATAR_ROOM, width - AVATAR_ROOM

    def sheet(self, row: int) -> MessageSheet | None:
        """Return the laid out message of a row; None while it is being loaded."""
        return self.sheets.get(self.chat, row)

    def _measure(self, row: int) -> int | None:
        sheet = self.sheet(row)
        return None if sheet is None else sheet.height

    def reshape(self) -> None:
        """Discard all heights after a change of column, font or colours."""
        self.sheets.width = self.column()[1]
        self.places.viewport = self.viewport().height()
        if len(self.places):
            self.places.reshape(self.sheets.guesses(self.chat))
        self.update_layout()

    def update_layout(self) -> None:
        """Lay out the visible rows, load their messages, and update scroll bar and overlays."""
        was_at_end = self.places.at_end
        self.shown = self.places.layout_view()
        if self.shown:
            self.chat.want(self.shown[0].row, self.shown[-1].row)
        self._sync_bar()
        if was_at_end != self.places.at_end:
            self.at_end_changed.emit(self.places.at_end)
        self.settled()
        self.viewport().update()

    def settled(self) -> None:
        """Place the overlays; called after every layout, overridden by the view."""

    def _sync_bar(self) -> None:
        bar = self.verticalScrollBar()
        if bar.isSliderDown():
            return  # the handle is in the reader's hand
        # Setting range and value calls `scrollContentsBy`, which must not scroll then.
        self._syncing = True
        bar.setRange(0, self.places.furthest)
        bar.setPageStep(max(1, self.viewport().height() - 2 * self.sheets.style.line))
        bar.setSingleStep(self.sheets.style.line)
        bar.setValue(self.places.furthest if self.places.at_end else self.places.position)
        self._scrolled_to = bar.value()
        self._syncing = False

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Follow the scroll bar: measure the rows on short distances, jump on long ones."""
        if self._syncing:
            return
        bar = self.verticalScrollBar()
        value, moved = bar.value(), bar.value() - self._scrolled_to
        self._scrolled_to = value
        if bar.isSliderDown() or abs(moved) > JUMP * self.viewport().height():
            # The bar's range is not updated while its handle is dragged, so its value is only a fraction of the content.
            self.places.jump(round(value / max(1, bar.maximum()) * self.places.furthest))
        else:
            self.places.walk(moved)
        if value == bar.maximum():
            self.places.at_end = True
        elif value == 0:
            self.places.jump(0)
        self.update_layout()

    def scroll_by(self, pixels: int) -> None:
        """Scroll by `pixels`, down if positive."""
        self.places.walk(pixels)
        self.update_layout()

    def go_to_end(self) -> None:
        """Scroll to the newest message, and follow it as it grows."""
        self.places.at_end = True
        self.update_layout()

    @property
    def is_at_end(self) -> bool:
        return self.places.at_end

    def placed_at(self, y: int) -> PlacedRow | None:
        """Return the visible row at `y` in viewport coordinates; None if there is none."""
        return next((placed for placed in self.shown if placed.top <= y < placed.top + placed.height), None)

    def placed(self, row: int) -> PlacedRow | None:
        """Return the place of a row; None if it is not visible."""
        if not self.shown or not self.shown[0].row <= row <= self.shown[-1].row:
            return None
        return self.shown[row - self.shown[0].row]

    # QAbstractItemView

    def resizeEvent(self, event: QResizeEvent) -> None:
        # Not that of QListView, which would lay out every row.
        QAbstractItemView.resizeEvent(self, event)
        if self.column()[1] != self.sheets.width:
            self.reshape()
        else:
            self.places.viewport = self.viewport().height()
            self.update_layout()

    def doItemsLayout(self) -> None:
        """Do nothing: `update_layout` lays out the visible rows only."""

    def updateGeometries(self) -> None:
        """Do nothing: `_sync_bar` sets the scroll bar, whose steps Qt would derive from rows of equal height."""

    def visualRect(self, index: Index) -> QRect:
        placed = self.placed(index.row()) if index.isValid() else None
        if placed is None:
            return QRect()
        left, width = self.column()
        return QRect(left - AVATAR_ROOM, placed.top, width + AVATAR_ROOM, placed.height)

    def scrollTo(self, index: Index, _hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        if index.isValid():
            self.places.reveal(index.row())
            self.update_layout()

    def indexAt(self, point: QPoint) -> QModelIndex:
        placed = self.placed_at(point.y())
        return self.chat.index(placed.row) if placed else QModelIndex()

    def moveCursor(self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Return the message before or after the current one, for assistive technology; an invalid index if none is current."""
        if not self.currentIndex().isValid():
            return QModelIndex()
        ahead = {QAbstractItemView.CursorAction.MoveDown, QAbstractItemView.CursorAction.MoveNext}
        row = self.currentIndex().row() + (1 if action in ahead else -1)
        return self.chat.index(max(0, min(row, self.chat.rowCount() - 1)))

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.places.position

    def isIndexHidden(self, _index: Index) -> bool:
        return False

    def setSelection(self, _rect: QRect, _command: QItemSelectionModel.SelectionFlag) -> None:
        """Do nothing: text is selected, not rows."""

    def visualRegionForSelection(self, _selection: QItemSelection) -> QRegion:
        return QRegion()
