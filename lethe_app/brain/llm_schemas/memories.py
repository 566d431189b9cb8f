"""Schemas of structured outputs about memories: decisions about similar ones, enrichment, preferences, anti-patterns."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from lethe_app.brain.dreams.consolidation import MergeDecision, normalize_category, normalize_tags
from lethe_app.brain.dreams.corrections import CorrectionStrength
from lethe_app.brain.dreams.enrichment import MemoryEntry
from lethe_app.brain.llm_schemas.archive import ListAnswer, LlmAnswer, Sentence, Tidy, valid_items

MAX_ENTRIES = 4
"""Maximum number of entries of an expanded memory."""
STRENGTH_BY_TONE: dict[str, CorrectionStrength] = {
    "very irritated": CorrectionStrength.STRONG,
    "mildly annoyed": CorrectionStrength.MILD,
    "casual": CorrectionStrength.CASUAL,
}


class ConsolidationAnswer(LlmAnswer):
    """Decision about a group of numbered notes."""

    max_tokens: ClassVar[int] = 320
    verdict: Literal["merge", "keep", "drop"]
    text: str = Field(max_length=700)
    """Text of the merged note; empty unless they are merged."""
    merged: list[int] = Field(max_length=8)
    dropped: list[int] = Field(max_length=8)
    filed_under: str = Field(max_length=60)
    tags: list[str] = Field(max_length=5)

    def to_decision(self, count: int) -> MergeDecision:
        """Return the decision with indices into a group of `count` notes; invalid numbers are ignored."""
        is_merge = self.verdict == "merge" and bool(self.text.strip())
        dropped = _to_indices(self.dropped, count)
        if self.verdict == "drop" and not dropped and count == 1:
            dropped = (0,)
        return MergeDecision(
            text=self.text.strip() if is_merge else "",
            sources=_to_indices(self.merged, count) if is_merge else (),
            dropped=dropped if self.verdict != "keep" else (),
            filed_under=normalize_category(self.filed_under),
            tags=normalize_tags(self.tags),
        )


class StatedPreference(BaseModel):
    """Preference with the number of the line that states it, counted from 1."""

    model_config = ConfigDict(frozen=True)

    line: int = Field(ge=1, le=999)
    wish: Sentence
    tone: Literal["very irritated", "mildly annoyed", "casual"]

    @property
    def strength(self) -> CorrectionStrength:
        return STRENGTH_BY_TONE[self.tone]


class PreferencesAnswer(ListAnswer):
    """Preferences of the user about the persona's way of talking."""

    max_tokens: ClassVar[int] = 400
    wishes: Annotated[list[StatedPreference], valid_items(StatedPreference, 6), Field(max_length=6)]


class AntiPatternAnswer(LlmAnswer):
    """Anti-pattern: what the persona must not do again."""

    max_tokens: ClassVar[int] = 220
    is_clear: bool
    avoid: str = Field(max_length=160)
    because: str = Field(max_length=160)
    instead: str = Field(max_length=160)
    domain: str = Field(max_length=30)


class CommonPatternAnswer(LlmAnswer):
    """Common pattern of disliked replies, and the numbers of the replies that show it, counted from 1."""

    max_tokens: ClassVar[int] = 140
    pattern: str = Field(max_length=160)
    replies: list[int] = Field(max_length=8)

    def reply_indices(self, count: int) -> tuple[int, ...]:
        """Return the indices into `count` replies; invalid numbers are ignored."""
        return _to_indices(self.replies, count)


class EnrichedEntry(BaseModel):
    """One entry of an expanded memory, as a model writes it."""

    model_config = ConfigDict(frozen=True)

    text: Annotated[str, Tidy, Field(min_length=3, max_length=400)]
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


def _to_indices(numbers: list[int], count: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number - 1 for number in numbers if 1 <= number <= count))
