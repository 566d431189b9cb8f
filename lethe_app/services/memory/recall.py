"""Recall for a message of the user: selects memories, stores them with the message, and stores all changes of state."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from uuid import UUID

from pydantic import TypeAdapter

from lethe_app.brain.recall.objections import Objection, apply_objections
from lethe_app.brain.recall.session_notes import build_notes_block, update_notes
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.chat import Alternative, Degradation, DegradationKind, Message
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.errors import LetheError
from lethe_app.prompt.macros import expand
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.proactive import ProactiveMemory, ProactiveTurn
from lethe_app.services.memory.recall_context import ANNOUNCED, RecallContext, RecallContexts, with_announced
from lethe_app.services.memory.recallers import (
    ACTIVE_SPANS,
    LASTING,
    RecallCandidates,
    Recaller,
    active_spans,
    recall_at_opening,
)
from lethe_app.services.memory.search import without_forgotten
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.scheduling.offload import run_to_completion
from lethe_app.services.stored_values import read_stored
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.memory.turn_memories import TurnEffects, TurnMemories

MAX_BLOCKED = 40
"""Maximum number of kept-back memories that are reported; a large world has thousands."""
_OBJECTIONS = TypeAdapter(list[Objection])


@dataclass(frozen=True)
class MemorySelection:
    """Query the recallers in their order, and take each memory once. Nothing is stored."""

    recallers: Sequence[Recaller]
    preferences: Preferences

    async def select(self, context: RecallContext) -> tuple[TurnMemory, dict[str, object]]:
        """Return what a turn recalls and keeps back, and the session state to store."""
        all_candidates: list[RecallCandidates] = []
        for recaller in self.recallers:
            all_candidates.append(await recaller.candidates(context, all_candidates))
        candidates = deduplicate(
            chain.from_iterable(candidate_set.recollections for candidate_set in all_candidates), without=context.in_view
        )
        objections = parse_objections(context.app_state.get(objections_key(context.session.persona_id)))
        recalled, unwanted = apply_objections(candidates, objections, context.text, now()) if objections else (candidates, [])
        if all(recollection.way is RecallWay.CONSTANT for recollection in recalled):
            recalled += await recall_at_opening(
                context, {recollection.memory for recollection in recalled} | context.announced, self.preferences
            )
        states = {key: value for candidate_set in all_candidates for key, value in candidate_set.states.items()}
        has_notebook = any(candidate_set.has_notebook for candidate_set in all_candidates)
        if has_notebook:
            replaced = {guid for candidate_set in all_candidates for guid in candidate_set.accumulated}
            recalled = [one for one in recalled if one.memory not in replaced or one.way is not RecallWay.ACTIVE]
        max_accumulated = self.preferences.current.accumulated_memories
        states[ACTIVE_SPANS] = active_spans(context, recalled, max_accumulated, has_notebook=has_notebook)
        recalled_ids = {recollection.memory for recollection in recalled}
        kept_back = chain(unwanted, *(candidate_set.blocked for candidate_set in all_candidates))
        blocked = islice((memory for memory in kept_back if memory.memory not in recalled_ids), MAX_BLOCKED)
        uncovered = [
            recollection
            for recollection in recalled
            if not any(candidate_set.covers(recollection) for candidate_set in all_candidates)
        ]
        remark = " ".join(candidate_set.remark for candidate_set in all_candidates if candidate_set.remark)
        recalled = [*chain.from_iterable(candidate_set.first for candidate_set in all_candidates), *uncovered]
        return TurnMemory(recalled=recalled, blocked=list(blocked), remark=remark), states


def deduplicate(recollections: Iterable[RecalledMemory], *, without: Collection[UUID]) -> list[RecalledMemory]:
    """Return each memory once, by the first way in which it was recalled.

    Memories that are in the prompt in full are left out, unless their time was asked for.
    """
    first_recollections: dict[UUID, RecalledMemory] = {}
    for recollection in recollections:
        if recollection.memory not in without or recollection.way is RecallWay.TIME:
            first_recollections.setdefault(recollection.memory, recollection)
    return list(first_recollections.values())


log = logging.getLogger(__name__)

SESSION_NOTES = "session_notes"
"""Key of the session state: notes on the current session."""


@dataclass(frozen=True)
class RecallService:
    """Recall memories for a message that was just stored, and store the effects."""

    recall_contexts: RecallContexts
    selection: MemorySelection
    proactive: ProactiveMemory
    turn_memories: TurnMemories
    memory_cache: MemoryCache
    untrusted_memories: UntrustedMemories
    indexing: IndexingService
    preferences: Preferences

    async def recall(self, turn: TurnContext, model: LoadedModel) -> tuple[TurnMemory, Message | None]:
        """Return what the turn's question recalls, stored with it, and the hidden message that was stored directly above it.

        An error while memories are read does not prevent the reply: nothing is recalled, and a warning is logged.
        """
        try:
            return await self._recall(turn, model)
        except LetheError as error:
            log.warning("Nothing could be remembered in this turn: %s", error)
            return TurnMemory(degradations=[Degradation(kind=DegradationKind.RECALL_FAILED)]), None

    async def _recall(self, turn: TurnContext, model: LoadedModel) -> tuple[TurnMemory, Message | None]:
        if turn.rows.has_pending:
            await self.indexing.index_pending()
        context, question = await self.recall_contexts.build_for_turn(turn, model.context), turn.user_message
        assert question is not None
        if not self.preferences.current.recalls_memories:
            context = replace(context, memories=context.memories.exclude({one.guid for one in context.memories}), sessions=())
        if worlds := context.session_worlds.worlds:
            self.indexing.check_worlds(worlds)
        # An old reply is written anew: what is stored of the present does not count or change. Nor does it where a recall took
        # place before, of which only the ids are stored.
        is_incognito = turn.session.is_incognito  # nothing of it is stored or counts
        if is_incognito or not turn.rows.is_newest or turn.rows.turn.memory is not None:
            memory, _states = await self._select(replace(context, states={}))
            memory = memory.model_copy(update={"degradations": list(context.degradations)})
            if not is_incognito:
                await self.turn_memories.save_turn(question.id, self._to_stored(memory))
            return memory, None
        initiative = await self.proactive.choose(context, question, turn.rows.turn_position)
        if initiative.deleted:
            context = replace(context, memories=context.memories.exclude(initiative.deleted))
        memory, states = await self._select(context)
        return await run_to_completion(self._store(context, question, initiative, memory, states))

    async def _select(self, context: RecallContext) -> tuple[TurnMemory, dict[str, object]]:
        """Return what a turn recalls, with text from the internet quoted as untrusted, and the session state to store."""
        memory, states = await self.selection.select(context)
        if not memory.recalled:
            return memory, states
        recalled = await self.untrusted_memories.quote_recalled(memory.recalled, context.memories.by_guid)
        return memory.model_copy(update={"recalled": recalled}), states

    def _to_stored(self, memory: TurnMemory) -> TurnMemory:
        """Return what is stored of a recall."""
        return memory if self.preferences.current.keep_retrieved_context else memory.without_texts()

    async def stored_recall(self, message_id: UUID) -> TurnMemory | None:
        """Return what a message recalled, without deleted memories; None if no recall is stored for it."""
        stored = await self.turn_memories.load(message_id)
        return without_deleted(stored.memory, stored.deleted_ids) if stored.memory is not None else None

    async def _store(
        self,
        context: RecallContext,
        question: Message,
        initiative: ProactiveTurn,
        memory: TurnMemory,
        recall_states: Mapping[str, object],
    ) -> tuple[TurnMemory, Message | None]:
        """Store the hidden message, the recalled memories and every change of state in one transaction."""
        session, before = context.session, context.states
        hidden_message = initiative.message
        if hidden_message is not None:
            text = expand(hidden_message.content, context.participants.build_macro_context(session, context.moment))
            alternative = Alternative(content=text, created=hidden_message.time)
            hidden_message = hidden_message.model_copy(update={"alternatives": [alternative]})
        states: dict[str, object] = {}
        notes_block = ""
        if self.preferences.current.session_notes:
            stored_notes = parse_notes(before.get(SESSION_NOTES))
            notes = update_notes(to_utterances([*context.history[-1:], question]), stored_notes)
            notes_block, states = build_notes_block(notes), {SESSION_NOTES: notes} if notes != stored_notes else {}
        if hidden_message is not None:
            announced = [recollection.memory for recollection in initiative.recalled]
            states[ANNOUNCED] = with_announced(before.get(ANNOUNCED), announced, hidden_message.id)
        # Of this message, without what is only still active and what opens a session.
        newly_recalled = [
            recollection.memory
            for recollection in memory.recalled
            if recollection.way not in LASTING and recollection.way is not RecallWay.OPENING and not recollection.world
        ]
        # An empty value is stored only to replace another.
        changed_states = {
            key: value for key, value in recall_states.items() if value != before.get(key) and (value or before.get(key))
        }
        proactive_states, app_state = await self.proactive.changes_of(context, initiative)
        effects = TurnEffects(
            persona_id=session.persona_id,
            session=session.guid,
            message=question.id,
            memory=memory.model_copy(
                update={
                    "recalled": [*initiative.recalled, *memory.recalled],
                    "session_notes": notes_block,
                    "mood": initiative.mood,
                    "degradations": list(context.degradations),
                }
            ),
            moment=context.moment,
            hidden_message=hidden_message,
            changed=initiative.changed,
            deleted=initiative.deleted,
            recalled=newly_recalled,
            states={**states, **proactive_states, **changed_states},
            app_state=app_state,
        )
        note = await self.turn_memories.save_effects(replace(effects, memory=self._to_stored(effects.memory)))
        self.memory_cache.apply_effects(effects)
        return effects.memory, note


def objections_key(persona_id: str) -> tuple[str, str]:
    """Return the scope and key of the app state under which a persona's objections are stored."""
    return f"objections {persona_id}", "all"


def parse_objections(stored: object) -> list[Objection]:
    """Return stored objections; none if they cannot be read."""
    return read_stored(_OBJECTIONS.validate_python, stored) or []


def without_deleted(memory: TurnMemory, deleted_ids: Collection[UUID]) -> TurnMemory:
    """Return the recalled memories without those deleted since."""
    recollections = [
        remaining for recollection in memory.recalled if (remaining := without_forgotten(recollection, deleted_ids))
    ]
    return memory.model_copy(update={"recalled": recollections, "forgotten": len(memory.recalled) - len(recollections)})


def parse_notes(state: object) -> dict[str, str]:
    """Return the notes on a session by key, as far as the stored value can be read."""
    return {str(key): str(value) for key, value in state.items()} if isinstance(state, dict) else {}
