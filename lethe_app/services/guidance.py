"""What the persona brings up of her own accord: the note at a return, a memory whose moment has come, and what fades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain import natural, returning
from lethe_app.brain.announcing import wording
from lethe_app.brain.decay import faded, over
from lethe_app.brain.guidance import Pace, Rules
from lethe_app.brain.natural import Evidence
from lethe_app.brain.returning import Absence, UserReturnInsert
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.recollection import Because, Recollection, Way
from lethe_app.services.casting import Cast
from lethe_app.settings import Settings
from lethe_app.storage.messages import Standing
from lethe_app.storage.state import HouseState, SessionState

PACE = "pace"
"""Key of a session's state."""
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


class Guidance:
    """Decides what comes; whoever asks stores it."""

    def __init__(self, house: HouseState, state: SessionState) -> None:
        self._house = house
        self._state = state

    async def add_note(self, persona_id: str, note: UserReturnInsert) -> None:
        """Something to tell at the user's return."""
        notes = returning.with_note(await self.notes(persona_id), note)
        await self._house.set(NOTES, persona_id, _NOTES.dump_python(notes, mode="json"))

    async def notes(self, persona_id: str) -> list[UserReturnInsert]:
        """What waits to be told."""
        try:
            return _NOTES.validate_python(await self._house.get(NOTES, persona_id) or [])
        except ValidationError:
            return []

    async def at_return(
        self,
        session: ChatSession,
        cast: Cast,
        standing: Standing,
        moment: datetime,
        memories: Sequence[MemoryUnit],
        rules: Rules,
        *,
        is_latest: bool,
        previous_is_system: bool,
    ) -> Announced | None:
        """The note that greets the returning user, if they were away and there is anything to say."""
        absence = Absence(
            last_message=standing.heard_before,
            moment=moment,
            persona=cast.persona,
            user_name=cast.user.name,
            is_latest_session=is_latest,
            previous_is_system=previous_is_system,
            notes=await self.notes(session.persona_id),
            memories=memories,
        )
        note = returning.greet(absence, rules)
        if note is None:
            return None
        told = set(note.used)
        left = returning.without(absence.notes, told)
        await self._house.set(NOTES, session.persona_id, _NOTES.dump_python(left, mode="json") or None)
        told_memories = [memory for memory in memories if memory.guid in told]
        recalled = [recollected(memory, memory.content, Way.RETURN, note.because) for memory in told_memories]
        return Announced(
            hidden_line(session, note.text, moment, "return"),
            tuple(recalled) or (_bare(session, note.text, note.because),),
            tuple(returning.after_return(memory, moment) for memory in told_memories),
        )

    async def of_its_own(
        self,
        session: ChatSession,
        cast: Cast,
        text: str,
        moment: datetime,
        waiting: Sequence[MemoryUnit],
        evidence: Mapping[UUID, Evidence],
        rules: Rules,
        *,
        tagged: bool,
    ) -> Announced | None:
        """A memory whose moment this is, counting the message that was just said."""
        pace = (await self.pace(session, moment)).counted()
        chosen = natural.choose(waiting, evidence, text, pace, rules, moment)
        await self._keep(session, Pace.fresh(moment) if chosen is not None else pace)
        if chosen is None:
            return None
        memory = chosen.memory
        line = wording(memory, cast.persona.name, tagged=tagged)
        after = natural.used(memory, moment)
        return Announced(
            hidden_line(session, line, moment, f"memory {memory.guid}"),
            (recollected(memory, line, chosen.way, chosen.because),),
            (after,) if after is not None else (),
            () if after is not None else (memory.guid,),
        )

    async def pace(self, session: ChatSession, moment: datetime) -> Pace:
        """How long she has held back in this session."""
        try:
            return Pace.model_validate(await self._state.get(session.guid, PACE))
        except ValidationError:
            return Pace.fresh(moment)

    async def _keep(self, session: ChatSession, pace: Pace) -> None:
        await self._state.set(session.guid, PACE, pace.model_dump(mode="json"))


def rules_of(settings: Settings, natural_limit: float) -> Rules:
    """The settings that are rules of guidance; how near is near follows from the embedder."""
    return Rules(
        min_insert_delay_minutes=settings.min_insert_delay,
        min_message_delay=settings.min_message_delay,
        eureka_cut_off_days=settings.eureka_cut_off_days,
        disable_eurekas=settings.disable_eurekas,
        hours_before_afk=settings.hours_before_afk,
        min_no_recall_days_per_priority=settings.min_no_recall_days,
        mood_handling=settings.mood_handling,
        static_mood=settings.static_mood,
        natural_limit=natural_limit,
    )


def to_forget(memories: Sequence[MemoryUnit], moment: datetime, rules: Rules) -> list[UUID]:
    """What has faded or is over."""
    return list({memory.guid: None for memory in (*faded(memories, moment, rules), *over(memories, moment))})


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


def recollected(memory: MemoryUnit, text: str, way: Way, because: Sequence[Because]) -> Recollection:
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
        memory=session.guid, category=MemoryType.REMINDER, title="Return", text=text, way=Way.RETURN, because=list(because)
    )
