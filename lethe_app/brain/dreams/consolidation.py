"""Consolidation of memories and facts in a dream run: which may be changed, which belong together, and the resulting
changes.

Nothing here reads or writes the store. A dream may change only what a task or the archive wrote, and never a record that is
protected, pinned or sticky. A merged text may contain only what its sources contain, and must keep every name and number of
them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from lethe_app.brain.fact_guard.grounding import find_invented_words, is_grounded
from lethe_app.brain.facts.superseding import supersede, unite_sources
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.changes import DROP, MERGE, REFINE, ChangedRecord, ChangedRecords, is_owned_by_user, record_text
from lethe_app.domain.facts import ExtractedFact, MadeBy, SupersededBecause
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, merge_metadata
from lethe_app.retrieval.passage_builder import SENTENCE_END
from lethe_app.searchable_text import WORD

T = TypeVar("T")
ChangeProvenance = tuple[str, UUID | None, datetime]
"""Persona, run and moment of a change."""
DREAM = "dream"
"""Value of `made_by` for records written by a dream."""
UNMERGEABLE_TYPES = frozenset(
    {MemoryType.IMAGE, MemoryType.FILE, MemoryType.GOAL, MemoryType.REMINDER, MemoryType.JOURNAL, MemoryType.CHAT_SESSION}
)
"""Memory types that are never merged, because similar ones are still distinct or because another component manages them."""
INFERRED, ANTI_PATTERNS = "user-preferences/inferred", "anti-patterns"
"""Categories of inferred preferences and of anti-patterns."""
RESERVED = (INFERRED, ANTI_PATTERNS)
"""Categories that only a dream's own conclusions may have."""
MAX_LEVELS, MAX_LEVEL_LENGTH, MAX_TAGS = 3, 30, 5
MAX_GROUP_SIZE = 8
"""Maximum number of records in one group; a model loses track of more."""
_ARTICLES = frozenset({"a", "an", "the"})
_NOT_IN_A_LEVEL = re.compile(r"[^\w-]+")


@dataclass(frozen=True)
class MergeDecision:
    """Outcome for a group of similar records, which are given by their indices in the group."""

    text: str = ""
    """Text of the merged record; empty if nothing is merged."""
    sources: tuple[int, ...] = ()
    """Indices of the records that are merged."""
    dropped: tuple[int, ...] = ()
    filed_under: str = ""
    tags: tuple[str, ...] = ()


def can_change_memory(memory: MemoryUnit, moment: datetime) -> bool:
    """Return whether a dream may change the memory: written by a task, of a mergeable type, due, not reserved and not
    waiting to be brought up proactively.
    """
    is_waiting = memory.insertion in WAITING_INSERTIONS or memory.insertion is MemoryInsertion.USER_RETURN
    is_reserved = memory.filed_under.startswith(RESERVED)
    return (
        not is_owned_by_user(memory)
        and memory.category not in UNMERGEABLE_TYPES
        and not is_waiting
        and not is_reserved
        and memory.is_due(moment)
    )


def can_change_fact(fact: ExtractedFact) -> bool:
    """Return whether a dream may change the fact: not the user's, not superseded and not part of a story."""
    return not is_owned_by_user(fact) and not fact.superseded and not fact.in_story


# Grouping of records.


def group_by_identical_words(records: Sequence[ChangedRecord]) -> list[list[ChangedRecord]]:
    """Return groups of at least two records of one kind with identical words; articles, case and punctuation are ignored."""
    groups: dict[object, list[ChangedRecord]] = {}
    for record in records:
        words = tuple(
            word for word in WORD.findall(normalize_text(record_text(record), keep_case=False)) if word not in _ARTICLES
        )
        if words:
            groups.setdefault((merge_key(record), words), []).append(record)
    return [group for group in groups.values() if len(group) > 1]


def group_by_pairs(records: Sequence[ChangedRecord], pairs: Iterable[tuple[UUID, UUID]]) -> list[list[ChangedRecord]]:
    """Return groups of at least two records of one kind linked by `pairs`, each with at most `MAX_GROUP_SIZE` records."""
    records_by_guid = {one.guid: one for one in records}
    group_of: dict[UUID, list[UUID]] = {guid: [guid] for guid in records_by_guid}
    for one, other in pairs:
        if (
            one not in records_by_guid
            or other not in records_by_guid
            or merge_key(records_by_guid[one]) != merge_key(records_by_guid[other])
        ):
            continue
        first, second = group_of[one], group_of[other]
        if first is not second and len(first) + len(second) <= MAX_GROUP_SIZE:
            first += second
            for guid in second:
                group_of[guid] = first
    groups: list[list[UUID]] = []
    for group in group_of.values():
        if len(group) > 1 and not any(group is known for known in groups):
            groups.append(group)
    return [[records_by_guid[guid] for guid in group] for group in groups]


