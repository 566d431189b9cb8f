"""Puts together what comes to mind at one message: worlds, keywords, meaning, what is always there, and what stays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain.evaluation import Turn
from lethe_app.brain.lore_state import LoreState
from lethe_app.brain.pool import Outcome, Pool, recollection
from lethe_app.brain.snippets import form_of, snippet
from lethe_app.brain.window import Window
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.passage import Meaning
from lethe_app.domain.recollection import Because, NotRecalled, Recollection, Way
from lethe_app.services import lore
from lethe_app.services.casting import Cast
from lethe_app.services.frames import Frame
from lethe_app.services.lore import Bound, LoreKeeping, lore_state
from lethe_app.services.preferences import Preferences
from lethe_app.services.reminding import DEPTH, Asking, Reminding, is_open, session_text

LORE, POOL, STAYING = "lore", "pool", "staying"
"""Keys of a session's state: entries that are awake, memories awake by keyword, memories that stay for some turns."""
STATES = (LORE, POOL, STAYING)
_STAYING = TypeAdapter(dict[UUID, int])


@dataclass(frozen=True)
class Occasion:
    """A message and everything around it that decides what it brings up."""

    session: ChatSession
    cast: Cast
    text: str
    moment: datetime
    turn: Turn
    window: Window
    history: Sequence[Message]
    memories: Sequence[MemoryUnit]
    sessions: Sequence[ChatSession]
    """Those that are sticky or have keywords."""
    bound: Bound
    context: int
    frame: Frame | None = None
    states: dict[str, object] = field(default_factory=dict)
    meaning: Meaning | None = None

    @property
    def in_view(self) -> set[UUID]:
        """Sessions that are in the prompt word for word."""
        return {self.session.guid} | (self.frame.in_view if self.frame else set())

    @property
    def summarised(self) -> set[UUID]:
        return {one.guid for one in self.frame.summaries} if self.frame else set()

    @property
    def known(self) -> set[UUID]:
        return {one.guid for one in self.frame.facts} if self.frame else set()


@dataclass(frozen=True)
class Mind:
    """What comes, what was kept back, and what the session is to remember of it."""

    recalled: list[Recollection]
    blocked: list[NotRecalled]
    states: dict[str, object]

    @property
    def anew(self) -> list[UUID]:
        """What was brought up by this message, and not merely still there."""
        return [one.memory for one in self.recalled if one.way not in {Way.ACTIVE, Way.CONSTANT} and not one.world]


class Minding:
    """Stores nothing; the same occasion gives the same mind as long as nothing is learnt or forgotten."""

    def __init__(self, keeping: LoreKeeping, reminding: Reminding, preferences: Preferences) -> None:
        self._keeping = keeping
        self._reminding = reminding
        self._preferences = preferences
        self._pool = Pool()

    async def think(self, occasion: Occasion) -> Mind:
        """In this order, each memory once: worlds, keywords, meaning, what is always there, what stays, what opens."""
        states = occasion.states
        evaluation = await self._keeping.listen(
            occasion.bound, occasion.window, states.get(LORE), occasion.turn, occasion.context
        )
        mentioned = self._mentioned(occasion)
        found = [
            *lore.recalled(evaluation),
            *(recollection(one, dates=dates(occasion), session_depth=DEPTH) for one in mentioned.mentioned),
            *await self._reminded(occasion),
            *sticky(occasion),
            *staying(occasion),
        ]
        recalled = once(found, without=occasion.in_view)
        if not any(one.way is not Way.CONSTANT for one in recalled):
            recalled += self._opening(occasion, {one.memory for one in recalled})
        kept: dict[str, object] = {
            LORE: evaluation.state.model_dump(mode="json"),
            POOL: mentioned.state.model_dump(mode="json"),
            STAYING: still_there(occasion, recalled),
        }
        return Mind(recalled, [*lore.blocked(evaluation), *mentioned.blocked], kept)

    def _mentioned(self, occasion: Occasion) -> Outcome:
        settings = self._preferences.current
        state = lore_state(occasion.states.get(POOL))
        if not settings.keyword_retrieval:
            return Outcome([], [], LoreState())
        triggers = [memory for memory in occasion.memories if memory.insertion is MemoryInsertion.TRIGGER]
        sessions = [session for session in occasion.sessions if session.guid not in occasion.in_view]
        return self._pool.listen(triggers, sessions, occasion.window, state, occasion.turn, most=settings.keyword_max_entries)

    async def _reminded(self, occasion: Occasion) -> list[Recollection]:
        settings = self._preferences.current
        if not settings.rag_enabled or not occasion.text.strip():
            return []
        asking = Asking(
            persona_id=occasion.session.persona_id,
            text=occasion.text,
            moment=occasion.moment,
            bound=occasion.bound,
            memories={memory.guid: memory for memory in occasion.memories},
            in_view=occasion.in_view,
            summarised=occasion.summarised,
            known=occasion.known,
            dates=dates(occasion),
            meaning=occasion.meaning,
        )
        return await self._reminding.search(asking, settings.rag_entries)

    def _opening(self, occasion: Occasion, there: Collection[UUID]) -> list[Recollection]:
        """At the beginning of a conversation that nothing else leads into: what matters most."""
        if occasion.turn.number > 1 or (occasion.frame and (occasion.frame.summaries or occasion.frame.facts)):
            return []
        open_now = [
            memory
            for memory in occasion.memories
            if memory.insertion is MemoryInsertion.TRIGGER and is_open(memory, occasion.moment) and memory.guid not in there
        ]
        best = sorted(open_now, key=lambda memory: (-memory.priority, -memory.trigger_count, memory.guid))
        why = [Because(what="a conversation begins, and it is among what matters most")]
        return [shown(memory, Way.OPENING, why) for memory in best[: self._preferences.current.recall_without_match]]


