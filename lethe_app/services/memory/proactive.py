"""Proactive memories: the note at the user's return, waiting memories whose condition is met, and pruning by decay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain.proactive import selection, user_return
from lethe_app.brain.proactive.selection import ProactiveEvidence, find_waiting
from lethe_app.brain.proactive.user_return import UserAbsence, UserReturnInsert
from lethe_app.brain.proactive.wording import build_hidden_line
from lethe_app.brain.recall.decay import find_expired, find_faded
from lethe_app.brain.recall.keyword_recall import KeywordRecall
from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.brain.recall.proactive_rules import ProactivePace, ProactiveRules
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.memory import MemoryType, MemoryUnit, memory_types_named
from lethe_app.domain.recall import Reason, RecalledMemory, RecallWay
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.query_terms import strip_addressing
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.mood import MoodEffect, MoodService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.services.untrusted_memories import UntrustedMemories, truncate_hidden_message, truncate_memory, truncate_note
from lethe_app.storage.chats.messages import TurnPosition
from lethe_app.storage.key_value import AppState

SCAN_INTERVAL = timedelta(hours=1)
"""Minimum time between two scans of unchanged memories for ones to prune."""
PACE = "pace"
"""Key of the session state: messages and time since the persona last brought up something."""
RETURN, MEMORY = "return", "memory"
NOTE_PREFIXES = (RETURN, MEMORY)
"""Beginnings of `Message.note` that mark hidden messages of this module."""
NOTES = "return notes"
"""Scope of the app state for notes that wait for the user's return; the key is the persona."""
_NOTES = TypeAdapter(list[UserReturnInsert])


@dataclass(frozen=True)
class ProactiveInsertion:
    """Hidden message to insert above the user's message, and the changes to the memories in it."""

    message: Message
    recalled: tuple[RecalledMemory, ...]
    changed: tuple[MemoryUnit, ...] = ()
    deleted: tuple[UUID, ...] = ()
    announced_notes: tuple[UUID, ...] = ()
    """Return notes that are in it and are to be removed from the queue."""


@dataclass(frozen=True)
class ProactiveTurn:
    """What the persona brings up unprompted in one turn."""

    announced: ProactiveInsertion | None = None
    pace: ProactivePace | None = None
    """Pace to store with the session; None leaves it unchanged."""
    prunable: tuple[UUID, ...] = ()
    """Memories to prune, because they have decayed or ended."""
    mood_effect: MoodEffect | None = None
    """Effect of the message on the persona's mood; None if the persona has no moods."""

    @property
    def mood(self) -> str:
        """Change of mood to state in the prompt; empty if the hidden message already states the mood."""
        line = self.announced.message.content if self.announced else ""
        if self.mood_effect is None or (self.mood_effect.sentence and self.mood_effect.sentence in line):
            return ""
        return self.mood_effect.change_sentence

    @property
    def recalled(self) -> tuple[RecalledMemory, ...]:
        """Memories that are brought up."""
        return self.announced.recalled if self.announced else ()

    @property
    def changed(self) -> tuple[MemoryUnit, ...]:
        """Memories as they are stored after they were brought up."""
        return self.announced.changed if self.announced else ()

    @property
    def deleted(self) -> tuple[UUID, ...]:
        """Memories to move to the trash afterwards."""
        return (*self.prunable, *(self.announced.deleted if self.announced else ()))


@dataclass(frozen=True)
class ProactiveChanges:
    """States to store when an initiative was taken."""

    states: Mapping[str, object]
    """Session state, by key."""
    app_state: Mapping[tuple[str, str], object]
    """App state, by scope and key; None deletes the key."""


