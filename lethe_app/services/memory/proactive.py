"""Proactive memories: the note at the user's return, waiting memories whose condition is met, and pruning by decay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from pydantic import TypeAdapter

from lethe_app.brain.proactive import selection, user_return
from lethe_app.brain.proactive.selection import ProactiveEvidence, find_waiting
from lethe_app.brain.proactive.user_return import UserAbsence, UserReturnInsert
from lethe_app.brain.proactive.wording import build_hidden_line
from lethe_app.brain.recall.decay import find_expired, find_faded
from lethe_app.brain.recall.keyword_recall import KeywordRecall
from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.brain.recall.proactive_rules import ProactivePace
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import ClockHistory
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.recall import RecalledMemory, RecallWay
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.query_terms import strip_addressing
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.memory.search import recall_unit
from lethe_app.services.mood import MoodEffect, MoodService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.services.stored_values import read_stored
from lethe_app.services.untrusted_memories import UntrustedMemories, truncate_hidden_message, truncate_memory, truncate_note
from lethe_app.storage.chats.messages import TurnPosition
from lethe_app.storage.key_value import AppState
from lethe_app.storage.trash_listing import CLOCK

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
class ProactiveTurn:
    """What the persona brings up unprompted in one turn, and the changes to store with it."""

    message: Message | None = None
    """Hidden message to insert above the user's message; None if nothing is brought up."""
    recalled: tuple[RecalledMemory, ...] = ()
    """Memories that are brought up in it."""
    changed: tuple[MemoryUnit, ...] = ()
    """Those memories as they are stored afterwards."""
    deleted: tuple[UUID, ...] = ()
    """Memories to move to the trash: brought up for the last time, or to be pruned."""
    announced_notes: tuple[UUID, ...] = ()
    """Return notes that are in the message and are to be removed from the queue."""
    pace: ProactivePace | None = None
    """Pace to store with the session; None leaves it unchanged."""
    mood_effect: MoodEffect | None = None
    """Effect of the message on the persona's mood; None if the persona has no moods."""

    @property
    def mood(self) -> str:
        """Change of mood to state in the prompt; empty if the hidden message already states the mood."""
        line = self.message.content if self.message is not None else ""
        if self.mood_effect is None or (self.mood_effect.sentence and self.mood_effect.sentence in line):
            return ""
        return self.mood_effect.mood.said


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
        self._last_scans: dict[str, tuple[MemorySet, datetime, Settings]] = {}

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
        return read_stored(_NOTES.validate_python, await self._app_state.get(NOTES, persona_id)) or []

    async def choose(self, context: RecallContext, question: Message, turn_position: TurnPosition) -> ProactiveTurn:
        """Return what the persona brings up in answer to `question`, its mood, and the memories to prune. Nothing is
        changed.
        """
        settings, participants = self._preferences.current, context.participants
        if participants.persona.disable_bot_guidance or participants.user.disable_bot_guidance:
            return ProactiveTurn()
        if settings.guidance_latest_only and not turn_position.is_latest:
            return ProactiveTurn()
        if context.history and context.history[-1].hidden and context.history[-1].note.startswith(NOTE_PREFIXES):
            return ProactiveTurn()  # a second recall, after an edit
        mood_effect = self._moods.compute_effect(context.session, participants, question, context.history, context.app_state)
        return_note = await self._build_return_note(context, turn_position, settings, mood_effect)
        if return_note is not None:
            return return_note
        initiative = await self._choose_waiting(context, settings)
        prunable = await self._find_prunable(context.session.persona_id, context.memories, context.moment, settings)
        if prunable and ClockHistory.parse(context.app_state.get(CLOCK), context.moment).follow(context.moment).days_left:
            prunable = ()  # by a clock that may be wrong nothing has decayed or ended
        return replace(initiative, deleted=(*prunable, *initiative.deleted), mood_effect=mood_effect)

    async def _build_return_note(
        self, context: RecallContext, turn_position: TurnPosition, settings: Settings, mood_effect: MoodEffect | None
    ) -> ProactiveTurn | None:
        """Return the note that greets the returning user; None if the user was not away or there is nothing to announce."""
        session, participants, moment = context.session, context.participants, context.moment.astimezone()
        memories = context.memories.in_group("awaiting_return")
        quoted = {one.guid: await self._untrusted_memories.quote_memory(one) for one in memories if one.is_from_web}
        absence = UserAbsence(
            last_message=turn_position.previous_user_time,
            moment=moment,
            persona=participants.persona,
            user_name=participants.user.name,
            is_latest_session=turn_position.is_latest,
            previous_is_system=bool(context.history) and context.history[-1].role is Role.SYSTEM,
            notes=[
                truncate_note(return_note)
                for return_note in read_stored(_NOTES.validate_python, context.app_state.get((NOTES, session.persona_id))) or []
            ],
            memories=[truncate_memory(memory) for memory in memories],
            mood=mood_effect.sentence if mood_effect is not None else "",
            quoted=quoted,
        )
        return_note = user_return.build_return_note(absence, settings)
        if return_note is None:
            return None
        announced_memories = [memory for memory in memories if memory.guid in return_note.used]
        recalled = [
            recall_unit(
                memory,
                RecallWay.RETURN,
                return_note.because,
                text=quoted.get(memory.guid) or truncate_memory(memory).content,
                position_index=0,
            )
            for memory in announced_memories
        ]
        note_recollection = RecalledMemory(  # of a note without a memory, such as the time of day
            memory=session.guid,
            category=MemoryType.REMINDER,
            title="Return",
            text=return_note.text,
            way=RecallWay.RETURN,
            because=list(return_note.because),
        )
        return ProactiveTurn(
            build_hidden_message(session, truncate_hidden_message(return_note.text, quoted.values()), moment, RETURN),
            tuple(recalled) or (note_recollection,),
            tuple(user_return.mark_announced(memory, moment) for memory in announced_memories),
            announced_notes=return_note.used,
            mood_effect=mood_effect,
        )

    async def _choose_waiting(self, context: RecallContext, settings: Settings) -> ProactiveTurn:
        """Return the waiting memory that matches this turn, if any, and the pace that counts the current message."""
        session, moment = context.session, context.moment
        stored_pace = read_stored(ProactivePace.model_validate, context.states.get(PACE))
        pace = (stored_pace or ProactivePace.start(moment)).count_message()
        waiting = context.memories.in_group("waiting")
        due = await offload_if_large(len(waiting), partial(find_waiting, waiting, moment, settings)) if waiting else []
        if not due:
            return ProactiveTurn(pace=pace)
        limit = (await self._calibration.thresholds()).natural
        scan = partial(self._keywords.match_waiting, due, context.window, context.turn)
        keywords = await offload_if_large(len(due), scan)
        comparable_ids = [memory.guid for memory in due if memory.category not in settings.silent_types]
        distances: Mapping[UUID, float] = {}
        if comparable_ids and context.embedding is not None:
            distances = await self._memory_index.distances(context.embedding, comparable_ids)
        evidence = {memory.guid: ProactiveEvidence(distances.get(memory.guid), keywords.get(memory.guid, "")) for memory in due}
        text = strip_addressing(context.text, context.speaker_names)
        chosen = await offload_if_large(
            len(due), partial(selection.choose_memory, due, evidence, text, pace, settings, moment, limit)
        )
        if chosen is None:
            return ProactiveTurn(pace=pace)
        memory = chosen.memory
        quoted = await self._untrusted_memories.quote_memory(memory) if memory.is_from_web else ""
        hidden_text = build_hidden_line(
            truncate_memory(memory),
            context.participants.persona.spoken_name,
            tagged=self._preferences.current.tagged_events,
            quoted=quoted,
        )
        used_memory = selection.mark_used(memory, moment)
        return ProactiveTurn(
            build_hidden_message(session, hidden_text, moment, f"{MEMORY} {memory.guid}"),
            (recall_unit(memory, chosen.way, chosen.because, text=hidden_text, position_index=0),),
            changed=(used_memory,) if used_memory is not None else (),
            deleted=() if used_memory is not None else (memory.guid,),
            pace=ProactivePace.start(moment),
        )

    async def _find_prunable(
        self, persona_id: str, memories: MemorySet, moment: datetime, settings: Settings
    ) -> tuple[UUID, ...]:
        """Return the memories that have decayed or ended. Decay takes days, so unchanged memories are scanned at most once
        an hour.
        """
        last_scan = self._last_scans.get(persona_id)
        if last_scan is not None:
            scanned_memories, scanned_at, scan_settings = last_scan
            # Recall counters change every turn and do not make the scan necessary.
            if (
                memories.differs_only_in_recalls(scanned_memories)
                and scan_settings == settings
                and abs(moment - scanned_at) < SCAN_INTERVAL
            ):
                return ()

        def scan() -> tuple[UUID, ...]:
            candidates = memories.in_group("prunable")
            found = (*find_faded(candidates, moment, settings), *find_expired(candidates, moment))
            return tuple(dict.fromkeys(memory.guid for memory in found))

        prunable_ids = await offload_if_large(len(memories), scan)
        self._last_scans[persona_id] = (memories, moment, settings)
        return prunable_ids

    async def changes_of(
        self, context: RecallContext, initiative: ProactiveTurn
    ) -> tuple[dict[str, object], dict[tuple[str, str], object]]:
        """Return what to store once an initiative was taken: announced notes leave the queue, and the pace is updated. It is
        session state by key, and app state by scope and key, of which None deletes the key.
        """
        persona_id = context.session.persona_id
        states: dict[str, object] = {}
        app_state: dict[tuple[str, str], object] = {}
        if initiative.announced_notes:
            # Read again, because a note that came while this one was announced still waits.
            remaining_notes = user_return.remove_notes(await self.notes(persona_id), set(initiative.announced_notes))
            app_state[NOTES, persona_id] = _NOTES.dump_python(remaining_notes, mode="json") or None
        if initiative.pace is not None:
            states[PACE] = initiative.pace.model_dump(mode="json")
        if initiative.mood_effect is not None:
            app_state |= self._moods.build_state_updates(persona_id, initiative.mood_effect.mood, context.app_state)
        return states, app_state


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