def merge_key(record: ChangedRecord) -> object:
    """Return the grouping key of a record; only records with the same key can be merged."""
    if isinstance(record, ExtractedFact):
        return "fact"
    return record.category, record.insertion, record.filed_under.split("/")[0] if record.filed_under else "", record.enabled


# Changes that result from a decision.


def build_changes(
    decision: MergeDecision,
    group: Sequence[ChangedRecord],
    persona_id: str,
    run_id: UUID | None,
    moment: datetime,
    names: Collection[str],
) -> list[RecordedChange]:
    """Return the changes of a decision; none if the merged text is not grounded or a record is the user's.

    All sources of a merger are removed, as well as the dropped records; a record listed in both belongs to the merger.
    """
    if any(is_owned_by_user(one) for one in group):
        return []
    merged = [group[index] for index in sorted({*decision.sources}) if 0 <= index < len(group)]
    if decision.text and len(merged) < 2:
        merged = list(group)  # the model merged without naming the records
    provenance = (persona_id, run_id, moment)
    if decision.text and len(merged) > 1:
        if not is_faithful_merge(decision.text, [record_text(one) for one in merged], names):
            return []
        dropped_records = [group[index] for index in decision.dropped if 0 <= index < len(group) and group[index] not in merged]
        return [
            _build_merge_change(merged, decision, provenance),
            *(_build_drop_change(one, provenance) for one in dropped_records),
        ]
    dropped = [group[index] for index in dict.fromkeys(decision.dropped) if 0 <= index < len(group)]
    kept = [one for one in group if one not in dropped]
    refinements = [_build_refine_change(one, decision, provenance) for one in kept] if len(kept) == 1 else []
    return [*(_build_drop_change(one, provenance) for one in dropped), *(one for one in refinements if one is not None)]