class ProactiveMemory:
    """Choose what the persona brings up unprompted: the note at the user's return, else a waiting memory that matches the
    turn. Nothing is changed; `changes_of` returns what to store once it is announced.
    """

    def __init__(
        self,
        app_state: AppState,
        moods: MoodService,
        untrusted_memories: UntrustedMemories,
        memory_index: MemoryIndex,
        calibration: Calibration,
        preferences: Preferences,
    ) -> None:
        self._app_state = app_state
        self._moods = moods
        self._untrusted_memories = untrusted_memories
        self._memory_index = memory_index
        self._calibration = calibration
        self._preferences = preferences
        self._keywords = KeywordRecall()
        self._last_scans: dict[str, tuple[MemorySet, datetime, ProactiveRules]] = {}

    async def add_note(self, persona_id: str, note: UserReturnInsert) -> None:
        """Queue a note for the user's return."""
        notes = user_return.add_note(await self.notes(persona_id), note)
        await self._app_state.set(NOTES, persona_id, _NOTES.dump_python(notes, mode="json"))

    async def drop_note(self, persona_id: str, note_id: UUID) -> None:
        """Remove a note from the queue; nothing happens if it was announced already."""
        notes = user_return.remove_notes(await self.notes(persona_id), {note_id})
        await self._app_state.set(NOTES, persona_id, _NOTES.dump_python(notes, mode="json") or None)

    async def notes(self, persona_id: str) -> list[UserReturnInsert]:
        """Return the queued notes of a persona."""
        return parse_notes(await self._app_state.get(NOTES, persona_id))

    async def choose(self, context: RecallContext, question: Message, turn_position: TurnPosition) -> ProactiveTurn:
        """Return what the persona brings up in answer to `question`, its mood, and the memories to prune. Nothing is
        changed.
        """
        settings, participants = self._preferences.current, context.participants
        if participants.persona.disable_bot_guidance or participants.user.disable_bot_guidance:
            return ProactiveTurn()
        if (settings.guidance_latest_only and not turn_position.is_latest) or was_announced(context.history):
            return ProactiveTurn()
        rules = rules_of(settings, (await self._calibration.thresholds()).natural)
        mood_effect = self.compute_mood_effect(context, question)
        return_insertion = await self.build_return_insertion(context, turn_position, rules, mood_effect)
        if return_insertion is not None:
            return ProactiveTurn(return_insertion, mood_effect=mood_effect)
        initiative = await self._match_waiting(context, rules)
        prunable = await self.prunable(context.session.persona_id, context.memories, context.moment, rules)
        return replace(initiative, prunable=prunable, mood_effect=mood_effect)

    async def _match_waiting(self, context: RecallContext, rules: ProactiveRules) -> ProactiveTurn:
        waiting, embedding = context.memories.waiting, context.embedding
        due = await offload_if_large(len(waiting), partial(find_waiting, waiting, context.moment, rules))
        scan = partial(self._keywords.match_waiting, due, context.window, context.turn)
        keywords = await offload_if_large(len(due), scan) if due else {}
        comparable_ids = [memory.guid for memory in due if memory.category not in rules.silent]
        distances = (
            await self._memory_index.distances(embedding, comparable_ids) if comparable_ids and embedding is not None else {}
        )
        evidence = {memory.guid: ProactiveEvidence(distances.get(memory.guid), keywords.get(memory.guid, "")) for memory in due}
        is_tagged = self._preferences.current.tagged_events
        return await self.choose_waiting_memory(context, due, evidence, rules, is_tagged=is_tagged)

    def compute_mood_effect(self, context: RecallContext, message: Message) -> MoodEffect | None:
        """Return the effect of a message on the persona's mood; None if the persona has no moods."""
        return self._moods.compute_effect(context.session, context.participants, message, context.history, context.app_state)

    async def build_return_insertion(
        self, context: RecallContext, turn_position: TurnPosition, rules: ProactiveRules, mood_effect: MoodEffect | None = None
    ) -> ProactiveInsertion | None:
        """Return the note that greets the returning user; None if the user was not away or there is nothing to announce."""
        session, participants, moment = context.session, context.participants, context.moment.astimezone()
        memories = context.memories.awaiting_return
        quoted = await self._untrusted_memories.quote_memories(memories) if memories else {}
        absence = UserAbsence(
            last_message=turn_position.previous_user_time,
            moment=moment,
            persona=participants.persona,
            user_name=participants.user.name,
            is_latest_session=turn_position.is_latest,
            previous_is_system=bool(context.history) and context.history[-1].role is Role.SYSTEM,
            notes=[
                truncate_note(return_note) for return_note in parse_notes(context.app_state.get((NOTES, session.persona_id)))
            ],
            memories=[truncate_memory(memory) for memory in memories],
            mood=mood_effect.sentence if mood_effect is not None else "",
            quoted=quoted,
        )
        return_note = user_return.build_return_note(absence, rules)
        if return_note is None:
            return None
        announced_memories = [memory for memory in memories if memory.guid in return_note.used]
        recalled = [
            to_recalled_memory(
                memory, quoted.get(memory.guid) or truncate_memory(memory).content, RecallWay.RETURN, return_note.because
            )
            for memory in announced_memories
        ]
        return ProactiveInsertion(
            build_hidden_message(session, truncate_hidden_message(return_note.text, quoted.values()), moment, RETURN),
            tuple(recalled) or (_recall_note(session, return_note.text, return_note.because),),
            tuple(user_return.mark_announced(memory, moment) for memory in announced_memories),
            announced_notes=return_note.used,
        )

    async def choose_waiting_memory(
        self,
        context: RecallContext,
        waiting: Sequence[MemoryUnit],
        evidence: Mapping[UUID, ProactiveEvidence],
        rules: ProactiveRules,
        *,
        is_tagged: bool,
    ) -> ProactiveTurn:
        """Return the waiting memory that matches this turn, if any, and the pace that counts the current message."""
        session, participants, moment = context.session, context.participants, context.moment
        pace = parse_pace(context.states.get(PACE), moment).count_message()
        if not waiting:
            return ProactiveTurn(pace=pace)
        text = strip_addressing(context.text, context.speaker_names)
        chosen = await offload_if_large(
            len(waiting), partial(selection.choose_memory, waiting, evidence, text, pace, rules, moment)
        )
        if chosen is None:
            return ProactiveTurn(pace=pace)
        memory = chosen.memory
        quoted = await self._untrusted_memories.quote_memory(memory) if memory.is_from_web else ""
        hidden_text = build_hidden_line(truncate_memory(memory), participants.persona.name, tagged=is_tagged, quoted=quoted)
        used_memory = selection.mark_used(memory, moment)
        announced = ProactiveInsertion(
            build_hidden_message(session, hidden_text, moment, f"{MEMORY} {memory.guid}"),
            (to_recalled_memory(memory, hidden_text, chosen.way, chosen.because),),
            (used_memory,) if used_memory is not None else (),
            () if used_memory is not None else (memory.guid,),
        )
        return ProactiveTurn(announced, ProactivePace.start(moment))

    async def prunable(self, persona_id: str, memories: MemorySet, moment: datetime, rules: ProactiveRules) -> tuple[UUID, ...]:
        """Return the memories that have decayed or ended. Decay takes days, so unchanged memories are scanned at most once
        an hour.
        """
        last_scan = self._last_scans.get(persona_id)
        if last_scan is not None:
            scanned_memories, scanned_at, scan_rules = last_scan
            # Recall counters change every turn and do not make the scan necessary.
            if (
                memories.differs_only_in_recalls(scanned_memories)
                and scan_rules == rules
                and abs(moment - scanned_at) < SCAN_INTERVAL
            ):
                return ()
        scan = partial(find_prunable, memories, moment, rules)
        prunable_ids = await offload_if_large(len(memories), scan)
        self._last_scans[persona_id] = (memories, moment, rules)
        return prunable_ids

    async def changes_of(self, context: RecallContext, initiative: ProactiveTurn) -> ProactiveChanges:
        """Return what to store once an initiative was taken: announced notes leave the queue, and the pace is updated."""
        persona_id = context.session.persona_id
        states: dict[str, object] = {}
        app_state: dict[tuple[str, str], object] = {}
        if initiative.announced is not None and initiative.announced.announced_notes:
            # Read again, because a note that came while this one was announced still waits.
            remaining_notes = user_return.remove_notes(await self.notes(persona_id), set(initiative.announced.announced_notes))
            app_state[NOTES, persona_id] = _NOTES.dump_python(remaining_notes, mode="json") or None
        if initiative.pace is not None:
            states[PACE] = initiative.pace.model_dump(mode="json")
        if initiative.mood_effect is not None:
            app_state |= self._moods.build_state_updates(persona_id, initiative.mood_effect.mood, context.app_state)
        return ProactiveChanges(states, app_state)


