"""Mouse handling of the transcript: select text, follow links, expand thoughts and tool calls, and show message actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QCursor, QGuiApplication, QMouseEvent, QTextCursor

from lethe_app.ui.transcript.painting.message_layout import MessageSheet
from lethe_app.ui.transcript.selection import TextPosition

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView

SCROLL_MS = 30
"""Interval of scrolling while a selection is dragged beyond the edge."""


class ChatPointer(QObject):
    """Handler of the mouse events of the viewport."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view
        self._pressed_at: QPoint | None = None
        self._is_dragging = False
        self._since_double = QElapsedTimer()
        self._scroll = QTimer(self, interval=SCROLL_MS)
        self._scroll.timeout.connect(self._scroll_on)

    def _sheet_at(self, point: QPoint) -> tuple[int, MessageSheet, float, float] | None:
        """Return row and layout at a point, with the point in the coordinates of the layout."""
        placed = self._view.placed_at(point.y())
        sheet = self._view.sheet(placed.row) if placed else None
        if placed is None or sheet is None:
            return None
        return placed.row, sheet, point.x() - self._view.column()[0], point.y() - placed.top

    def link_at(self, point: QPoint) -> str:
        """Return the address of the link at a point; empty if there is none."""
        found = self._sheet_at(point)
        return found[1].link_at(found[2], found[3]) if found else ""

    def _thoughts_at(self, point: QPoint) -> int | None:
        found = self._sheet_at(point)
        if found and found[1].thoughts_rect.contains(QPoint(int(found[2]), int(found[3]))):
            return found[0]
        return None

    def _chip_at(self, point: QPoint) -> int | None:
        found = self._sheet_at(point)
        return found[0] if found and found[1].chip_rect.contains(QPoint(int(found[2]), int(found[3]))) else None

    def _tools_at(self, point: QPoint) -> int | None:
        found = self._sheet_at(point)
        return found[0] if found and found[1].tools_rect.contains(QPoint(int(found[2]), int(found[3]))) else None

    def _place_at(self, point: QPoint) -> TextPosition | None:
        """Return the text position nearest to a point of the viewport, or beyond its edge."""
        view = self._view
        if not view.shown:
            return None
        first, last = view.shown[0], view.shown[-1]
        inside = max(first.top, min(point.y(), last.top + last.height - 1))
        found = self._sheet_at(QPoint(point.x(), inside))
        if found is None:
            return None
        row, sheet, x, y = found
        return TextPosition(view.chat.outline(row).id, sheet.position_at(x, y))

    def press(self, event: QMouseEvent) -> None:
        """Start or extend a selection; a third click selects the paragraph."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        self._pressed_at, self._is_dragging = point, False
        place = self._place_at(point)
        if place is None:
            return
        # Qt reports no triple click: it is a press shortly after a double click.
        interval = QGuiApplication.styleHints().mouseDoubleClickInterval()
        quick = self._since_double.isValid() and self._since_double.elapsed() < interval
        self._since_double.invalidate()
        if quick:
            self._select_around(place, QTextCursor.SelectionType.BlockUnderCursor)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._view.selection.extend(place)
        else:
            self._view.selection.start_at(place)
        self._view.forget_focus()
        self._view.viewport().update()

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word at the pointer."""
        place = self._place_at(event.position().toPoint())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = None
            self._since_double.start()
            self._select_around(place, QTextCursor.SelectionType.WordUnderCursor)

    def _select_around(self, place: TextPosition, what: QTextCursor.SelectionType) -> None:
        row = self._view.chat.row_of(place.message)
        sheet = None if row is None else self._view.sheet(row)
        if sheet is None:
            return
        cursor = QTextCursor(sheet.document.text)
        cursor.setPosition(min(place.position, sheet.document.end))
        if what == QTextCursor.SelectionType.BlockUnderCursor:
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.select(what)
        self._view.selection.select(place.message, cursor.selectionStart(), cursor.selectionEnd())
        self._view.viewport().update()

    def move(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is down; otherwise update the hovered row and the cursor."""
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed_at is not None:
            far = (point - self._pressed_at).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()
            self._is_dragging = self._is_dragging or far
            if self._is_dragging:
                self._drag_to(point)
            return
        placed = self._view.placed_at(point.y())
        self._view.overlays.hover(placed.row if placed else None)
        self._shape_cursor(point)

    def _drag_to(self, point: QPoint) -> None:
        if (place := self._place_at(point)) is not None:
            self._view.selection.extend(place)
            self._view.viewport().update()
        outside = point.y() < 0 or point.y() > self._view.viewport().height()
        if outside and not self._scroll.isActive():
            self._scroll.start()
        elif not outside:
            self._scroll.stop()

    def _scroll_on(self) -> None:
        area = self._view.viewport()
        # While the pointer rests outside of the viewport, no move events arrive.
        point = area.mapFromGlobal(QCursor.pos())
        beyond = point.y() if point.y() < 0 else max(0, point.y() - area.height())
        if beyond and self._pressed_at is not None:
            self._view.scroll_by(max(-60, min(60, beyond // 2 + (1 if beyond > 0 else -1))))
            self._drag_to(point)
        else:
            self._scroll.stop()

    def _shape_cursor(self, point: QPoint) -> None:
        found = self._sheet_at(point)
        link = self.link_at(point)
        chip = self._chip_at(point) is not None
        # The tooltip shows the address of a link before it is opened.
        self._view.viewport().setToolTip(self.tr("Memories used") if chip else link)
        if link or chip or self._thoughts_at(point) is not None or self._tools_at(point) is not None:
            self._view.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        elif found and found[1].prose_rect.contains(QPoint(int(found[2]), int(found[3]))):
            self._view.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        else:
            self._view.viewport().unsetCursor()

    def release(self, event: QMouseEvent) -> None:
        """Activate what was clicked: a link, thoughts, tool calls, the memory chip, or the message itself."""
        self._scroll.stop()
        point = event.position().toPoint()
        clicked = self._pressed_at is not None and not self._is_dragging and event.button() == Qt.MouseButton.LeftButton
        self._pressed_at = None
        if not clicked or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return
        if link := self.link_at(point):
            self._view.link_activated.emit(QUrl(link))
        elif (row := self._thoughts_at(point)) is not None:
            self._view.deeds.toggle_thoughts(row)
        elif (row := self._tools_at(point)) is not None:
            self._view.deeds.toggle_tools(row)
        elif (row := self._chip_at(point)) is not None:
            self._view.memories_requested.emit(self._view.chat.outline(row).id)
        elif (placed := self._view.placed_at(point.y())) is not None:
            self._view.message_pressed.emit(self._view.chat.outline(placed.row).id)
