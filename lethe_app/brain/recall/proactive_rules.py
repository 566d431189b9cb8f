"""Which memories the persona brings up proactively, and the pace at which they come."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.config.settings import Settings
from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.memory import MemoryInsertion

WAITING_INSERTIONS = frozenset({MemoryInsertion.NATURAL, MemoryInsertion.NATURAL_FORCED})
"""Insertion types of memories that wait to be brought up proactively."""


class ProactivePace(BaseModel):
    """Time and messages since a waiting memory was last brought up; stored per session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: int = Field(default=0, ge=0)
    """User messages since a waiting memory was last brought up."""
    last_insert: AwareDatetime

    @classmethod
    def start(cls, moment: datetime) -> Self:
        """Create the pace at the start of a session, and after each waiting memory that was brought up."""
        return cls(messages=0, last_insert=moment)

    def count_message(self) -> Self:
        """Return the pace after one more user message. Do not call it when a message is answered again."""
        return self.model_copy(update={"messages": self.messages + 1})

    def is_insertion_allowed(self, moment: datetime, settings: Settings) -> bool:
        """Return whether a memory may be brought up because of elapsed time. A `last_insert` in the future, because the
        clock was set back, does not block it.
        """
        waited = elapsed(self.last_insert, moment)
        is_too_soon = timedelta() <= waited < timedelta(minutes=settings.min_insert_delay)
        return self.messages >= settings.min_message_delay and not is_too_soon
