"""World Info: a world (lorebook) of entries that are activated by keywords, stored as one readable JSON file."""

from __future__ import annotations

from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lethe_app.domain.chat import Role
from lethe_app.domain.memory import MemoryType, MemoryUnit

_UNNAMED = UUID("5b0c6a5e-8f0b-4c53-9d0e-3a1f6a9f4a77")
_LONG_AGO = "1970-01-01T00:00:00Z"


class WorldEntry(MemoryUnit):
    """Lorebook entry with its keywords. `sticky` makes it constant: active without any keyword."""

    category: MemoryType = MemoryType.WORLD_INFO
    whole_word: bool = True
    """True if keywords match whole words only, so that “king” does not match “kingdom”. It has no effect in scripts that put
    no spaces between words.
    """
    scan_depth: int | None = Field(default=None, ge=0)
    """Number of the newest messages scanned for this entry's keywords; None uses the world's value."""
    cooldown: int = Field(default=0, ge=0)
    """Turns after its `duration` in which it cannot be activated again."""
    delay: int = Field(default=0, ge=0)
    """Messages, hidden ones not counted, that a session must have before the entry can be activated."""
    exclude_recursion: bool = False
    """True if texts of other entries cannot activate it."""
    prevent_recursion: bool = False
    """True if its text activates no other entry."""
    delay_until_recursion: int = Field(default=0, ge=0)
    """Recursion round from which on it can be activated; 0 is the first scan."""
    groups: list[str] = Field(default_factory=list)
    """Inclusion groups; at most one entry of a group is active."""
    group_override: bool = False
    """True if it takes precedence over group members without it; among several such the one with the highest `order` is
    taken.
    """
    group_weight: int = Field(default=100, ge=0)
    """Relative probability of being chosen when one entry of a group is drawn."""
    group_scoring: bool | None = None
    """True if it yields to group members with more matching keywords; None uses the world's value."""
    order: int = 100
    """Insertion order: at one position, a higher order is placed later. `priority` decides which entries exceed the budget,
    `order` only where an entry is placed.
    """
    role: Role = Role.SYSTEM
    """Role under which it is inserted among the messages."""
    ignore_budget: bool = False
    """True if it is inserted regardless of the token budget and does not count towards it."""
    do_embeds: bool | None = None
    """True if it is also recalled by similarity; None uses the world's value."""


class World(BaseModel):
    """World (lorebook): a named collection of entries."""

    model_config = ConfigDict(extra="forbid")

    unique_name: str = ""
    """File name without ending. Set by storage when the file is read."""
    name: str = Field(min_length=1)
    description: str = ""
    do_embeds: bool = True
    """True if the entries are recalled by similarity as well as by keyword."""
    scan_depth: int = Field(default=1, ge=0)
    """Number of the newest messages scanned for keywords, besides the one being sent."""
    least_awake: int = Field(default=0, ge=0)
    """Minimum of activations: while fewer entries are active, older messages are scanned too, one by one. This does not
    apply to entries with a scan depth of their own.
    """
    deepest_scan: int = Field(default=50, ge=0, le=200)
    """Maximum number of messages scanned to reach that minimum."""
    group_scoring: bool = False
    """True if entries yield to group members with more matching keywords."""
    recursive: bool = False
    """True if the texts of its entries can activate each other and entries of other recursive worlds."""
    token_budget: int | None = Field(default=None, ge=0)
    """Maximum number of tokens of all its entries in a turn; None sets no limit of its own."""
    entries: list[WorldEntry] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _identify_entries(cls, values: object) -> object:
        """Give entries written by hand a guid and a date. Both are derived from the entry, so that every reading of a file
        yields the same values.
        """
        if not isinstance(values, dict) or not isinstance(values.get("entries"), list):
            return values
        entries = enumerate(values["entries"])
        return {**values, "entries": [_identified(entry, index) for index, entry in entries]}


def _identified(entry: object, index: int) -> object:
    if not isinstance(entry, dict) or {"guid", "added"} <= entry.keys():
        return entry
    # Derived from name and content: a guid that changed with every reading would orphan passages and entry states.
    source = f"{entry.get('name') or index}\0{entry.get('content')}"
    return {"guid": str(uuid5(_UNNAMED, source)), "added": _LONG_AGO, **entry}
