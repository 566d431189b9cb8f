"""Merging of a new fact with the known ones: confirmation, superseding, restoring, and tombstones of facts the user deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from lethe_app.brain.text.fingerprint import digest, take
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy, Tombstone
from lethe_app.retrieval.query_terms import WORD

_SAY = {MadeBy.RULES: 0, MadeBy.MODEL: 1, MadeBy.USER: 2}
"""Precedence of the authors; the wording of the higher one is kept if two facts state the same."""


class FactRelation(StrEnum):
    """Relation of a new fact to a known one, as judged by a model, the user or the rules."""

    SAME = "same"
    UPDATE = "update"
    """The known fact was true and has changed."""
    CONTRADICTION = "contradiction"
    """The known fact was never true."""
    NEW = "new"


@dataclass(frozen=True)
class Nearness:
    """Cosine distances within which two facts are compared if nothing has judged them; calibrate them to the embedding
    model.
    """

    same: float = 0.05
    changed: float = 0.075


Near = Sequence[tuple[ExtractedFact, float]]
"""Facts with their cosine distances to a new one, superseded ones included."""


def rival(near: Near) -> tuple[ExtractedFact, float] | None:
    """Return the nearest fact that is not superseded, against which a new fact is judged; None if there is none."""
    return min(
        ((fact, distance) for fact, distance in near if not fact.superseded),
        key=lambda each: (each[1], each[0].guid),
        default=None,
    )


def merge_fact(
    new: ExtractedFact, near: Near, relation: FactRelation | None = None, nearness: Nearness | None = None
) -> list[ExtractedFact]:
    """Return the records that change, including the new one if it is to be stored; empty if nothing changes.

    `relation` is the relation to `rival(near)`; None decides by words and distances. Only the user can supersede a pinned
    fact or their own. A session that is archived again adds nothing that it added before, not even what was superseded
    since.
    """
    twins = _twins(new, near)
    anew = _is_heard_anew(twins, new)
    holds = next((twin for twin in twins if not twin.superseded), None)
    if holds is not None:
        return _confirmed(holds, new, anew=anew)
    if twins and not anew:
        return []
    found = rival(near)
    if found is None:
        return [_returned(new, twins)]
    old, distance = found
    match relation or compare(old, new, distance, nearness or Nearness()):
        case FactRelation.SAME:
            return _confirmed(old, new, anew=_is_heard_anew([old], new))
        case FactRelation.UPDATE | FactRelation.CONTRADICTION:
            return _replaced(old, new, twins)
        case FactRelation.NEW:
            return [_returned(new, twins)]


def compare(old: ExtractedFact, new: ExtractedFact, distance: float, nearness: Nearness) -> FactRelation:
    """Return the relation of two facts by their words, for use without a model.

    Two sentences that differ only in a number or a negation are an update. Distance alone never makes an update, because it
    cannot distinguish a change from a detail; close facts with other words are kept side by side unless they are within
    `nearness.same`.
    """
    one, other = take(old.fact), take(new.fact)
    differ = (one.numbers, one.denied) != (other.numbers, other.denied)
    if differ:
        return FactRelation.UPDATE if one.words == other.words and distance <= nearness.changed else FactRelation.NEW
    if distance <= nearness.same and _names(old.fact) == _names(new.fact):
        return FactRelation.SAME
    return FactRelation.NEW


def gives_way(old: ExtractedFact, new: ExtractedFact) -> bool:
    """Return whether the new fact may supersede the old one."""
    return new.made_by is MadeBy.USER or not (old.pinned or old.made_by is MadeBy.USER)


def restore(fact: ExtractedFact, everything: Iterable[ExtractedFact], *, instead: bool = False) -> list[ExtractedFact]:
    """Return the records that change when the user restores a superseded fact.

    Its successor stays valid as well, or is superseded by the restored fact with `instead`.
    """
    if not fact.superseded:
        return []
    back = fact.model_copy(update={"superseded": False, "superseded_by": None})
    successor = _successor(fact, {each.guid: each for each in everything}) if instead else None
    if successor is None:
        return [back]
    return [back, successor.model_copy(update={"superseded": True, "superseded_by": fact.guid})]


def merged(kept: ExtractedFact, others: Sequence[ExtractedFact], wording: str) -> ExtractedFact:
    """Return the single fact that the user makes of several, in the user's `wording`."""
    every = [kept, *others]
    return kept.model_copy(
        update={
            "fact": wording,
            "made_by": MadeBy.USER,
            "first_seen": min(fact.first_seen for fact in every),
            "last_seen": max(fact.last_seen for fact in every),
            "reference_count": sum(fact.reference_count for fact in every),
            "source_memories": list(dict.fromkeys(source for fact in every for source in fact.source_memories)),
            "source_messages": list(dict.fromkeys(message for fact in every for message in fact.source_messages)),
            "pinned": any(fact.pinned for fact in every),
            "superseded": False,
            "superseded_by": None,
        }
    )


