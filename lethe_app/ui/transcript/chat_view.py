"""Transcript of a conversation in progress: actions and editor of messages, growing reply, and line at the end."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from PySide6.QtCore import QPoint, QRect, QRectF, QTimer, QUrl, Signal, SignalInstance
from PySide6.QtGui import QCursor, QKeyEvent
from PySide6.QtWidgets import QMenu

from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_3
from lethe_app.ui.transcript.message_actions import MessageActions, NewestButton, add_link_entries, available_actions, fill_menu
from lethe_app.ui.transcript.message_editor import MessageEditor
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.painting.link_line import LinkLine
from lethe_app.ui.transcript.painting.message_layout import MessageLayout
from lethe_app.ui.transcript.painting.painter import PaintState
from lethe_app.ui.transcript.painting.style import MessageStyle
from lethe_app.ui.transcript.reply_announcer import ReplyAnnouncer
from lethe_app.ui.transcript.row_layout import BOTTOM_SPACE, TOP_SPACE, PlacedRow, column_geometry
from lethe_app.ui.transcript.scroll_view import Index
from lethe_app.ui.transcript.transcript_view import TranscriptView

FRAME_MS = 33
"""Minimum interval between two layouts of a growing reply: thirty a second, however fast the tokens come."""
DOTS_MS = 420
"""Interval of the animated dots of an awaited reply."""
_RATING_KEYS = {"+": "good", "-": "bad"}


class ChatView(TranscriptView):
    """View of a conversation. Requests for a message are emitted as signals with its id."""

    edit_requested = Signal(UUID)
    edited = Signal(UUID, str)
    editor_toggled = Signal()
    """The editor was opened or closed."""
    """Emitted with id and new text when an edit is saved."""
    regenerate_requested = Signal(UUID)
    delete_requested = Signal(UUID)
    alternative_requested = Signal(UUID, int)
    """Emitted with id and index of the alternative to show."""
    prompt_requested = Signal(UUID)
    read_requested = Signal(UUID)
    """Emitted with the id of a message that is to be read aloud."""
    details_requested = Signal(UUID)
    rating_requested = Signal(UUID, str)
    """Emitted with id and rating, “good” or “bad”."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self._has_reduced_motion = False
        self._highlighted_reply: UUID | None = None
        self._dot_count = 3
        self.setAccessibleName(self.tr("Conversation"))
        self.setAccessibleDescription(
            self.tr("Messages, oldest first. Press Tab to go to a message and Enter to show its actions.")
        )
        self.action_buttons = MessageActions(self.viewport(), self._run_button_action)
        self._requests: dict[str, SignalInstance] = {
            "edit": self.edit_requested,
            "regenerate": self.regenerate_requested,
            "continue": self.continue_requested,
            "memories": self.memories_requested,
            "prompt": self.prompt_requested,
            "details": self.details_requested,
            "read": self.read_requested,
            "delete": self.delete_requested,
        }
        """Signals of the actions that others carry out, by name."""
        self.actions_row: int | None = None
        """Row below which the action buttons are shown; None while they are hidden."""
        self.newest_button = NewestButton(self.viewport())
        self.newest_button.clicked.connect(self.go_to_end)
        self.editor: MessageEditor | None = None
        self.heading: LinkLine | None = None
        self.footer: LinkLine | None = None
        self._style_widgets(self.layout_cache.style)
        self._frame_timer = QTimer(self, interval=FRAME_MS, singleShot=True)
        self._frame_timer.timeout.connect(self.layout_growing_reply)
        self._dots_timer = QTimer(self, interval=DOTS_MS)
        self._dots_timer.timeout.connect(self._advance_dots)
        self.layout_cache.offers_continue = True
        self.attach_model()
        model.reply_grew.connect(lambda: None if self._frame_timer.isActive() else self._frame_timer.start())
        ReplyAnnouncer(self, model)

    def reset(self) -> None:
        self.newest_button.hide()
        had_editor = self._remove_editor() is not None
        super().reset()
        if had_editor:
            self.setFocus()

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        super().rowsInserted(parent, start, end)
        self._show_newest_button(end)

    # Appearance

    def apply_style(self, style: MessageStyle) -> None:
        self._style_widgets(style)
        super().apply_style(style)

    def _style_widgets(self, style: MessageStyle) -> None:
        for widget in (self.action_buttons, self.newest_button, self.editor, self.heading, self.footer):
            if widget is not None:
                widget.apply_style(style)

    def set_reduced_motion(self, reduced: bool) -> None:
        """Set whether the dots of an awaited reply stand still."""
        self._has_reduced_motion = reduced
        self.on_layout_updated()

    def highlight_reply(self, message_id: UUID | None) -> None:
        """Highlight the chip of the reply that the memory panel shows; None for no reply."""
        if message_id != self._highlighted_reply:
            self._highlighted_reply = message_id
            self.viewport().update()

    def paint_state_of(self, row: int, clip: QRectF) -> PaintState:
        return replace(
            super().paint_state_of(row, clip),
            is_edited=self._is_edited(row),
            is_highlighted=self._highlighted_reply is not None and self.chat_model.outline(row).id == self._highlighted_reply,
            has_actions=self.actions_row == row,
            dot_count=self._dot_count,
            waiting_text=self.chat_model.waiting_text,
        )

    # Growing reply

    def layout_growing_reply(self) -> None:
        """Lay out the growing reply, at most once per `FRAME_MS`."""
        row = self.chat_model.growing_row
        if row is None:
            return
        self.row_layout.invalidate_rows(row, row)
        if self.row_layout.is_at_end or self.placed_row(row) is not None:
            self.update_layout()
        self._show_newest_button(row)

    def _update_dots_timer(self) -> None:
        row = self.chat_model.growing_row
        is_waiting = row is not None and self.placed_row(row) is not None and not self.chat_model.text_of(row)[0].strip()
        if not is_waiting or self._has_reduced_motion:
            self._dots_timer.stop()
            self._dot_count = 3
        elif not self._dots_timer.isActive():
            self._dots_timer.start()

    def _advance_dots(self) -> None:
        self._dot_count = self._dot_count % 3 + 1
        row = self.chat_model.growing_row
        placed_row = None if row is None else self.placed_row(row)
        if placed_row is not None:
            self.viewport().update(QRect(0, placed_row.top, self.viewport().width(), placed_row.height))

    # Actions

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() in _RATING_KEYS and self.focused_row is not None:
            self.run_action(_RATING_KEYS[event.text()], self.focused_row)
        else:
            super().keyPressEvent(event)

    def _run_button_action(self, action_name: str) -> None:
        if self.actions_row is not None:
            self.run_action(action_name, self.actions_row)

    def run_action(self, action_name: str, row: int) -> None:
        """Run one of `MESSAGE_ACTIONS` on a row; one that is not available is ignored."""
        message = self.chat_model.message(row)
        if message is None or action_name not in available_actions(self.chat_model, row):
            return
        if action_name == "copy":
            self.copy_message(row)
        elif action_name in {"previous", "next"}:
            self.alternative_requested.emit(message.id, message.shown + (1 if action_name == "next" else -1))
        elif action_name in self._requests:
            self._requests[action_name].emit(message.id)
            if action_name == "edit":
                self.edit_message(message.id)
        else:
            self.rating_requested.emit(message.id, action_name)

    def copy_message(self, row: int) -> None:
        """Copy the text of a message."""
        super().copy_message(row)
        buttons = self.action_buttons
        self.show_copied(buttons.mapToGlobal(QPoint(0, buttons.height() // 2)) if buttons.isVisible() else QCursor.pos())

    def build_menu(self, row: int, link: str = "") -> QMenu:
        """Create the context menu of a row: link, selection, message actions, thoughts, tool calls and links."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if link:
            menu.addAction(self.tr("Open link"), lambda: self.link_activated.emit(QUrl(link)))
            menu.addAction(self.tr("Copy link address"), lambda: self.copy_text(link))
            menu.addSeparator()
        if not self.text_selection.is_empty:
            menu.addAction(self.tr("Copy selection"), self.copy_selection)
        self.add_code_entries(menu, row)
        style = self.layout_cache.style
        fill_menu(menu, style, available_actions(self.chat_model, row), lambda action_name: self.run_action(action_name, row))
        self._add_thoughts_entries(menu, row)
        message_layout = self.message_layout(row)
        if message_layout is not None:
            if message_layout.tool_list is not None:
                menu.addSeparator()
                title = self.tr("Hide tool calls") if message_layout.state.are_tools_open else self.tr("Show tool calls")
                menu.addAction(load_icon("sliders", style.palette.muted), title, lambda: self.toggle_tools(row))
            add_link_entries(menu, message_layout.links, lambda address: self.link_activated.emit(QUrl(address)))
        return menu

    def _add_thoughts_entries(self, menu: QMenu, row: int) -> None:
        thinking = self.chat_model.text_of(row)[1].strip()
        if thinking:
            menu.addSeparator()
            is_open = self.layout_cache.are_thoughts_open(self.chat_model.outline(row).id)
            title = self.tr("Hide thoughts") if is_open else self.tr("Show thoughts")
            icon = load_icon("thought", self.layout_cache.style.palette.muted)
            menu.addAction(icon, title, lambda: self.toggle_thoughts(row))
            menu.addAction(self.tr("Copy thoughts"), lambda: self.copy_text(thinking))

    def go_to_message(self, message_id: UUID) -> None:
        """Scroll a message into view and focus it; without effect if it is not in the model."""
        if (row := self.chat_model.row_of(message_id)) is not None:
            self.setFocus()
            self.focus_row(row)

    # Widgets over the messages

    def on_layout_updated(self) -> None:
        self._place_action_buttons()
        self._place_editor()
        self._place_heading()
        self._place_footer()
        if self.row_layout.is_at_end:
            self.newest_button.hide()
        elif self.newest_button.isVisible():
            self.newest_button.place(self.action_buttons)
        self._update_dots_timer()

    def _find_layout(self, row: int | None) -> tuple[PlacedRow | None, MessageLayout | None]:
        """Return the place of a row and its layout, as far as it is visible and loaded."""
        placed_row = None if row is None else self.placed_row(row)
        return placed_row, None if placed_row is None else self.message_layout(placed_row.row)

    def _place_action_buttons(self) -> None:
        """Show the buttons below the hovered message, or else below the focused one."""
        focused_row = self.focused_row if self.hasFocus() else None
        placed_row, message_layout = self._find_layout(self.hovered_row if self.hovered_row is not None else focused_row)
        if placed_row is None or message_layout is None or self._is_edited(placed_row.row):
            self.actions_row = None
            self.action_buttons.hide()
            return
        self.actions_row = placed_row.row
        actions, rating = available_actions(self.chat_model, placed_row.row), message_layout.annotations.rating
        self.action_buttons.show_actions(actions, *message_layout.alternatives, rating)
        left, width = self.text_column()
        top = placed_row.top + message_layout.footer_top - 2
        self.action_buttons.place(left - SPACE_1 - 2, left + width, message_layout.footer_left, top)
        self.action_buttons.show()

    def _show_newest_button(self, row: int) -> None:
        """Show the button to the newest message if new text in `row` is out of view."""
        if self.row_layout.is_at_end or self.chat_model.rowCount() == 0:
            return
        if self.row_layout.top_of(row) + self.row_layout.height_of(row) > self.viewport().height():
            self.newest_button.show()
            self.newest_button.place(self.action_buttons)

    def set_footer(self, footer: LinkLine | None) -> None:
        """Show a widget below the last message, or none. The scroll position stays, unless the view is at the end."""
        if footer is not self.footer:
            self._replace_line(self.footer, footer)
            self.footer = footer
            self.update_layout()

    def set_heading(self, heading: LinkLine | None) -> None:
        """Show a widget above the first message, or none. Call it again when its text has changed."""
        self._replace_line(self.heading, heading)
        self.heading = heading
        self.update_layout()

    def _replace_line(self, old: LinkLine | None, new: LinkLine | None) -> None:
        if old is not None and old is not new:
            old.hide()
        if new is not None:
            new.apply_style(self.layout_cache.style)
            new.show()

    def _place_heading(self) -> None:
        left, width = column_geometry(self.width())  # centred like the line of the day
        height = self.heading.heightForWidth(width) if self.heading is not None else 0
        if TOP_SPACE + height != self.row_layout.top_space:
            self.row_layout.set_top_space(TOP_SPACE + height)
            self.update_layout()
        elif self.heading is not None:
            first_row = self.placed_row(0)
            is_empty = not self.chat_model.rowCount()
            # While the first message is not in view, the heading waits above the viewport.
            bottom = self.row_layout.top_space if is_empty else first_row.top if first_row is not None else 0
            self.heading.setGeometry(left, bottom - height - SPACE_3, width, height)

    def _place_footer(self) -> None:
        left, width = self.text_column()
        height = self.footer.heightForWidth(width) if self.footer is not None else 0
        if BOTTOM_SPACE + height != self.row_layout.bottom_space:
            self.row_layout.bottom_space = BOTTOM_SPACE + height
            self.update_layout()  # which calls this method again, with the rows in their new places
        elif self.footer is not None:
            last_row = self.placed_row(self.chat_model.rowCount() - 1)
            # While the last message is not in view, the footer waits below the viewport.
            top = last_row.top + last_row.height if last_row is not None else self.viewport().height()
            self.footer.setGeometry(left, top, width, height)

    # Editor

    def edit_message(self, message_id: UUID) -> None:
        """Open the editor on a message; an open one is closed without saving. Without effect if the message is not loaded."""
        row = self.chat_model.row_of(message_id)
        if row is None or self.chat_model.message(row) is None:
            return
        self.close_editor()
        self.editor = editor = MessageEditor(self.viewport(), self.layout_cache.style, self.chat_model.text_of(row)[0])
        editor.saved.connect(lambda text: self._save_edit(message_id, text))
        editor.cancelled.connect(self.close_editor)
        editor.height_changed.connect(self._adjust_editor_height)
        # The preferred height depends on the width, in which the text is wrapped.
        editor.resize(self.text_column()[1], 200)
        self.layout_cache.edited_message_id = message_id
        editor.show()
        self._adjust_editor_height()
        self.row_layout.scroll_to_row(row)
        self.update_layout()
        editor.field.setFocus()
        self.editor_toggled.emit()

    def _is_edited(self, row: int) -> bool:
        message_id = self.layout_cache.edited_message_id
        return message_id is not None and self.chat_model.row_of(message_id) == row

    def _adjust_editor_height(self) -> None:
        message_id = self.layout_cache.edited_message_id
        if self.editor is None or message_id is None:
            return
        height = self.editor.preferred_height(self.viewport().height())
        if height != self.layout_cache.editor_height:
            self.layout_cache.editor_height = height
            self._invalidate_message(message_id)
            self.update_layout()

    def _invalidate_message(self, message_id: UUID) -> None:
        if (row := self.chat_model.row_of(message_id)) is not None:
            self.row_layout.invalidate_rows(row, row)

    def _place_editor(self) -> None:
        message_id = self.layout_cache.edited_message_id
        if self.editor is None or message_id is None:
            return
        placed_row, message_layout = self._find_layout(self.chat_model.row_of(message_id))
        if placed_row is None or message_layout is None:
            # Moved out of sight instead of hidden, because a hidden widget loses the focus.
            self.editor.move(0, -2 * self.editor.height())
            return
        left, width = self.text_column()
        top = placed_row.top + message_layout.prose_top
        self.editor.setGeometry(QRect(left, top, width, self.layout_cache.editor_height))

    def _save_edit(self, message_id: UUID, text: str) -> None:
        self.close_editor()
        self.edited.emit(message_id, text)

    def close_editor(self) -> None:
        """Close the editor without saving."""
        message_id = self._remove_editor()
        if message_id is not None:
            self._invalidate_message(message_id)
            self.setFocus()
            self.update_layout()

    def _remove_editor(self) -> UUID | None:
        """Remove the editor, and return the id of the message it was on; None if there was none."""
        if self.editor is None:
            return None
        editor, self.editor = self.editor, None
        message_id, self.layout_cache.edited_message_id = self.layout_cache.edited_message_id, None
        self.layout_cache.editor_height = 0
        editor.hide()
        # Not deleted at once, because this may run in a slot of one of its own signals.
        editor.deleteLater()
        self.editor_toggled.emit()
        return message_id
