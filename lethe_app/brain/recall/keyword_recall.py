"""Recall by keyword or name: memories, sessions, people and places that the message mentions, highest rank first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from uuid import UUID, uuid5

from lethe_app.brain.lore.compiled import LoreIndexCache
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import ActivatedEntry, ActivationCause, Evaluation, EvaluationTurn
from lethe_app.brain.lore.regex_keywords import parse_expression
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.recall.memory_text import format_memory
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import BlockedMemory, BlockReason, Reason, ReasonKind, RecalledMemory, RecallWay
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import fold

MAX_RECALLED = 3
"""Number of mentioned memories that are recalled in one turn."""
TITLE_RECALL_TYPES = frozenset({MemoryType.PERSON, MemoryType.LOCATION})
"""Types that are also recalled by their name."""
PRIORITY_PER_RELEVANCE = 10
"""Added to a session's priority for each level of relevance."""
_ENTRY_FIELDS = attrgetter(
    *("name", "content", "category", "added", "end_time"),
    *("priority", "trigger_chance", "enabled", "word_link", "case_sensitive"),
)
"""Fields, besides the keywords, from which the entries of a memory are built. Recall counters are none: a recall changes no
entry.
"""
_TITLES = UUID("9c1f6a52-6f5b-4d0e-a2c5-5d1f2f0f8b11")


@dataclass(frozen=True)
class MentionedMemory:
    """Memory that was mentioned, and the reason it is recalled."""

    memory: MemoryUnit
    way: RecallWay
    because: Reason
    rank: int
    """Its priority; for a session its relevance is added."""


class _EntryCache:
    """World Info entries of the memories of the last turn, by guid, so that only changed memories are converted again.

    The identical entry lets the compiled lore skip a deep comparison.
    """

    def __init__(self) -> None:
        self._entries: dict[UUID, tuple[object, WorldEntry]] = {}

    def build_entries(
        self, memories: Iterable[MemoryUnit], build: Callable[[MemoryUnit], WorldEntry]
    ) -> list[tuple[WorldEntry, MemoryUnit]]:
        """Return the entry of each memory with the memory; those of memories that are gone are forgotten."""
        previous, self._entries = self._entries, {}
        found: list[tuple[WorldEntry, MemoryUnit]] = []
        for memory in memories:
            fields = (*_ENTRY_FIELDS(memory), tuple(memory.keywords_main), tuple(memory.keywords_secondary))
            cached = previous.get(memory.guid)
            if cached is None or cached[0] != fields:
                cached = (fields, build(memory))
            self._entries[memory.guid] = cached
            found.append((cached[1], memory))
        return found


class KeywordRecall:
    """Match keywords and titles of memories as World Info entries."""

    def __init__(self) -> None:
        self._keyword_entries, self._title_entries, self._waiting_entries = (_EntryCache() for _each in range(3))
        self._lore = LoreIndexCache()
        self._waiting_lore = LoreIndexCache()

    def find_mentioned(
        self,
        memories: Iterable[MemoryUnit],
        sessions: Iterable[ChatSession],
        window: ScanWindow,
        turn: EvaluationTurn,
        *,
        max_recalled: int = MAX_RECALLED,
    ) -> tuple[list[MentionedMemory], list[BlockedMemory]]:
        """Return the memories and sessions mentioned in the message, or (keywords only) in the last message before it, highest
        rank first, and those that are kept back.

        Titles are matched in the message alone. Sticky memories are in the prompt already and are skipped. `sessions` must
        not contain the current session.
        """
        candidates = [memory for memory in (*memories, *sessions) if _is_eligible(memory)]
        with_keywords = [each for each in candidates if each.keywords_main or each.keywords_secondary]
        keyword_entries = self._keyword_entries.build_entries(with_keywords, _keyword_entry)
        title_entries = self._title_entries.build_entries(filter(_has_title, candidates), _title_entry)
        by_guid = {entry.guid: memory for entry, memory in (*keyword_entries, *title_entries)}
        worlds = (_world("keywords", keyword_entries, depth=1), _world("titles", title_entries, depth=0))
        evaluation = evaluate(self._lore.get_compiled(worlds, turn.expand), window, LoreState(), turn)
        return _build_result(evaluation, by_guid, max_recalled)

    def match_waiting(self, waiting: Iterable[MemoryUnit], window: ScanWindow, turn: EvaluationTurn) -> dict[UUID, str]:
        """Return the keyword found in the message for each memory in `waiting`, those that wait to be brought up
        proactively.
        """
        # Each is brought up for one turn, whatever its trigger chance is.
        entries = self._waiting_entries.build_entries(waiting, lambda memory: _keyword_entry(memory, trigger_chance=1.0))
        lore = self._waiting_lore.get_compiled((_world("waiting", entries, depth=0),), turn.expand)
        return {
            activated.entry.guid: activated.key
            for activated in evaluate(lore, window, LoreState(), turn).activated
            if activated.key
        }


def build_recollection(mentioned: MentionedMemory, *, dates: bool, session_depth: int) -> RecalledMemory:
    """Build the `RecalledMemory` of a mentioned memory for the prompt. `dates`: whether sessions are dated; `session_depth` is
    where they are inserted, in messages counted from the newest one.
    """
    memory = mentioned.memory
    is_session = memory.category is MemoryType.CHAT_SESSION
    return RecalledMemory(
        memory=memory.guid,
        category=memory.category,
        title=memory.name,
        text=format_memory(memory, dates=dates),
        way=mentioned.way,
        because=[mentioned.because],
        score=mentioned.rank,
        priority=mentioned.rank,
        position_index=session_depth if is_session else memory.position_index,
    )


