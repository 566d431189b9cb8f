"""Knows how long the user has been away, from what the window tells: keys, clicks, words that stand in the writing field."""

from __future__ import annotations

from datetime import datetime, timedelta

from lethe_app.domain.clock import now
from lethe_app.services.events import Listeners

LONGEST_DRAFT = timedelta(hours=6)
"""After so long without a key, words in the writing field no longer say that the user is there."""


class Idleness:
    """While no window tells anything, nobody can say whether the user is away: then they count as here."""

    def __init__(self) -> None:
        self.touched: Listeners[None] = Listeners()
        """The user did something."""
        self._last: datetime | None = None
        self._is_composing = False

    def watch(self) -> None:
        """From now on somebody tells; the user is here."""
        self._last = now()

    def look_away(self) -> None:
        """Nobody tells any more."""
        self._last, self._is_composing = None, False

    def touch(self) -> None:
        """A key, a click, a message."""
        if self._last is not None:
            self._last = now()
        self.touched.tell(None)

    def compose(self, *, words: bool) -> None:
        """Do words stand in the writing field? Who has begun to write has not gone."""
        self._is_composing = words
        self.touch()

    @property
    def idle(self) -> timedelta | None:
        """Time since the user did anything; none while a draft stands that is not old; None where nobody can tell."""
        if self._last is None:
            return None
        moment = now()
        self._last = min(self._last, moment)  # a clock that was put back must not make them stay for hours
        idle = moment - self._last
        return timedelta() if self._is_composing and idle < LONGEST_DRAFT else idle
