"""What a session remembers of its world entries from turn to turn: which are still awake and which must rest."""

from __future__ import annotations

import hashlib
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from lethe_app.domain.worldinfo import WorldEntry

_TICKING = {"last_trigger", "trigger_count", "enabled"}
"""Change without anyone editing the entry, or say nothing about it."""


class EntryState(BaseModel):
    """One awakening, in numbers of turns; the last turn of each span belongs to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    activated_at: int
    active_until: int
    cooldown_until: int
    content_hash: str

    def counts_in(self, turn: int) -> bool:
        """Does it still matter? One of this turn or a later one does not: that turn is being played again."""
        return self.activated_at < turn <= self.cooldown_until

    def is_active(self, turn: int) -> bool:
        """Is it still awake in a turn in which it counts?"""
        return turn <= self.active_until

    def is_resting(self, turn: int) -> bool:
        """Or must it rest in it?"""
        return turn > self.active_until


class LoreState(BaseModel):
    """Belongs to a session and is kept with it. It counts nothing down: a turn evaluated twice ticks once.

    Where several personas answer in one turn, each has a state of its own, or one evaluation serves them all.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: dict[UUID, EntryState] = Field(default_factory=dict)


def woken(entry: WorldEntry, turn: int) -> EntryState | None:
    """What is to be remembered of an entry that wakes in this turn; nothing if it leaves no trace in the next."""
    if entry.duration == 1 and entry.cooldown == 0:
        return None
    until = turn + entry.duration - 1
    return EntryState(
        activated_at=turn,
        active_until=until,
        cooldown_until=until + entry.cooldown,
        content_hash=content_hash(entry),
    )


def content_hash(entry: WorldEntry) -> str:
    """Another one as soon as anything the user can edit is another."""
    told = entry.model_dump_json(exclude=_TICKING, exclude_defaults=True)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
