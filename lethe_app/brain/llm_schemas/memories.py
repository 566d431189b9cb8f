"""Schema of structured output for a saved memory: focused entries with category, tags and keywords."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lethe_app.brain.dreams.enrichment import MemoryEntry
from lethe_app.brain.llm_schemas.archive import ListAnswer, clean_answer_text, valid_items

MAX_ENTRIES = 4


def _clean_text(value: object) -> object:
    return clean_answer_text(value) if isinstance(value, str) else value


class EnrichedEntry(BaseModel):
    """One entry of an expanded memory, as a model writes it."""

    model_config = ConfigDict(frozen=True)

    text: Annotated[str, BeforeValidator(_clean_text), Field(min_length=3, max_length=400)]
    category: str = Field(max_length=80)
    tags: list[str] = Field(max_length=5)
    keywords: list[str] = Field(max_length=5)


class EnrichmentAnswer(ListAnswer):
    """A memory as one or more entries that each say one thing."""

    max_tokens: ClassVar[int] = 600
    entries: Annotated[
        list[EnrichedEntry], valid_items(EnrichedEntry, MAX_ENTRIES), Field(min_length=1, max_length=MAX_ENTRIES)
    ]

    def to_entries(self) -> list[MemoryEntry]:
        """Return the entries as values of the enrichment."""
        return [MemoryEntry(one.text, one.category, one.tags, one.keywords) for one in self.entries]
