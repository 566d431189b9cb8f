"""Merging of a new fact with the known ones: confirmation, superseding, restoring, and tombstones of facts the user deleted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID, uuid4

from lethe_app.brain.facts.superseding import VALID, supersede, unite_sources
from lethe_app.brain.text.fingerprint import compute_fingerprint, fingerprint_digest
from lethe_app.domain.clock import is_later
from lethe_app.domain.facts import STILL_HOLDS, ExtractedFact, FactKind, MadeBy, SupersededBecause, Tombstone, find_current_fact
from lethe_app.retrieval.fact_relation import FactRelation

_AUTHOR_PRECEDENCE = {MadeBy.RULES: 0, MadeBy.MODEL: 1, MadeBy.USER: 2}
"""Precedence of the authors; the wording of the higher one is kept if two facts state the same."""


FactNeighbours = Sequence[tuple[ExtractedFact, float]]
"""Facts with their cosine distances to a new one, superseded ones included."""


def find_nearest_current(neighbours: FactNeighbours) -> tuple[ExtractedFact, float] | None:
    """Return the nearest fact that is not superseded, against which a new fact is judged; None if there is none."""
    return min(
        ((fact, distance) for fact, distance in neighbours if not fact.superseded),
        key=lambda each: (each[1], each[0].guid),
        default=None,
    )


def merge_fact(
    new: ExtractedFact, neighbours: FactNeighbours, relation: FactRelation = FactRelation.NEW
) -> list[ExtractedFact]:
    """Return the records that change, including the new one if it is to be stored; empty if nothing changes.

    `relation` is the relation to the fact that `find_nearest_current` returns. Only the user can supersede a pinned fact or
    their own here; `updates.replace_outdated` lets a later message change what the user has reworded. A session that is
    archived again adds nothing that it added before, not even what was superseded since.
    """
    duplicates = _find_duplicates(new, neighbours)
    is_new_source = _has_new_source(duplicates, new)
    current = next((duplicate for duplicate in duplicates if not duplicate.superseded), None)
    if current is not None:
        return _confirm(current, new, is_new_source=is_new_source)
    # The same session was archived again: what was superseded since must not come back.
    if duplicates and not is_new_source:
        return []
    if (said_again := _confirm_superseded(duplicates, new, neighbours)) is not None:
        return said_again
    nearest = find_nearest_current(neighbours)
    if nearest is None or relation is FactRelation.NEW:
        return [new]
    old, _distance = nearest
    if relation is FactRelation.SAME:
        return join_wordings(old, new)
    return _apply_update(old, new, duplicates)


def join_wordings(
    old: ExtractedFact, new: ExtractedFact, reason: SupersededBecause = SupersededBecause.REWORDED
) -> list[ExtractedFact]:
    """Return the records that change when a new fact states the same as a known one in other words, or less.

    The wording of the better author holds and counts both. The other is kept, superseded by it, because its messages do not
    state the words that hold.
    """
    is_new_source = _has_new_source([old], new)
    winner, other = (new, old) if _is_better_author(new, old) else (old, new)
    values = _united_values(old, new, is_new_source=is_new_source)
    joined = winner.model_copy(
        update={**values, "source_messages": winner.source_messages, "source_memories": winner.source_memories}
    )
    if _sources(other) <= _sources(winner):
        joined = joined.model_copy(update={"guid": old.guid})
        return [joined] if joined != old else []
    superseded, _winner = supersede(other, joined, reason)
    return [superseded, joined] if joined != old else [superseded]


def can_be_superseded(old: ExtractedFact, new: ExtractedFact) -> bool:
    """Return whether the new fact may supersede the old one."""
    return new.made_by is MadeBy.USER or not (old.pinned or old.made_by is MadeBy.USER)


def restore_fact(
    fact: ExtractedFact, all_facts: Iterable[ExtractedFact], *, supersede_successor: bool = False
) -> list[ExtractedFact]:
    """Return the records that change when the user restores a superseded fact.

    Its successor stays valid as well, or is superseded by the restored fact with `supersede_successor`.
    """
    if not fact.superseded:
        return []
    restored = fact.model_copy(update=VALID)
    successor = find_current_fact(fact, {each.guid: each for each in all_facts}) if supersede_successor else None
    if successor is None:
        return [restored]
    return [*reversed(supersede(successor, restored, SupersededBecause.RESTORED))]


def combine_facts(facts: Sequence[ExtractedFact], wording: str) -> ExtractedFact:
    """Return a new fact that the user makes of several, in the user's `wording`. It rests on the messages of all of them."""
    return facts[0].model_copy(
        update={
            "guid": uuid4(),
            "fact": wording,
            "made_by": MadeBy.USER,
            "reference_count": sum(fact.reference_count for fact in facts),
            **unite_sources(*facts),
            "pinned": any(fact.pinned for fact in facts),
            **VALID,
        }
    )


