"""Scroll area of the transcript: places of the rows, scroll bar, and what Qt requires of an item view."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QScrollBar, QWidget

from lethe_app.ui.core.palette import NIGHT
from lethe_app.ui.transcript.background_image import BackgroundImage
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.layout_cache import LayoutCache
from lethe_app.ui.transcript.painting.message_layout import MessageLayout
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import AVATAR_COLUMN_WIDTH, ChatLayout, PlacedRow, column_geometry
from lethe_app.ui.transcript.selection import TextSelection

JUMP_THRESHOLD = 3
"""Scroll distance in viewport heights beyond which the rows between are not measured."""

Index = QModelIndex | QPersistentModelIndex


class _SteadyScrollBar(QScrollBar):
    """Scroll bar that always keeps its space, so that text does not move when it is needed, and paints nothing if there is
    nothing to scroll.
    """

    backdrop: BackgroundImage | None = None
    """Background image to paint below the bar."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.backdrop is not None:
            painter = QPainter(self)
            self.backdrop.draw(painter, self)
            painter.end()
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class ScrollView(QListView):
    """Item view that lays out the rows but does not paint them. It is a QListView because Qt exposes only lists, tables and
    trees to assistive technology row by row; the layout of QListView itself, which visits every row, never runs.
    """

    at_end_changed = Signal(bool)
    """Emitted when the view reaches or leaves the end."""

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chat_model = model
        self.visible_rows: list[PlacedRow] = []
        self.layout_cache = LayoutCache(MessageStyle(NIGHT))
        self.text_selection = TextSelection()
        self.row_layout = ChatLayout(self._measure_row)
        self._is_syncing = False
        self._scrolled_to = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_bar = _SteadyScrollBar(self)
        self.setVerticalScrollBar(self.scroll_bar)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAutoScroll(False)
        self.setMinimumWidth(280)

    def text_column(self) -> tuple[int, int]:
        """Return left edge and width of the text column. It is centred in the whole view, scroll bar included, so that it
        lines up with the composer.
        """
        left, width = column_geometry(self.width())
        return left + AVATAR_COLUMN_WIDTH, width - AVATAR_COLUMN_WIDTH

    def message_layout(self, row: int) -> MessageLayout | None:
        """Return the laid out message of a row; None while it is being loaded."""
        return self.layout_cache.get_layout(self.chat_model, row)

    def _measure_row(self, row: int) -> int | None:
        sheet = self.message_layout(row)
        return None if sheet is None else sheet.height

    def reset_heights(self) -> None:
        """Discard all heights after a change of column, font or colours."""
        self.layout_cache.width = self.text_column()[1]
        self.row_layout.viewport_height = self.viewport().height()
        if len(self.row_layout):
            self.row_layout.reset_heights(self.layout_cache.estimate_heights(self.chat_model))
        self.update_layout()

    def update_layout(self) -> None:
        """Lay out the visible rows, load their messages, and update scroll bar and overlays."""
        was_at_end = self.row_layout.is_at_end
        self.visible_rows = self.row_layout.layout_view()
        if self.visible_rows:
            self.chat_model.request_rows(self.visible_rows[0].row, self.visible_rows[-1].row)
        self._sync_scroll_bar()
        if was_at_end != self.row_layout.is_at_end:
            self.at_end_changed.emit(self.row_layout.is_at_end)
        self.on_layout_updated()
        self.viewport().update()

    def on_layout_updated(self) -> None:
        """Place the overlays; called after every layout, overridden by the view."""

    def _sync_scroll_bar(self) -> None:
        bar = self.verticalScrollBar()
        if bar.isSliderDown():
            return  # the handle is in the reader's hand
        # Setting range and value calls `scrollContentsBy`, which must not scroll then.
        self._is_syncing = True
        bar.setRange(0, self.row_layout.max_position)
        bar.setPageStep(max(1, self.viewport().height() - 2 * self.layout_cache.style.line_height))
        bar.setSingleStep(self.layout_cache.style.line_height)
        bar.setValue(self.row_layout.max_position if self.row_layout.is_at_end else self.row_layout.position)
        self._scrolled_to = bar.value()
        self._is_syncing = False

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Follow the scroll bar: measure the rows on short distances, jump on long ones."""
        if self._is_syncing:
            return
        bar = self.verticalScrollBar()
        value, moved = bar.value(), bar.value() - self._scrolled_to
        self._scrolled_to = value
        if bar.isSliderDown() or abs(moved) > JUMP_THRESHOLD * self.viewport().height():
            # The bar's range is not updated while its handle is dragged, so its value is only a fraction of the content.
            self.row_layout.jump_to(round(value / max(1, bar.maximum()) * self.row_layout.max_position))
        else:
            self.row_layout.scroll_by(moved)
        if value == bar.maximum():
            self.row_layout.is_at_end = True
        elif value == 0:
            self.row_layout.jump_to(0)
        self.update_layout()

    def scroll_by(self, pixels: int) -> None:
        """Scroll by `pixels`, down if positive."""
        self.row_layout.scroll_by(pixels)
        self.update_layout()

    def go_to_end(self) -> None:
        """Scroll to the newest message, and follow it as it grows."""
        self.row_layout.is_at_end = True
        self.update_layout()

    @property
    def is_at_end(self) -> bool:
        return self.row_layout.is_at_end

    def placed_row_at(self, y: int) -> PlacedRow | None:
        """Return the visible row at `y` in viewport coordinates; None if there is none."""
        return next((placed for placed in self.visible_rows if placed.top <= y < placed.top + placed.height), None)

    def placed_row(self, row: int) -> PlacedRow | None:
        """Return the place of a row; None if it is not visible."""
        if not self.visible_rows or not self.visible_rows[0].row <= row <= self.visible_rows[-1].row:
            return None
        return self.visible_rows[row - self.visible_rows[0].row]

    # QAbstractItemView

    def resizeEvent(self, event: QResizeEvent) -> None:
        # Not that of QListView, which would lay out every row.
        QAbstractItemView.resizeEvent(self, event)
        if self.text_column()[1] != self.layout_cache.width:
            self.reset_heights()
        else:
            self.row_layout.viewport_height = self.viewport().height()
            self.update_layout()

    def doItemsLayout(self) -> None:
        """Do nothing: `update_layout` lays out the visible rows only."""

    def updateGeometries(self) -> None:
        """Do nothing: `_sync_scroll_bar` sets the scroll bar, whose steps Qt would derive from rows of equal height."""

    def visualRect(self, index: Index) -> QRect:
        placed = self.placed_row(index.row()) if index.isValid() else None
        if placed is None:
            return QRect()
        left, width = self.text_column()
        return QRect(left - AVATAR_COLUMN_WIDTH, placed.top, width + AVATAR_COLUMN_WIDTH, placed.height)

    def scrollTo(self, index: Index, _hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        if index.isValid():
            self.row_layout.scroll_to_row(index.row())
            self.update_layout()

    def indexAt(self, point: QPoint) -> QModelIndex:
        placed = self.placed_row_at(point.y())
        return self.chat_model.index(placed.row) if placed else QModelIndex()

    def moveCursor(self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Return the message before or after the current one, for assistive technology; an invalid index if none is current."""
        if not self.currentIndex().isValid():
            return QModelIndex()
        ahead = {QAbstractItemView.CursorAction.MoveDown, QAbstractItemView.CursorAction.MoveNext}
        row = self.currentIndex().row() + (1 if action in ahead else -1)
        return self.chat_model.index(max(0, min(row, self.chat_model.rowCount() - 1)))

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.row_layout.position

    def isIndexHidden(self, _index: Index) -> bool:
        return False

    def setSelection(self, _rect: QRect, _command: QItemSelectionModel.SelectionFlag) -> None:
        """Do nothing: text is selected, not rows."""

    def visualRegionForSelection(self, _selection: QItemSelection) -> QRegion:
        return QRegion()