def is_faithful_merge(text: str, sources: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a merged text states only what its sources state and keeps every name and number of them."""
    sentences = [part.strip() for part in SENTENCE_END.split(text) if part and part.strip()]
    is_text_grounded = bool(sentences) and all(is_grounded(sentence, sources, names) for sentence in sentences)
    return (
        is_text_grounded
        and not any(find_invented_words(f". {source}", [text]) for source in sources)
        and not find_invented_words(text, sources)
    )


def merge_identical(group: Sequence[ChangedRecord]) -> MergeDecision:
    """Return the decision for records with identical words: merge all of them into the longest wording."""
    return MergeDecision(text=max((record_text(one) for one in group), key=len), sources=tuple(range(len(group))))


def merge_memories(
    sources: Sequence[MemoryUnit], text: str, moment: datetime, filed_under: str, tags: Iterable[str]
) -> MemoryUnit:
    """Return one memory for several: with the earliest creation date and the united sources, counts and keywords of all."""
    oldest = min(sources, key=lambda one: one.added)
    ends = [one.end_time for one in sources]
    return MemoryUnit(
        category=oldest.category,
        insertion=oldest.insertion,
        name=next((one.name for one in sorted(sources, key=lambda one: one.added) if one.name), ""),
        content=text,
        reason=next((one.reason for one in sources if one.reason), ""),
        added=oldest.added,
        end_time=None if None in ends else max(end for end in ends if end is not None),
        last_trigger=max(one.last_trigger for one in sources),
        trigger_count=sum(one.trigger_count for one in sources),
        priority=max(one.priority for one in sources),
        duration=max(one.duration for one in sources),
        position_index=oldest.position_index,
        keywords_main=_remove_duplicates(word for one in sources for word in one.keywords_main),
        keywords_secondary=_remove_duplicates(word for one in sources for word in one.keywords_secondary),
        filed_under=filed_under or next((one.filed_under for one in sources if one.filed_under), ""),
        tags=_remove_duplicates([*(tag for one in sources for tag in one.tags), *tags]),
        sources=_remove_duplicates(address for one in sources for address in one.sources),
        made_by=DREAM,
        metadata=merge_metadata(sources),
    )


def merge_facts(sources: Sequence[ExtractedFact], text: str) -> ExtractedFact:
    """Return one fact for several: with the earliest first date and the united sources and counts of all."""
    return ExtractedFact(
        fact=text,
        reference_count=sum(one.reference_count for one in sources),
        **unite_sources(*sources),
        made_by=MadeBy.MODEL if any(one.made_by is MadeBy.MODEL for one in sources) else MadeBy.RULES,
    )


def build_change(
    what: str, reason: str, before: ChangedRecords, after: ChangedRecords, provenance: ChangeProvenance
) -> RecordedChange:
    """Return the record of a change that a dream makes or proposes."""
    persona_id, run_id, moment = provenance
    return RecordedChange(
        run_id=run_id,
        persona_id=persona_id,
        at=moment,
        what=what,
        reason=reason,
        before=before.model_dump_json(),
        after=after.model_dump_json(),
    )


def _build_merge_change(
    sources: Sequence[ChangedRecord], decision: MergeDecision, provenance: ChangeProvenance
) -> RecordedChange:
    memories = [memory for memory in sources if isinstance(memory, MemoryUnit)]
    facts = [one for one in sources if isinstance(one, ExtractedFact)]
    if memories:
        one = merge_memories(memories, decision.text, provenance[2], decision.filed_under, decision.tags)
        after = ChangedRecords(memories=[one])
    else:
        merged = merge_facts(facts, decision.text)
        superseded = [supersede(fact, merged, SupersededBecause.MERGED)[0] for fact in facts]
        after = ChangedRecords(facts=[merged, *superseded])
    reason = f"{len(sources)} {'memories' if memories else 'facts'} say the same."
    return build_change(MERGE, reason, ChangedRecords(memories=memories, facts=facts), after, provenance)


def _build_drop_change(record: ChangedRecord, provenance: ChangeProvenance) -> RecordedChange:
    before = ChangedRecords(memories=[record]) if isinstance(record, MemoryUnit) else ChangedRecords(facts=[record])
    return build_change(DROP, "It says nothing that lasts.", before, ChangedRecords(), provenance)


def _build_refine_change(record: ChangedRecord, decision: MergeDecision, provenance: ChangeProvenance) -> RecordedChange | None:
    """Return the change of category and tags of a memory; None if nothing changes, and for facts, which have no categories."""
    if not isinstance(record, MemoryUnit):
        return None
    tags = _remove_duplicates([*record.tags, *decision.tags])
    refined = record.model_copy(update={"filed_under": decision.filed_under or record.filed_under, "tags": tags})
    if (refined.filed_under, refined.tags) == (record.filed_under, record.tags):
        return None
    before, after = ChangedRecords(memories=[record]), ChangedRecords(memories=[refined])
    return build_change(REFINE, "It is found more easily.", before, after, provenance)


# Categories and tags.


def normalize_category(text: str) -> str:
    """Return a category in its stored form: lower case, levels separated by slashes; empty if it is invalid or reserved for
    dreams.
    """
    levels = [_NOT_IN_A_LEVEL.sub("-", level.strip().lower()).strip("-_")[:MAX_LEVEL_LENGTH] for level in text.split("/")]
    normalized = "/".join([level for level in levels if level][:MAX_LEVELS])
    return "" if normalized.startswith(RESERVED) else normalized


def normalize_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return tags in their stored form: lower case, without duplicates, at most `MAX_TAGS`."""
    normalized = (_NOT_IN_A_LEVEL.sub("-", text.strip().lower()).strip("-_")[:MAX_LEVEL_LENGTH] for text in texts)
    return tuple(list(dict.fromkeys(tag for tag in normalized if tag))[:MAX_TAGS])


def signature(change: RecordedChange) -> str:
    """Return a key of a change by which the same proposal is recognised later, so that nothing is proposed twice."""
    before = sorted(str(guid) for guid in ChangedRecords.before(change).guids)
    texts = (
        sorted(" ".join(sorted(content_words(record_text(one)))) for one in ChangedRecords.after(change).valid_records)
        if not before
        else []
    )
    return " ".join([change.what, *before, *texts])


def _remove_duplicates(words: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(words))


def count_categories(memories: Iterable[MemoryUnit]) -> Mapping[str, int]:
    """Return the number of memories per category, including its subcategories, sorted by category."""
    counts: dict[str, int] = {}
    for memory in memories:
        levels = [level for level in memory.filed_under.split("/") if level.strip()]
        for depth in range(1, len(levels) + 1):
            name = "/".join(levels[:depth])
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
