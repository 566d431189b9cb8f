"""Puts together what comes to mind at one message: worlds, keywords, meaning, what is always there, and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from heapq import nsmallest
from itertools import chain, islice
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain.dreams.preferences import firm
from lethe_app.brain.lore.evaluation import Evaluation, EvaluationTurn
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.recall.keyword_recall import KeywordRecallResult, Pool, recollection
from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.brain.recall.memory_text import form_of, snippet
from lethe_app.brain.text.scan_window import ScanWindow
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.memory import MemoryType, MemoryUnit, kinds_named
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.recall import Because, NotRecalled, RecallWay, Recollection
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.memory import lore
from lethe_app.services.memory.lore import Bound, LoreKeeping, lore_state
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.search import DEPTH, MemoryQuery, is_open, session_text
from lethe_app.services.memory.time_search import TimeSearch, TimeSearchResult
from lethe_app.services.participants import NOBODY, Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.stable_prefix import StablePrefix
from lethe_app.services.scheduling.offload import apart
from lethe_app.services.truncation import LONGEST_MEMORY, shortened

LORE, POOL, STAYING = "lore", "pool", "staying"
"""Keys of a session's state: entries that are awake, memories awake by keyword, memories that stay for some turns."""
STATES = (LORE, POOL, STAYING)
LONGEST_QUESTION = 4000
"""Characters of a message that are looked at for what they mean and remind of; an embedder sees fewer still."""
MOST_BLOCKED = 40
"""Of those kept back, as many are told: with a large world and little luck there are thousands."""
_STAYING = TypeAdapter(dict[UUID, tuple[int, int]])
"""The turn in which a memory was brought up, and the last one in which it stays."""
LASTING = frozenset({RecallWay.ACTIVE, RecallWay.CONSTANT})
"""Ways of what is there whatever this message says."""


@dataclass(frozen=True)
class RecallContext:
    """A message and everything around it that decides what it brings up."""

    session: ChatSession
    cast: Participants
    text: str
    moment: datetime
    turn: EvaluationTurn
    window: ScanWindow
    history: Sequence[Message]
    memories: MemorySet
    sessions: Sequence[ChatSession]
    """Those that are sticky or have keywords."""
    bound: Bound
    context: int
    frame: StablePrefix | None = None
    states: dict[str, object] = field(default_factory=dict)
    meaning: TextEmbedding | None = None
    told: frozenset[UUID] = frozenset()
    """Memories that stand in the conversation, because she told them."""

    @property
    def in_view(self) -> set[UUID]:
        """Sessions and memories that are in the prompt word for word."""
        return {self.session.guid, *self.told} | (self.frame.in_view if self.frame else set())

    @property
    def summarised(self) -> set[UUID]:
        return {one.guid for one in self.frame.summaries} if self.frame else set()

    @property
    def known(self) -> set[UUID]:
        return {one.guid for one in self.frame.facts} if self.frame else set()


@dataclass(frozen=True)
class RecallResult:
    """What comes, what was kept back, and what the session is to remember of it."""

    recalled: list[Recollection]
    blocked: list[NotRecalled]
    states: dict[str, object]
    remark: str = ""

    @property
    def anew(self) -> list[UUID]:
        """What was brought up by this message: not what is merely still there, nor what begins a conversation."""
        return [
            one.memory for one in self.recalled if one.way not in LASTING and one.way is not RecallWay.OPENING and not one.world
        ]


