"""Item view of the transcript that lays out visible rows only: scroll position, focused row, and their keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QScrollBar, QWidget

from lethe_app.domain.chat import Role
from lethe_app.ui.core.accessibility import announce_focused_child
from lethe_app.ui.core.palette import NIGHT
from lethe_app.ui.transcript.background_image import BackgroundImage
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.layout_cache import LayoutCache
from lethe_app.ui.transcript.painting.message_layout import MessageLayout
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import AVATAR_COLUMN_WIDTH, PlacedRow, RowLayout, column_geometry

JUMP_THRESHOLD = 3
"""Scroll distance in viewport heights beyond which the rows between are not measured."""
KEY_REASONS = frozenset({Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason})
"""Reasons for which the view got the focus by key, so that a message must show where it is."""
_FOCUS_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}

Index = QModelIndex | QPersistentModelIndex


class _SteadyScrollBar(QScrollBar):
    """Scroll bar that always keeps its space, so that text does not move when it is needed, and paints nothing if there is
    nothing to scroll.
    """

    def __init__(self, background_image: BackgroundImage, parent: QWidget) -> None:
        super().__init__(parent)
        self._background_image = background_image

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._background_image.draw(painter, self)
        painter.end()
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class ScrollView(QListView):
    """Item view that lays out the rows of a `ChatModel` but does not paint them; a subclass does.

    It is a QListView because Qt exposes only lists, tables and trees to assistive technology row by row. The layout of
    QListView itself, which visits every row, never runs: methods of it that would start it are replaced below.
    """

    at_end_changed = Signal(bool)
    """Emitted when the view reaches or leaves the end."""

    def __init__(self, model: ChatModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chat_model = model
        self.visible_rows: list[PlacedRow] = []
        self.layout_cache = LayoutCache(MessageStyle(NIGHT))
        self.row_layout = RowLayout(self._measure_row)
        self._is_syncing = False
        self._scrolled_to = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.background_image = BackgroundImage(self)
        self.setVerticalScrollBar(_SteadyScrollBar(self.background_image, self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAutoScroll(False)
        self.setMinimumWidth(280)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def attach_model(self) -> None:
        """Show the rows of the model. Subclasses call this last in their constructors, because Qt calls `reset` at once."""
        self.setModel(self.chat_model)
        # Connected after `setModel`, so that Qt's own slot runs first and moves the current index.
        self.chat_model.rowsRemoved.connect(self._on_rows_removed)

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
        message_layout = self.message_layout(row)
        return None if message_layout is None else message_layout.height

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
            return  # while the user drags the handle, it must not move under the pointer
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

    def go_to_beginning(self) -> None:
        """Scroll to the first message."""
        self.row_layout.jump_to(0)
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

    # Focus

    @property
    def focused_row(self) -> int | None:
        """Return the row with the keyboard focus; None if no message has it."""
        index = self.currentIndex()
        return index.row() if index.isValid() and index.row() < self.chat_model.rowCount() else None

    def focus_row(self, row: int) -> None:
        """Scroll a row into view and make it the focused one."""
        self.row_layout.scroll_to_row(row)
        self.selectionModel().setCurrentIndex(self.chat_model.index(row), QItemSelectionModel.SelectionFlag.NoUpdate)
        self.update_layout()
        # QListView would name no row, because it has laid out none. After the event that gave the focus to the view.
        QTimer.singleShot(0, self, self._announce_focused_row)

    def _announce_focused_row(self) -> None:
        if self.hasFocus() and self.focused_row is not None:
            announce_focused_child(self, self.focused_row)

    def clear_focused_row(self) -> None:
        """Take the focus from the current message; the view itself keeps it."""
        self.selectionModel().clearCurrentIndex()
        self.on_layout_updated()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in KEY_REASONS and self.focused_row is None and self.visible_rows:
            self.focus_row(self.visible_rows[-1].row)
        elif self.focused_row is not None:
            QTimer.singleShot(0, self, self._announce_focused_row)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update_layout()

    def focusNextPrevChild(self, ahead: bool) -> bool:
        """Focus the newest visible message on the first Tab; the next Tab leaves the transcript."""
        if ahead and self.hasFocus() and self.focused_row is None and self.visible_rows:
            self.focus_row(self.visible_rows[-1].row)
            return True
        return super().focusNextPrevChild(ahead)

    def handle_navigation_key(self, key: Qt.Key) -> bool:
        """Scroll, or move the focus to another message if one has it; return False for any other key."""
        page = self.verticalScrollBar().pageStep()
        match key:
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._step_focus(_FOCUS_STEPS[key])
            case Qt.Key.Key_PageUp:
                self.scroll_by(-page)
            case Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                self.scroll_by(page)
            case Qt.Key.Key_Home:
                self._go_to_edge(0)
            case Qt.Key.Key_End:
                self._go_to_edge(self.chat_model.rowCount() - 1)
            case _:
                return False
        return True

    def _go_to_edge(self, row: int) -> None:
        had_focus = self.focused_row is not None
        if row > 0:
            self.go_to_end()
        else:
            self.go_to_beginning()
        if had_focus and row >= 0:
            self.focus_row(row)

    def _step_focus(self, direction: int) -> None:
        """Focus the next message. A message taller than the viewport is first scrolled to its other end."""
        row = self.focused_row
        if row is None:
            self.scroll_by(direction * 2 * self.layout_cache.style.line_height)
            return
        placed_row, viewport_height = self.placed_row(row), self.viewport().height()
        if placed_row is not None and placed_row.height > viewport_height:
            hidden_height = placed_row.top + placed_row.height - viewport_height if direction > 0 else -placed_row.top
            if hidden_height > 0:
                self.scroll_by(direction * min(hidden_height, viewport_height // 2))
                return
        self.focus_row(max(0, min(self.chat_model.rowCount() - 1, row + direction)))

    # Changes of the model

    def reset(self) -> None:
        # The methods of QListView are skipped here and below, because they would lay out every row.
        QAbstractItemView.reset(self)
        self.layout_cache.clear()
        self.layout_cache.width = self.text_column()[1]
        self.row_layout.viewport_height = self.viewport().height()
        self.row_layout.reset(self.layout_cache.estimate_heights(self.chat_model))
        self.update_layout()

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        QAbstractItemView.rowsInserted(self, parent, start, end)
        for row in range(start, end + 1):
            self.row_layout.append_row(self.layout_cache.estimate_row_height(self.chat_model, row))
        if self.chat_model.outline(end).role is Role.USER:
            self.row_layout.is_at_end = True  # who writes wants to see what they wrote
        self.update_layout()

    def _on_rows_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        for _ in range(first, last + 1):
            self.row_layout.remove_row(first)
        # The row that follows now may need a day separator.
        self.row_layout.invalidate_rows(first, first)
        self.update_layout()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        QAbstractItemView.dataChanged(self, first, last, roles)
        # The row below may gain or lose its day separator.
        self.row_layout.invalidate_rows(first.row(), last.row() + 1)
        self.update_layout()

    # Geometry for Qt

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
