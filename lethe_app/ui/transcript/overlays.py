"""Widgets over the painted messages: action buttons, editor, button to the newest message, and the line at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtWidgets import QPushButton

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.transcript.message_actions import MessageActions, available_actions
from lethe_app.ui.transcript.message_editor import MessageEditor
from lethe_app.ui.transcript.painting.ended_line import SessionEndLine
from lethe_app.ui.transcript.painting.message_layout import MessageLayout
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.row_layout import BOTTOM_SPACE, PlacedRow

if TYPE_CHECKING:
    from lethe_app.ui.transcript.view import ChatView


class TranscriptOverlays(QObject):
    """Places the widgets and moves them with the messages."""

    def __init__(self, view: ChatView) -> None:
        super().__init__(view)
        self._view = view
        self.hovered_row: int | None = None
        self.action_buttons = MessageActions(view.viewport(), self._run_action)
        self.actions_row: int | None = None
        self.editor: MessageEditor | None = None
        self.newest_button = QPushButton(self.tr("↓ new"), view.viewport())
        self.newest_button.setObjectName("newPill")
        self.newest_button.setAccessibleName(self.tr("Go to the newest message"))
        self.newest_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.newest_button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.newest_button.clicked.connect(view.go_to_end)
        self.newest_button.hide()
        self.footer: SessionEndLine | None = None
        self.apply_style(view.layout_cache.style)

    def apply_style(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style` to all widgets."""
        palette = style.palette
        self.action_buttons.apply_style(style)
        if self.editor is not None:
            self.editor.apply_style(style)
        if self.footer is not None:
            self.footer.apply_style(style)
        self.newest_button.setFont(style.small_font)
        self.newest_button.setStyleSheet(
            f"#newPill {{ background: {palette.raised}; color: {palette.water}; border: 1px solid {palette.border};"
            f" border-radius: 14px; padding: 0 {SPACE_4}px; min-height: 26px; max-height: 26px; }}"
            f"#newPill:hover {{ border-color: {palette.water}; }}"
        )

    def clear(self) -> None:
        """Hide the widgets, because another session is on display."""
        self.hovered_row = None
        self.newest_button.hide()
        self.close_editor()

    def _run_action(self, action_name: str) -> None:
        if self.actions_row is not None:
            self._view.transcript_actions.run_action(action_name, self.actions_row)

    def set_hovered_row(self, row: int | None) -> None:
        """Set the row below the pointer; None if there is none."""
        if row != self.hovered_row:
            self.hovered_row = row
            self.position_widgets()
            self._view.viewport().update()

    def position_widgets(self) -> None:
        """Move all widgets to the current places of the messages."""
        self._place_actions()
        self._place_editor()
        self._place_footer()
        if self._view.row_layout.is_at_end:
            self.newest_button.hide()
        elif self.newest_button.isVisible():
            self._place_newest_button()

    def _place_actions(self) -> None:
        focused = self._view.focused_row if self._view.hasFocus() else None
        row = self.hovered_row if self.hovered_row is not None else focused
        placed_row = None if row is None else self._view.placed_row(row)
        message_layout = None if placed_row is None else self._view.message_layout(placed_row.row)
        if placed_row is None or message_layout is None or self._view.is_editing(placed_row.row):
            self.actions_row = None
            self.action_buttons.hide()
            return
        self.actions_row = placed_row.row
        self.action_buttons.show_actions(
            available_actions(self._view.chat_model, placed_row.row),
            *message_layout.alternatives,
            message_layout.annotations.rating,
        )
        self._move_actions(placed_row, message_layout)
        self.action_buttons.show()

    def _move_actions(self, placed_row: PlacedRow, message_layout: MessageLayout) -> None:
        """Place the buttons below the text of their message, or at the lower edge of the viewport if that is out of view."""
        left, width = self._view.text_column()
        top = placed_row.top + message_layout.footer_top - 2
        lowest = self._view.viewport().height() - self.action_buttons.height() - SPACE_2
        is_floating = top > lowest
        self.action_buttons.set_floating(is_floating)
        if is_floating:
            self.action_buttons.move(left + width - self.action_buttons.width(), lowest)
        else:
            max_left = (
                left + width - self.action_buttons.width()
            )  # in a narrow window they cover the chip rather than be cut off
            self.action_buttons.move(
                max(left - SPACE_1 - 2, min(left + message_layout.footer_left - SPACE_1 - 2, max_left)), top
            )

    def show_newest_button(self, row: int) -> None:
        """Show the button to the newest message if new text in `row` is out of view."""
        view = self._view
        if view.row_layout.is_at_end or view.chat_model.rowCount() == 0:
            return
        if view.row_layout.top_of(row) + view.row_layout.height_of(row) > view.viewport().height():
            self.newest_button.show()
            self._place_newest_button()

    def _place_newest_button(self) -> None:
        area = self._view.viewport()
        self.newest_button.adjustSize()
        self.newest_button.move(
            (area.width() - self.newest_button.width()) // 2, area.height() - self.newest_button.height() - SPACE_3
        )
        if self.action_buttons.isVisible() and self.action_buttons.geometry().intersects(self.newest_button.geometry()):
            self.newest_button.move(self.newest_button.x(), self.action_buttons.y() - self.newest_button.height() - SPACE_1)
        self.newest_button.raise_()

    # Line below the last message

    def set_footer(self, footer: SessionEndLine | None) -> None:
        """Show a widget below the last message, or none. The scroll position stays, unless the view is at the end."""
        if footer is self.footer:
            return
        if self.footer is not None:
            self.footer.hide()
        self.footer = footer
        if footer is not None:
            footer.apply_style(self._view.layout_cache.style)
            footer.show()
        self._view.update_layout()

    def _place_footer(self) -> None:
        view, footer = self._view, self.footer
        left, width = view.text_column()
        bottom = BOTTOM_SPACE + (footer.heightForWidth(width) if footer is not None else 0)
        if bottom != view.row_layout.bottom_space:
            view.row_layout.bottom_space = bottom
            view.update_layout()  # comes back here with the room there is
        elif footer is not None:
            last = view.placed_row(view.chat_model.rowCount() - 1)
            top = last.top + last.height if last is not None else view.viewport().height()  # out of sight
            footer.setGeometry(left, top, width, bottom - BOTTOM_SPACE)

    # Editing

    def open_editor(self, row: int, message_id: UUID) -> None:
        """Open the editor on a message; an open one is closed without saving."""
        self.close_editor()
        view = self._view
        editor = MessageEditor(view.viewport(), view.layout_cache.style, view.chat_model.text_of(row)[0])
        editor.saved.connect(lambda text: self._save_edit(message_id, text))
        editor.cancelled.connect(self.close_editor)
        editor.height_changed.connect(self._adjust_editor_height)
        editor.resize(view.text_column()[1], 200)
        view.layout_cache.edited_message_id, self.editor = message_id, editor
        editor.show()
        self._adjust_editor_height()
        view.row_layout.scroll_to_row(row)
        view.update_layout()
        editor.field.setFocus()

    def _adjust_editor_height(self) -> None:
        view = self._view
        if self.editor is None or view.layout_cache.edited_message_id is None:
            return
        height = self.editor.preferred_height(view.viewport().height())
        if height != view.layout_cache.editor_height:
            view.layout_cache.editor_height = height
            self._invalidate_message(view.layout_cache.edited_message_id)
            view.update_layout()

    def _invalidate_message(self, message_id: UUID) -> None:
        if (row := self._view.chat_model.row_of(message_id)) is not None:
            self._view.row_layout.invalidate_rows(row, row)

    def _place_editor(self) -> None:
        message_id = self._view.layout_cache.edited_message_id
        if self.editor is None or message_id is None:
            return
        row = self._view.chat_model.row_of(message_id)
        placed_row = None if row is None else self._view.placed_row(row)
        message_layout = None if row is None or placed_row is None else self._view.message_layout(row)
        if placed_row is None or message_layout is None:
            self.editor.move(0, -2 * self.editor.height())  # out of sight, but it keeps the focus and the words
            return
        left, width = self._view.text_column()
        self.editor.setGeometry(
            QRect(left, placed_row.top + message_layout.prose_top, width, self._view.layout_cache.editor_height)
        )

    def _save_edit(self, message_id: UUID, text: str) -> None:
        self.close_editor()
        self._view.edited.emit(message_id, text)

    def close_editor(self) -> None:
        """Close the editor without saving."""
        if self.editor is None:
            return
        editor, self.editor = self.editor, None
        message_id, self._view.layout_cache.edited_message_id = self._view.layout_cache.edited_message_id, None
        self._view.layout_cache.editor_height = 0
        editor.hide()
        editor.deleteLater()
        if message_id is not None:
            self._invalidate_message(message_id)
        self._view.setFocus()
        self._view.update_layout()
