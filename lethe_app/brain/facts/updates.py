"""Facts made outdated by a new fact, by key or by what it declares ended, and facts withdrawn when a session is extracted
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from lethe_app.brain.facts.comparison import contradicts, extends, is_ended_by, is_told_within, tells_change
from lethe_app.brain.facts.merge import gives_way
from lethe_app.brain.text.fingerprint import digest
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy


@dataclass
class Withdrawal:
    """Changes to known facts when their session is extracted again."""

    removed: list[UUID] = field(default_factory=list)
    changed: list[ExtractedFact] = field(default_factory=list)
    """Facts that other sessions state as well, without this session as a source."""
    moved: list[ExtractedFact] = field(default_factory=list)
    """Replacements of removed facts: the same facts moved into or out of the story."""


def replace_outdated(
    records: Sequence[ExtractedFact],
    new: ExtractedFact,
    known: Collection[ExtractedFact],
    ends: Sequence[str] = (),
) -> list[ExtractedFact]:
    """Return the records of `merge_fact` for `new` together with the known facts that they supersede.

    Of two contradicting facts the earlier one is superseded, as is a fact to which a sentence of `ends` refers. Pinned facts
    and the user's own are never superseded, and a mere repetition supersedes nothing because the user may have restored
    both. `known` are the facts that may be compared with the new one.
    """
    before = {fact.guid: fact for fact in known}
    after = {record.guid: record for record in records}
    stands = next((record for record in records if not record.superseded and _carries(record, new, before)), None)
    if stands is None:
        return list(records)
    was = before.get(stands.guid)
    is_new_value = was is None or (was.key, was.kind) != (stands.key, stands.kind)
    is_news = is_new_value or (was is not None and stands.reference_count > was.reference_count)
    others = [after.get(guid, fact) for guid, fact in before.items() if guid != stands.guid]
    others = [fact for fact in others if not fact.superseded]
    rivals = [fact for fact in others if is_new_value and contradicts(stands, fact)]
    later = next((fact for fact in rivals if fact.last_seen > stands.last_seen and gives_way(stands, fact)), None)
    if later is not None:
        after |= _superseded(stands, after.get(later.guid, later))
    else:
        ended = [
            fact
            for fact in others
            if is_news and (tells_change(new, fact) or any(is_ended_by(fact, sentence, new) for sentence in ends))
        ]
        gone = {fact.guid: fact for fact in (*rivals, *ended)}
        gone |= {fact.guid: fact for fact in others if _falls_with(fact, gone.values(), new)}
        for old in gone.values():
            if gives_way(old, stands) and old.last_seen <= stands.last_seen:
                after |= _superseded(old, after.get(stands.guid, stands))
    return [fact for guid, fact in after.items() if before.get(guid) != fact]


def withdraw(
    known: Iterable[ExtractedFact],
    session: UUID,
    messages: Collection[UUID],
    produced: Iterable[ExtractedFact],
    story: Collection[UUID],
) -> Withdrawal:
    """Return the facts that rules no longer find in a session, and facts by a model that moved between story and plain text.

    `messages` are those of the session, `story` those of them that are in character, `produced` the facts that rules find
    now. Pinned facts and the user's own are kept.
    """
    found = Withdrawal()
    here = set(messages)
    kept = {(digest(fact.fact), fact.in_story) for fact in produced}
    for fact in known:
        said = here.intersection(fact.source_messages)
        if fact.made_by is MadeBy.USER or fact.pinned or not (said or fact.source_memories == [session]):
            continue
        moves = fact.made_by is MadeBy.MODEL and bool(said) and fact.in_story != said.issubset(story)
        if not moves and (fact.made_by is MadeBy.MODEL or (digest(fact.fact), fact.in_story) in kept):
            continue
        if fact.source_memories == [session] or here.issuperset(fact.source_messages):
            found.removed.append(fact.guid)
            if moves and not fact.superseded:
                found.moved.append(_moved(fact, session))
        else:
            found.changed.append(_without(fact, session, here))
    return found


def _falls_with(fact: ExtractedFact, gone: Iterable[ExtractedFact], new: ExtractedFact) -> bool:
    """Return whether a fact contains an outdated one, as “lives in Porto and sings” contains “lives in Porto”."""
    is_older = set(fact.source_messages).isdisjoint(new.source_messages)
    return is_older and any(is_told_within(old, fact) for old in gone)


def _carries(record: ExtractedFact, new: ExtractedFact, before: dict[UUID, ExtractedFact]) -> bool:
    """Return whether a record states the new fact: it is the new fact itself, or a known one that it confirmed."""
    return record.guid == new.guid or (record.guid in before and not before[record.guid].superseded)


def _superseded(old: ExtractedFact, new: ExtractedFact) -> dict[UUID, ExtractedFact]:
    """Return both records; the successor gets the sessions of the other, and its count if it states all that the other
    states.
    """
    heir = new.model_copy(
        update={
            "source_memories": list(dict.fromkeys([*old.source_memories, *new.source_memories])),
            "reference_count": new.reference_count + (old.reference_count if extends(new, old) else 0),
            "kind": old.kind if new.kind is FactKind.OTHER else new.kind,
        }
    )
    return {old.guid: old.model_copy(update={"superseded": True, "superseded_by": new.guid}), heir.guid: heir}


def _moved(fact: ExtractedFact, session: UUID) -> ExtractedFact:
    values = {"guid": uuid4(), "in_story": not fact.in_story, "source_memories": [session], "reference_count": 1}
    return fact.model_copy(update=values)


def _without(fact: ExtractedFact, session: UUID, messages: Collection[UUID]) -> ExtractedFact:
    return fact.model_copy(
        update={
            "source_memories": [source for source in fact.source_memories if source != session],
            "source_messages": [message for message in fact.source_messages if message not in messages],
            "reference_count": max(1, fact.reference_count - 1),
        }
    )