class MemorySelection:
    """Stores nothing; the same occasion gives the same mind as long as nothing is learnt or forgotten."""

    def __init__(
        self, keeping: LoreKeeping, searching: TimeSearch, preferences: Preferences, objecting: ObjectionService
    ) -> None:
        self._keeping = keeping
        self._searching = searching
        self._preferences = preferences
        self._objecting = objecting
        self._pool = Pool()
        self._listening = asyncio.Lock()

    async def think(self, occasion: RecallContext) -> RecallResult:
        """In this order, each memory once: worlds, keywords, meaning, what is always there, what stays, what opens."""
        states = occasion.states
        evaluation = await self._keeping.listen(
            occasion.bound, occasion.window, states.get(LORE), occasion.turn, occasion.context
        )
        mentioned = await self._mentioned(occasion)
        reminded = await self._reminded(occasion, evaluation)
        found = [
            *lore.recalled(evaluation),
            *(short(recollection(one, dates=dates(occasion), session_depth=DEPTH)) for one in mentioned.mentioned),
            *reminded.recollections,
            *sticky(occasion),
            *staying(occasion),
        ]
        found = once(found, without=occasion.in_view)
        recalled, unwanted = await self._objecting.sifted(occasion.session.persona_id, found, occasion.text)
        if not any(one.way is not RecallWay.CONSTANT for one in recalled):
            recalled += await self._opening(occasion, {one.memory for one in recalled} | occasion.told)
        kept: dict[str, object] = {
            LORE: evaluation.state.model_dump(mode="json"),
            POOL: mentioned.state.model_dump(mode="json"),
            STAYING: still_there(occasion, recalled),
        }
        there = {one.memory for one in recalled}
        kept_back = chain(unwanted, lore.blocked(evaluation), mentioned.blocked)
        blocked = islice((one for one in kept_back if one.memory not in there), MOST_BLOCKED)
        return RecallResult(recalled, list(blocked), kept, reminded.remark)

    async def _mentioned(self, occasion: RecallContext) -> KeywordRecallResult:
        settings = self._preferences.current
        state = lore_state(occasion.states.get(POOL))
        if not settings.keyword_retrieval:
            return KeywordRecallResult([], [], LoreState())
        there = occasion.in_view | occasion.summarised
        sessions = [session for session in occasion.sessions if session.guid not in there]

        def listen() -> KeywordRecallResult:
            triggers = [memory for memory in occasion.memories.triggers if memory.guid not in occasion.told]
            most = settings.keyword_max_entries
            return self._pool.listen(triggers, sessions, occasion.window, state, occasion.turn, most=most)

        async with self._listening:  # what the pool has made ready is one turn's at a time
            return await apart(len(occasion.memories) + len(sessions), listen)

    async def _reminded(self, occasion: RecallContext, evaluation: Evaluation) -> TimeSearchResult:
        settings = self._preferences.current
        if not settings.rag_enabled or not occasion.text.strip():
            return TimeSearchResult()
        asking = MemoryQuery(
            persona_id=occasion.session.persona_id,
            text=occasion.text[:LONGEST_QUESTION],
            moment=occasion.moment,
            bound=occasion.bound,
            memories=occasion.memories.by_guid,
            in_view=occasion.in_view,
            summarised=occasion.summarised,
            known=occasion.known,
            silent=kinds_named(settings.silent_types),
            present=present(occasion.cast),
            personas=occasion.cast.names,
            dates=dates(occasion),
            meaning=occasion.meaning,
            is_awake=waking(occasion, evaluation),
        )
        return await self._searching.search(asking, settings.rag_entries, session=occasion.session)

    async def _opening(self, occasion: RecallContext, there: Collection[UUID]) -> list[Recollection]:
        """At the beginning of a conversation that nothing else leads into: what matters most."""
        if occasion.turn.number > 1 or (occasion.frame and (occasion.frame.summaries or occasion.frame.facts)):
            return []
        settings = self._preferences.current
        choose = partial(_most_important, occasion, there, settings.recall_without_match, kinds_named(settings.silent_types))
        best = await apart(len(occasion.memories), choose)
        why = [Because(what="a conversation begins, and it is among what matters most")]
        return [shown(memory, RecallWay.OPENING, why) for memory in best]


def _most_important(
    occasion: RecallContext, there: Collection[UUID], most: int, silent: Collection[MemoryType]
) -> list[MemoryUnit]:
    open_now = (
        memory
        for memory in occasion.memories
        if is_open(memory, occasion.moment) and memory.category not in silent and memory.guid not in there
    )
    return nsmallest(most, open_now, key=lambda memory: (-memory.priority, -memory.trigger_count, memory.guid))


def present(cast: Participants) -> tuple[str, ...]:
    """The names of those who speak. A user who has none is called like many a thing."""
    return cast.names if cast.user is NOBODY else (*cast.names, cast.user.name)


def dates(occasion: RecallContext) -> bool:
    """Does the persona want dates with sessions?"""
    return occasion.cast.persona.dates_in_session_summaries