def dates(occasion: Occasion) -> bool:
    """Does the persona want dates with sessions?"""
    return occasion.cast.persona.dates_in_session_summaries


def sticky(occasion: Occasion) -> list[Recollection]:
    """What is always there; a sticky session whose summary is in the prompt is there already."""
    why = [Because(what="it is always there")]
    memories = [
        shown(memory, Way.CONSTANT, why)
        for memory in occasion.memories
        if memory.sticky and memory.insertion is MemoryInsertion.TRIGGER and is_open(memory, occasion.moment)
    ]
    sessions = [
        shown(session, Way.CONSTANT, why).model_copy(
            update={"text": session_text(session, (), dates=dates(occasion), told=False), "position_index": DEPTH}
        )
        for session in occasion.sessions
        if session.sticky and session.content.strip() and session.guid not in occasion.summarised
    ]
    return [*memories, *sessions]


def staying(occasion: Occasion) -> list[Recollection]:
    """Memories brought up in an earlier turn whose duration is not over."""
    until = _until(occasion)
    why = [Because(what="it was brought up a few turns ago and stays")]
    return [
        shown(memory, Way.ACTIVE, why)
        for memory in occasion.memories
        if until.get(memory.guid, 0) >= occasion.turn.number and is_open(memory, occasion.moment)
    ]


def still_there(occasion: Occasion, recalled: Iterable[Recollection]) -> dict[str, int]:
    """Which memories stay beyond this turn, and until which."""
    number = occasion.turn.number
    durations = {memory.guid: memory.duration for memory in occasion.memories}
    kept = {guid: until for guid, until in _until(occasion).items() if until > number}
    for one in recalled:
        if one.way not in {Way.ACTIVE, Way.CONSTANT} and durations.get(one.memory, 1) > 1:
            kept[one.memory] = number + durations[one.memory] - 1
    return {str(guid): until for guid, until in kept.items()}


def once(found: Iterable[Recollection], *, without: Collection[UUID]) -> list[Recollection]:
    """Each memory in the first way in which it came; what is in the prompt word for word not at all."""
    chosen: dict[UUID, Recollection] = {}
    for one in found:
        if one.memory not in without:
            chosen.setdefault(one.memory, one)
    return list(chosen.values())


def shown(memory: MemoryUnit, way: Way, because: list[Because]) -> Recollection:
    """A memory as it goes into the prompt."""
    return Recollection(
        memory=memory.guid,
        category=memory.category,
        title=memory.name,
        text=snippet(memory, form_of(memory.category, dates=True)),
        way=way,
        because=because,
        priority=memory.priority,
        position_index=memory.position_index,
    )


def _until(occasion: Occasion) -> dict[UUID, int]:
    try:
        return _STAYING.validate_python(occasion.states.get(STAYING) or {})
    except ValidationError:
        return {}
