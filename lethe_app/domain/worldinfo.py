"""A world: a book of entries that wake when their words are spoken, as one readable JSON file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from lethe_app.domain.memory import MemoryType, MemoryUnit


class WorldEntry(MemoryUnit):
    """One piece of lore with the words that wake it."""

    category: MemoryType = MemoryType.WORLD_INFO


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
    entries: list[WorldEntry] = Field(default_factory=list)
