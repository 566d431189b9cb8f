"""The rules by which the persona brings things up of her own accord, and how long ago she last did."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.brain.dates.arithmetic import elapsed
from lethe_app.domain.memory import MemoryInsertion, MemoryType

WAITING = frozenset({MemoryInsertion.NATURAL, MemoryInsertion.NATURAL_FORCED})
"""Insertions of memories that wait for their moment."""


class ProactiveRules(BaseModel):
    """All numbers of these policies with their defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_insert_delay_minutes: int = Field(default=30, ge=0)
    """Between two memories that come by time."""
    min_message_delay: int = Field(default=4, ge=0)
    """Messages of the user between two of these."""
    eureka_cut_off_days: int = Field(default=15, ge=0)
    """A memory that waited longer for its moment is stale."""
    disable_eurekas: bool = False
    hours_before_afk: float = Field(default=4.0, ge=0)
    """Silence after which the user has been away."""
    min_no_recall_days_per_priority: int = Field(default=10, ge=0)
    """Days without being brought up that each level of priority, and one more, lets a decaying memory live."""
    mood_handling: bool = True
    static_mood: bool = False
    decaying: frozenset[MemoryType] = frozenset({MemoryType.WEB_SEARCH, MemoryType.GOAL, MemoryType.REMINDER})
    silent: frozenset[MemoryType] = frozenset({MemoryType.FILE, MemoryType.IMAGE})
    """What they say brings them up never, a keyword may."""
    natural_limit: float = Field(default=0.09, ge=0)
    """Cosine distance up to which a waiting memory is relevant; what is near depends on the embedder, so calibrate it."""


class Pace(BaseModel):
    """How long she has held back; kept with the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: int = Field(default=0, ge=0)
    """Of the user since a waiting memory last came."""
    last_insert: AwareDatetime

    @classmethod
    def fresh(cls, moment: datetime) -> Self:
        """At the start of a session, and whenever a waiting memory came."""
        return cls(messages=0, last_insert=moment)

    def counted(self) -> Self:
        """After one more message of the user; a message that is answered again is not one more."""
        return self.model_copy(update={"messages": self.messages + 1})

    def allows(self, moment: datetime, rules: ProactiveRules) -> bool:
        """May one come by time? A last time that lies ahead, for the clock was put back, holds nothing up."""
        waited = elapsed(self.last_insert, moment)
        soon = timedelta() <= waited < timedelta(minutes=rules.min_insert_delay_minutes)
        return self.messages >= rules.min_message_delay and not soon
