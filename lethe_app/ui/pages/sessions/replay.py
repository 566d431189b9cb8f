"""Replay of a conversation: its messages are selected one after the other, each for as long as it takes to read it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from lethe_app.ui.pages.sessions.transcript import Transcript

CHARACTERS_PER_SECOND = 25
"""Reading speed: about 250 words a minute."""
MIN_SECONDS, MAX_SECONDS = 1.5, 20.0
"""Shortest and longest time for one message; whoever reads longer pauses."""


def reading_ms(length: int) -> int:
    """Return the time to read a message of `length` characters, in milliseconds."""
    return round(1000 * min(max(length / CHARACTERS_PER_SECOND, MIN_SECONDS), MAX_SECONDS))


class TranscriptReplay(QObject):
    """Replays the transcript on display, from the selected message on or else from its beginning."""

    running_changed = Signal(bool)

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._show_next)
        self._row = -1
        transcript.message_selected.connect(self._stop_at_other_message)
        transcript.chat_model.modelReset.connect(self.stop)

    @property
    def is_running(self) -> bool:
        """Return whether messages are being replayed."""
        return self._row >= 0

    def toggle(self) -> None:
        """Start the replay, or pause it at the present message."""
        if self.is_running:
            self.stop()
            return
        message = self._transcript.message
        row = self._transcript.chat_model.row_of(message) if message is not None else None
        is_at_end = row == self._transcript.chat_model.rowCount() - 1
        self._show_row(0 if row is None or is_at_end else row)

    def stop(self) -> None:
        """Stop the replay; the present message stays selected."""
        self._timer.stop()
        if self.is_running:
            self._row = -1
            self.running_changed.emit(False)

    def _show_next(self) -> None:
        if self._transcript.isVisible():
            self._show_row(self._row + 1)
        else:  # another tab or page was opened
            self.stop()

    def _show_row(self, row: int) -> None:
        """Select and show a message, and plan the next one; after the last one the replay ends."""
        model = self._transcript.chat_model
        if row >= model.rowCount():
            self.stop()
            return
        was_running, self._row = self.is_running, row
        self._transcript.focus_row(row)
        self._transcript.select_message(model.outline(row).id)
        self._timer.start(reading_ms(model.outline(row).length))
        if not was_running:
            self.running_changed.emit(True)

    def _stop_at_other_message(self, message: object) -> None:
        """Stop if the user selects another message than the one being shown."""
        if self.is_running and self._transcript.chat_model.outline(self._row).id != message:
            self.stop()
