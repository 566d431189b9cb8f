"""Run replies: show the events of the chat service in the transcript, and stop, regenerate, continue and delete on request."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal

from lethe_app.domain.chat import ChatSession, Message, MessageMode, MessageOutline, Role
from lethe_app.services.events import (
    MessageStored,
    ModelLoading,
    PromptBuilt,
    ReplyStarted,
    SessionReplaced,
    TurnEvent,
)
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.controllers.conversation.reply_state import STOP_SECONDS, ReplyState, show_in_messages, show_in_status
from lethe_app.ui.core.accessibility import announce

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from uuid import UUID

    from lethe_app.services.chat.message_editing import MessageEditing
    from lethe_app.services.chat.service import ChatService
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.controllers.model import ModelController
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.model.chat_model import ChatModel


class ReplyController(Controller):
    """Replies in progress of all sessions; only those of the session on display are shown."""

    event_received = Signal(object, object)
    """Emitted with the `ReplyState` and each event of a turn, whether its session is on display or not."""
    turn_started = Signal()
    """Emitted when a turn begins in the session on display, before anything of it is stored."""
    turn_ended = Signal(object)
    """Emitted with the `ReplyState` of a turn that is over, however it ended."""
    replying_sessions_changed = Signal(object)
    """Emitted with the ids of the sessions in which a reply is in progress, on display or not, as a frozenset."""

    def __init__(
        self,
        window: MainWindow,
        messages: ChatModel,
        chat: ChatService,
        sessions: SessionService,
        message_editing: MessageEditing,
        model_controller: ModelController,
        shown_session: ShownSession,
    ) -> None:
        super().__init__(window)
        self._composer, self._status, self._messages = window.chat.composer, window.chat.status, messages
        self._chat, self._sessions, self._message_editing = chat, sessions, message_editing
        self._model_controller, self._shown = model_controller, shown_session
        self._stop_action = self._actions["stop"]
        self._stop_action.setEnabled(False)
        self._reply_states: dict[UUID, ReplyState] = {}
        self._used_tokens: dict[UUID, int] = {}
        self._composer.sent.connect(lambda text, is_dictated: self.send_message(text, is_dictated=is_dictated))
        self._composer.stop_requested.connect(self.stop_reply)
        self._actions.connect(
            stop=self.stop_reply,
            regenerate=lambda: self._run_on_last_reply(self.regenerate),
            continue_reply=lambda: self._run_on_last_reply(self.continue_reply),
            previous_reply=lambda: self._run_on_last_reply(lambda message_id: self.swipe(message_id, -1)),
            next_reply=lambda: self._run_on_last_reply(lambda message_id: self.swipe(message_id, 1)),
        )

    # Session on display

    def show_messages(self, session: ChatSession, outline: Sequence[MessageOutline]) -> None:
        """Put the messages of the session on display, with its reply in progress."""
        self._model_controller.show_used_tokens(self._used_tokens.get(session.guid, 0))

        async def load(start: int, count: int) -> list[Message]:
            return list(await self._sessions.page(session.guid, start, count))

        self._messages.show_session(list(outline), load)
        self._status.show_activity("")
        if (turn := self._shown_turn) is not None:
            turn.displayed_speaker = self._shown.expected_speaker(turn.speaker)
            turn.show_progress(self._messages)
            if turn.status_event is not None:
                show_in_status(self._status, turn, turn.status_event)
            else:
                self._show_preparing_status()
        self._update_reply_controls()

    def update_names(self) -> None:
        """Show an awaited reply under the current name of its speaker."""
        turn = self._shown_turn
        if turn is not None and turn.is_awaited and turn.displayed_speaker != self._shown.expected_speaker(turn.speaker):
            self._messages.remove_placeholder()
            self._show_preparing(turn)

    def read_ahead(self) -> None:
        """Evaluate the prompt of the session on display before the user writes."""
        if self._shown.session is not None:
            self._chat.follow_session(self._shown.session.guid)

    @property
    def _shown_turn(self) -> ReplyState | None:
        """Return the turn in progress in the session on display."""
        return self._reply_states.get(self._shown.session.guid) if self._shown.session is not None else None

    def _update_reply_controls(self) -> None:
        """Update the composer and the stop action after a reply has started or ended."""
        turn = self._shown_turn
        self._composer.set_replying(turn is not None, turn.reply.speaker_name if turn is not None and turn.reply else "")
        self._stop_action.setEnabled(turn is not None)

    # User actions

    def send_message(self, text: str, speaker: str = "", *, is_dictated: bool = False) -> None:
        """Send `text`, or let the persona speak again if it is empty. In a group `speaker` answers, or else the chosen
        participant. `is_dictated` says whether some of the text was spoken.
        """
        if (session_id := self._shown.session_id) is None:
            self._composer.restore_draft("", text)
            return
        speaker_id = speaker or self._shown.chosen_speaker_id
        turn = ReplyState(session_id, text, speaker_id, is_new_reply=True)
        turn.is_dictated = is_dictated
        mode = MessageMode.VOICE if is_dictated else MessageMode.TEXT
        self._run_turn(turn, self._chat.send(session_id, text, speaker_id, mode=mode))

    def regenerate(self, message_id: UUID) -> None:
        """Generate another alternative of a reply."""
        if (session_id := self._shown.session_id) is not None:
            turn = ReplyState(session_id, is_new_alternative=True)
            self._run_turn(turn, self._chat.regenerate(session_id, message_id))

    def continue_reply(self, message_id: UUID) -> None:
        """Continue a reply where it ends."""
        if (session_id := self._shown.session_id) is not None:
            self._run_turn(ReplyState(session_id), self._chat.continue_reply(session_id, message_id))

    def stop_reply(self) -> None:
        """Stop the reply on display; its text so far is kept."""
        if (turn := self._shown_turn) is not None:
            turn.is_stopped = True
            turn.cancel()
            self._composer.set_stopping()

    async def stop_session_reply(self, session_id: UUID) -> None:
        """Stop the reply of a session, on display or not, and wait until it is stored, at most `STOP_SECONDS`."""
        turn = self._reply_states.get(session_id)
        if turn is not None and turn.task is not None:
            turn.cancel()
            await asyncio.wait([turn.task], timeout=STOP_SECONDS)

    async def stop_all_replies(self) -> None:
        """Stop all replies and wait until they are stored, at most `STOP_SECONDS` for each."""
        for session_id in list(self._reply_states):
            await self.stop_session_reply(session_id)

    def show_alternative(self, message_id: UUID, index: int) -> None:
        """Put another alternative of a reply on display and store the choice."""
        self._tasks.start_task(self._select_alternative(message_id, index), key="alternative")

    def swipe(self, message_id: UUID, step: int) -> None:
        """Show the alternative `step` before or after the one on display; after the last one a new one is generated."""
        row = self._messages.row_of(message_id)
        message = self._messages.message(row) if row is not None else None
        if message is None or self.is_busy:
            return
        wanted_index = message.shown + step
        if wanted_index >= len(message.alternatives):
            self.regenerate(message_id)
        elif wanted_index >= 0:
            self.show_alternative(message_id, wanted_index)

    @property
    def is_replying(self) -> bool:
        """Return whether a reply is in progress in any session."""
        return bool(self._reply_states)

    # Execution

    @property
    def is_busy(self) -> bool:
        """Return whether a reply is in progress in the session on display."""
        return self._shown_turn is not None

    def _run_on_last_reply(self, action: Callable[[UUID], None]) -> None:
        row = self._messages.rowCount() - 1
        if row >= 0 and not self.is_busy and self._messages.outline(row).role is Role.ASSISTANT:
            action(self._messages.outline(row).id)

    def _run_turn(self, turn: ReplyState, events: AsyncGenerator[TurnEvent]) -> None:
        if turn.session_id in self._reply_states:
            self._composer.restore_draft(str(turn.session_id), turn.draft)
            return  # the generator was never started, so there is nothing to close
        turn.task = self._tasks.start_task(self._consume_events(turn, events))
        if turn.task is not None:
            self._reply_states[turn.session_id] = turn
            turn.task.add_done_callback(lambda _task: self._on_turn_ended(turn))
            self._update_reply_controls()
            self._show_preparing(turn)
            self.turn_started.emit()
            self.replying_sessions_changed.emit(frozenset(self._reply_states))

    def _show_preparing(self, turn: ReplyState) -> None:
        """Show before the first event that a reply is prepared: dots in the transcript and a text in the status line."""
        state = self._model_controller.state
        turn.displayed_speaker = self._shown.expected_speaker(turn.speaker)
        if turn.is_awaited:
            self._messages.add_placeholder(*turn.displayed_speaker, turn.session_id)
        if isinstance(state, ModelLoading):  # the status line shows the progress of loading
            self._messages.set_waiting_text(self.tr("The reply starts as soon as {name} is loaded.").format(name=state.name))
        else:
            self._show_preparing_status()

    def _show_preparing_status(self) -> None:
        """Show in the status line that a reply is prepared, unless it shows how far the model is loaded."""
        if isinstance(self._model_controller.state, ModelLoading):
            return
        if len(self._reply_states) > 1:
            self._status.show_activity(self.tr("Waiting for the reply in another conversation…"))
        else:
            self._status.show_activity(self.tr("Preparing…"))

    async def _consume_events(self, turn: ReplyState, events: AsyncGenerator[TurnEvent]) -> None:
        turn.has_started = True
        try:
            async with aclosing(events) as stream:
                async for event in stream:
                    self._handle_event(turn, event)
        except BaseException:
            # A stop is a CancelledError; one that comes while a failed reply is taken back must not keep it on display.
            await asyncio.shield(self._show_interrupted_turn(turn))
            raise

    def _on_turn_ended(self, turn: ReplyState) -> None:
        """Clean up after a turn. The body of a task that is cancelled before it first runs is never entered, so this is a
        callback.
        """
        self._reply_states.pop(turn.session_id, None)
        if not turn.has_started:
            self._composer.restore_draft(str(turn.session_id), turn.draft)
        if turn.session_id == self._shown.session_id:
            if not turn.has_started:
                self._messages.remove_placeholder()
                self._status.show_activity("")
            self._update_reply_controls()
        self.replying_sessions_changed.emit(frozenset(self._reply_states))
        self.turn_ended.emit(turn)

    def _handle_event(self, turn: ReplyState, event: TurnEvent) -> None:
        if isinstance(event, SessionReplaced):
            self._move_to_session(turn, event.session)
            return
        turn.record_event(event)
        if isinstance(event, PromptBuilt):
            self._used_tokens[turn.session_id] = event.receipt.prompt_tokens
        if turn.session_id == self._shown.session_id:
            self._show_event(turn, event)
        self.event_received.emit(turn, event)

    def _show_event(self, turn: ReplyState, event: TurnEvent) -> None:
        show_in_messages(self._messages, turn, event)
        show_in_status(self._status, turn, event)
        match event:
            case ReplyStarted():
                self._update_reply_controls()
            case MessageStored():
                self._show_preparing(turn)
            case PromptBuilt():
                self._model_controller.show_used_tokens(event.receipt.prompt_tokens)

    def _move_to_session(self, turn: ReplyState, session: ChatSession) -> None:
        """Continue a turn in the new session that the message has started, and show that session if the old one was on
        display.
        """
        was_shown, replaced_id = turn is self._shown_turn, turn.session_id
        self._reply_states[session.guid] = self._reply_states.pop(replaced_id)
        turn.record_event(SessionReplaced(session))
        self.replying_sessions_changed.emit(frozenset(self._reply_states))
        if was_shown:
            self._shown.continue_in_session(session)
            self.show_messages(session, [])
            self._shown.session_changed.emit(session, replaced_id)

    async def _show_interrupted_turn(self, turn: ReplyState) -> None:
        """Show what was stored of a turn that ended early, and return an unstored message to the composer."""
        if not turn.is_draft_safe:
            self._composer.restore_draft(str(turn.session_id), turn.draft)
        if turn.session_id != self._shown.session_id:
            return
        self._status.show_activity("")
        outline = list(await self._sessions.outline(turn.session_id))
        reply = turn.reply
        if turn.session_id != self._shown.session_id:
            return
        if reply is not None and any(entry.id == reply.id for entry in outline):
            self._messages.finish_reply(await self._sessions.message(reply.id))
        else:
            self._messages.remove_placeholder()
            if reply is not None:
                self._messages.remove_messages(reply.id)

    async def load_newest_message(self) -> Message | None:
        """Return the newest message on display; None if there is none."""
        row = self._messages.rowCount() - 1
        return await self._sessions.message(self._messages.outline(row).id) if row >= 0 else None

    async def delete_message(self, session_id: UUID, message_id: UUID) -> None:
        """Delete a message and update the transcript."""
        await self._message_editing.delete(session_id, message_id)
        await self.reload_messages(session_id)

    async def reload_messages(self, session_id: UUID, edited_messages: Sequence[UUID] = ()) -> None:
        """Show which messages a session has now, and those that were edited, if it is on display."""
        outline = await self._sessions.outline(session_id)
        if session_id == self._shown.session_id:
            self._messages.refresh_outlines(outline)
            for message_id in edited_messages:
                self._messages.replace_message(await self._sessions.message(message_id))

    async def _select_alternative(self, message_id: UUID, index: int) -> None:
        self._messages.replace_message(await self._message_editing.show_alternative(message_id, index))
        if (row := self._messages.row_of(message_id)) is not None:
            shown = self._messages.index(row).data(Qt.ItemDataRole.AccessibleDescriptionRole)
            announce(self._composer, f"{shown}. {self._messages.accessible_text(row)}")
