"""Keyboard handling of the transcript: scroll, move between messages, copy, and pass typed text to the composer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView

_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Menu}
_THUMBS = {"+": "good", "-": "bad"}
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
_COMMANDING = _ALT_GR | Qt.KeyboardModifier.MetaModifier
"""Modifiers that make a key a command. AltGr may be reported as Ctrl+Alt, and letters typed with it are text."""


class ChatKeys(QObject):
    """Key handler of the transcript. The arrow keys scroll, or move between messages if one has the focus."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key press; return False if the key is not used here."""
        view, key = self._view, Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy):
            view.deeds.copy_selection()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._select_all()
        elif key == Qt.Key.Key_Escape:
            return self._let_go()
        elif key in _ENTER and view.focused_row is not None:
            self._open_menu(view.focused_row)
        elif event.text() in _THUMBS and view.focused_row is not None:
            view.deeds.do(_THUMBS[event.text()], view.focused_row)
        elif key in _STEPS:
            self._step(_STEPS[key])
        else:
            return self._scroll(key) or self._write(event)
        return True

    def _write(self, event: QKeyEvent) -> bool:
        """Pass typed or pasted text to the composer, because the transcript itself takes no text."""
        if event.matches(QKeySequence.StandardKey.Paste):
            words = QGuiApplication.clipboard().text()
        else:
            held = event.modifiers() & _COMMANDING
            words = event.text() if event.text().isprintable() and held in {Qt.KeyboardModifier.NoModifier, _ALT_GR} else ""
        if words:
            self._view.written.emit(words)
        return bool(words)

    def _scroll(self, key: Qt.Key) -> bool:
        view = self._view
        page = view.verticalScrollBar().pageStep()
        match key:
            case Qt.Key.Key_PageUp:
                view.scroll_by(-page)
            case Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                view.scroll_by(page)
            case Qt.Key.Key_Home:
                self._go_to_edge(0)
            case Qt.Key.Key_End:
                self._go_to_edge(view.chat.rowCount() - 1)
            case _:
                return False
        return True

    def _go_to_edge(self, row: int) -> None:
        view = self._view
        had_focus = view.focused_row is not None
        if row > 0:
            view.go_to_end()
        else:
            view.places.jump(0)
            view.update_layout()
        if had_focus and row >= 0:
            view.focus_row(row)

    def _step(self, direction: int) -> None:
        """Focus the next message. A message taller than the viewport is first scrolled to its other end."""
        view = self._view
        row = view.focused_row
        if row is None:
            view.scroll_by(direction * 2 * view.sheets.style.line)
            return
        placed = view.placed(row)
        room = view.viewport().height()
        if placed is not None:
            hidden = placed.top + placed.height - room if direction > 0 else -placed.top
            if placed.height > room and hidden > 0:
                view.scroll_by(direction * min(hidden, room // 2))
                return
        view.focus_row(max(0, min(view.chat.rowCount() - 1, row + direction)))

    def _let_go(self) -> bool:
        if self._view.focused_row is None and self._view.selection.is_empty:
            return False
        self._view.forget_focus()
        self._view.selection.clear()
        self._view.viewport().update()
        return True

    def _select_all(self) -> None:
        """Select the focused message, or else the newest visible one."""
        view = self._view
        row = view.focused_row if view.focused_row is not None else (view.shown[-1].row if view.shown else None)
        sheet = None if row is None else view.sheet(row)
        if row is not None and sheet is not None:
            view.selection.select(view.chat.outline(row).id, 0, sheet.document.end)
            view.viewport().update()

    def _open_menu(self, row: int) -> None:
        view = self._view
        placed = view.placed(row)
        if placed is not None:
            height = max(0, min(placed.top + placed.height, view.viewport().height() - 40))
            view.deeds.open_menu(row, view.viewport().mapToGlobal(QPoint(view.column()[0], height)))
