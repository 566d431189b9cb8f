"""How one fact supersedes another: which sources the valid one keeps, and the reason that is recorded.

Who decides: `updates` and `merge` beside it for what is newly said, the fact service for the user, and dreams.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from lethe_app.domain.facts import ExtractedFact, SupersededBecause

VALID = {"superseded": False, "superseded_by": None, "superseded_because": None}
"""Values of the fields of a fact that is valid (again)."""


def supersede(old: ExtractedFact, successor: ExtractedFact, reason: SupersededBecause) -> tuple[ExtractedFact, ExtractedFact]:
    """Return both records, the old one superseded.

    The successor takes over the sessions and the count of a fact that it extends, and all sources of one that it repeats. It
    takes nothing of a fact that it contradicts, whose sources state something else, nor of those it was merged from, with
    whose sources it was made.
    """
    changes: dict[str, object] = {}
    if reason is SupersededBecause.EXTENDED:
        changes = {
            "source_memories": unite_ids(old.source_memories, successor.source_memories),
            "reference_count": successor.reference_count + old.reference_count,
        }
    elif reason is SupersededBecause.REPEATED:
        changes = {
            "source_memories": unite_ids(successor.source_memories, old.source_memories),
            "source_messages": unite_ids(successor.source_messages, old.source_messages),
            "reference_count": max(successor.reference_count, old.reference_count),
            "pinned": successor.pinned or old.pinned,
        }
    superseded = {"superseded": True, "superseded_by": successor.guid, "superseded_because": reason}
    return old.model_copy(update=superseded), successor.model_copy(update=changes) if changes else successor


def unite_ids(*lists: Iterable[UUID]) -> list[UUID]:
    """Return the ids of several lists, each once, in their order."""
    return list(dict.fromkeys(id_ for ids in lists for id_ in ids))
