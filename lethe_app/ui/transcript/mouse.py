"""Mouse handling of the transcript: select text, follow links, expand thoughts and tool calls, and show message actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QCursor, QGuiApplication, QMouseEvent, QTextCursor

from lethe_app.ui.transcript.painting.message_layout import MessageLayout
from lethe_app.ui.transcript.selection import TextPosition

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView

SCROLL_MS = 30
"""Interval of scrolling while a selection is dragged beyond the edge."""


class TranscriptMouse(QObject):
    """Handler of the mouse events of the viewport."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view
        self._pressed_at: QPoint | None = None
        self._is_dragging = False
        self._double_click_timer = QElapsedTimer()
        self._scroll_timer = QTimer(self, interval=SCROLL_MS)
        self._scroll_timer.timeout.connect(self._continue_scrolling)

    def _layout_at(self, point: QPoint) -> tuple[int, MessageLayout, float, float] | None:
        """Return row and layout at a point, with the point in the coordinates of the layout."""
        placed_row = self._view.placed_row_at(point.y())
        message_layout = self._view.message_layout(placed_row.row) if placed_row else None
        if placed_row is None or message_layout is None:
            return None
        return placed_row.row, message_layout, point.x() - self._view.text_column()[0], point.y() - placed_row.top

    def link_at(self, point: QPoint) -> str:
        """Return the address of the link at a point; empty if there is none."""
        found = self._layout_at(point)
        return found[1].link_at(found[2], found[3]) if found else ""

    def _thoughts_row_at(self, point: QPoint) -> int | None:
        found = self._layout_at(point)
        if found and found[1].thoughts_rect.contains(QPoint(int(found[2]), int(found[3]))):
            return found[0]
        return None

    def _chip_row_at(self, point: QPoint) -> int | None:
        found = self._layout_at(point)
        return found[0] if found and found[1].chip_rect.contains(QPoint(int(found[2]), int(found[3]))) else None

    def _tools_row_at(self, point: QPoint) -> int | None:
        found = self._layout_at(point)
        return found[0] if found and found[1].tools_rect.contains(QPoint(int(found[2]), int(found[3]))) else None

    def _text_position_at(self, point: QPoint) -> TextPosition | None:
        """Return the text position nearest to a point of the viewport, or beyond its edge."""
        view = self._view
        if not view.visible_rows:
            return None
        first, last = view.visible_rows[0], view.visible_rows[-1]
        clamped_y = max(first.top, min(point.y(), last.top + last.height - 1))
        found = self._layout_at(QPoint(point.x(), clamped_y))
        if found is None:
            return None
        row, message_layout, x, y = found
        return TextPosition(view.chat_model.outline(row).id, message_layout.position_at(x, y))

    def handle_press(self, event: QMouseEvent) -> None:
        """Start or extend a selection; a third click selects the paragraph."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        self._pressed_at, self._is_dragging = point, False
        position = self._text_position_at(point)
        if position is None:
            return
        # Qt reports no triple click: it is a press shortly after a double click.
        interval = QGuiApplication.styleHints().mouseDoubleClickInterval()
        is_triple_click = self._double_click_timer.isValid() and self._double_click_timer.elapsed() < interval
        self._double_click_timer.invalidate()
        if is_triple_click:
            self._select_around(position, QTextCursor.SelectionType.BlockUnderCursor)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._view.text_selection.extend_to(position)
        else:
            self._view.text_selection.start_at(position)
        self._view.clear_focused_row()
        self._view.viewport().update()

    def handle_double_click(self, event: QMouseEvent) -> None:
        """Select the word at the pointer."""
        position = self._text_position_at(event.position().toPoint())
        if position is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = None
            self._double_click_timer.start()
            self._select_around(position, QTextCursor.SelectionType.WordUnderCursor)

    def _select_around(self, position: TextPosition, selection_type: QTextCursor.SelectionType) -> None:
        row = self._view.chat_model.row_of(position.message_id)
        message_layout = None if row is None else self._view.message_layout(row)
        if message_layout is None:
            return
        cursor = QTextCursor(message_layout.document.text_document)
        cursor.setPosition(min(position.position, message_layout.document.end_position))
        if selection_type == QTextCursor.SelectionType.BlockUnderCursor:
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.select(selection_type)
        self._view.text_selection.select_range(position.message_id, cursor.selectionStart(), cursor.selectionEnd())
        self._view.viewport().update()

    def handle_move(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is down; otherwise update the hovered row and the cursor."""
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed_at is not None:
            is_far = (point - self._pressed_at).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()
            self._is_dragging = self._is_dragging or is_far
            if self._is_dragging:
                self._drag_to(point)
            return
        placed = self._view.placed_row_at(point.y())
        self._view.overlays.set_hovered_row(placed.row if placed else None)
        self._update_cursor(point)

    def _drag_to(self, point: QPoint) -> None:
        if (position := self._text_position_at(point)) is not None:
            self._view.text_selection.extend_to(position)
            self._view.viewport().update()
        outside = point.y() < 0 or point.y() > self._view.viewport().height()
        if outside and not self._scroll_timer.isActive():
            self._scroll_timer.start()
        elif not outside:
            self._scroll_timer.stop()

    def _continue_scrolling(self) -> None:
        area = self._view.viewport()
        # While the pointer rests outside of the viewport, no move events arrive.
        point = area.mapFromGlobal(QCursor.pos())
        distance = point.y() if point.y() < 0 else max(0, point.y() - area.height())
        if distance and self._pressed_at is not None:
            self._view.scroll_by(max(-60, min(60, distance // 2 + (1 if distance > 0 else -1))))
            self._drag_to(point)
        else:
            self._scroll_timer.stop()

    def _update_cursor(self, point: QPoint) -> None:
        found = self._layout_at(point)
        link = self.link_at(point)
        is_over_chip = self._chip_row_at(point) is not None
        # The tooltip shows the address of a link before it is opened.
        self._view.viewport().setToolTip(self.tr("Memories used") if is_over_chip else link)
        if link or is_over_chip or self._thoughts_row_at(point) is not None or self._tools_row_at(point) is not None:
            self._view.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        elif found and found[1].prose_rect.contains(QPoint(int(found[2]), int(found[3]))):
            self._view.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        else:
            self._view.viewport().unsetCursor()

    def handle_release(self, event: QMouseEvent) -> None:
        """Activate what was clicked: a link, thoughts, tool calls, the memory chip, or the message itself."""
        self._scroll_timer.stop()
        point = event.position().toPoint()
        is_click = self._pressed_at is not None and not self._is_dragging and event.button() == Qt.MouseButton.LeftButton
        self._pressed_at = None
        if not is_click or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return
        if link := self.link_at(point):
            self._view.link_activated.emit(QUrl(link))
        elif (row := self._thoughts_row_at(point)) is not None:
            self._view.transcript_actions.toggle_thoughts(row)
        elif (row := self._tools_row_at(point)) is not None:
            self._view.transcript_actions.toggle_tools(row)
        elif (row := self._chip_row_at(point)) is not None:
            self._view.memories_requested.emit(self._view.chat_model.outline(row).id)
        elif (placed := self._view.placed_row_at(point.y())) is not None:
            self._view.message_pressed.emit(self._view.chat_model.outline(placed.row).id)
