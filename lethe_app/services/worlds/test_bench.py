"""Test bench for a world: which entries a text would activate, by which key, and what blocks the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

from lethe_app.brain.lore.evaluation import ActivationCause, Blocked, Evaluation, EvaluationTurn, Fired
from lethe_app.brain.lore.keyword_matcher import Keyword, Span, find_spans
from lethe_app.brain.text.scan_window import ScanWindow
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.recall import BlockReason, Parameter
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.prompt.macros import expand
from lethe_app.services.bound_worlds import Bound
from lethe_app.services.events import ModelState, Ready
from lethe_app.services.memory.lore import LoreKeeping
from lethe_app.services.memory.recall_context import WINDOW
from lethe_app.services.memory.recallers import LORE
from lethe_app.services.models.service import Models
from lethe_app.services.participants import ParticipantService
from lethe_app.services.prompting.turn_context import DEEPEST, USUAL_CONTEXT
from lethe_app.services.token_counts import Counting
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState

MOST_MESSAGES, MOST_SESSIONS = 100, 6
"""Maximum number of the user's messages, and of sessions, with which the frequency of keys is measured."""


@dataclass(frozen=True)
class Trial:
    """Input of a test."""

    world: World
    """The world in its current state, saved or not."""
    text: str
    session: ChatSession | None = None
    """Session in which the text is tested; None to test without one."""
    message_id: UUID | None = None
    """Message of the session whose text is tested; None for a text that would be sent next."""
    alone: bool = False
    """True to leave out the other worlds of the session."""
    fresh: bool = False
    """True to ignore the session's messages and stored activation state."""
    times: int = 1
    """Number of evaluations with different random numbers."""


@dataclass(frozen=True)
class Tried:
    """Result for one entry that was activated or blocked."""

    entry: WorldEntry
    world: World
    cause: ActivationCause | None = None
    """Cause of the activation; None if the entry is blocked."""
    why: BlockReason | None = None
    """Rule that blocks the entry; None if it is activated."""
    values: Mapping[str, Parameter] = field(default_factory=dict)
    """Parameters of the rule, as documented for `BlockReason`."""
    key: str = ""
    before: int | None = None
    """Number of messages between the match and the text; 0 if the key matches in the text itself, None if it matches
    nowhere.
    """
    woken_by: str = ""
    until: int = 0
    """Last turn in which the entry stays active; 0 if that is the current turn."""
    tokens: int = 0
    spans: Sequence[Span] = ()
    """Positions of the matched key in the text."""
    share: float | None = None
    """Share of the evaluations that activated the entry; None for a single evaluation."""


@dataclass(frozen=True)
class TrialOutcome:
    """Result of a test."""

    tried: list[Tried] = field(default_factory=list)
    """Activated entries in prompt order, followed by blocked ones."""
    tokens: int = 0
    """Tokens of all activated entries."""
    turn: int = 1
    worlds: int = 1

    @property
    def coming(self) -> list[Tried]:
        return [one for one in self.tried if one.cause is not None]


