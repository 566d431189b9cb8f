"""Recall by keyword or name: memories, sessions, people and places that the message mentions, highest rank first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from uuid import UUID, uuid5

from lethe_app.brain.lore.compiled import LoreIndexCache
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import ActivatedEntry, ActivationCause, Evaluation, EvaluationTurn
from lethe_app.brain.lore.regex_keywords import parse_expression
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.recall.memory_text import format_memory, text_form
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import BlockedMemory, BlockReason, Reason, ReasonKind, RecalledMemory, RecallWay
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.retrieval.query_terms import STOP_WORDS, fold

MAX_RECALLED = 3
"""Number of mentioned memories that are recalled in one turn."""
TITLE_RECALL_TYPES = frozenset({MemoryType.PERSON, MemoryType.LOCATION})
"""Types that are also recalled by their name."""
PRIORITY_PER_RELEVANCE = 10
"""Added to a session's priority for each level of relevance."""
SESSION_DEPTH = 3
"""Depth at which sessions are inserted into the prompt, in messages counted from the newest one."""
_TITLES = UUID("9c1f6a52-6f5b-4d0e-a2c5-5d1f2f0f8b11")


@dataclass(frozen=True)
class MentionedMemory:
    """Memory that was mentioned, and the reason it is recalled."""

    memory: MemoryUnit
    way: RecallWay
    key: str
    """The keyword or title found in the text; empty if the memory is still active from an earlier turn."""
    because: Reason
    rank: int
    """Its priority; for a session its relevance is added."""


@dataclass(frozen=True)
class KeywordRecallResult:
    """Result of one turn of recall by keyword. A caller that only previews the turn discards `state`."""

    mentioned: list[MentionedMemory]
    """Recalled memories, highest rank first."""
    blocked: list[BlockedMemory]
    state: LoreState
    """Which memories stay active for further turns. It is stored per session, beside the state of the session's worlds."""


class KeywordRecall:
    """Match keywords and titles of memories as World Info entries. Entries of the last turn are cached, so that only changed
    memories are converted again.
    """

    def __init__(self) -> None:
        self._entry_cache: dict[UUID, tuple[tuple[object, ...], WorldEntry]] = {}
        self._waiting_cache: dict[UUID, tuple[tuple[object, ...], WorldEntry]] = {}
        self._lore = LoreIndexCache()
        self._waiting_lore = LoreIndexCache()

    def find_mentioned(
        self,
        memories: Iterable[MemoryUnit],
        sessions: Iterable[ChatSession],
        window: ScanWindow,
        state: LoreState,
        turn: EvaluationTurn,
        *,
        max_recalled: int = MAX_RECALLED,
    ) -> KeywordRecallResult:
        """Return the memories and sessions mentioned in the message, or (keywords only) in the last message before it, and
        those that are still active from an earlier turn.

        Titles are matched in the message alone. Sticky memories are in the prompt already and are skipped. `sessions` must
        not contain the current session.
        """
        candidates = [memory for memory in (*memories, *sessions) if _is_eligible(memory)]
        # The cache is rebuilt each turn, so that entries of memories that are gone are dropped.
        previous, self._entry_cache = self._entry_cache, {}
        by_guid: dict[UUID, MemoryUnit] = {}
        keyword_entries = [
            self._get_entry(by_guid, previous, each, by_title=False)
            for each in candidates
            if each.keywords_main or each.keywords_secondary
        ]
        title_entries = [self._get_entry(by_guid, previous, each, by_title=True) for each in candidates if _has_title(each)]
        worlds = (_world("keywords", keyword_entries, depth=1), _world("titles", title_entries, depth=0))
        evaluation = evaluate(self._lore.get_compiled(worlds, turn.expand), window, state, turn)
        return _build_result(evaluation, by_guid, max_recalled)

    def match_waiting(self, waiting: Iterable[MemoryUnit], window: ScanWindow, turn: EvaluationTurn) -> dict[UUID, str]:
        """Return the keyword found in the message for each memory in `waiting`, those that wait to be brought up
        proactively.
        """
        previous, self._waiting_cache = self._waiting_cache, {}
        entries = [self._waiting_entry(memory, previous) for memory in waiting]
        lore = self._waiting_lore.get_compiled((_world("waiting", entries, depth=0),), turn.expand)
        return {
            activated.entry.guid: activated.key
            for activated in evaluate(lore, window, LoreState(), turn).activated
            if activated.key
        }

    def _waiting_entry(self, memory: MemoryUnit, previous: Mapping[UUID, tuple[tuple[object, ...], WorldEntry]]) -> WorldEntry:
        """Return the cached entry while the memory is unchanged. Its trigger chance is 1 and its duration one turn."""
        cache_key, cached = _cache_key(memory), previous.get(memory.guid)
        if cached is None or cached[0] != cache_key:
            cached = (cache_key, _keyword_entry(memory, trigger_chance=1.0, duration=1))
        self._waiting_cache[memory.guid] = cached
        return cached[1]

    def _get_entry(
        self,
        by_guid: dict[UUID, MemoryUnit],
        previous: Mapping[UUID, tuple[tuple[object, ...], WorldEntry]],
        memory: MemoryUnit,
        *,
        by_title: bool,
    ) -> WorldEntry:
        """Return the cached entry while the memory is unchanged. The identical object lets the compiled lore skip a deep
        comparison.
        """
        guid = uuid5(_TITLES, str(memory.guid)) if by_title else memory.guid
        cache_key = _cache_key(memory)
        cached = previous.get(guid)
        if cached is None or cached[0] != cache_key:
            cached = (cache_key, _title_entry(memory, guid) if by_title else _keyword_entry(memory))
        self._entry_cache[guid] = cached
        by_guid[guid] = memory
        return cached[1]


