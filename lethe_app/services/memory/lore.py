"""Which worlds belong to a conversation, and which of their entries a message wakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from pydantic import ValidationError

from lethe_app.brain.lore.compiled import Lore, OpenLore
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import ActivationCause, Evaluation, EvaluationTurn, Fired, LoreLimits
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.text.scan_window import ScanWindow
from lethe_app.domain.recall import Because, NotRecalled, RecallWay, Recollection
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.library import Library
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import apart
from lethe_app.storage.key_value import SessionState

BOUND = "worlds"
"""Key of a session's state: worlds the user bound to that conversation alone."""
SHARE = 0.2
"""Part of the context that world entries may have together, where the user set nothing."""
WAYS = {
    ActivationCause.KEY: RecallWay.KEYWORD,
    ActivationCause.ABSENCE: RecallWay.WOKEN,
    ActivationCause.CONSTANT: RecallWay.CONSTANT,
    ActivationCause.ACTIVE: RecallWay.ACTIVE,
    ActivationCause.RECURSION: RecallWay.WOKEN,
}


@dataclass(frozen=True)
class Bound:
    """The worlds of a conversation by file name, in the order of their precedence."""

    worlds: dict[str, World]

    def entry(self, guid: UUID) -> tuple[World, WorldEntry] | None:
        """The entry with this guid and the world it stands in; where several have it, that of the first world."""
        for world in self.worlds.values():
            for entry in world.entries:
                if entry.guid == guid:
                    return world, entry
        return None


class LoreKeeping:
    """Worlds bound to the conversation come first, then those of the user's self, of the persona, and everybody's."""

    def __init__(self, library: Library, preferences: Preferences, state: SessionState) -> None:
        self._library = library
        self._preferences = preferences
        self._state = state
        self._open = OpenLore()

    async def bound(self, cast: Participants, session_id: UUID | None) -> Bound:
        """Worlds that are named but not there are passed over; the library tells of broken files by itself."""
        chosen = await self._state.get(session_id, BOUND) if session_id is not None else None
        names = [
            *(name for name in (chosen if isinstance(chosen, list) else []) if isinstance(name, str)),
            *cast.user.worlds,
            *(name for one in (cast.persona, *cast.guests) for name in one.worlds),
            *self._preferences.current.global_worlds,
        ]
        if not names:
            return Bound({})
        worlds = await self._library.worlds()
        return Bound({name: worlds[name] for name in dict.fromkeys(names) if name in worlds})

    async def bind(self, session_id: UUID, names: list[str]) -> None:
        """Let these worlds belong to that conversation, besides those it has through others."""
        await self._state.set(session_id, BOUND, names or None)

    def depth(self, bound: Bound) -> int:
        """Messages before the one being sent in which some entry's words are looked for."""
        depths = (
            world.scan_depth if entry.scan_depth is None else entry.scan_depth
            for world in bound.worlds.values()
            for entry in world.entries
        )
        wanting = (world.deepest_scan for world in bound.worlds.values() if world.least_awake)
        return max((*depths, *wanting), default=0)

    async def listen(self, bound: Bound, window: ScanWindow, state: object, turn: EvaluationTurn, context: int) -> Evaluation:
        """What wakes; `state` is what the last evaluation left, as it was stored."""
        lore = await self._lore(bound, turn)
        settings = self._preferences.current
        limits = LoreLimits(tokens=settings.world_tokens or int(context * SHARE), rounds=settings.world_rounds)
        listen = partial(evaluate, lore, window, lore_state(state), turn, limits)
        return await apart(sum(len(world.entries) for world in bound.worlds.values()), listen)

    async def _lore(self, bound: Bound, turn: EvaluationTurn) -> Lore:
        worlds = list(bound.worlds.values())
        return await apart(sum(len(world.entries) for world in worlds), partial(self._open.of, worlds, turn.expand))


def lore_state(stored: object) -> LoreState:
    """What can no longer be understood counts as nothing."""
    try:
        return LoreState.model_validate(stored or {})
    except ValidationError:
        return LoreState()


def recalled(evaluation: Evaluation) -> list[Recollection]:
    """The entries that fired, each with the word that woke it."""
    return [
        entry_recollection(fired.world, fired.entry, WAYS[fired.reason], [Because(what=reason_of(fired))])
        for fired in evaluation.fired
        if fired.entry.content.strip()
    ]


def entry_recollection(world: World, entry: WorldEntry, way: RecallWay, because: list[Because]) -> Recollection:
    """An entry as it goes into the prompt."""
    return Recollection(
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
    )


def reason_of(fired: Fired) -> str:
    """Why an entry fired, in words."""
    match fired.reason:
        case ActivationCause.KEY:
            return f"“{fired.key}” was said {before(fired.message_index or 0)}"
        case ActivationCause.ABSENCE:
            return "a word it waits for was not said"
        case ActivationCause.CONSTANT:
            return "it is always there"
        case ActivationCause.ACTIVE:
            return f"it woke a few turns ago and stays until turn {fired.active_until}"
        case ActivationCause.RECURSION:
            return f"“{fired.key}” stands in “{fired.woken_by}”"


def before(messages: int) -> str:
    """Where something was said, counted from the message being answered."""
    if messages < 2:
        return "in the message before" if messages else "in your message"
    return f"{messages} messages before"


def blocked(evaluation: Evaluation) -> Iterator[NotRecalled]:
    """The entries that were mentioned and kept back, one by one: of a large world there are thousands."""
    for each in evaluation.blocked:
        yield NotRecalled(
            memory=each.entry.guid, title=each.entry.name, world=each.world.name, why=each.why.value, detail=each.detail
        )