def parse_notes(value: object) -> list[UserReturnInsert]:
    """Return the notes for the user's return in a value of the app state; none if it cannot be read."""
    try:
        return _NOTES.validate_python(value or [])
    except ValidationError:
        return []


def parse_pace(value: object, moment: datetime) -> ProactivePace:
    """Return the pace in a value of the session state; one that starts at `moment` if it cannot be read."""
    try:
        return ProactivePace.model_validate(value)
    except ValidationError:
        return ProactivePace.start(moment)


def rules_of(settings: Settings, natural_limit: float) -> ProactiveRules:
    """Return the rules of proactive memory from the settings; `natural_limit` is the distance threshold of the embedding
    model.
    """
    return ProactiveRules(
        min_insert_delay_minutes=settings.min_insert_delay,
        min_message_delay=settings.min_message_delay,
        eureka_cut_off_days=settings.eureka_cut_off_days,
        disable_eurekas=not settings.proactive_messages,
        hours_before_afk=settings.hours_before_afk,
        min_no_recall_days_per_priority=settings.min_no_recall_days,
        mood_handling=settings.mood_handling,
        static_mood=settings.static_mood,
        natural_limit=natural_limit,
        decaying=memory_types_named(settings.decaying_types),
        silent=memory_types_named(settings.silent_types),
    )


