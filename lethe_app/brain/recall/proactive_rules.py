"""Rules for memories that the persona brings up proactively and for decay, and the pace at which proactive memories come."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.memory import MemoryInsertion, MemoryType

WAITING_INSERTIONS = frozenset({MemoryInsertion.NATURAL, MemoryInsertion.NATURAL_FORCED})
"""Insertion types of memories that wait to be brought up proactively."""


class ProactiveRules(BaseModel):
    """Limits of proactive recall, absence, mood and decay, with their defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_insert_delay_minutes: int = Field(default=30, ge=0)
    """Minutes between two memories that are brought up because of elapsed time."""
    min_message_delay: int = Field(default=4, ge=0)
    """User messages between two memories that are brought up because of elapsed time."""
    eureka_cut_off_days: int = Field(default=15, ge=0)
    """Days after which a waiting memory that was not brought up is stale."""
    disable_eurekas: bool = False
    hours_before_afk: float = Field(default=4.0, ge=0)
    """Hours without a user message after which the user counts as having been away."""
    min_no_recall_days_per_priority: int = Field(default=10, ge=0)
    """Days without a recall that a decaying memory lives per level of priority, plus one level."""
    mood_handling: bool = True
    static_mood: bool = False
    decaying: frozenset[str] = frozenset({MemoryType.WEB_SEARCH, MemoryType.GOAL, MemoryType.REMINDER})
    silent: frozenset[str] = frozenset({MemoryType.FILE, MemoryType.IMAGE})
    """Types that are never recalled by their content, but may be by a keyword."""
    natural_limit: float = Field(default=0.09, ge=0)
    """Cosine distance up to which a waiting memory is relevant to the message. It depends on the embedding model; calibrate
    it.
    """


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

    def is_insertion_allowed(self, moment: datetime, rules: ProactiveRules) -> bool:
        """Return whether a memory may be brought up because of elapsed time. A `last_insert` in the future, because the
        clock was set back, does not block it.
        """
        waited = elapsed(self.last_insert, moment)
        is_too_soon = timedelta() <= waited < timedelta(minutes=rules.min_insert_delay_minutes)
        return self.messages >= rules.min_message_delay and not is_too_soon