def _keyword_entry(memory: MemoryUnit, **fields: object) -> WorldEntry:
    """Return a World Info entry that is activated by the memory's keywords."""
    return _build_entry(
        memory,
        guid=memory.guid,
        keywords_main=memory.keywords_main,
        keywords_secondary=memory.keywords_secondary,
        word_link=memory.word_link,
        case_sensitive=memory.case_sensitive,
        **fields,
    )


def _title_entry(memory: MemoryUnit) -> WorldEntry:
    """Return a World Info entry that is activated by the memory's name. A name that is also a stop word, such as Will,
    matches with its capital only.
    """
    is_stop_word = fold(memory.name.strip()) in STOP_WORDS
    guid = uuid5(_TITLES, str(memory.guid))
    return _build_entry(memory, guid=guid, keywords_main=[memory.name], case_sensitive=is_stop_word)


def _build_entry(memory: MemoryUnit, **fields: object) -> WorldEntry:
    """Return the World Info entry of a memory, for one turn: whether it stays longer does not depend on how it was recalled."""
    values = {
        "name": memory.name,
        "content": memory.content,
        "added": memory.added,
        "last_trigger": memory.added,
        "end_time": memory.end_time,
        "priority": memory.priority,
        "trigger_chance": memory.trigger_chance,
        "enabled": memory.enabled,
    }
    return WorldEntry.model_validate({**values, **fields})


def _world(name: str, entries: Iterable[tuple[WorldEntry, MemoryUnit]], *, depth: int) -> World:
    return World(name=name, scan_depth=depth, do_embeds=False, entries=[entry for entry, _memory in entries])


def _is_eligible(memory: MemoryUnit) -> bool:
    return not memory.sticky and memory.insertion is MemoryInsertion.TRIGGER and bool(memory.content.strip())


def _has_title(memory: MemoryUnit) -> bool:
    """Return whether the memory is recalled by its name. A name that reads as a regular expression is not used."""
    name = memory.name.strip()
    return memory.category in TITLE_RECALL_TYPES and bool(name) and parse_expression(name) is None


def _build_result(
    evaluation: Evaluation, by_guid: Mapping[UUID, MemoryUnit], max_recalled: int
) -> tuple[list[MentionedMemory], list[BlockedMemory]]:
    best: dict[UUID, tuple[MentionedMemory, ActivatedEntry]] = {}
    # A memory may be activated by keyword and by title at once; the key in the newest text becomes the reason that is shown.
    for activated in sorted(evaluation.activated, key=lambda activated: (not activated.key, activated.message_index or 0)):
        memory = by_guid[activated.entry.guid]
        best.setdefault(memory.guid, (_build_mentioned(memory, activated), activated))
    ranked = sorted(best.values(), key=lambda each: _rank_key(*each))
    blocked = {each.memory.guid: _build_crowded_out(each, max_recalled) for each, _activated in ranked[max_recalled:]}
    for each in evaluation.blocked:
        memory = by_guid[each.entry.guid]
        if memory.guid not in best:
            not_recalled = BlockedMemory(memory=memory.guid, title=memory.name, why=each.reason, values=dict(each.values))
            blocked.setdefault(memory.guid, not_recalled)
    return [each for each, _activated in ranked[:max_recalled]], [*blocked.values()]


def _build_mentioned(memory: MemoryUnit, activated: ActivatedEntry) -> MentionedMemory:
    is_title = activated.entry.guid != memory.guid
    before = activated.message_index or 0
    match activated.cause:
        case ActivationCause.KEY if is_title:
            way, reason = RecallWay.TITLE, Reason(kind=ReasonKind.NAME, values={"name": activated.key, "before": before})
        case ActivationCause.KEY:
            way, reason = RecallWay.KEYWORD, Reason(kind=ReasonKind.KEY, values={"key": activated.key, "before": before})
        case _:
            way, reason = RecallWay.WOKEN, Reason(kind=ReasonKind.NO_KEY)
    return MentionedMemory(memory, way, reason, _rank(memory))


def _rank(memory: MemoryUnit) -> int:
    return memory.priority + (PRIORITY_PER_RELEVANCE * memory.relevance if isinstance(memory, ChatSession) else 0)


def _rank_key(mentioned: MentionedMemory, activated: ActivatedEntry) -> tuple[object, ...]:
    """Return the sort key: by rank, then by how recently the key was mentioned, then the newest memory. The guid makes the
    order independent of the input order.
    """
    memory = mentioned.memory
    distance = activated.message_index if activated.message_index is not None else 99
    return (-mentioned.rank, distance, -memory.added.timestamp(), memory.guid)


def _build_crowded_out(mentioned: MentionedMemory, max_recalled: int) -> BlockedMemory:
    return BlockedMemory(
        memory=mentioned.memory.guid,
        title=mentioned.memory.name,
        why=BlockReason.CROWDED_OUT,
        values={"most": max_recalled, "rank": mentioned.rank},
    )
