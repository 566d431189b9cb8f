"""Whether something new to remember is really new, or the next version of what is already there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.recall.proactive_rules import WAITING
from lethe_app.brain.vocabulary.normalize import fold
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import Because

DUPLICATE = 0.07
"""Cosine distance below which two memories of one type are one; for the embedder it was found with, so calibrate it."""
NAMED = frozenset({MemoryType.PERSON, MemoryType.LOCATION})
"""Types in which the same name means the same thing."""
RECENT_SEARCHES = 20
SAME_SEARCH = 0.075
"""Cosine distance below which two topics are one; calibrate it too."""


@dataclass(frozen=True)
class DeduplicatedMemory:
    """What is to be stored."""

    record: MemoryUnit
    replaced: bool
    """Does it take the place of an older one, whose guid it then has?"""
    because: Because


def deduplicate(
    new: MemoryUnit, same_name: MemoryUnit | None, nearest: tuple[MemoryUnit, float] | None, limit: float = DUPLICATE
) -> DeduplicatedMemory:
    """Put it beside what is there, or into its place; what is protected, or of another type, is never overwritten.

    `same_name` and `nearest` (with its cosine distance) are what storage found for it.
    """
    if new.category is MemoryType.JOURNAL:
        return DeduplicatedMemory(new, replaced=False, because=Because(what="every entry stands for itself"))
    if same_name is not None and new.category in NAMED and _is_rewritable(same_name, new) and _same(same_name.name, new.name):
        return DeduplicatedMemory(
            merged(same_name, new), replaced=True, because=Because(what=f"“{same_name.name}” is known already")
        )
    if nearest is not None and _is_rewritable(nearest[0], new) and nearest[1] < limit:
        return DeduplicatedMemory(
            merged(nearest[0], new),
            replaced=True,
            because=Because(what=f"says nearly the same as “{nearest[0].name}”", value=nearest[1]),
        )
    return DeduplicatedMemory(new, replaced=False, because=Because(what="nothing like it was known"))


def merged(old: MemoryUnit, new: MemoryUnit) -> MemoryUnit:
    """The old record with what the new one says: its identity, its life and what the user set stay.

    It was first known when the older one was. Only a memory that still waits for its moment or its day waits from when the
    newer one says, or it would be stale before it was told, and a reminder would come too early.
    """
    still_waits = new.insertion in WAITING or new.insertion is MemoryInsertion.USER_RETURN
    return old.model_copy(
        update={
            "name": new.name or old.name,
            "content": new.content,
            "reason": new.reason or old.reason,
            "path": new.path or old.path,
            "sources": list(dict.fromkeys([*new.sources, *old.sources])),
            "insertion": new.insertion,
            "added": new.added if still_waits else min(old.added, new.added),
            "end_time": new.end_time,
            "last_trigger": max(old.last_trigger, new.last_trigger),
            "trigger_count": max(old.trigger_count, new.trigger_count),
            "priority": max(old.priority, new.priority),
            "sticky": old.sticky or new.sticky,
            "protected": old.protected or new.protected,
            "keywords_main": _union(old.keywords_main, new.keywords_main),
            "keywords_secondary": _union(old.keywords_secondary, new.keywords_secondary),
            "filed_under": new.filed_under or old.filed_under,
            "tags": _union(old.tags, new.tags),
        }
    )


def searched(recent: Sequence[str], topic: str, distances: Mapping[str, float], limit: float = SAME_SEARCH) -> bool:
    """Was this topic looked up lately? `distances` are from it to the recent ones, as far as they were measured."""
    return any(_same(known, topic) or distances.get(known, limit) < limit for known in recent[-RECENT_SEARCHES:])


def with_search(recent: Sequence[str], topic: str) -> list[str]:
    """The recent topics with one more, newest last; the oldest make room."""
    return [*(known for known in recent if not _same(known, topic)), topic][-RECENT_SEARCHES:]


def _is_rewritable(old: MemoryUnit, new: MemoryUnit) -> bool:
    return old.category is new.category and not old.protected


def _same(one: str, other: str) -> bool:
    folded = fold(one, keep_case=False)
    return bool(folded) and folded == fold(other, keep_case=False)


def _union(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Each keyword once, whatever its case, in the spelling that was there first."""
    known = {fold(word, keep_case=False): word for word in reversed([*old, *new]) if word.strip()}
    return sorted(known.values(), key=[*old, *new].index)
