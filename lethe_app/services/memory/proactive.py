"""What the persona brings up of her own accord: the note at a return, a memory whose moment has come, and what fades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain.proactive import selection, user_return
from lethe_app.brain.proactive.selection import ProactiveEvidence
from lethe_app.brain.proactive.user_return import UserAbsence, UserReturnInsert
from lethe_app.brain.proactive.wording import wording
from lethe_app.brain.recall.decay import faded, over
from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.brain.recall.proactive_rules import Pace, ProactiveRules
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.memory import MemoryType, MemoryUnit, kinds_named
from lethe_app.domain.recall import Because, RecallWay, Recollection
from lethe_app.services.mood import Felt, Moods
from lethe_app.services.participants import Participants
from lethe_app.services.scheduling.offload import apart
from lethe_app.services.truncation import short_line, short_memory, short_note
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.chats.messages import MessageStanding
from lethe_app.storage.key_value import AppState, SessionState

LOOK_THROUGH = timedelta(hours=1)
PACE = "pace"
"""Key of a session's state."""
RETURN, MEMORY = "return", "memory"
OURS = (RETURN, MEMORY)
"""How the notes begin that say what a hidden line is."""
NOTES = "return notes"
"""Scope of the notes that wait for the user's return, by persona."""
_NOTES = TypeAdapter(list[UserReturnInsert])


@dataclass(frozen=True)
class Announced:
    """A hidden line for above the user's message, and what became of the memories in it."""

    message: Message
    recalled: tuple[Recollection, ...]
    changed: tuple[MemoryUnit, ...] = ()
    gone: tuple[UUID, ...] = ()
    told: tuple[UUID, ...] = ()
    """Notes that need not wait any longer."""


@dataclass(frozen=True)
class Initiative:
    """What she does of her own accord in one turn."""

    announced: Announced | None = None
    pace: Pace | None = None
    """To be kept with the session; None leaves it as it is."""
    faded: tuple[UUID, ...] = ()
    """Memories to be forgotten: they have faded or are over."""
    felt: Felt | None = None
    """What the message did to her mood, where she has one."""

    @property
    def mood(self) -> str:
        """What this turn is told of it: news, unless the line above the message says how she feels."""
        line = self.announced.message.content if self.announced else ""
        if self.felt is None or (self.felt.sentence and self.felt.sentence in line):
            return ""
        return self.felt.said

    @property
    def recalled(self) -> tuple[Recollection, ...]:
        """What she says."""
        return self.announced.recalled if self.announced else ()

    @property
    def changed(self) -> tuple[MemoryUnit, ...]:
        """Memories as they are once she has said so."""
        return self.announced.changed if self.announced else ()

    @property
    def gone(self) -> tuple[UUID, ...]:
        """Memories for the trash then."""
        return (*self.faded, *(self.announced.gone if self.announced else ()))


@dataclass(frozen=True)
class ProactiveChanges:
    """What is to be stored once an initiative was taken."""

    states: Mapping[str, object]
    """Of the session, by key."""
    app_state: Mapping[tuple[str, str], object]
    """Of the app state, by scope and key; None takes a key away."""


