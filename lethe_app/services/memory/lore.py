"""Worlds bound to a session, and activation of their World Info entries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from lethe_app.brain.lore.compiled import LoreIndexCache
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import ActivatedEntry, ActivationCause, Evaluation, EvaluationTurn, LoreLimits
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.recall import BlockedMemory, Reason, ReasonKind, RecalledMemory, RecallWay
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.library import Library
from lethe_app.services.participants import SESSION_WORLDS_KEY, Participants, SessionWorlds, collect_world_names, select_worlds
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.storage.key_value import SessionState

CONTEXT_SHARE = 0.2
"""Share of the context that World Info entries may use together if the user set no token budget."""
RECALL_WAYS = {
    ActivationCause.KEY: RecallWay.KEYWORD,
    ActivationCause.ABSENCE: RecallWay.WOKEN,
    ActivationCause.CONSTANT: RecallWay.CONSTANT,
    ActivationCause.ACTIVE: RecallWay.ACTIVE,
    ActivationCause.RECURSION: RecallWay.WOKEN,
}


class LoreService:
    """Bind worlds to sessions and evaluate them. Worlds of the session come first, then those of the user persona, of the
    persona, and the global ones.
    """

    def __init__(self, library: Library, preferences: Preferences, session_state: SessionState) -> None:
        self._library = library
        self._preferences = preferences
        self._session_state = session_state
        self._index_cache = LoreIndexCache()

    async def load_worlds(self, participants: Participants, session_id: UUID | None) -> SessionWorlds:
        """Return the worlds of a session, or of a session that is about to begin."""
        session_names = await self._session_state.get(session_id, SESSION_WORLDS_KEY) if session_id is not None else None
        names = collect_world_names(participants, session_names, self._preferences.current.global_worlds)
        return select_worlds(names, await self._library.worlds()) if names else SessionWorlds()

    async def bind(self, session_id: UUID, names: list[str]) -> None:
        """Bind these worlds to a session, besides those it gets from its participants and from the global setting."""
        await self._session_state.set(session_id, SESSION_WORLDS_KEY, names or None)

    async def evaluate(
        self, session_worlds: SessionWorlds, window: ScanWindow, state: LoreState, turn: EvaluationTurn, context: int
    ) -> Evaluation:
        """Evaluate the worlds for a turn; `state` is that of the last evaluation, `context` the context size in
        tokens.
        """
        worlds, settings = list(session_worlds.worlds.values()), self._preferences.current
        size = sum(len(world.entries) for world in worlds)
        lore = await offload_if_large(size, partial(self._index_cache.get_compiled, worlds, turn.expand))
        limits = LoreLimits(
            token_budget=settings.world_tokens or int(context * CONTEXT_SHARE), max_rounds=settings.world_rounds
        )
        return await offload_if_large(size, partial(evaluate, lore, window, state, turn, limits))


def recalled_entries(evaluation: Evaluation) -> list[RecalledMemory]:
    """Return the activated entries, each with its reason."""
    return [
        recall_entry(activation.world, activation.entry, RECALL_WAYS[activation.cause], [activation_reason(activation)])
        for activation in evaluation.activated
        if activation.entry.content.strip()
    ]


def recall_entry(world: World, entry: WorldEntry, way: RecallWay, because: list[Reason]) -> RecalledMemory:
    """Return an entry as it goes into the prompt."""
    return RecalledMemory(
        memory=entry.guid,
        category=entry.category,
        title=entry.name,
        text=entry.content.strip(),
        way=way,
        because=because,
        priority=entry.priority,
        order=entry.order,
        position_index=entry.position_index,
        role=entry.role,
        world=world.name,
        outlet=entry.outlet,
        ignores_budget=entry.ignore_budget,
    )


def activation_reason(activation: ActivatedEntry) -> Reason:
    """Return why an entry was activated."""
    match activation.cause:
        case ActivationCause.KEY:
            return Reason(kind=ReasonKind.KEY, values={"key": activation.key, "before": activation.message_index or 0})
        case ActivationCause.ABSENCE:
            return Reason(kind=ReasonKind.NO_KEY)
        case ActivationCause.CONSTANT:
            return Reason(kind=ReasonKind.ALWAYS)
        case ActivationCause.ACTIVE:
            return Reason(kind=ReasonKind.STAYS_UNTIL, values={"turn": activation.active_until})
        case ActivationCause.RECURSION:
            return Reason(kind=ReasonKind.ENTRY, values={"key": activation.key, "entry": activation.activated_by})


def blocked_entries(evaluation: Evaluation) -> Iterator[BlockedMemory]:
    """Yield the entries that matched and were kept back. It is a generator, because in a large world there are thousands."""
    for blocked in evaluation.blocked:
        yield BlockedMemory(
            memory=blocked.entry.guid,
            title=blocked.entry.name,
            world=blocked.world.name,
            why=blocked.reason,
            values=dict(blocked.values),
        )
