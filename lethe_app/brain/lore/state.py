"""Per-session state of World Info entries across turns: active durations and cooldowns."""

from __future__ import annotations

import hashlib
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from lethe_app.domain.worldinfo import WorldEntry

_VOLATILE_FIELDS = {"last_trigger", "trigger_count", "enabled"}
"""Fields that change without the user editing the entry, or that say nothing about its content."""


class EntryState(BaseModel):
    """One activation in turn numbers; the last turn of each span is included."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    activated_at: int
    active_until: int
    cooldown_until: int
    content_hash: str

    def is_relevant_in(self, turn: int) -> bool:
        """Return whether the activation still matters; one of this turn or a later one does not, because that turn is being
        regenerated.
        """
        return self.activated_at < turn <= self.cooldown_until

    def is_active(self, turn: int) -> bool:
        """Return whether the entry is still active in a turn for which `is_relevant_in` is true."""
        return turn <= self.active_until

    def is_cooling_down(self, turn: int) -> bool:
        """Return whether the entry is in its cooldown in a turn for which `is_relevant_in` is true."""
        return turn > self.active_until


class LoreState(BaseModel):
    """World Info state of a session, stored with it. It holds turn numbers and no countdowns, so evaluating a turn twice
    changes nothing.

    If several personas answer in one turn, each needs its own state, or one evaluation must serve all of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: dict[UUID, EntryState] = Field(default_factory=dict)
    greeting: int | None = None
    """Number of the greeting with which the session began; known only while that is among the messages loaded."""


def build_entry_state(entry: WorldEntry, turn: int) -> EntryState | None:
    """Return the state of an entry activated in this turn; None if neither duration nor cooldown affects later turns."""
    if entry.duration == 1 and entry.cooldown == 0:
        return None
    active_until = turn + entry.duration - 1
    return EntryState(
        activated_at=turn,
        active_until=active_until,
        cooldown_until=active_until + entry.cooldown,
        content_hash=content_hash(entry),
    )


def content_hash(entry: WorldEntry) -> str:
    """Return a hash that changes whenever anything the user can edit changes."""
    # Without default values, a field added in a later version does not change the hashes of existing entries.
    payload = entry.model_dump_json(exclude=_VOLATILE_FIELDS, exclude_defaults=True)
    return hashlib.blake2b(payload.encode(), digest_size=8).hexdigest()