def find_prunable(memories: MemorySet, moment: datetime, rules: ProactiveRules) -> tuple[UUID, ...]:
    """Return the memories that have decayed or ended."""
    candidates = memories.prunable
    return tuple({memory.guid: None for memory in (*find_faded(candidates, moment, rules), *find_expired(candidates, moment))})


def build_hidden_message(session: ChatSession, text: str, moment: datetime, note: str) -> Message:
    """Return a message that is part of the history and of the prompt, but is not displayed."""
    return Message(
        session_id=session.guid,
        role=Role.SYSTEM,
        time=moment,
        hidden=True,
        note=note,
        alternatives=[Alternative(content=text, created=moment)],
    )


def was_announced(history: Sequence[Message]) -> bool:
    """Return whether the message directly above is a hidden one of this module; then this is a second recall, after an edit."""
    return bool(history) and history[-1].hidden and history[-1].note.startswith(NOTE_PREFIXES)


def to_recalled_memory(memory: MemoryUnit, text: str, way: RecallWay, because: Sequence[Reason]) -> RecalledMemory:
    """Return the recollection of a memory that was announced by a hidden message."""
    return RecalledMemory(
        memory=memory.guid,
        category=memory.category,
        title=memory.name,
        text=text,
        way=way,
        because=list(because),
        priority=memory.priority,
    )


def _recall_note(session: ChatSession, text: str, because: Sequence[Reason]) -> RecalledMemory:
    """Return the recollection of a note without a memory, such as the time of day."""
    return RecalledMemory(
        memory=session.guid,
        category=MemoryType.REMINDER,
        title="Return",
        text=text,
        way=RecallWay.RETURN,
        because=list(because),
    )
