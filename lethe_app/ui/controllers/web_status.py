"""Show in the status line that web access is enabled, and each web request while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, QTimer

from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.web_requests import format_running_request
from lethe_app.ui.core.palette import ICON, SPACE_1

if TYPE_CHECKING:
    from lethe_app.domain.web import OutgoingRequest
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.web.gate import WebGate
    from lethe_app.ui.chat.status_line import StatusLine
    from lethe_app.ui.core.theme import Theme

MIN_DISPLAY_MS = 2500
"""Minimum time for which a request is shown, so that a fast one can be read."""


class WebStatusController(QObject):
    """Follows the web gate and the setting for web access."""

    def __init__(self, status: StatusLine, theme: Theme, web_gate: WebGate, preferences: Preferences) -> None:
        super().__init__(status)
        self._status, self._theme, self._preferences = status, theme, preferences
        self._running_requests: dict[UUID, str] = {}
        self._clear_timer = QTimer(self, singleShot=True, interval=MIN_DISPLAY_MS)
        self._clear_timer.timeout.connect(lambda: self._status.show_web_request(""))
        self._unsubscribers = [
            web_gate.changed.add(self._on_request_changed),
            preferences.changed.add(lambda _settings: self._update_icon()),
        ]
        self._theme.changed.connect(self._update_icon)
        self._update_icon()

    def close(self) -> None:
        """Disconnect from services and theme, and clear the status."""
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        self._theme.changed.disconnect(self._update_icon)
        self._clear_timer.stop()
        self._status.show_web_request("")

    def _on_request_changed(self, request: OutgoingRequest) -> None:
        if request.is_under_way:
            self._running_requests[request.id] = format_running_request(request)
            self._clear_timer.stop()
        else:
            self._running_requests.pop(request.id, None)
        if self._running_requests:
            self._status.show_web_request(next(reversed(self._running_requests.values())))
        elif not self._clear_timer.isActive():
            self._clear_timer.start()

    def _update_icon(self) -> None:
        allowed = self._preferences.current.web_allowed
        self._status.show_web_icon(load_icon("globe", self._theme.palette.water, ICON - SPACE_1) if allowed else None)
