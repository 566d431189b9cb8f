"""A world: a book of entries that wake when their words are spoken, as one readable JSON file."""

from __future__ import annotations

from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lethe_app.domain.chat import Role
from lethe_app.domain.memory import MemoryType, MemoryUnit

_UNNAMED = UUID("5b0c6a5e-8f0b-4c53-9d0e-3a1f6a9f4a77")
_LONG_AGO = "1970-01-01T00:00:00Z"


class WorldEntry(MemoryUnit):
    """One piece of lore with the words that wake it; `sticky` makes it constant, awake without any word."""

    category: MemoryType = MemoryType.WORLD_INFO
    whole_word: bool = True
    """Is “king” silent in “kingdom”? Scripts that put no spaces between words have no whole words to look for."""
    scan_depth: int | None = Field(default=None, ge=0)
    """How many of the newest messages are searched for this entry's keywords; None: as its world says."""
    cooldown: int = Field(default=0, ge=0)
    """Turns it cannot wake again after its `duration` is over."""
    delay: int = Field(default=0, ge=0)
    """Spoken messages a conversation must have before it can wake."""
    exclude_recursion: bool = False
    """Other entries' texts cannot wake it."""
    prevent_recursion: bool = False
    """Its text wakes no other entry."""
    delay_until_recursion: int = Field(default=0, ge=0)
    """Wakes only in this round of entries waking entries, or later; 0 is at once."""
    groups: list[str] = Field(default_factory=list)
    """Of the entries in a group at most one is awake."""
    group_override: bool = False
    """In its groups it comes before those without it; among several the one with the highest order."""
    group_weight: int = Field(default=100, ge=0)
    """Its share of the chances when a group draws one of its entries."""
    group_scoring: bool | None = None
    """Does it leave its groups to entries of which more keywords were said? None: as its world says."""
    order: int = 100
    """Among entries at one place the higher stands later; priority decides who is left out, order where they stand."""
    role: Role = Role.SYSTEM
    """Who seems to say it when it stands among the messages."""
    ignore_budget: bool = False
    """Comes whether the token budget has room or not, and takes none of it."""
    do_embeds: bool | None = None
    """Is it found by meaning too? None: as its world says."""


class World(BaseModel):
    """A named collection of lore."""

    model_config = ConfigDict(extra="forbid")

    unique_name: str = ""
    """File name without ending. Set by storage when the file is read."""
    name: str = Field(min_length=1)
    description: str = ""
    do_embeds: bool = True
    """Are the entries found by meaning as well as by keyword?"""
    scan_depth: int = Field(default=1, ge=0)
    """How many of the newest messages are searched for keywords, besides the one being sent."""
    least_awake: int = Field(default=0, ge=0)
    """While fewer of its entries are awake, older messages are searched too, one by one; not for entries with a depth of
    their own."""
    deepest_scan: int = Field(default=50, ge=0, le=200)
    """Messages searched at most for that."""
    group_scoring: bool = False
    """Do its entries leave their groups to those of which more keywords were said?"""
    recursive: bool = False
    """Can the texts of its entries wake each other, and those of other recursive worlds?"""
    token_budget: int | None = Field(default=None, ge=0)
    """Tokens all its entries together may take in a turn; None is no limit of its own."""
    entries: list[WorldEntry] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _identify_entries(cls, values: object) -> object:
        """An entry written by hand needs no guid and no date; from a file it gets the same ones at every reading."""
        if not isinstance(values, dict) or not isinstance(values.get("entries"), list):
            return values
        entries = enumerate(values["entries"])
        return {**values, "entries": [_identified(entry, place) for place, entry in entries]}


def _identified(entry: object, place: int) -> object:
    if not isinstance(entry, dict) or {"guid", "added"} <= entry.keys():
        return entry
    told = f"{entry.get('name') or place}\0{entry.get('content')}"
    return {"guid": str(uuid5(_UNNAMED, told)), "added": _LONG_AGO, **entry}
