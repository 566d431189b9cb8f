"""Facts made outdated by a new fact, by key or by what it declares ended, and facts withdrawn when a session is extracted
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from lethe_app.brain.facts.comparison import (
    contradicts,
    extends,
    is_contained_in,
    is_ended_by,
    is_same_attribute,
    states_change,
)
from lethe_app.brain.facts.merge import can_be_superseded
from lethe_app.brain.facts.same_meaning import is_said_by
from lethe_app.brain.facts.superseding import supersede
from lethe_app.brain.text.fingerprint import content_words, fingerprint_digest
from lethe_app.domain.clock import is_later
from lethe_app.domain.facts import STILL_HOLDS, ExtractedFact, FactKind, MadeBy, SupersededBecause

FactReplacement = tuple[ExtractedFact, ExtractedFact]
"""Superseded fact, and the fact that superseded it."""


@dataclass
class FactWithdrawal:
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
    ended_sentences: Sequence[str] = (),
) -> list[ExtractedFact]:
    """Return the records to store for `new` together with the known facts that they supersede.

    Of two contradicting facts the earlier one is superseded, as is a fact to which a sentence of `ended_sentences` refers, and
    one of which the new one says more.
    Pinned facts are never superseded, and a fact that the user has reworded only by another value of its attribute that a later
    message states. A mere repetition supersedes nothing because the user may have restored both. `known` are the facts that may
    be compared with the new one.
    """
    known_by_id = {fact.guid: fact for fact in known}
    records_by_id = {record.guid: record for record in records}
    current = next((record for record in records if not record.superseded and _states_fact(record, new, known_by_id)), None)
    if current is None:
        return list(records)
    previous = known_by_id.get(current.guid)
    is_new_value = previous is None or (previous.key, previous.kind) != (current.key, current.kind)
    is_stated_anew = is_new_value or (previous is not None and current.reference_count > previous.reference_count)
    others = [records_by_id.get(guid, fact) for guid, fact in known_by_id.items() if guid != current.guid]
    others = [fact for fact in others if not fact.superseded]
    contradicted = [fact for fact in others if is_new_value and contradicts(current, fact)]
    later_fact = next(
        (fact for fact in contradicted if is_later(fact.last_seen, current.last_seen) and can_be_superseded(current, fact)),
        None,
    )
    # An old message may be read after a newer one, as by an import; then the new fact is outdated already.
    if later_fact is not None:
        records_by_id |= _replace(current, records_by_id.get(later_fact.guid, later_fact))
    else:
        ended_facts = [
            fact
            for fact in others
            if is_stated_anew
            and (states_change(new, fact) or any(is_ended_by(fact, sentence, new) for sentence in ended_sentences))
        ]
        outdated = {fact.guid: fact for fact in (*contradicted, *ended_facts)}
        older = [fact for fact in others if set(fact.source_messages).isdisjoint(new.source_messages)]
        # “Lives in Porto and sings” contains “lives in Porto”.
        outdated |= {fact.guid: fact for fact in older if any(is_contained_in(old, fact) for old in outdated.values())}
        extended = [fact for fact in others if is_new_value and fact.guid not in outdated and _is_extended_by(fact, current)]
        if len({fact.key for fact in (current, *extended)} - {""}) <= 1:  # the new one can take the place of one attribute only
            outdated |= {fact.guid: fact for fact in extended}
        for old in outdated.values():
            if not is_later(old.last_seen, current.last_seen) and (
                can_be_superseded(old, current) or _is_changed_since(old, current)
            ):
                records_by_id |= _replace(old, records_by_id.get(current.guid, current), is_extended=old in extended)
    return [fact for guid, fact in records_by_id.items() if known_by_id.get(guid) != fact]


def list_replacements(facts: Iterable[ExtractedFact]) -> list[FactReplacement]:
    """Return the superseded facts that no longer hold with their successors; left out are facts merged by the user and those
    that were only extended.
    """
    by_guid = {fact.guid: fact for fact in facts}
    pairs = [
        (fact, by_guid[fact.superseded_by])
        for fact in by_guid.values()
        if fact.superseded and fact.superseded_by is not None and fact.superseded_by in by_guid
    ]
    return [
        (old, new)
        for old, new in pairs
        if new.first_seen != old.first_seen
        and not is_later(old.first_seen, new.first_seen)
        and old.superseded_because not in STILL_HOLDS
        and not extends(new, old)
    ]


def find_replacement(text: str, messages: Collection[UUID], replacements: Iterable[FactReplacement]) -> ExtractedFact | None:
    """Return the successor of a fact that a text made of these messages states; None if what it states still holds."""
    words = content_words(text)
    for old, new in replacements:
        stated = content_words(old.fact)
        if not set(messages).isdisjoint(old.source_messages) and 2 * len(stated & words) > len(stated):
            return new
    return None


def is_stated(text: str, messages: Collection[UUID], facts: Iterable[ExtractedFact]) -> bool:
    """Return whether facts made of these messages state a text: together they have four fifths of its words, or one that the
    user reworded has more than half, because the text then has the old wording.
    """
    words = content_words(text)
    stated: set[str] = set()
    for fact in facts:
        if not set(messages).isdisjoint(fact.source_messages):
            fact_words = content_words(fact.fact)
            if fact.made_by is MadeBy.USER and 2 * len(words & fact_words) > len(words):
                return True
            stated |= fact_words
    return 5 * len(words & stated) >= 4 * len(words) and bool(words)


def withdraw_facts(
    known: Collection[ExtractedFact],
    session: UUID,
    messages: Collection[UUID],
    extracted: Iterable[ExtractedFact],
    story_messages: Collection[UUID],
) -> FactWithdrawal:
    """Return the facts that rules no longer find in a session, and facts by a model that moved between story and plain text.

    `messages` are those of the session, `story_messages` those of them that are in character, `extracted` the facts that rules
    find now. Pinned facts and the user's own are kept, as are those that a dream merged, with the messages of all parts.
    """
    withdrawal = FactWithdrawal()
    message_ids = set(messages)
    merged = {fact.superseded_by for fact in known if fact.superseded_because is SupersededBecause.MERGED}
    extracted_keys = {(fingerprint_digest(fact.fact), fact.in_story) for fact in extracted}
    for fact in known:
        shared_messages = message_ids.intersection(fact.source_messages)
        if (
            fact.made_by is MadeBy.USER
            or fact.pinned
            or fact.guid in merged
            or not (shared_messages or fact.source_memories == [session])
        ):
            continue
        is_moved = (
            fact.made_by is MadeBy.MODEL and bool(shared_messages) and fact.in_story != shared_messages.issubset(story_messages)
        )
        if not is_moved and (fact.made_by is MadeBy.MODEL or (fingerprint_digest(fact.fact), fact.in_story) in extracted_keys):
            continue
        if fact.source_memories == [session] or message_ids.issuperset(fact.source_messages):
            withdrawal.removed.append(fact.guid)
            if is_moved and not fact.superseded:
                values = {"guid": uuid4(), "in_story": not fact.in_story, "source_memories": [session], "reference_count": 1}
                withdrawal.moved.append(fact.model_copy(update=values))
        else:
            withdrawal.changed.append(_remove_session(fact, session, message_ids))
    return withdrawal


def _is_changed_since(old: ExtractedFact, new: ExtractedFact) -> bool:
    """Return whether a message states another value of the attribute of a fact that the user has reworded, but not pinned."""
    return bool(new.source_messages) and not old.pinned and is_same_attribute(new, old)


def _is_extended_by(fact: ExtractedFact, new: ExtractedFact) -> bool:
    """Return whether a new fact says all that a known one says, which holds with it, and more; not in a quotation."""
    return (fact.key in {"", new.key} or not new.key) and "“" not in new.fact and is_said_by(fact, new)


def _states_fact(record: ExtractedFact, new: ExtractedFact, known_by_id: dict[UUID, ExtractedFact]) -> bool:
    """Return whether a record states the new fact: it is the new fact itself, or a known one that it confirmed."""
    return record.guid == new.guid or (record.guid in known_by_id and not known_by_id[record.guid].superseded)


def _replace(old: ExtractedFact, new: ExtractedFact, *, is_extended: bool = False) -> dict[UUID, ExtractedFact]:
    """Return both records; the successor has the kind of the old one if it has none itself, and the key of one it extends."""
    reason = SupersededBecause.EXTENDED if is_extended or extends(new, old) else SupersededBecause.CONTRADICTED
    kind = old.kind if new.kind is FactKind.OTHER else new.kind
    successor = new.model_copy(update={"kind": kind, "key": new.key or (old.key if is_extended else "")})
    return {record.guid: record for record in supersede(old, successor, reason)}


def _remove_session(fact: ExtractedFact, session: UUID, messages: Collection[UUID]) -> ExtractedFact:
    return fact.model_copy(
        update={
            "source_memories": [source for source in fact.source_memories if source != session],
            "source_messages": [message for message in fact.source_messages if message not in messages],
            "reference_count": max(1, fact.reference_count - 1),
        }
    )