def build_tombstone(fact: ExtractedFact) -> Tombstone:
    """Return what is kept of a fact that the user deletes."""
    return Tombstone(digest=fingerprint_digest(fact.fact), messages=tuple(fact.source_messages))


def is_forgotten(fact: ExtractedFact, tombstones: Iterable[Tombstone]) -> bool:
    """Return whether the user deleted this fact, so that it must not be stored again; it may be if only new messages state
    it.

    A fact written by the user is never blocked.
    """
    return fact.made_by is not MadeBy.USER and is_text_forgotten(fact.fact, fact.source_messages, tombstones)


def is_text_forgotten(text: str, messages: Collection[UUID], tombstones: Iterable[Tombstone]) -> bool:
    """Return whether a text made of these messages has the words of a fact that the user deleted."""
    digest, sources = fingerprint_digest(text), set(messages)
    return any(
        stone.digest == digest and (not stone.messages or not sources or not sources.isdisjoint(stone.messages))
        for stone in tombstones
    )


def _find_duplicates(new: ExtractedFact, neighbours: FactNeighbours) -> list[ExtractedFact]:
    """Return the facts with the same words regardless of distance, oldest first."""
    fingerprint = compute_fingerprint(new.fact)
    duplicates = [
        fact for fact, _distance in neighbours if fact.guid == new.guid or compute_fingerprint(fact.fact) == fingerprint
    ]
    return sorted(duplicates, key=lambda fact: (fact.first_seen, fact.guid))


def _has_new_source(known: Sequence[ExtractedFact], new: ExtractedFact) -> bool:
    """Return whether the new fact has a source that the known ones lack: a session, or a single message if no session is
    given.
    """
    if any(fact.guid == new.guid for fact in known):
        return False
    if new.source_memories:
        return not set(new.source_memories).issubset(source for fact in known for source in fact.source_memories)
    return not set(new.source_messages).issubset(message for fact in known for message in fact.source_messages)


def _confirm(old: ExtractedFact, new: ExtractedFact, *, is_new_source: bool) -> list[ExtractedFact]:
    """Return the known fact with the sources of the new one, counted once more with `is_new_source`; empty if unchanged."""
    values = _united_values(old, new, is_new_source=is_new_source)
    if _is_better_author(new, old):
        values |= {"fact": new.fact, "made_by": new.made_by}
    confirmed = old.model_copy(update=values)
    return [confirmed] if confirmed != old else []


def _confirm_superseded(
    duplicates: Sequence[ExtractedFact], new: ExtractedFact, neighbours: FactNeighbours
) -> list[ExtractedFact] | None:
    """Return the records that change when a fact is said again that a valid one says better or with more detail; None if the
    new one has the words of no such fact.
    """
    by_guid = {fact.guid: fact for fact, _distance in neighbours}
    for duplicate in duplicates:
        successor = find_current_fact(duplicate, by_guid)
        if successor is not None and duplicate.superseded_because in STILL_HOLDS:
            counts = {"reference_count": successor.reference_count + 1, "last_seen": max(successor.last_seen, new.last_seen)}
            return [*_confirm(duplicate, new, is_new_source=True), successor.model_copy(update=counts)]
    return None


def _is_better_author(new: ExtractedFact, old: ExtractedFact) -> bool:
    is_higher = _AUTHOR_PRECEDENCE[new.made_by] > _AUTHOR_PRECEDENCE[old.made_by]
    return is_higher and (new.made_by is MadeBy.USER or not old.pinned)


def _united_values(old: ExtractedFact, new: ExtractedFact, *, is_new_source: bool) -> dict[str, Any]:
    """Return the fields of a known fact that a new one confirms, counted once more with `is_new_source`."""
    return {
        "reference_count": old.reference_count + is_new_source,
        **unite_sources(old, new),
        "pinned": old.pinned or new.pinned,
        "kind": old.kind if new.kind is FactKind.OTHER else new.kind,
        "key": new.key or old.key,
        "subject": new.subject or old.subject,
    }


def _sources(fact: ExtractedFact) -> set[UUID]:
    return set(fact.source_messages or fact.source_memories)


def _apply_update(old: ExtractedFact, new: ExtractedFact, duplicates: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Return the records after an update: the fact said later supersedes the other, or both are kept if it may not.

    `duplicates` are superseded facts that state the same as the new one; if the new one is not the latest, the first of them is
    confirmed.
    """
    if not is_later(old.last_seen, new.last_seen) or new.made_by is MadeBy.USER:
        return [*supersede(old, new, SupersededBecause.CONTRADICTED)] if can_be_superseded(old, new) else [new]
    if not can_be_superseded(new, old):
        return [new]
    return (
        _confirm(duplicates[0], new, is_new_source=True)
        if duplicates
        else [*supersede(new, old, SupersededBecause.CONTRADICTED)]
    )
