"""The note that greets the user after an absence: how long it was, what day it is, and what has waited to be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.brain.dates.arithmetic import elapsed, nights_between
from lethe_app.brain.recall.decay import touched
from lethe_app.brain.recall.memory_text import one_line
from lethe_app.brain.recall.proactive_rules import ProactiveRules
from lethe_app.domain.clock import WEEKDAYS, now, spell_day, spell_time
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.persona import Persona, Weekday
from lethe_app.domain.recall import Because

LONG = timedelta(hours=6)
"""Absence after which the day is named even if it is still the same."""
DAY = timedelta(days=1)


class UserReturnInsert(BaseModel):
    """Something that happened while the user was away, such as research done; it waits for the next return."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: UUID = Field(default_factory=uuid4)
    uid: str = ""
    """Names the task it comes from; of one task only the newest note waits. Empty: it stands by itself."""
    added: AwareDatetime = Field(default_factory=now)
    info: str
    """One sentence, in which macros may stand."""


@dataclass(frozen=True)
class UserAbsence:
    """Everything that bears on whether the user has been away and what is said about it."""

    last_message: datetime | None
    """When the user last wrote, in whatever session; None: never before."""
    moment: datetime
    """When the user writes again, by the user's own clock."""
    persona: Persona
    user_name: str
    is_latest_session: bool = True
    previous_is_system: bool = False
    """Is the message before the user's already a hidden one?"""
    notes: Sequence[UserReturnInsert] = ()
    memories: Sequence[MemoryUnit] = ()
    """Among which those that wait for the return are looked for."""
    mood: str = ""
    """A sentence about it; empty if there is nothing to say."""
    quoted: Mapping[UUID, str] = field(default_factory=dict)
    """How memories are told in which there are words of strangers, by id."""


@dataclass(frozen=True)
class ReturnNote:
    """What is said, and what is used up by it once the reply is there."""

    text: str
    """Macros as they are in what it is made of."""
    used: tuple[UUID, ...]
    """Notes and memories that were told; see `without` and `after_return`."""
    because: tuple[Because, ...]


def greet(absence: UserAbsence, rules: ProactiveRules) -> ReturnNote | None:
    """The note, if the user has been away and there is anything to say.

    Day, schedule and mood are told in the latest session only, for an older one plays in its own time. The schedule alone is
    no reason to speak. Neither is an absence that would be negative, because a clock was put back. Who was not away is told
    the reminders whose time has come.
    """
    away = _away(absence, rules)
    if away is None:
        return _timely(absence)
    notes = sorted(absence.notes, key=lambda note: (note.added, note.id))
    memories = awaiting_return(absence.memories, absence.moment)
    time = _time(absence, away) if absence.is_latest_session and absence.persona.sense_of_time else []
    mood = _mood(absence, rules)
    told = [*(one_line(note.info) for note in notes), *(_told(memory, absence) for memory in memories)]
    if not any((*time, mood, *told)):
        return None
    lines = [*time, _schedule(absence), mood, *told]
    used = (*(note.id for note in notes), *(memory.guid for memory in memories))
    return ReturnNote("\n".join(filter(None, lines)), used, tuple(_reasons(away, len(notes), len(memories))))


def _timely(absence: UserAbsence) -> ReturnNote | None:
    """Reminders do not wait for an absence, only for their hour."""
    if absence.previous_is_system or absence.persona.disable_bot_guidance:
        return None
    due = [one for one in awaiting_return(absence.memories, absence.moment) if one.category is MemoryType.REMINDER]
    reasons = tuple(Because(what="its time has come") for _one in due[:1])
    return ReturnNote("\n".join(_told(one, absence) for one in due), tuple(one.guid for one in due), reasons) if due else None


def _told(memory: MemoryUnit, absence: UserAbsence) -> str:
    """What is said of a memory that waited; a reminder alone would not be understood."""
    words = absence.quoted.get(memory.guid) or one_line(memory.content)
    return f"It is time for this reminder: {words}" if memory.category is MemoryType.REMINDER and words else words


def awaiting_return(memories: Iterable[MemoryUnit], moment: datetime) -> list[MemoryUnit]:
    """Those that are to be told at the user's return and whose time has come, oldest first."""
    found = [
        memory
        for memory in memories
        if memory.insertion is MemoryInsertion.USER_RETURN and memory.enabled and memory.is_due(moment)
    ]
    return sorted(found, key=lambda memory: (memory.added, memory.guid))


def after_return(memory: MemoryUnit, moment: datetime) -> MemoryUnit:
    """As it is once it was told: never again."""
    return touched(memory.model_copy(update={"insertion": MemoryInsertion.NONE}), moment)


def with_note(notes: Iterable[UserReturnInsert], new: UserReturnInsert) -> list[UserReturnInsert]:
    """The notes that wait, with a new one in place of an older one of the same task."""
    return [*(note for note in notes if note.id != new.id and not (new.uid and note.uid == new.uid)), new]


def without(notes: Iterable[UserReturnInsert], told: AbstractSet[UUID]) -> list[UserReturnInsert]:
    """The notes that still wait after these were told; one that came in the meantime is among them."""
    return [note for note in notes if note.id not in told]


def _away(absence: UserAbsence, rules: ProactiveRules) -> timedelta | None:
    """How long, if it was long enough for a note and nothing else forbids one."""
    if absence.last_message is None or absence.previous_is_system or absence.persona.disable_bot_guidance:
        return None
    away = elapsed(absence.last_message, absence.moment)
    return away if away >= max(timedelta(), timedelta(hours=rules.hours_before_afk)) else None


def _time(absence: UserAbsence, away: timedelta) -> list[str]:
    assert absence.last_message is not None
    nights = nights_between(absence.last_message, absence.moment)
    clock = spell_time(absence.moment)
    ago = f"{absence.user_name} last wrote {_ago(away, nights)}."
    if nights or away > LONG:
        return [f"It is {spell_day(absence.moment)}, {clock}. {ago}"]
    return [f"It is {clock}. {ago}"]


def _ago(away: timedelta, nights: int) -> str:
    """In days once it is one of 24 hours or more, as the calendar counts them; else in hours.

    A journey westwards can bring back the day that was left: then it is hours as well.
    """
    if away < DAY or nights < 1:
        hours = max(1, round(away / timedelta(hours=1)))
        return f"about {hours} hour{'s' if hours > 1 else ''} ago"
    return "yesterday" if nights == 1 else f"{nights} days ago"


def _schedule(absence: UserAbsence) -> str:
    """What the persona does on this weekday, with the words that introduce it."""
    day = Weekday(WEEKDAYS[absence.moment.weekday()].lower())
    plan = one_line(absence.persona.schedule.get(day, ""))
    if not plan or not absence.is_latest_session:
        return ""
    return f"{one_line(absence.persona.schedule_prefix) or 'Plans for today:'} {plan}"


def _mood(absence: UserAbsence, rules: ProactiveRules) -> str:
    if not absence.is_latest_session or not (rules.mood_handling and absence.persona.mood):
        return ""
    return one_line(absence.mood)


def _reasons(away: timedelta, notes: int, memories: int) -> Iterable[Because]:
    yield Because(what="hours the user was away", value=round(away / timedelta(hours=1), 2))
    if notes:
        yield Because(what="notes that waited", value=notes)
    if memories:
        yield Because(what="memories that waited for the return", value=memories)
