"""Show in the transcript that the session has timed out, continue it on request, and report user input in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.errors import LetheError
from lethe_app.ui.core.formatting import minutes_in_words
from lethe_app.ui.transcript.painting.ended_line import EndedLine

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import Turns
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.view import ChatView


class SessionEnd(QObject):
    """Follows the session on display. Sessions do not time out while a message is being edited."""

    def __init__(self, window: MainWindow, services: AppServices, view: ChatView, turns: Turns, bridge: Bridge) -> None:
        super().__init__(window)
        self._window, self._services, self._view, self._bridge = window, services, view, bridge
        self._shown: UUID | None = None
        self.line = EndedLine(view.viewport())
        self.line.continue_wanted.connect(self._continue)
        services.timeout.is_edited = lambda session_id: session_id == self._shown and view.overlays.editor is not None
        self._forget = [
            services.sessions.changed.add(lambda _persona: self._look()),
            services.preferences.changed.add(lambda _settings: self._look()),
            services.idleness.touched.add(lambda _none: self._note_input()),
        ]
        turns.looked.connect(self._look_at)

    def close(self) -> None:
        """Disconnect from the services."""
        for forget in self._forget:
            forget()
        self._services.timeout.is_edited = lambda _session: False

    def _look_at(self, session_id: UUID) -> None:
        self._shown = session_id
        self._display(ended=False)
        self._look()

    def _look(self) -> None:
        if self._shown is not None:
            self._bridge.spawn(self._show(self._shown), lane="session end")

    async def _show(self, session_id: UUID) -> None:
        try:
            has_ended = await self._services.sessions.has_ended(session_id)
        except LetheError:
            return  # deleted meanwhile: another one is shown in a moment
        if session_id != self._shown:
            return
        if has_ended and not self.line.isVisibleTo(self._view):
            minutes = self._services.preferences.current.rotation_minutes
            words = self.tr("This conversation ended after {time} of inactivity")
            self.line.say(words.format(time=minutes_in_words(minutes)))
        self._display(ended=has_ended)

    def _display(self, *, ended: bool) -> None:
        self._view.overlays.set_footer(self.line if ended else None)
        self._window.chat.composer.set_ended(ended=ended)

    def _note_input(self) -> None:
        if self._shown is not None and self._window.pages.currentWidget() is self._window.panes:
            self._services.timeout.note_input(self._shown)

    def _continue(self) -> None:
        if self._shown is not None:
            self._window.go_to_field()
            self._bridge.spawn(self._services.sessions.reopen(self._shown))
