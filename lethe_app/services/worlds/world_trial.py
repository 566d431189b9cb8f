"""Entry test of a world: which entries a text would activate, by which key, and what blocks the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

from lethe_app.brain.lore.evaluation import ActivatedEntry, BlockedEntry, Evaluation, EvaluationTurn
from lethe_app.brain.lore.keyword_matcher import Keyword, Span, find_spans
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.recall import BlockReason, Parameter, Reason
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.prompt.macros import expand
from lethe_app.services.memory.lore import LoreService, activation_reason
from lethe_app.services.memory.recallers import LORE_STATE
from lethe_app.services.models.service import ModelService
from lethe_app.services.participants import ParticipantService, SessionWorlds
from lethe_app.services.prompting.turn_context import MAX_SCAN_DEPTH, USUAL_CONTEXT
from lethe_app.services.stored_values import read_stored
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import SessionState

MAX_MESSAGES, MAX_SESSIONS = 100, 6
"""Maximum number of the user's messages, and of sessions, with which the frequency of keys is measured."""
WINDOW = 24
"""Messages that are scanned; more if a world has a greater scan depth."""


@dataclass(frozen=True)
class TrialInput:
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
class TrialEntryResult:
    """Result for one entry that was activated or blocked."""

    entry: WorldEntry
    world: World
    reason: Reason | None = None
    """Why the entry is activated; None if it is blocked."""
    block_reason: BlockReason | None = None
    """Rule that blocks the entry; None if it is activated."""
    values: Mapping[str, Parameter] = field(default_factory=dict)
    """Parameters of the rule, as documented for `BlockReason`."""
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

    tried: list[TrialEntryResult] = field(default_factory=list)
    """Activated entries in prompt order, followed by blocked ones."""
    tokens: int = 0
    """Tokens of all activated entries."""
    is_in_use: bool = True
    """False if the session of the test does not use the world."""

    @property
    def activated(self) -> list[TrialEntryResult]:
        return [result for result in self.tried if result.reason is not None]


