"""Controller of the memory panel: shows what was recalled for a reply, and pins, edits, forgets or marks it as irrelevant."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from lethe_app.domain.chat import Message, Role
from lethe_app.errors import FileError
from lethe_app.services.chat.reply_source_reader import ReplyMemory, ReplySources, SourceKind, StatementOrigin
from lethe_app.ui.chat import memory_labels
from lethe_app.ui.chat.memory_card import CardContext
from lethe_app.ui.chat.memory_card_parts import CardButton
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.actions import action_tooltip
from lethe_app.ui.core.formatting import shorten_text
from lethe_app.ui.core.labels.dates import format_day, format_time, local_day
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView

T = TypeVar("T")


class MemoryPanelController(Controller):
    """Controller of the memory panel, once per window. `reply` is the reply of both the panel and the prompt inspector."""

    def __init__(
        self,
        window: MainWindow,
        view: ChatView,
        services: AppServices,
        replies: ReplyController,
        open_session: Callable[[UUID, UUID | None], None],
    ) -> None:
        super().__init__(window)
        self.panel, self._panes, self._header = window.memory_panel, window.panes, window.chat.header
        self._view, self._messages, self._services = view, view.chat_model, services
        self._clock, self._open_session = window.clock, open_session
        self._chosen_reply: UUID | None = None
        self.shown_sources: ReplySources | None = None
        """Recall that the panel shows; None before the first reply of a session."""
        self._last_reply_state: tuple[UUID | None, bool] = (None, False)
        # One update for all signals of the model in the same turn of the event loop.
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._update_timer.timeout.connect(self._update_reply)
        self._replies = replies
        replies.turn_started.connect(self._show_being_written)
        replies.turn_ended.connect(lambda _turn: self._schedule_refresh())
        recalled = (services.memory, services.facts, services.documents, services.objections)
        self.follow(self._refresh_all, *(one.changed for one in recalled))
        shown = (services.sessions, services.moods, services.preferences, services.library)
        self.follow(self._schedule_refresh, *(one.changed for one in shown))
        self._connect_signals()
        for title, name in (
            (self.tr("Facts"), "facts"),
            (self.tr("Memories"), "memories"),
            (self.tr("Worlds"), "worlds"),
            (self.tr("Conversations"), "conversations"),
            (self.tr("Overview"), "overview"),
            (self.tr("Mind"), "mind"),
        ):
            self.panel.add_link(title, self._actions[name])
        self.panel.mood_line.set_page_action(self._actions["mind"])
        self.toggle_button = CardButton(self._theme, "panel", action_tooltip("memory_panel"), self._panes.toggle_panel)
        self.toggle_button.setCheckable(True)
        self.toggle_button.setChecked(self._panes.is_panel_open)
        self._header.add_button(self.toggle_button)

    def close(self) -> None:
        """Disconnect from the services."""
        self._update_timer.stop()
        super().close()

    def _connect_signals(self) -> None:
        messages, view, panel, panes = self._messages, self._view, self.panel, self._panes
        for signal in (messages.modelReset, messages.rowsInserted, messages.rowsRemoved, messages.dataChanged):
            signal.connect(lambda *_rows: self._update_timer.start())
        messages.modelReset.connect(self._reset_choice)
        view.memories_requested.connect(self.open_on_reply)
        view.prompt_requested.connect(self._open_prompt_inspector)
        view.message_pressed.connect(lambda message: self._choose_reply(message) if panes.is_panel_open else None)
        view.selectionModel().currentChanged.connect(lambda index, _old: self._on_current_row_changed(index.row()))
        panes.panel_shown.connect(self._on_panel_shown)
        panel.close_requested.connect(panes.close_panel)
        panel.focus_left.connect(self._return_focus)
        panel.newest_requested.connect(self._go_to_newest)
        panel.prompt_requested.connect(lambda: self._open_prompt_inspector(self.reply_id))
        panel.text_saved.connect(self._tasks.create_slot(self._save_text))
        panel.command_chosen.connect(self._run_command)
        self._actions.connect(memory_panel=self._toggle_panel)

    def _toggle_panel(self) -> None:
        """Toggle the panel, unless a page covers the conversation."""
        if not self._panes.isHidden():
            self._panes.toggle_panel()
            is_open = self._panes.is_panel_open
            announce(self.panel, self.tr("Memory panel shown") if is_open else self.tr("Memory panel hidden"))

    # Selected reply

    @property
    def reply_id(self) -> UUID | None:
        """Return the id of the reply that the user chose, or of the newest one; None if there is no reply."""
        if self._chosen_reply is not None and self._messages.row_of(self._chosen_reply) is not None:
            return self._chosen_reply
        return self._newest_reply

    @property
    def _newest_reply(self) -> UUID | None:
        row = self._messages.find_last(Role.ASSISTANT)
        return self._messages.outline(row).id if row is not None else None

    def open_on_reply(self, reply_id: UUID) -> None:
        """Open the panel on a reply. If the transcript has the focus on a message, the focus moves to the panel."""
        self._choose_reply(reply_id)
        self._panes.open_panel()
        if QApplication.focusWidget() is self._view and self._view.focused_row is not None:
            self.panel.first_focus_widget().setFocus()

    def _choose_reply(self, reply_id: UUID | None) -> None:
        row = self._messages.row_of(reply_id) if reply_id is not None else None
        if row is not None and self._messages.outline(row).role is not Role.ASSISTANT:
            return
        self._chosen_reply = reply_id if reply_id != self._newest_reply else None
        self.panel.reply_id = self.reply_id
        self._update_timer.start()

    def _on_current_row_changed(self, row: int) -> None:
        """Follow the message that has the focus in the transcript."""
        if 0 <= row < self._messages.rowCount() and self._panes.is_panel_open:
            self._choose_reply(self._messages.outline(row).id)

    def _go_to_newest(self) -> None:
        self._choose_reply(None)
        self._view.go_to_end()

    def _reset_choice(self) -> None:
        """Reset the selection, because another session is on display."""
        self._chosen_reply, self._last_reply_state, self.shown_sources = None, (None, False), None

    def _update_reply(self) -> None:
        """Update the panel if the selected reply is another one, or has started or stopped growing. The number of memories
        is queried when a reply begins and when it ends.
        """
        reply = self.panel.reply_id = self.reply_id
        row = self._messages.row_of(reply) if reply is not None else None
        state = (reply, row is not None and self._messages.is_growing(row))
        if state == self._last_reply_state:
            return
        has_growth_changed, self._last_reply_state = state[1] or self._last_reply_state[1], state
        user_message_id = self._messages.find_user_message(row) if row is not None else None
        if has_growth_changed and user_message_id is not None:
            self._tasks.start_task(self._messages.annotations.memory_counts.load([user_message_id]))
        self._schedule_refresh()

    # Content

    def _on_panel_shown(self, is_open: bool) -> None:
        self.toggle_button.setChecked(is_open)
        self._schedule_refresh()

    def _schedule_refresh(self) -> None:
        self._view.highlight_reply(self.reply_id if self._panes.is_panel_open else None)
        if self._panes.is_panel_open:
            self._tasks.start_task(self._show_reply(), key="memory panel")

    def _refresh_all(self) -> None:
        """Query the numbers of memories again and update the panel, after memories or facts have changed."""
        self._tasks.start_task(self._messages.annotations.memory_counts.refresh(), key="memory marks")
        self._schedule_refresh()

    async def _apply(self, change: Awaitable[T]) -> T:
        """Await a change that the user made in the panel, then update the panel and the numbers of memories."""
        result = await change
        self._refresh_all()
        return result

    async def _show_reply(self) -> None:
        reply_id = self.reply_id
        row = self._messages.row_of(reply_id) if reply_id is not None else None
        if self._replies.is_busy and self._chosen_reply is None and not (row is not None and self._messages.is_growing(row)):
            self._show_being_written()
            return
        if reply_id is None or row is None:
            self._show_introduction()
            return
        user_message_id = self._messages.find_user_message(row)
        sources = await self._services.reply_sources.sources_of(user_message_id if user_message_id is not None else reply_id)
        row = self._messages.row_of(reply_id)
        if sources is None or row is None:
            return
        self.shown_sources = sources if user_message_id is not None else ReplySources(sources.persona_id, None)
        self.panel.set_reply_title(self._describe_reply(row), is_newest=reply_id == self._newest_reply)
        user_text = sources.user_message.content if sources.user_message is not None else ""
        message, is_newest = self._messages.message(row), reply_id == self._newest_reply
        is_growing = self._messages.is_growing(row)
        name = message.speaker_name if message is not None else ""
        name = name or (await self._services.library.persona(sources.persona_id)).name
        has_recall = sources.is_known or sources.is_incognito or sources.user_message is None
        if has_recall or not is_growing:
            self.panel.show_sources(self.shown_sources, CardContext(user_text, name, self._clock()))
        else:
            self._show_being_written()
        # Rows may have changed during the await above, so `row` is not valid from here on.
        self.panel.mood_line.show_mood(
            await self._load_mood_text(sources.persona_id, message) if message is not None and is_newest else ""
        )

    def _show_being_written(self) -> None:
        """Show that a reply is prepared in place of the memories of the last one, unless the user has chosen a reply."""
        if self._chosen_reply is None:
            self.panel.set_reply_title(self.tr("being written"), is_newest=True)
            text = self.tr("This reply is being written. Which memories it uses appears here as soon as they are recorded.")
            self.panel.show_explanation(self.tr("Memories used"), text)

    def _describe_reply(self, row: int) -> str:
        """Return speaker and time of a reply in words."""
        message = self._messages.message(row)
        if message is None or self._messages.is_growing(row):
            return self.tr("being written")
        day, today = local_day(message.time), local_day(self._clock())
        clock = format_time(message.time)
        time_text = clock if day == today else self.tr("{day}, {clock}").format(day=format_day(day, today), clock=clock)
        return self.tr("{name}, {when}").format(name=message.speaker_name, when=time_text)

    async def _load_mood_text(self, persona_id: str, message: Message) -> str:
        """Return the persona's current mood as the prompt words it; moods of older replies are not stored."""
        try:
            persona = await self._services.library.persona(persona_id)
        except FileError:  # the persona file was damaged or removed meanwhile; the panel shows the memories without a mood
            return ""
        return await self._services.moods.describe_mood(persona, message.session_id)

    def _show_introduction(self) -> None:
        self.panel.mood_line.show_mood("")
        self.panel.set_reply_title("", is_newest=True)
        self.panel.show_explanation(
            self.tr("Memories used"),
            self.tr(
                "When your message recalls an earlier conversation, a fact or a world entry, it appears here with the reason"
                " and the source."
            ),
        )

    def _return_focus(self) -> None:
        """Return the focus to the transcript; a panel that covers the conversation is closed."""
        if self._panes.is_narrow:
            self._panes.close_panel()
        self._view.setFocus()

    # Requests

    def _open_prompt_inspector(self, reply_id: UUID | None) -> None:
        if reply_id is not None:
            self._choose_reply(reply_id)
        self._actions["inspector"].trigger()

    def _run_command(self, name: str, subject: ReplyMemory | StatementOrigin | UUID) -> None:
        """Run a command of the panel on the memory, source or id that it concerns."""
        if isinstance(subject, StatementOrigin):
            self._open_session(subject.session, subject.message)
        elif isinstance(subject, UUID):
            self._tasks.start_task(self._unmark_irrelevant(subject, self.shown_sources))
        elif name == "forget":
            self._tasks.start_task(self._forget_memory(subject), key=f"forget {subject.subject}")
        elif name == "mark irrelevant":
            self._tasks.start_task(self._mark_irrelevant(subject))
        else:
            self._tasks.start_task(self._apply(self._services.reply_actions.pin(subject, pinned=name == "pin")))

    async def _save_text(self, memory: ReplyMemory, text: str) -> None:
        restore_text = await self._apply(self._services.reply_actions.write(memory, text))
        undo = self._tasks.create_callback(lambda: self._apply(restore_text()))
        self._notifier.notify_undoable(self.tr("The memory was edited."), undo)

    async def _forget_memory(self, memory: ReplyMemory) -> None:
        """Forget a memory. Only a whole session needs a confirmation; everything can be undone."""
        sources = self.shown_sources
        if sources is None or (memory.kind is SourceKind.CONVERSATION and not await self._confirm_forgetting(memory)):
            return
        await self._apply(self._services.reply_actions.forget_memory(memory, sources.persona_id))
        text = shorten_text(memory.recollection.title or memory_labels.format_card_text(memory), 60)
        undo = self._tasks.create_callback(lambda: self._apply(self._services.reply_actions.restore(memory)))
        self._notifier.notify_undoable(self.tr("Forgotten: “{words}”").format(words=text), undo)

    async def _confirm_forgetting(self, memory: ReplyMemory) -> bool:
        title = memory.recollection.title or self.tr("An earlier conversation")
        template = self.tr("“{title}” and all of its messages will be moved to the Trash, where you can restore them.")
        question = ConfirmDialog(
            self.panel.window(),
            self.tr("Forget this conversation?"),
            template.format(title=title),
            self.tr("Forget “{title}”").format(title=shorten_text(title, 24)),
        )
        return await run_dialog(question)

    async def _mark_irrelevant(self, surfaced_memory: ReplyMemory) -> None:
        sources, memory_id = self.shown_sources, surfaced_memory.recollection.memory
        if sources is None:
            return
        await self._apply(self._services.reply_actions.object_to(memory_id, sources))
        detail = self.tr("A regenerated reply will not use it, and similar messages will recall it less often.")
        undo = self._tasks.create_callback(self._unmark_irrelevant, memory_id, sources)
        self._notifier.notify_undoable(self.tr("Marked as irrelevant."), undo, detail)

    async def _unmark_irrelevant(self, memory_id: UUID, sources: ReplySources | None) -> None:
        if sources is not None:
            await self._apply(self._services.reply_actions.withdraw_objection(memory_id, sources))
