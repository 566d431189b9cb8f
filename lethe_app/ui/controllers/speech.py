"""Speech of the session on display: speak replies as they stream, read messages aloud, and stop as soon as the user acts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QInputMethodEvent, QKeySequence

from lethe_app.domain.chat import ChatSession, Role
from lethe_app.errors import LetheError
from lethe_app.services.events import ReplyFinished, ReplyStarted, ReplyText, TurnEvent
from lethe_app.services.speech.session_speech import SpeechMode
from lethe_app.ui.controllers.controller import Controller

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.services.speech.output import SpeechOutput
    from lethe_app.services.speech.session_speech import SessionSpeech
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.reply_state import ReplyState
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView

STOPPING_ACTIONS = ("stop", "regenerate", "continue_reply", "previous_reply", "next_reply", "edit_last")
"""Actions of the window that silence the voice."""
ESCAPE = QKeySequence("Esc")


class SpeechController(Controller):
    """Controller of the voice."""

    def __init__(
        self,
        window: MainWindow,
        view: ChatView,
        replies: ReplyController,
        shown_session: ShownSession,
        directory: PersonaDirectory,
        speech_output: SpeechOutput,
        session_speech: SessionSpeech,
    ) -> None:
        super().__init__(window)
        self._view, self._messages = view, view.chat_model
        self._shown, self._directory = shown_session, directory
        self._output, self._session_speech = speech_output, session_speech
        self._buttons = window.chat.header.speech
        self.mode = SpeechMode(is_spoken=False, has_spoken_style=False)
        """Mode of the session on display."""
        self._is_copying = False
        """True while a session takes over the mode of the one before, which must not be shown as switched off meanwhile."""
        self._unsubscribers += [
            self._output.speaking_changed.add(self._on_speaking_changed),
            self._output.failed.add(self._notifier.report_error),
        ]
        self.follow(self._start_loading_mode, session_speech.defaults_changed)
        self._stop_keys = self._actions["stop_speaking"].shortcuts()
        self._connect_actions()
        self._connect_user_input()
        replies.event_received.connect(self._on_reply_event)
        replies.turn_ended.connect(self._on_turn_ended)
        shown_session.session_changed.connect(self._on_session_changed)
        self._on_speaking_changed(is_speaking=False)

    def _connect_actions(self) -> None:
        buttons = self._buttons
        self._actions.connect(
            speak_replies=lambda: self._change_spoken(not self.mode.is_spoken),
            spoken_style=lambda: self._change_style(not self.mode.has_spoken_style),
            read_aloud=self._read_last_reply,
            stop_speaking=self.stop_speaking,
        )
        self._actions["stop"].changed.connect(self._update_escape)
        buttons.speak_button.clicked.connect(self._change_spoken)
        buttons.style_action.triggered.connect(self._change_style)
        buttons.stop_button.clicked.connect(self.stop_speaking)

    def _connect_user_input(self) -> None:
        """Stop when the user types or sends, and when what is spoken is changed."""
        composer, view = self._window.chat.composer, self._view
        composer.draft_field.textChanged.connect(self._on_draft_changed)
        composer.draft_field.installEventFilter(self)
        stopping = (*(self._actions[name].triggered for name in STOPPING_ACTIONS), composer.sent)
        for signal in (*stopping, view.regenerate_requested, view.continue_requested):
            signal.connect(lambda *_values: self.stop_speaking())
        for requested in (view.edit_requested, view.delete_requested):
            requested.connect(self._stop_message)
        view.alternative_requested.connect(lambda message_id, _index: self._stop_message(message_id))
        view.read_requested.connect(self.read_message)

    def close(self) -> None:
        """Silence the voice and disconnect from the services."""
        self.stop_speaking()
        super().close()

    # Voice

    @property
    def is_speaking(self) -> bool:
        """Return whether something is being spoken."""
        return self._output.is_speaking

    def stop_speaking(self) -> None:
        """Silence the voice at once; the rest of the text is not spoken any more."""
        self._output.stop_speaking()

    def read_message(self, message_id: UUID) -> None:
        """Read a message aloud in the voice of its speaker."""
        row = self._messages.row_of(message_id)
        message = self._messages.message(row) if row is not None else None
        if message is not None:
            self._output.speak_text(message.content, message_id, self._voice_of(message.speaker))

    def _read_last_reply(self) -> None:
        row = self._messages.find_last(Role.ASSISTANT)
        if row is not None and row != self._messages.growing_row:
            self.read_message(self._messages.outline(row).id)

    def _voice_of(self, speaker: str) -> str:
        """Return the voice of a persona; empty if it has none of its own."""
        persona = self._directory.personas.get(speaker)
        return persona.tts_voice if persona is not None else ""

    def _on_speaking_changed(self, is_speaking: bool) -> None:
        self._buttons.show_speaking(is_speaking=is_speaking)
        self._actions["stop_speaking"].setEnabled(is_speaking)
        self._update_escape()

    def _update_escape(self) -> None:
        """Let Esc stop the voice, unless it stops the reply, and thereby the voice as well, or the dictation."""
        is_free = not self._actions["stop"].isEnabled()
        keys = [*self._stop_keys, *([ESCAPE] if self.is_speaking and is_free else [])]
        self._actions["stop_speaking"].setShortcuts(keys)

    # User input

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stop also while an input method composes a word, which is not part of the draft yet."""
        if isinstance(event, QInputMethodEvent) and event.preeditString():
            self.stop_speaking()
        return super().eventFilter(watched, event)

    def _on_draft_changed(self) -> None:
        if not self._window.chat.composer.is_empty:
            self.stop_speaking()

    def _stop_message(self, message_id: UUID) -> None:
        if self._output.is_message_spoken(message_id):
            self.stop_speaking()

    # Replies

    def _on_reply_event(self, turn: ReplyState, event: TurnEvent) -> None:
        if turn.session_id != self._shown.session_id:
            return
        reply = turn.reply
        if isinstance(event, ReplyStarted) and reply is not None and self.mode.is_spoken:
            # The replies of a group are spoken one after the other.
            self._output.begin_text(reply.id, self._voice_of(reply.speaker), follows=turn.has_answered)
        elif isinstance(event, ReplyText) and reply is not None and self._output.is_message_spoken(reply.id):
            self._output.add_text(event.text)
        elif isinstance(event, ReplyFinished) and self._output.is_message_spoken(event.message.id):
            self._output.end_text()
        self._update_escape()

    def _on_turn_ended(self, turn: ReplyState) -> None:
        if turn.session_id == self._shown.session_id and turn.reply is not None:  # it failed or was stopped
            if turn.is_stopped:
                self.stop_speaking()
            else:
                self._output.end_text()
        self._update_escape()

    # Mode of the session

    def _on_session_changed(self, session: ChatSession, replaced_id: UUID | None) -> None:
        """Load the mode, or keep what was chosen for the session that the user's message has just replaced."""
        self.stop_speaking()
        if replaced_id is None:
            self._start_loading_mode()
        else:
            self._tasks.cancel("speech mode")
            self._is_copying = True
            self._tasks.start_task(self._copy_mode(replaced_id, session.guid))

    def _start_loading_mode(self) -> None:
        if self._shown.session is not None and not self._is_copying:
            self._tasks.start_task(self._load_mode(self._shown.session.guid), key="speech mode")

    async def _load_mode(self, session_id: UUID) -> None:
        mode = await self._session_speech.mode_of(session_id)
        self._show_mode(session_id, mode)
        if mode.is_spoken:
            with suppress(LetheError):  # the first reply reports it
                await self._connect_voice()

    async def _connect_voice(self) -> None:
        session = self._shown.session
        await self._output.connect(self._voice_of(session.persona_id) if session is not None else "")

    async def _copy_mode(self, source_id: UUID, target_id: UUID) -> None:
        try:
            self._show_mode(target_id, await self._session_speech.copy_mode(source_id, target_id))
        finally:
            self._is_copying = False

    def _change_spoken(self, is_on: bool) -> None:
        if not is_on:
            self.stop_speaking()
        self._tasks.start_task(self._set_spoken(is_on=is_on))

    async def _set_spoken(self, *, is_on: bool) -> None:
        if (session_id := self._shown.session_id) is not None:
            self._show_mode(session_id, await self._session_speech.set_spoken(session_id, is_on=is_on))
            if is_on:
                await self._connect_voice()

    def _change_style(self, is_on: bool) -> None:
        self._tasks.start_task(self._set_style(is_on=is_on))

    async def _set_style(self, *, is_on: bool) -> None:
        if (session_id := self._shown.session_id) is not None:
            self._show_mode(session_id, await self._session_speech.set_style(session_id, is_on=is_on))

    def _show_mode(self, session_id: UUID, mode: SpeechMode) -> None:
        if session_id == self._shown.session_id:
            self.mode = mode
            self._buttons.show_mode(is_spoken=mode.is_spoken, has_spoken_style=mode.has_spoken_style)
