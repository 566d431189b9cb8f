"""Keeps what is known in order: what was said before, what has changed, and what the user took out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from lethe_app.brain.text.fingerprint import digest, take
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy, Tombstone
from lethe_app.retrieval.query_terms import WORD

_SAY = {MadeBy.RULES: 0, MadeBy.MODEL: 1, MadeBy.USER: 2}
"""Whose wording is kept when two say the same."""


class FactRelation(StrEnum):
    """What a new fact is to the one known before, as a model or the user judges it."""

    SAME = "same"
    UPDATE = "update"
    """It was so, and now it is otherwise."""
    CONTRADICTION = "contradiction"
    """It was never so."""
    NEW = "new"


@dataclass(frozen=True)
class Nearness:
    """Cosine distances within which two facts are compared when nobody has judged them; calibrate them to the embedder."""

    same: float = 0.05
    changed: float = 0.075


Near = Sequence[tuple[ExtractedFact, float]]
"""Facts with their cosine distances to a new one, superseded ones included."""


def rival(near: Near) -> tuple[ExtractedFact, float] | None:
    """The nearest fact that still holds: the one a new fact is judged against."""
    return min(
        ((fact, distance) for fact, distance in near if not fact.superseded),
        key=lambda each: (each[1], each[0].guid),
        default=None,
    )


def merge_fact(
    new: ExtractedFact, near: Near, relation: FactRelation | None = None, nearness: Nearness | None = None
) -> list[ExtractedFact]:
    """The records that change, the new one included if it is to be stored; none if nothing does.

    `relation` is to `rival(near)`; None lets words and distances decide. What is pinned or the user's own gives way to the
    user alone. A session that is archived again adds nothing it has added before, not even what was superseded since.
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
    """Judge by words where no model can.

    Two sentences that differ in nothing but a number or a denial are a change. Distance alone never is: it cannot tell a
    change from a detail, so near neighbours of other words stay side by side, unless they are too near to be two.
    """
    one, other = take(old.fact), take(new.fact)
    differ = (one.numbers, one.denied) != (other.numbers, other.denied)
    if differ:
        return FactRelation.UPDATE if one.words == other.words and distance <= nearness.changed else FactRelation.NEW
    if distance <= nearness.same and _names(old.fact) == _names(new.fact):
        return FactRelation.SAME
    return FactRelation.NEW


def gives_way(old: ExtractedFact, new: ExtractedFact) -> bool:
    """May the new fact take the place of the old one?"""
    return new.made_by is MadeBy.USER or not (old.pinned or old.made_by is MadeBy.USER)


def restore(fact: ExtractedFact, everything: Iterable[ExtractedFact], *, instead: bool = False) -> list[ExtractedFact]:
    """The records that change when the user lets a superseded fact hold again.

    What took its place holds as well, or gives way to it if the fact is to hold `instead`.
    """
    if not fact.superseded:
        return []
    back = fact.model_copy(update={"superseded": False, "superseded_by": None})
    successor = _successor(fact, {each.guid: each for each in everything}) if instead else None
    if successor is None:
        return [back]
    return [back, successor.model_copy(update={"superseded": True, "superseded_by": fact.guid})]


def merged(kept: ExtractedFact, others: Sequence[ExtractedFact], wording: str) -> ExtractedFact:
    """The one fact that the user makes of several."""
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
    """What to keep of a fact that the user deletes."""
    return Tombstone(digest=digest(fact.fact), messages=tuple(fact.source_messages))


def is_forgotten(fact: ExtractedFact, tombstones: Iterable[Tombstone]) -> bool:
    """Did the user take this out? Then it stays out, unless only messages say it that had not said it then.

    The user's own word is never kept out.
    """
    if fact.made_by is MadeBy.USER:
        return False
    gist, messages = digest(fact.fact), set(fact.source_messages)
    return any(
        stone.digest == gist and (not stone.messages or not messages or not messages.isdisjoint(stone.messages))
        for stone in tombstones
    )


def _twins(new: ExtractedFact, near: Near) -> list[ExtractedFact]:
    """The facts that say it in the same words, whatever the distance, oldest first."""
    gist = take(new.fact)
    same = [fact for fact, _distance in near if fact.guid == new.guid or take(fact.fact) == gist]
    return sorted(same, key=lambda fact: (fact.first_seen, fact.guid))


def _is_heard_anew(known: Sequence[ExtractedFact], new: ExtractedFact) -> bool:
    """Does it come from a source that had not said it? Sessions count; only where none is named do single messages."""
    if any(fact.guid == new.guid for fact in known):
        return False
    if new.source_memories:
        return not set(new.source_memories).issubset(source for fact in known for source in fact.source_memories)
    return not set(new.source_messages).issubset(message for fact in known for message in fact.source_messages)


def _confirmed(old: ExtractedFact, new: ExtractedFact, *, anew: bool) -> list[ExtractedFact]:
    """It with its new sources, once more counted if it was heard anew; nothing if that changes nothing."""
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
    """The new fact with all who ever said it, if it held before, was superseded, and is said again."""
    return new.model_copy(
        update={
            "first_seen": min(fact.first_seen for fact in (new, *twins)),
            "last_seen": max(fact.last_seen for fact in (new, *twins)),
            "source_memories": _union(new.source_memories, [each for twin in twins for each in twin.source_memories]),
            "source_messages": _union(new.source_messages, [each for twin in twins for each in twin.source_messages]),
        }
    )


def _replaced(old: ExtractedFact, new: ExtractedFact, twins: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Of the two the one that was said later holds; both do where it may not take the other's place.

    `twins` are superseded facts that say what the new one says; if that is not the latest word, the first is heard once more.
    """
    if new.last_seen >= old.last_seen or new.made_by is MadeBy.USER:
        back = _returned(new, twins)
        return _superseded(old, back) if gives_way(old, new) else [back]
    if not gives_way(new, old):
        return [_returned(new, twins)]
    return _confirmed(twins[0], new, anew=True) if twins else _superseded(new, old)


def _superseded(old: ExtractedFact, new: ExtractedFact) -> list[ExtractedFact]:
    """The one that holds inherits the sessions of the other, not its messages, which say something else."""
    heir = new.model_copy(update={"source_memories": _union(old.source_memories, new.source_memories)})
    return [old.model_copy(update={"superseded": True, "superseded_by": new.guid}), heir]


def _successor(fact: ExtractedFact, everything: Mapping[UUID, ExtractedFact]) -> ExtractedFact | None:
    """The fact that holds in its place, at the end of however many changes; None if it is gone."""
    seen: set[UUID] = set()
    current: ExtractedFact | None = fact
    while current is not None and current.superseded and current.guid not in seen:
        seen.add(current.guid)
        current = everything.get(current.superseded_by) if current.superseded_by else None
    return None if current is None or current.superseded else current


def _names(text: str) -> list[str]:
    """Its words with a capital, in their order: who loves whom is not the same the other way round."""
    return [word for word in WORD.findall(text) if word[0].isupper()]


def _union(old: Sequence[UUID], new: Sequence[UUID]) -> list[UUID]:
    return list(dict.fromkeys([*old, *new]))