@dataclass(frozen=True)
class WorldTrials:
    """Run tests of worlds. The state of a session is read, and nothing is stored."""

    lore: LoreService
    """An instance of its own, because its cache of compiled worlds is small: worlds under edit would evict those of the
    sessions.
    """
    session_store: SessionStore
    participants: ParticipantService
    session_state: SessionState
    models: ModelService
    token_counts: TokenCountService

    async def run(self, trial: TrialInput) -> TrialOutcome:
        """Evaluate the test text with the random numbers its message would get; further evaluations get others and only
        count activations.
        """
        session_worlds, is_in_use = await self._load_worlds(trial)
        turn, history = await self._build_turn(trial, session_worlds)
        window = ScanWindow.from_history(history, trial.text)
        stored = await self.session_state.get(trial.session.guid, LORE_STATE) if trial.session and not trial.fresh else None
        state = read_stored(LoreState.model_validate, stored) or LoreState()
        context = self.models.loaded.context if self.models.loaded is not None else USUAL_CONTEXT
        evaluation = await self.lore.evaluate(session_worlds, window, state, turn, context)
        shares = Counter(activated.entry.guid for activated in evaluation.activated)
        for round_number in range(1, trial.times):
            await asyncio.sleep(0)  # between two throws others have their turn
            repeated = await self.lore.evaluate(
                session_worlds, window, state, replace(turn, id=f"{turn.id} {round_number}"), context
            )
            shares.update(activated.entry.guid for activated in repeated.activated)
        return replace(await self._build_outcome(trial, evaluation, turn, shares), is_in_use=is_in_use)

    async def list_messages(self, session: ChatSession, count: int) -> list[Message]:
        """Return up to `count` of the newest visible messages of a session, newest first."""
        if session.leaf_id is None and not (await self.session_store.session(session.guid)).leaf_id:
            return []
        tail = await self.session_store.newest_messages(session.guid, 2 * count)
        visible = [
            message
            for message in tail
            if not message.hidden and message.role in {Role.USER, Role.ASSISTANT} and message.content.strip()
        ]
        return visible[::-1][:count]

    async def list_user_messages(self, session: ChatSession | None) -> list[str]:
        """Return recent messages of the user to the session's persona, newest session first, and newest first within each."""
        texts: list[str] = []
        for summary in (await self.session_store.sessions(session.persona_id))[:MAX_SESSIONS] if session else []:
            tail = await self.session_store.newest_messages(summary.guid, 2 * MAX_MESSAGES)
            texts += [message.content for message in reversed(tail) if message.role is Role.USER and not message.hidden]
            if len(texts) >= MAX_MESSAGES:
                break
        return texts[:MAX_MESSAGES]

    async def _load_worlds(self, trial: TrialInput) -> tuple[SessionWorlds, bool]:
        """Return the worlds of a test, and whether its session uses the tested one; True if that is not asked."""
        stem = trial.world.unique_name
        if trial.session is None or trial.alone:
            return SessionWorlds({stem: trial.world}), True
        session_worlds = await self.lore.load_worlds(
            await self.participants.load_for_session(trial.session), trial.session.guid
        )
        return SessionWorlds({**session_worlds.worlds, stem: trial.world}), stem in session_worlds.worlds

    async def _build_turn(self, trial: TrialInput, session_worlds: SessionWorlds) -> tuple[EvaluationTurn, list[Message]]:
        """Return the turn of the test and the messages before it."""
        session, moment, identity = trial.session, now(), str(trial.message_id or uuid4())
        if session is None:
            return EvaluationTurn(identity, 1, 1, moment), []
        macro_context = (await self.participants.load_for_session(session)).build_macro_context(session, session.added)
        history: list[Message] = []
        message_count = turn_count = 1
        if not trial.fresh:
            history_length = max(WINDOW, 2 * min(session_worlds.scan_depth, MAX_SCAN_DEPTH))
            history = await self.session_store.newest_messages(session.guid, history_length, trial.message_id)
            message_count, turn_count = await self._count_messages(trial.message_id, history)
        return (
            EvaluationTurn(
                identity,
                turn_count,
                message_count,
                moment,
                seed=str(session.guid),
                expand=lambda text: expand(text, macro_context),
            ),
            history,
        )

    async def _count_messages(self, message_id: UUID | None, history: Sequence[Message]) -> tuple[int, int]:
        """Return the number of messages and of turns of the session up to the tested message, itself included."""
        last_message_id = message_id or (history[-1].id if history else None)
        if last_message_id is None:
            return 1, 1
        turn_position = await self.session_store.turn_position_of(last_message_id)
        is_new = message_id is None
        return turn_position.messages + is_new, max(1, turn_position.user_messages + is_new)

    async def _build_outcome(
        self, trial: TrialInput, evaluation: Evaluation, turn: EvaluationTurn, shares: Counter[UUID]
    ) -> TrialOutcome:
        counts = await self.token_counts.count([turn.expand(activated.entry.content) for activated in evaluation.activated])
        activated = [
            _describe_activated(activated, tokens, trial.text, turn.number)
            for activated, tokens in zip(evaluation.activated, counts, strict=True)
        ]
        tried = [*activated, *(_describe_blocked(blocked, trial.text) for blocked in evaluation.blocked)]
        if trial.times > 1:
            tried = [replace(result, share=shares[result.entry.guid] / trial.times) for result in tried]
        return TrialOutcome(tried, sum(counts))


def _describe_activated(activated: ActivatedEntry, tokens: int, text: str, turn: int) -> TrialEntryResult:
    return TrialEntryResult(
        activated.entry,
        activated.world,
        reason=activation_reason(activated),
        until=activated.active_until if activated.active_until > turn else 0,
        tokens=tokens,
        spans=_spans(activated.entry, activated.key, text) if activated.message_index == 0 else (),
    )


def _describe_blocked(blocked: BlockedEntry, text: str) -> TrialEntryResult:
    spans = _spans(blocked.entry, blocked.key, text) if blocked.message_index == 0 else ()
    return TrialEntryResult(blocked.entry, blocked.world, block_reason=blocked.reason, values=blocked.values, spans=spans)


def _spans(entry: WorldEntry, key: str, text: str) -> Sequence[Span]:
    return find_spans(Keyword(key, entry.whole_word, entry.case_sensitive), text) if key else ()
