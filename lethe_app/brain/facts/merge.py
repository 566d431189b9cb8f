"""Merging of a new fact with the known ones: confirmation, superseding, restoring, and tombstones of facts the user deleted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from lethe_app.brain.facts.superseding import VALID, supersede, unite_sources
from lethe_app.brain.text.fingerprint import compute_fingerprint, fingerprint_digest
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy, SupersededBecause, Tombstone, find_current_fact
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
    nearest = find_nearest_current(neighbours)
    if nearest is None:
        return [new.model_copy(update=unite_sources(new, *duplicates))]
    old, _distance = nearest
    match relation:
        case FactRelation.SAME:
            return _confirm(old, new, is_new_source=_has_new_source([old], new))
        case FactRelation.UPDATE | FactRelation.CONTRADICTION:
            return _apply_update(old, new, duplicates)
        case FactRelation.NEW:
            return [new.model_copy(update=unite_sources(new, *duplicates))]


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


def combine_facts(kept: ExtractedFact, others: Sequence[ExtractedFact], wording: str) -> ExtractedFact:
    """Return the single fact that the user makes of several, in the user's `wording`."""
    all_facts = [kept, *others]
    return kept.model_copy(
        update={
            "fact": wording,
            "made_by": MadeBy.USER,
            "reference_count": sum(fact.reference_count for fact in all_facts),
            **unite_sources(*all_facts),
            "pinned": any(fact.pinned for fact in all_facts),
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
    is_better_wording = _AUTHOR_PRECEDENCE[new.made_by] > _AUTHOR_PRECEDENCE[old.made_by] and (
        new.made_by is MadeBy.USER or not old.pinned
    )
    confirmed = old.model_copy(
        update={
            "fact": new.fact if is_better_wording else old.fact,
            "made_by": new.made_by if is_better_wording else old.made_by,
            "reference_count": old.reference_count + is_new_source,
            **unite_sources(old, new),
            "pinned": old.pinned or new.pinned,
            "kind": old.kind if new.kind is FactKind.OTHER else new.kind,
            "key": new.key or old.key,
            "subject": new.subject or old.subject,
        }
    )
    return [confirmed] if confirmed != old else []


def _apply_update(old: ExtractedFact, new: ExtractedFact, duplicates: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Return the records after an update: the fact said later supersedes the other, or both are kept if it may not.

    `duplicates` are superseded facts that state the same as the new one; if the new one is not the latest, the first of them is
    confirmed.
    """
    if new.last_seen >= old.last_seen or new.made_by is MadeBy.USER:
        restored = new.model_copy(update=unite_sources(new, *duplicates))
        return [*supersede(old, restored, SupersededBecause.CONTRADICTED)] if can_be_superseded(old, new) else [restored]
    if not can_be_superseded(new, old):
        return [new.model_copy(update=unite_sources(new, *duplicates))]
    return (
        _confirm(duplicates[0], new, is_new_source=True)
        if duplicates
        else [*supersede(new, old, SupersededBecause.CONTRADICTED)]
    )
