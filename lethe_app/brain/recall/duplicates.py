"""Deduplication of new memories: whether one is stored beside the existing ones or replaces one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, merge_metadata

DUPLICATE_DISTANCE = 0.07
"""Cosine distance below which two memories of one type are duplicates. Found with one embedding model; calibrate it for
another.
"""
TYPES_MERGED_BY_NAME = frozenset({MemoryType.PERSON, MemoryType.LOCATION})
"""Types in which an equal name means the same subject."""
MAX_RECENT_SEARCHES = 20
"""Web search topics that are remembered for the comparison."""
SAME_SEARCH_DISTANCE = 0.075
"""Cosine distance below which two search topics are the same. Calibrate it for the embedding model."""


def deduplicate(
    new: MemoryUnit, same_name: MemoryUnit | None, nearest: tuple[MemoryUnit, float] | None, limit: float = DUPLICATE_DISTANCE
) -> MemoryUnit:
    """Return the record to store for a new memory: itself, or merged into an existing one, whose guid it then has. Journal
    entries are never merged; protected memories and memories of another type are never overwritten.

    `same_name` and `nearest` (with its cosine distance) are what storage found for the new memory.
    """
    if new.category is MemoryType.JOURNAL:
        return new
    is_namesake = new.category in TYPES_MERGED_BY_NAME and same_name is not None and _is_same_text(same_name.name, new.name)
    if same_name is not None and is_namesake and _is_rewritable(same_name, new):
        return merge_memory(same_name, new)
    is_near = nearest is not None and nearest[1] < limit and _is_rewritable(nearest[0], new)
    return merge_memory(nearest[0], new) if nearest is not None and is_near else new


def merge_memory(old: MemoryUnit, new: MemoryUnit) -> MemoryUnit:
    """Merge a new memory into the old record, which keeps its identity, its recall history and what the user set.

    `added` is that of the older one. Only a memory that still waits to be brought up proactively or at the user's return
    takes `added` from the new one: otherwise it would be stale before it was used, and a reminder would come too early.
    """
    still_waits = new.insertion in WAITING_INSERTIONS or new.insertion is MemoryInsertion.USER_RETURN
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
            "metadata": merge_metadata((new, old)),
        }
    )


def is_recent_search(
    recent: Sequence[str], topic: str, distances: Mapping[str, float], limit: float = SAME_SEARCH_DISTANCE
) -> bool:
    """Return whether a topic equals or nearly equals one of the last `MAX_RECENT_SEARCHES` topics. `distances` are the cosine
    distances from it to the recent topics, as far as they were measured.
    """
    return any(_is_same_text(known, topic) or distances.get(known, limit) < limit for known in recent[-MAX_RECENT_SEARCHES:])


def add_search(recent: Sequence[str], topic: str) -> list[str]:
    """Return the recent topics with `topic` appended, newest last, at most `MAX_RECENT_SEARCHES` of them."""
    return [*(known for known in recent if not _is_same_text(known, topic)), topic][-MAX_RECENT_SEARCHES:]


def _is_rewritable(old: MemoryUnit, new: MemoryUnit) -> bool:
    return old.category is new.category and not old.protected


def _is_same_text(first: str, second: str) -> bool:
    folded = normalize_text(first, keep_case=False)
    return bool(folded) and folded == normalize_text(second, keep_case=False)


def _union(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return each keyword once, compared without case, in the spelling that came first."""
    # Reversed, so that the first spelling of a keyword overwrites later ones.
    known = {normalize_text(word, keep_case=False): word for word in reversed([*old, *new]) if word.strip()}
    return sorted(known.values(), key=[*old, *new].index)