class ProactiveMemory:
    """Decides what comes and changes nothing; `concluded` says what is to be stored when it came."""

    def __init__(self, app_state: AppState, state: SessionState, moods: Moods, foreign: UntrustedMemories) -> None:
        self._app_state = app_state
        self._state = state
        self.felt = moods.felt
        self._moods = moods
        self._foreign = foreign
        self._looked_through: dict[str, tuple[MemorySet, datetime, ProactiveRules]] = {}

    async def add_note(self, persona_id: str, note: UserReturnInsert) -> None:
        """Something to tell at the user's return."""
        notes = user_return.with_note(await self.notes(persona_id), note)
        await self._app_state.set(NOTES, persona_id, _NOTES.dump_python(notes, mode="json"))

    async def drop_note(self, persona_id: str, note_id: UUID) -> None:
        """It is not to be told after all; nothing happens if it was told already."""
        notes = user_return.without(await self.notes(persona_id), {note_id})
        await self._app_state.set(NOTES, persona_id, _NOTES.dump_python(notes, mode="json") or None)

    async def notes(self, persona_id: str) -> list[UserReturnInsert]:
        """What waits to be told."""
        try:
            return _NOTES.validate_python(await self._app_state.get(NOTES, persona_id) or [])
        except ValidationError:
            return []

    async def at_return(
        self,
        session: ChatSession,
        cast: Participants,
        standing: MessageStanding,
        moment: datetime,
        memories: Sequence[MemoryUnit],
        rules: ProactiveRules,
        *,
        is_latest: bool,
        previous_is_system: bool,
        felt: Felt | None = None,
    ) -> Announced | None:
        """The note that greets the returning user, if they were away and anything is to be said; `memories` wait for that."""
        quoted = await self._foreign.told_of(memories)
        absence = UserAbsence(
            last_message=standing.heard_before,
            moment=moment,
            persona=cast.persona,
            user_name=cast.user.name,
            is_latest_session=is_latest,
            previous_is_system=previous_is_system,
            notes=[short_note(note) for note in await self.notes(session.persona_id)],
            memories=[short_memory(memory) for memory in memories],
            mood=felt.sentence if felt is not None else "",
            quoted=quoted,
        )
        note = user_return.greet(absence, rules)
        if note is None:
            return None
        told_memories = [memory for memory in memories if memory.guid in note.used]
        recalled = [
            recollected(memory, quoted.get(memory.guid) or short_memory(memory).content, RecallWay.RETURN, note.because)
            for memory in told_memories
        ]
        return Announced(
            hidden_line(session, short_line(note.text, quoted.values()), moment, RETURN),
            tuple(recalled) or (_bare(session, note.text, note.because),),
            tuple(user_return.after_return(memory, moment) for memory in told_memories),
            told=note.used,
        )

    async def of_its_own(
        self,
        session: ChatSession,
        cast: Participants,
        text: str,
        moment: datetime,
        waiting: Sequence[MemoryUnit],
        evidence: Mapping[UUID, ProactiveEvidence],
        rules: ProactiveRules,
        *,
        tagged: bool,
    ) -> Initiative:
        """A memory whose moment this is, counting the message that was just said."""
        pace = (await self.pace(session, moment)).counted()
        chosen = await apart(len(waiting), partial(selection.choose, waiting, evidence, text, pace, rules, moment))
        if chosen is None:
            return Initiative(pace=pace)
        memory = chosen.memory
        quoted = await self._foreign.quoted_text(memory) if memory.is_from_web else ""
        line = wording(short_memory(memory), cast.persona.name, tagged=tagged, quoted=quoted)
        after = selection.used(memory, moment)
        announced = Announced(
            hidden_line(session, line, moment, f"{MEMORY} {memory.guid}"),
            (recollected(memory, line, chosen.way, chosen.because),),
            (after,) if after is not None else (),
            () if after is not None else (memory.guid,),
        )
        return Initiative(announced, Pace.fresh(moment))

    async def faded(self, persona_id: str, memories: MemorySet, moment: datetime, rules: ProactiveRules) -> tuple[UUID, ...]:
        """What has faded or is over. That takes days: with nothing new among them, one look an hour will do."""
        known = self._looked_through.get(persona_id)
        if known is not None:
            before, at, by = known
            if memories.is_same_but_touched(before) and by == rules and abs(moment - at) < LOOK_THROUGH:
                return ()
        look = partial(to_forget, memories, moment, rules)
        found = await apart(len(memories), look)
        self._looked_through[persona_id] = (memories, moment, rules)
        return found

    async def concluded(self, session: ChatSession, initiative: Initiative) -> ProactiveChanges:
        """It is done: notes that were told wait no longer, and the pace goes on from here. What came meanwhile still waits."""
        states: dict[str, object] = {}
        app_state: dict[tuple[str, str], object] = {}
        if initiative.announced is not None and initiative.announced.told:
            left = user_return.without(await self.notes(session.persona_id), set(initiative.announced.told))
            app_state[NOTES, session.persona_id] = _NOTES.dump_python(left, mode="json") or None
        if initiative.pace is not None:
            states[PACE] = initiative.pace.model_dump(mode="json")
        if initiative.felt is not None:
            app_state |= await self._moods.traces(session.persona_id, initiative.felt.mood)
        return ProactiveChanges(states, app_state)

    async def pace(self, session: ChatSession, moment: datetime) -> Pace:
        """How long she has held back in this session."""
        try:
            return Pace.model_validate(await self._state.get(session.guid, PACE))
        except ValidationError:
            return Pace.fresh(moment)


def rules_of(settings: Settings, natural_limit: float) -> ProactiveRules:
    """The settings that are rules of guidance; how near is near follows from the embedder."""
    return ProactiveRules(
        min_insert_delay_minutes=settings.min_insert_delay,
        min_message_delay=settings.min_message_delay,
        eureka_cut_off_days=settings.eureka_cut_off_days,
        disable_eurekas=settings.disable_eurekas,
        hours_before_afk=settings.hours_before_afk,
        min_no_recall_days_per_priority=settings.min_no_recall_days,
        mood_handling=settings.mood_handling,
        static_mood=settings.static_mood,
        natural_limit=natural_limit,
        decaying=kinds_named(settings.decaying_types),
        silent=kinds_named(settings.silent_types),
    )


def to_forget(memories: MemorySet, moment: datetime, rules: ProactiveRules) -> tuple[UUID, ...]:
    """What has faded or is over."""
    mortal = memories.mortal
    return tuple({memory.guid: None for memory in (*faded(mortal, moment, rules), *over(mortal, moment))})


def hidden_line(session: ChatSession, text: str, moment: datetime, note: str) -> Message:
    """Part of the conversation and of the prompt, but not drawn."""
    return Message(
        session_id=session.guid,
        role=Role.SYSTEM,
        time=moment,
        hidden=True,
        note=note,
        alternatives=[Alternative(content=text, created=moment)],
    )


def was_announced(history: Sequence[Message]) -> bool:
    """Is there a line of ours right above the message already? Then it is remembered a second time, after an edit."""
    return bool(history) and history[-1].hidden and history[-1].note.startswith(OURS)


def recollected(memory: MemoryUnit, text: str, way: RecallWay, because: Sequence[Because]) -> Recollection:
    """A memory that was written into the conversation."""
    return Recollection(
        memory=memory.guid,
        category=memory.category,
        title=memory.name,
        text=text,
        way=way,
        because=list(because),
        priority=memory.priority,
    )


def _bare(session: ChatSession, text: str, because: Sequence[Because]) -> Recollection:
    """A note that no memory is behind, such as the time of day."""
    return Recollection(
        memory=session.guid,
        category=MemoryType.REMINDER,
        title="Return",
        text=text,
        way=RecallWay.RETURN,
        because=list(because),
    )