def build_recollection(
    mentioned: MentionedMemory, *, dates: bool, session_depth: int = SESSION_DEPTH, zone: tzinfo | None = None
) -> RecalledMemory:
    """Build the `RecalledMemory` of a mentioned memory for the prompt. `dates`: whether sessions are dated."""
    memory = mentioned.memory
    is_session = memory.category is MemoryType.CHAT_SESSION
    return RecalledMemory(
        memory=memory.guid,
        category=memory.category,
        title=memory.name,
        text=format_memory(memory, text_form(memory.category, dates=dates), zone=zone),
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


def _title_entry(memory: MemoryUnit, guid: UUID) -> WorldEntry:
    """Return a World Info entry that is activated by the memory's name. A name that is also a stop word, such as Will,
    matches with its capital only.
    """
    is_stop_word = fold(memory.name.strip()) in STOP_WORDS
    return _build_entry(memory, guid=guid, keywords_main=[memory.name], case_sensitive=is_stop_word)


def _build_entry(memory: MemoryUnit, **fields: object) -> WorldEntry:
    """Return the World Info entry of a memory. A session stays active for one turn only, whatever its own duration is."""
    values = {
        "name": memory.name,
        "content": memory.content,
        "added": memory.added,
        "last_trigger": memory.added,
        "end_time": memory.end_time,
        "priority": memory.priority,
        "duration": 1 if memory.category is MemoryType.CHAT_SESSION else memory.duration,
        "trigger_chance": memory.trigger_chance,
        "enabled": memory.enabled,
    }
    return WorldEntry.model_validate({**values, **fields})


def _cache_key(memory: MemoryUnit) -> tuple[object, ...]:
    """Return the fields of a memory from which its entries are built, as a key of the cache. Recall counters are left out,
    so that a recall does not invalidate the entry.
    """
    return (
        memory.name,
        memory.content,
        memory.category,
        memory.added,
        memory.end_time,
        memory.priority,
        memory.duration,
        memory.trigger_chance,
        memory.enabled,
        tuple(memory.keywords_main),
        tuple(memory.keywords_secondary),
        memory.word_link,
        memory.case_sensitive,
    )


def _world(name: str, entries: list[WorldEntry], *, depth: int) -> World:
    return World(name=name, scan_depth=depth, do_embeds=False, entries=entries)


def _is_eligible(memory: MemoryUnit) -> bool:
    return not memory.sticky and memory.insertion is MemoryInsertion.TRIGGER and bool(memory.content.strip())


def _has_title(memory: MemoryUnit) -> bool:
    """Return whether the memory is recalled by its name. A name that reads as a regular expression is not used."""
    name = memory.name.strip()
    return memory.category in TITLE_RECALL_TYPES and bool(name) and parse_expression(name) is None


def _build_result(evaluation: Evaluation, by_guid: Mapping[UUID, MemoryUnit], max_recalled: int) -> KeywordRecallResult:
    best: dict[UUID, tuple[MentionedMemory, ActivatedEntry]] = {}
    # A memory may be activated by keyword and by title at once; the key in the newest text becomes the reason that is shown.
    for activated in sorted(evaluation.activated, key=lambda activated: (not activated.key, activated.message_index or 0)):
        memory = by_guid[activated.entry.guid]
        best.setdefault(memory.guid, (_build_mentioned(memory, activated), activated))
    ranked = sorted(best.values(), key=lambda each: _rank_key(*each))
    crowded_out = {each.memory.guid: each for each, _activated in ranked[max_recalled:]}
    blocked = {guid: _build_crowded_out(each, max_recalled) for guid, each in crowded_out.items()}
    for each in evaluation.blocked:
        memory = by_guid[each.entry.guid]
        if memory.guid not in best:
            not_recalled = BlockedMemory(memory=memory.guid, title=memory.name, why=each.reason, values=dict(each.values))
            blocked.setdefault(memory.guid, not_recalled)
    # An entry that was crowded out in the turn that activated it must not stay active for the following turns.
    crowded_out_entries = {
        activated.entry.guid
        for activated in evaluation.activated
        if activated.cause is not ActivationCause.ACTIVE and by_guid[activated.entry.guid].guid in crowded_out
    }
    entries = {guid: record for guid, record in evaluation.state.entries.items() if guid not in crowded_out_entries}
    return KeywordRecallResult(
        [each for each, _activated in ranked[:max_recalled]], [*blocked.values()], LoreState(entries=entries)
    )


def _build_mentioned(memory: MemoryUnit, activated: ActivatedEntry) -> MentionedMemory:
    is_title = activated.entry.guid != memory.guid
    before = activated.message_index or 0
    match activated.cause:
        case ActivationCause.ACTIVE:
            way, reason = RecallWay.ACTIVE, Reason(kind=ReasonKind.STAYS_UNTIL, values={"turn": activated.active_until})
        case ActivationCause.KEY if is_title:
            way, reason = RecallWay.TITLE, Reason(kind=ReasonKind.NAME, values={"name": activated.key, "before": before})
        case ActivationCause.KEY:
            way, reason = RecallWay.KEYWORD, Reason(kind=ReasonKind.KEY, values={"key": activated.key, "before": before})
        case _:
            way, reason = RecallWay.WOKEN, Reason(kind=ReasonKind.NO_KEY)
    return MentionedMemory(memory, way, activated.key, reason, _rank(memory))


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
