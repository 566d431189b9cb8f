"""Show in the status line that web access is enabled, and each web request while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, QTimer

from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.pages.web_log.labels import happening_in_words

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.web import Outgoing
    from lethe_app.ui.shell.main_window import MainWindow

STAYS_MS = 2500
"""Minimum time for which a request is shown, so that a fast one can be read."""


class WebStatusController(QObject):
    """Follows the web gate and the setting for web access."""

    def __init__(self, window: MainWindow, services: AppServices) -> None:
        super().__init__(window)
        self._status, self._theme, self._preferences = window.chat.status, window.theme, services.preferences
        self._under_way: dict[UUID, str] = {}
        self._end = QTimer(self, singleShot=True, interval=STAYS_MS)
        self._end.timeout.connect(lambda: self._status.show_outgoing(""))
        self._forget = [
            services.surfing.changed.add(self._follow),
            services.preferences.changed.add(lambda _settings: self._dress()),
        ]
        self._theme.changed.connect(self._dress)
        self._dress()

    def close(self) -> None:
        """Disconnect from services and theme, and clear the status."""
        for forget in self._forget:
            forget()
        self._theme.changed.disconnect(self._dress)
        self._end.stop()
        self._status.show_outgoing("")

    def _follow(self, one: Outgoing) -> None:
        if one.is_under_way:
            self._under_way[one.id] = happening_in_words(one)
            self._end.stop()
        else:
            self._under_way.pop(one.id, None)
        if self._under_way:
            self._status.show_outgoing(next(reversed(self._under_way.values())))
        elif not self._end.isActive():
            self._end.start()

    def _dress(self) -> None:
        allowed = self._preferences.current.web_allowed
        self._status.show_internet(icon("globe", self._theme.palette.water, ICON - SPACE_1) if allowed else None)
