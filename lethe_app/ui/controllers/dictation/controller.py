"""Dictation in the window: the microphone button and its shortcut, the words in the message box, and hands-free mode."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent

from lethe_app.errors import LetheError, SpeechModelMissing
from lethe_app.services.speech.dictation import (
    DictationEnded,
    DictationEvent,
    HeardText,
    SoundFormat,
    SpeechBegan,
)
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.controllers.dictation.microphone import Microphone, SystemMicrophone
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.routes import ModelsRoute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lethe_app.services.preferences import Preferences
    from lethe_app.services.speech.dictation import Dictation
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.shell.main_window import MainWindow

HOLD_MS = 350
"""Milliseconds after which a press counts as held: its release ends dictation. After a shorter one, another press does."""
REPEAT_MS = 80
"""Milliseconds within which a key that is held down is “pressed” again after its “release”, as X11 repeats keys; Qt marks most
of these events, but not all on a busy computer.
"""
SHORTCUT_KEYS = {Qt.Key.Key_Space, Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Meta}
"""Keys of the shortcut; the first one released ends a dictation for which it was held."""


class DictationPhase(StrEnum):
    """What dictation does."""

    OFF = "off"
    STARTING = "starting"
    """The microphone is being opened."""
    LISTENING = "listening"
    FINISHING = "finishing"
    """The microphone is off, and the last words are being recognised."""


class DictationController(Controller):
    """Writes what the user says into the message box. In hands-free mode it listens until it is switched off, and what is said
    is sent after each pause.
    """

    speech_started = Signal()
    """Emitted when the user begins to speak, so that a reply that is read aloud can stop."""

    def __init__(
        self,
        window: MainWindow,
        dictation: Dictation,
        preferences: Preferences,
        shown_session: ShownSession,
        replies: ReplyController,
        open_page: Callable[[Route], None],
    ) -> None:
        super().__init__(window)
        self._composer, self._button = window.chat.composer, window.chat.composer.microphone_button
        self._dictation, self._preferences = dictation, preferences
        self._replies, self._stop_action = replies, self._actions["stop"]
        self.microphone: Microphone = SystemMicrophone(self)
        self.is_output_playing: Callable[[], bool] = lambda: False
        """Tells whether a reply is being read aloud, which the microphone hears unless the user wears headphones."""
        self.phase = DictationPhase.OFF
        self._is_hands_free = False
        self._model: Path | None = None
        self._format = SoundFormat()
        self._awaits_sound = False
        """True until the first sound: a microphone may take a second to start, and what is said before is lost."""
        self._stream = 0
        """Number of the latest stream: from one press of the button to the next."""
        self._open_segments = 0
        """Pieces of speech that have begun and whose final text has not come yet."""
        self._has_unsent_text = False
        """True if what was said in hands-free mode is to be sent after a pause."""
        self._sends_when_idle = False
        """True if the draft is sent as soon as the reply that was interrupted is stored."""
        self._hold_timer = QTimer(self, singleShot=True, interval=HOLD_MS)
        self._release_timer = QTimer(self, singleShot=True, interval=REPEAT_MS)
        self._release_timer.timeout.connect(self._end_hold)
        self._was_held = False
        self._is_pressed = False
        """True while the button or the shortcut that began dictation is still down."""
        self._notifier.register_remedy(
            SpeechModelMissing, self.tr("Speech models"), lambda: open_page(ModelsRoute(shows_speech=True)), replaces_text=True
        )
        self._button.pressed.connect(self._on_pressed)
        self._button.released.connect(self._on_released)
        self._button.hovered.connect(lambda: self._tasks.start_task(self._explain(), key="dictation problem"))
        self._button.hidden.connect(self.cancel)
        self._actions["dictate"].setAutoRepeat(False)  # a key that is held would press it again and again
        self._actions.connect(dictate=self._on_shortcut, stop=self.cancel)
        self._composer.sent.connect(lambda _text, _is_dictated: self._begin_next_message())
        shown_session.session_changed.connect(lambda *_sessions: self._begin_next_message())
        replies.turn_ended.connect(lambda _turn: self._on_turn_ended())

    # What the user does.

    def start(self) -> None:
        """Begin to listen, also while what was said before is still being recognised."""
        if self.phase in {DictationPhase.OFF, DictationPhase.FINISHING}:
            self._is_hands_free = self._preferences.current.hands_free
            self._set_phase(DictationPhase.STARTING)
            self._tasks.start_task(self._start(), key="dictation")

    def finish(self) -> None:
        """Switch the microphone off; what was said is still written."""
        if self.phase is DictationPhase.STARTING:
            self.cancel()
        elif self.phase is DictationPhase.LISTENING:
            self.microphone.close()
            self._dictation.finish()
            self._set_phase(DictationPhase.FINISHING)

    def cancel(self) -> None:
        """Switch the microphone off and drop the words that are not final."""
        if self.phase is not DictationPhase.OFF:
            self._tasks.cancel("dictation")
            self._dictation.cancel()
            self._stop()

    def close(self) -> None:
        """End dictation with the window."""
        super().close()
        self.cancel()

    def _on_pressed(self) -> None:
        self._is_pressed = True
        if self.phase in {DictationPhase.OFF, DictationPhase.FINISHING}:
            self._hold_timer.start()
            self.start()
        else:
            self._hold_timer.stop()
            self.finish()

    def _on_released(self) -> None:
        self._was_held = not self._hold_timer.isActive()
        self._end_hold()

    def _end_hold(self) -> None:
        """End dictation if the button or shortcut that began it was held."""
        window = self._composer.window().windowHandle()
        if window is not None:
            window.removeEventFilter(self)
        if self._is_pressed and self.phase is not DictationPhase.OFF and self._was_held:
            self.finish()
        self._is_pressed = False

    def _on_shortcut(self) -> None:
        """Begin or end dictation by the shortcut or a command; only for the shortcut a key is down whose release counts."""
        if self._release_timer.isActive():  # the key was held all the time
            self._release_timer.stop()
            return
        self._on_pressed()
        window = self._composer.window().windowHandle()
        if window is not None and QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier:
            window.installEventFilter(self)
        else:
            self._is_pressed = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the release of the shortcut."""
        is_release = event.type() is QEvent.Type.KeyRelease
        if is_release and isinstance(event, QKeyEvent) and not event.isAutoRepeat() and event.key() in SHORTCUT_KEYS:
            self._was_held = not self._hold_timer.isActive()
            self._release_timer.start()
        return False

    async def _explain(self) -> None:
        """Say in the tooltip why dictation is not possible."""
        if self.phase is not DictationPhase.OFF:
            return
        try:
            await self._dictation.find_model()
            problem = ""
        except LetheError as error:
            problem = str(error)
        if self.phase is DictationPhase.OFF:
            self._button.show_problem(problem)

    # Listening.

    async def _start(self) -> None:
        try:
            self._model = await self._dictation.find_model()
            self._format = await self.microphone.open(self._on_sound, self._on_failure)
        except LetheError:
            self._stop()
            raise
        self._listen(self._model)
        self._set_phase(DictationPhase.LISTENING)

    def _listen(self, model: Path) -> None:
        """Begin another stream."""
        self._stream = stream = self._stream + 1
        self._dictation.start(model, self._format, lambda event: self._on_event(event, is_latest=stream == self._stream))

    def _on_sound(self, data: bytes) -> None:
        if self.phase is not DictationPhase.LISTENING:
            return
        if self.is_output_playing() and not self._preferences.current.barge_in:
            data = bytes(len(data))  # silence in its place, so that what was said before still ends with a pause
        if self._awaits_sound:
            self._awaits_sound = False
            self._show_state(self.tr("Listening…"))
        self._button.set_level(self._dictation.add_sound(data))

    def _on_event(self, event: DictationEvent, *, is_latest: bool) -> None:
        """Handle an event of the latest stream, or of one before that is still being recognised."""
        match event:
            case SpeechBegan():
                self._open_segments += 1
                self._interrupt()
            case HeardText(text=text, is_final=False) if is_latest:
                self._composer.dictated.show_partial(text)
            case HeardText(text=text, is_final=True):
                self._open_segments -= 1
                self._composer.dictated.commit(text)
                self._has_unsent_text |= bool(text) and self._is_hands_free and self._preferences.current.hands_free_sends
                if self._has_unsent_text and not self._open_segments:  # who already speaks on has not finished
                    self._send()
            case DictationEnded(error=error) if is_latest:
                self._stop()
                if error is not None:
                    self._notifier.report_error(error)

    def _on_failure(self, error: LetheError) -> None:
        """Recognise what was heard before the microphone failed."""
        self.finish()
        self._notifier.report_error(error)

    def _interrupt(self) -> None:
        if self._preferences.current.barge_in:
            self.speech_started.emit()
            if self._is_hands_free:
                self._replies.stop_reply()

    def _send(self) -> None:
        """Send the draft, or wait until the reply that was interrupted is stored."""
        self._has_unsent_text = False
        if self._replies.is_busy:
            self._sends_when_idle = True
            self._replies.stop_reply()
        else:
            self._composer.submit()

    def _on_turn_ended(self) -> None:
        self._update_stop_action()
        if self._sends_when_idle and not self._replies.is_busy:
            self._sends_when_idle = False
            self._composer.submit()

    def _begin_next_message(self) -> None:
        """Forget what is being heard, because its words were sent, or another conversation is on display. Only hands-free mode
        goes on.
        """
        self._sends_when_idle = False
        is_going_on = self._is_hands_free and self.phase is DictationPhase.LISTENING
        if not is_going_on:
            self.cancel()
        elif self._composer.dictated.partial and self._model is not None:
            self._composer.dictated.commit("")
            self._dictation.cancel()
            self._open_segments, self._has_unsent_text = 0, False
            self._listen(self._model)

    def _stop(self) -> None:
        self.microphone.close()
        self._composer.dictated.commit("")
        self._set_phase(DictationPhase.OFF)

    # Display.

    def _set_phase(self, phase: DictationPhase) -> None:
        self.phase, self._awaits_sound = phase, phase is DictationPhase.LISTENING
        if phase is DictationPhase.OFF:
            self._open_segments, self._has_unsent_text = 0, False
        is_on = phase in {DictationPhase.STARTING, DictationPhase.LISTENING}
        self._button.set_on(is_on=is_on)
        self._show_state(
            {
                DictationPhase.OFF: "",
                DictationPhase.STARTING: self.tr("Opening the microphone…"),
                DictationPhase.LISTENING: self.tr("Opening the microphone…"),
                DictationPhase.FINISHING: self.tr("Recognising…"),
            }[phase]
        )
        self._update_stop_action()

    def _show_state(self, text: str) -> None:
        self._composer.show_dictation_state(text)
        if text:
            announce(self._button, text)

    def _update_stop_action(self) -> None:
        """Let Esc cancel dictation as it stops a reply."""
        self._stop_action.setEnabled(self._replies.is_busy or self.phase is not DictationPhase.OFF)
