"""Keyboard handling of the transcript: scroll, move between messages, copy, and pass typed text to the composer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView

_MENU_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Menu}
_RATING_KEYS = {"+": "good", "-": "bad"}
_STEP_KEYS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
_COMMAND_MODIFIERS = _ALT_GR | Qt.KeyboardModifier.MetaModifier
"""Modifiers that make a key a command. AltGr may be reported as Ctrl+Alt, and letters typed with it are text."""


class TranscriptKeyboard(QObject):
    """Key handler of the transcript. The arrow keys scroll, or move between messages if one has the focus."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view

    def handle_key(self, event: QKeyEvent) -> bool:
        """Handle a key press; return False if the key is not used here."""
        view, key = self._view, Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy):
            view.transcript_actions.copy_selection()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._select_message()
        elif key == Qt.Key.Key_Escape:
            return self._clear_focus_and_selection()
        elif key in _MENU_KEYS and view.focused_row is not None:
            self._open_menu(view.focused_row)
        elif event.text() in _RATING_KEYS and view.focused_row is not None:
            view.transcript_actions.run_action(_RATING_KEYS[event.text()], view.focused_row)
        elif key in _STEP_KEYS:
            self._step_focus(_STEP_KEYS[key])
        else:
            return self._scroll(key) or self._pass_to_composer(event)
        return True

    def _pass_to_composer(self, event: QKeyEvent) -> bool:
        """Pass typed or pasted text to the composer, because the transcript itself takes no text."""
        if event.matches(QKeySequence.StandardKey.Paste):
            text = QGuiApplication.clipboard().text()
        else:
            command_modifiers = event.modifiers() & _COMMAND_MODIFIERS
            text = (
                event.text()
                if event.text().isprintable() and command_modifiers in {Qt.KeyboardModifier.NoModifier, _ALT_GR}
                else ""
            )
        if text:
            self._view.text_typed.emit(text)
        return bool(text)

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
                self._go_to_edge(view.chat_model.rowCount() - 1)
            case _:
                return False
        return True

    def _go_to_edge(self, row: int) -> None:
        view = self._view
        had_focus = view.focused_row is not None
        if row > 0:
            view.go_to_end()
        else:
            view.row_layout.jump_to(0)
            view.update_layout()
        if had_focus and row >= 0:
            view.focus_row(row)

    def _step_focus(self, direction: int) -> None:
        """Focus the next message. A message taller than the viewport is first scrolled to its other end."""
        view = self._view
        row = view.focused_row
        if row is None:
            view.scroll_by(direction * 2 * view.layout_cache.style.line_height)
            return
        row_placement = view.placed_row(row)
        viewport_height = view.viewport().height()
        if row_placement is not None:
            hidden = row_placement.top + row_placement.height - viewport_height if direction > 0 else -row_placement.top
            if row_placement.height > viewport_height and hidden > 0:
                view.scroll_by(direction * min(hidden, viewport_height // 2))
                return
        view.focus_row(max(0, min(view.chat_model.rowCount() - 1, row + direction)))

    def _clear_focus_and_selection(self) -> bool:
        if self._view.focused_row is None and self._view.text_selection.is_empty:
            return False
        self._view.clear_focused_row()
        self._view.text_selection.clear()
        self._view.viewport().update()
        return True

    def _select_message(self) -> None:
        """Select the focused message, or else the newest visible one."""
        view = self._view
        row = view.focused_row if view.focused_row is not None else (view.visible_rows[-1].row if view.visible_rows else None)
        sheet = None if row is None else view.message_layout(row)
        if row is not None and sheet is not None:
            view.text_selection.select_range(view.chat_model.outline(row).id, 0, sheet.document.end_position)
            view.viewport().update()

    def _open_menu(self, row: int) -> None:
        view = self._view
        placed = view.placed_row(row)
        if placed is not None:
            height = max(0, min(placed.top + placed.height, view.viewport().height() - 40))
            view.transcript_actions.open_menu(row, view.viewport().mapToGlobal(QPoint(view.text_column()[0], height)))