class WorldTrials:
    """Run tests of worlds. The state of a session is read, and nothing is stored."""

    def __init__(
        self,
        keeping: LoreKeeping,
        chats: Chats,
        casting: ParticipantService,
        state: SessionState,
        models: Models,
        counting: Counting,
    ) -> None:
        """Set up the test bench. `keeping` is an instance of its own, because its cache of compiled worlds is small: worlds
        under edit would evict those of the sessions.
        """
        self._keeping = keeping
        self._chats, self._casting, self._state = chats, casting, state
        self._models, self._counting = models, counting

    async def run(self, trial: Trial) -> TrialOutcome:
        """Evaluate the test text with the random numbers its message would get; further evaluations get others and only
        count activations.
        """
        bound = await self._bound(trial)
        turn, history = await self._turn(trial, bound)
        window = ScanWindow.from_history(history, trial.text)
        stored = await self._state.get(trial.session.guid, LORE) if trial.session and not trial.fresh else None
        context = self._context(self._models.state)
        first = await self._keeping.listen(bound, window, stored, turn, context)
        shares = Counter(fired.entry.guid for fired in first.fired)
        for throw in range(1, trial.times):
            await asyncio.sleep(0)  # between two throws others have their turn
            other = await self._keeping.listen(bound, window, stored, replace(turn, id=f"{turn.id} {throw}"), context)
            shares.update(fired.entry.guid for fired in other.fired)
        return await self._outcome(trial, first, turn, shares, len(bound.worlds))

    async def messages(self, session: ChatSession, count: int) -> list[Message]:
        """Return up to `count` of the newest visible messages of a session, newest first."""
        if session.leaf_id is None and not (await self._chats.session(session.guid)).leaf_id:
            return []
        tail = await self._chats.tail(session.guid, 2 * count)
        spoken = [one for one in tail if not one.hidden and one.role in {Role.USER, Role.ASSISTANT} and one.content.strip()]
        return spoken[::-1][:count]

    async def said(self, session: ChatSession | None) -> list[str]:
        """Return recent messages of the user to the session's persona, newest session first, and newest first within each."""
        said: list[str] = []
        for summary in (await self._chats.sessions(session.persona_id))[:MOST_SESSIONS] if session else []:
            tail = await self._chats.tail(summary.guid, 2 * MOST_MESSAGES)
            said += [one.content for one in reversed(tail) if one.role is Role.USER and not one.hidden]
            if len(said) >= MOST_MESSAGES:
                break
        return said[:MOST_MESSAGES]

    async def _bound(self, trial: Trial) -> Bound:
        stem = trial.world.unique_name
        if trial.session is None or trial.alone:
            return Bound({stem: trial.world})
        bound = await self._keeping.bound(await self._casting.of_session(trial.session), trial.session.guid)
        return Bound({**bound.worlds, stem: trial.world})

    async def _turn(self, trial: Trial, bound: Bound) -> tuple[EvaluationTurn, list[Message]]:
        """Return the turn of the test and the messages before it."""
        session, moment, identity = trial.session, now(), str(trial.message_id or uuid4())
        if session is None:
            return EvaluationTurn(identity, 1, 1, moment), []
        scene = (await self._casting.of_session(session)).scene(session, session.added)
        history: list[Message] = []
        spoken = asked = 1
        if not trial.fresh:
            reach = max(WINDOW, 2 * min(bound.depth, DEEPEST))
            history = await self._chats.tail(session.guid, reach, trial.message_id)
            spoken, asked = await self._counted(trial.message_id, history)
        return (
            EvaluationTurn(identity, asked, spoken, moment, seed=str(session.guid), expand=lambda text: expand(text, scene)),
            history,
        )

    async def _counted(self, message_id: UUID | None, history: Sequence[Message]) -> tuple[int, int]:
        """Return the number of messages and of turns of the session up to the tested message, itself included."""
        last = message_id or (history[-1].id if history else None)
        if last is None:
            return 1, 1
        standing = await self._chats.standing(last)
        is_new = message_id is None
        return standing.spoken + is_new, max(1, standing.asked + is_new)

    async def _outcome(
        self, trial: Trial, first: Evaluation, turn: EvaluationTurn, shares: Counter[UUID], worlds: int
    ) -> TrialOutcome:
        times = trial.times
        counts = await self._counting.count([turn.expand(fired.entry.content) for fired in first.fired])
        coming = [_coming(fired, tokens, trial.text, turn.number) for fired, tokens in zip(first.fired, counts, strict=True)]
        kept_back = [_kept_back(blocked, trial.text) for blocked in first.blocked]
        tried = [*coming, *kept_back]
        if times > 1:
            tried = [replace(one, share=shares[one.entry.guid] / times) for one in tried]
        return TrialOutcome(tried, sum(counts), turn.number, worlds)

    def _context(self, state: ModelState) -> int:
        return state.model.context if isinstance(state, Ready) else USUAL_CONTEXT


def _coming(fired: Fired, tokens: int, text: str, turn: int) -> Tried:
    return Tried(
        fired.entry,
        fired.world,
        cause=fired.reason,
        key=fired.key,
        before=fired.message_index,
        woken_by=fired.activated_by,
        until=fired.active_until if fired.active_until > turn else 0,
        tokens=tokens,
        spans=_spans(fired.entry, fired.key, text) if fired.message_index == 0 else (),
    )


def _kept_back(blocked: Blocked, text: str) -> Tried:
    spans = _spans(blocked.entry, blocked.key, text) if blocked.message_index == 0 else ()
    return Tried(
        blocked.entry,
        blocked.world,
        why=blocked.why,
        values=blocked.values,
        key=blocked.key,
        before=blocked.message_index,
        spans=spans,
    )


def _spans(entry: WorldEntry, key: str, text: str) -> Sequence[Span]:
    return find_spans(Keyword(key, entry.whole_word, entry.case_sensitive), text) if key else ()