def sticky(occasion: RecallContext) -> list[Recollection]:
    """What is always there; a sticky session whose summary is in the prompt is there already."""
    why = [Because(what="it is always there")]
    held = firm(occasion.memories.standing)  # what must never happen again
    memories = [
        shown(memory, RecallWay.CONSTANT, why)
        for memory in occasion.memories.standing
        if (memory.sticky or memory.guid in held) and is_open(memory, occasion.moment)
    ]
    sessions = [
        shown(session, RecallWay.CONSTANT, why).model_copy(
            update={"text": session_text(session, (), dates=dates(occasion), told=False), "position_index": DEPTH}
        )
        for session in occasion.sessions
        if session.sticky and session.content.strip() and session.guid not in occasion.summarised
    ]
    return [*memories, *sessions]


def staying(occasion: RecallContext) -> list[Recollection]:
    """Memories, and entries found by meaning, that were brought up in an earlier turn and whose duration is not over."""
    spans = _spans(occasion)
    if not spans:
        return []
    why = [Because(what="it was brought up a few turns ago and stays")]
    held = occasion.memories.some(spans)
    memories = [shown(memory, RecallWay.ACTIVE, why) for memory in held if is_open(memory, occasion.moment)]
    found = [entry for guid in spans if (entry := occasion.bound.entry(guid)) is not None]
    entries = [lore.entry_recollection(*one, RecallWay.ACTIVE, why) for one in found if is_open(one[1], occasion.moment)]
    return [*memories, *entries]


def still_there(occasion: RecallContext, recalled: Iterable[Recollection]) -> dict[str, tuple[int, int]]:
    """Which of them stay beyond this turn: since which turn and until which."""
    number = occasion.turn.number
    held = occasion.memories.by_guid
    kept = {guid: span for guid, span in _spans(occasion).items() if span[1] > number}
    for one in recalled:
        woken = occasion.bound.entry(one.memory) if one.world and one.way is RecallWay.MEANING else None
        duration = woken[1].duration if woken is not None else (held[one.memory].duration if one.memory in held else 1)
        if one.way not in LASTING and duration > 1:
            kept[one.memory] = (number, number + duration - 1)
    return {str(guid): span for guid, span in kept.items()}


def waking(occasion: RecallContext, evaluation: Evaluation) -> Callable[[WorldEntry], bool]:
    """Says which entries may be found by meaning: none that its world's rules have kept back, that rests or is too early."""
    number = occasion.turn.number
    silent = {blocked.entry.guid for blocked in evaluation.blocked}
    for guid, record in lore_state(occasion.states.get(LORE)).entries.items():
        if record.counts_in(number) and record.is_resting(number):
            silent.add(guid)
    return lambda entry: entry.guid not in silent and entry.delay <= occasion.turn.spoken


def once(found: Iterable[Recollection], *, without: Collection[UUID]) -> list[Recollection]:
    """Each memory in the first way in which it came; what is in the prompt word for word only if its time was asked for."""
    chosen: dict[UUID, Recollection] = {}
    for one in found:
        if one.memory not in without or one.way is RecallWay.TIME:
            chosen.setdefault(one.memory, one)
    return list(chosen.values())


def shown(memory: MemoryUnit, way: RecallWay, because: list[Because]) -> Recollection:
    """A memory as it goes into the prompt."""
    return Recollection(
        memory=memory.guid,
        category=memory.category,
        title=memory.name,
        text=shortened(snippet(memory, form_of(memory.category, dates=True)), LONGEST_MEMORY),
        way=way,
        because=because,
        priority=memory.priority,
        position_index=memory.position_index,
    )


def short(recollection: Recollection) -> Recollection:
    """As much of its text as a prompt can bear."""
    return recollection.model_copy(update={"text": shortened(recollection.text, LONGEST_MEMORY)})


def _spans(occasion: RecallContext) -> dict[UUID, tuple[int, int]]:
    """What stays in this turn. Of a turn that was taken back and is played again, nothing does."""
    try:
        spans = _STAYING.validate_python(occasion.states.get(STAYING) or {})
    except ValidationError:
        return {}
    return {guid: span for guid, span in spans.items() if span[0] < occasion.turn.number <= span[1]}
