"""Idle time of the user, from events that the window reports: keys, clicks, text in the input field."""

from __future__ import annotations

from datetime import datetime, timedelta

from lethe_app.domain.clock import now
from lethe_app.services.events import Listeners

MAX_DRAFT_AGE = timedelta(hours=6)
"""Time without a key after which text in the input field no longer counts as presence of the user."""


class Idleness:
    """Idle time of the user. Without a window that reports events it is unknown, and the user counts as present."""

    def __init__(self) -> None:
        self.user_active: Listeners[None] = Listeners()
        """Emitted when the user did something."""
        self.composing: Listeners[None] = Listeners()
        """Emitted when the user changed a draft that is not empty."""
        self._last_action: datetime | None = None
        self._is_composing = False

    def start_watching(self) -> None:
        """Start measuring: a window reports events from now on."""
        self._last_action = now()

    def stop_watching(self) -> None:
        """Stop measuring: no window reports events any more."""
        self._last_action, self._is_composing = None, False

    def record_action(self) -> None:
        """Record an action of the user: a key, a click, a message."""
        if self._last_action is not None:
            self._last_action = now()
        self.user_active.notify(None)

    def set_composing(self, *, has_text: bool) -> None:
        """Record whether the input field contains text; a user who has begun to write counts as present."""
        self._is_composing = has_text
        self.record_action()
        if has_text:
            self.composing.notify(None)

    @property
    def idle_time(self) -> timedelta | None:
        """Return the time since the user's last action, 0 while there is a recent draft, None if unknown."""
        if self._last_action is None:
            return None
        moment = now()
        self._last_action = min(self._last_action, moment)  # a clock that was set back must not keep the user present for hours
        idle = moment - self._last_action
        return timedelta() if self._is_composing and idle < MAX_DRAFT_AGE else idle
