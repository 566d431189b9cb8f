"""Report input and unsent drafts to the services that wait until the user is idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.input_watch import InputWatch

if TYPE_CHECKING:
    from lethe_app.services.scheduling.loop import Idleness
    from lethe_app.ui.shell.main_window import MainWindow


class UserActivity(Controller):
    """Reports each input in a window of the program, and whether a message is being written."""

    def __init__(self, window: MainWindow, idleness: Idleness) -> None:
        super().__init__(window)
        self._idleness = idleness
        self._draft_field = window.chat.composer.draft_field
        self._input_watch = InputWatch(self)
        self._input_watch.active.connect(idleness.record_action)
        self._draft_field.textChanged.connect(self._on_draft_changed)
        idleness.start_watching()
        self._on_draft_changed()

    def close(self) -> None:
        """Stop reporting."""
        super().close()
        self._input_watch.close()
        self._draft_field.textChanged.disconnect(self._on_draft_changed)
        self._idleness.stop_watching()

    def _on_draft_changed(self) -> None:
        self._idleness.set_composing(has_text=not self._draft_field.document().isEmpty())