def tombstone(fact: ExtractedFact) -> Tombstone:
    """Return what is kept of a fact that the user deletes."""
    return Tombstone(digest=digest(fact.fact), messages=tuple(fact.source_messages))


def is_forgotten(fact: ExtractedFact, tombstones: Iterable[Tombstone]) -> bool:
    """Return whether the user deleted this fact, so that it must not be stored again; it may be if only new messages state
    it.

    A fact written by the user is never blocked.
    """
    if fact.made_by is MadeBy.USER:
        return False
    gist, messages = digest(fact.fact), set(fact.source_messages)
    return any(
        stone.digest == gist and (not stone.messages or not messages or not messages.isdisjoint(stone.messages))
        for stone in tombstones
    )


def _twins(new: ExtractedFact, near: Near) -> list[ExtractedFact]:
    """Return the facts with the same words regardless of distance, oldest first."""
    gist = take(new.fact)
    same = [fact for fact, _distance in near if fact.guid == new.guid or take(fact.fact) == gist]
    return sorted(same, key=lambda fact: (fact.first_seen, fact.guid))


def _is_heard_anew(known: Sequence[ExtractedFact], new: ExtractedFact) -> bool:
    """Return whether the new fact has a source that the known ones lack: a session, or a single message if no session is
    given.
    """
    if any(fact.guid == new.guid for fact in known):
        return False
    if new.source_memories:
        return not set(new.source_memories).issubset(source for fact in known for source in fact.source_memories)
    return not set(new.source_messages).issubset(message for fact in known for message in fact.source_messages)


def _confirmed(old: ExtractedFact, new: ExtractedFact, *, anew: bool) -> list[ExtractedFact]:
    """Return the known fact with the sources of the new one, counted once more with `anew`; empty if nothing changes."""
    better = _SAY[new.made_by] > _SAY[old.made_by] and (new.made_by is MadeBy.USER or not old.pinned)
    after = old.model_copy(
        update={
            "fact": new.fact if better else old.fact,
            "made_by": new.made_by if better else old.made_by,
            "first_seen": min(old.first_seen, new.first_seen),
            "last_seen": max(old.last_seen, new.last_seen),
            "reference_count": old.reference_count + anew,
            "source_memories": _union(old.source_memories, new.source_memories),
            "source_messages": _union(old.source_messages, new.source_messages),
            "pinned": old.pinned or new.pinned,
            "kind": old.kind if new.kind is FactKind.OTHER else new.kind,
            "key": new.key or old.key,
            "subject": new.subject or old.subject,
        }
    )
    return [after] if after != old else []


def _returned(new: ExtractedFact, twins: Sequence[ExtractedFact]) -> ExtractedFact:
    """Return the new fact with the dates and sources of its superseded twins."""
    return new.model_copy(
        update={
            "first_seen": min(fact.first_seen for fact in (new, *twins)),
            "last_seen": max(fact.last_seen for fact in (new, *twins)),
            "source_memories": _union(new.source_memories, [each for twin in twins for each in twin.source_memories]),
            "source_messages": _union(new.source_messages, [each for twin in twins for each in twin.source_messages]),
        }
    )


def _replaced(old: ExtractedFact, new: ExtractedFact, twins: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Return the records after an update: the fact said later supersedes the other, or both are kept if it may not.

    `twins` are superseded facts that state the same as the new one; if the new one is not the latest, the first of them is
    confirmed.
    """
    if new.last_seen >= old.last_seen or new.made_by is MadeBy.USER:
        back = _returned(new, twins)
        return _superseded(old, back) if gives_way(old, new) else [back]
    if not gives_way(new, old):
        return [_returned(new, twins)]
    return _confirmed(twins[0], new, anew=True) if twins else _superseded(new, old)


def _superseded(old: ExtractedFact, new: ExtractedFact) -> list[ExtractedFact]:
    """Return both records; the successor inherits the sessions of the other but not its messages, which state something
    else.
    """
    heir = new.model_copy(update={"source_memories": _union(old.source_memories, new.source_memories)})
    return [old.model_copy(update={"superseded": True, "superseded_by": new.guid}), heir]


def _successor(fact: ExtractedFact, everything: Mapping[UUID, ExtractedFact]) -> ExtractedFact | None:
    """Return the fact at the end of the chain of successors; None if it no longer exists."""
    seen: set[UUID] = set()
    current: ExtractedFact | None = fact
    while current is not None and current.superseded and current.guid not in seen:
        seen.add(current.guid)
        current = everything.get(current.superseded_by) if current.superseded_by else None
    return None if current is None or current.superseded else current


def _names(text: str) -> list[str]:
    """Return the capitalised words in order, because who loves whom depends on the order."""
    return [word for word in WORD.findall(text) if word[0].isupper()]


def _union(old: Sequence[UUID], new: Sequence[UUID]) -> list[UUID]:
    return list(dict.fromkeys([*old, *new]))
