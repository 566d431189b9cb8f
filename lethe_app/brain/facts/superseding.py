"""How one fact supersedes another: which sources the valid one keeps, and the reason that is recorded.

Who decides: `updates` and `merge` beside it for what is newly said, the fact service for the user, and dreams.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from lethe_app.domain.changes import union_of
from lethe_app.domain.facts import STILL_HOLDS, ExtractedFact, SupersededBecause

VALID = {"superseded": False, "superseded_by": None, "superseded_because": None}
"""Values of the fields of a fact that is valid (again)."""


def supersede(old: ExtractedFact, successor: ExtractedFact, reason: SupersededBecause) -> tuple[ExtractedFact, ExtractedFact]:
    """Return both records, the old one superseded.

    The successor takes over the sources of a fact with the same words, and of no other, since their messages do not state all
    of its own: when the last message that does is deleted, the superseded fact is valid again. The count of a fact that it
    extends or words better is added to its own.
    """
    changes: dict[str, object] = {}
    if reason is SupersededBecause.EXTENDED:
        changes = {"reference_count": successor.reference_count + old.reference_count}
    elif reason is SupersededBecause.REPEATED:
        changes = {
            "source_memories": union_of(successor.source_memories, old.source_memories),
            "source_messages": union_of(successor.source_messages, old.source_messages),
            "reference_count": max(successor.reference_count, old.reference_count),
            "pinned": successor.pinned or old.pinned,
        }
    superseded = {"superseded": True, "superseded_by": successor.guid, "superseded_because": reason}
    return old.model_copy(update=superseded), successor.model_copy(update=changes) if changes else successor


def find_contained(guid: UUID, facts: Iterable[ExtractedFact]) -> list[ExtractedFact]:
    """Return a fact with all those that it says better, extends or was merged from, directly or in turn."""
    by_guid = {fact.guid: fact for fact in facts}
    parts = defaultdict[UUID | None, list[UUID]](list)
    for fact in by_guid.values():
        if fact.superseded and fact.superseded_because in {*STILL_HOLDS, SupersededBecause.MERGED}:
            parts[fact.superseded_by].append(fact.guid)
    found = [guid]
    for each in found:
        found += parts.pop(each, [])
    return [by_guid[each] for each in found if each in by_guid]


def unite_sources(*facts: ExtractedFact) -> dict[str, Any]:
    """Return the fields of a fact that has the dates and sources of all these, the sources of the first one first."""
    return {
        "first_seen": min(fact.first_seen for fact in facts),
        "last_seen": max(fact.last_seen for fact in facts),
        "source_memories": union_of(*(fact.source_memories for fact in facts)),
        "source_messages": union_of(*(fact.source_messages for fact in facts)),
    }
