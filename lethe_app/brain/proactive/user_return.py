"""Note for the prompt when the user returns after an absence: its length, the day, and the notes and memories that have
waited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.brain.recall.decay import count_recall
from lethe_app.brain.recall.memory_text import one_line
from lethe_app.config.settings import Settings
from lethe_app.dates.arithmetic import calendar_days_between, elapsed
from lethe_app.domain.clock import WEEKDAYS, now, spell_day, spell_time
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.persona import Persona, Weekday
from lethe_app.domain.recall import Reason, ReasonKind

LONG_ABSENCE = timedelta(hours=6)
"""Absence after which the day is named even if it is still the same."""
DAY = timedelta(days=1)


class UserReturnInsert(BaseModel):
    """Note about something that happened while the user was away, such as finished research; it waits for the next return."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: UUID = Field(default_factory=uuid4)
    uid: str = ""
    """Id of the task that wrote the note; a newer note of the same task replaces an older one. Empty if the note belongs to
    no task.
    """
    added: AwareDatetime = Field(default_factory=now)
    info: str
    """One sentence; it may contain macros."""


@dataclass(frozen=True)
class UserAbsence:
    """Input of `build_return_note`: everything that decides whether the user was away and what the note says."""

    last_message: datetime | None
    """Time of the user's last message in any session; None if there is none."""
    moment: datetime
    """Time of the user's new message, in the user's time zone."""
    persona: Persona
    user_name: str
    is_latest_session: bool = True
    previous_is_system: bool = False
    """True if the message before the user's is already a hidden one; then there is no note."""
    notes: Sequence[UserReturnInsert] = ()
    memories: Sequence[MemoryUnit] = ()
    """Memories among which those that wait for the return are searched."""
    mood: str = ""
    """Sentence about the persona's mood; empty if there is none."""
    quoted: Mapping[UUID, str] = field(default_factory=dict)
    """Quoted form of memories that contain words of strangers, by guid."""


@dataclass(frozen=True)
class ReturnNote:
    """Text of the note, and the notes and memories to mark as announced once the reply is stored."""

    text: str
    """Text with macros unexpanded."""
    used: tuple[UUID, ...]
    """Ids of the announced notes and memories; see `remove_notes` and `mark_announced`."""
    because: tuple[Reason, ...]


def build_return_note(absence: UserAbsence, settings: Settings) -> ReturnNote | None:
    """Build the note, or return None if the user was not away or there is nothing to announce.

    Day, schedule and mood are included in the latest session only, because an older session plays in its own time. The
    schedule alone is no reason for a note, nor is a negative absence, which occurs when the clock was set back. If the user
    was not away, the note has only the reminders that are due.
    """
    absence_length = _absence_length(absence, settings)
    if absence_length is None:
        return _due_reminders_note(absence)
    notes = sorted(absence.notes, key=lambda note: (note.added, note.id))
    memories = find_awaiting_return(absence.memories, absence.moment)
    time = _time_lines(absence, absence_length) if absence.is_latest_session and absence.persona.sense_of_time else []
    mood = _mood_line(absence, settings)
    announced_lines = [*(one_line(note.info) for note in notes), *(_announced_line(memory, absence) for memory in memories)]
    if not any((*time, mood, *announced_lines)):
        return None
    lines = [*time, _schedule_line(absence), mood, *announced_lines]
    used = (*(note.id for note in notes), *(memory.guid for memory in memories))
    return ReturnNote("\n".join(filter(None, lines)), used, tuple(_reasons(absence_length, len(notes), len(memories))))


def _due_reminders_note(absence: UserAbsence) -> ReturnNote | None:
    """Return a note with the due reminders, which do not wait for an absence. None if there are none."""
    if absence.previous_is_system or absence.persona.disable_bot_guidance:
        return None
    due = [one for one in find_awaiting_return(absence.memories, absence.moment) if one.category is MemoryType.REMINDER]
    reasons = tuple(Reason(kind=ReasonKind.DUE) for _one in due[:1])
    return (
        ReturnNote("\n".join(_announced_line(one, absence) for one in due), tuple(one.guid for one in due), reasons)
        if due
        else None
    )


def _announced_line(memory: MemoryUnit, absence: UserAbsence) -> str:
    """Return the text of a memory that waited; a reminder gets an introduction, because it would not be understood without
    one.
    """
    words = absence.quoted.get(memory.guid) or one_line(memory.content)
    return f"It is time for this reminder: {words}" if memory.category is MemoryType.REMINDER and words else words


def find_awaiting_return(memories: Iterable[MemoryUnit], moment: datetime) -> list[MemoryUnit]:
    """Return the enabled memories that wait for the user's return and are due, oldest first."""
    found = [
        memory
        for memory in memories
        if memory.insertion is MemoryInsertion.USER_RETURN and memory.enabled and memory.is_due(moment)
    ]
    return sorted(found, key=lambda memory: (memory.added, memory.guid))


def mark_announced(memory: MemoryUnit, moment: datetime) -> MemoryUnit:
    """Return the memory as it is stored after it was announced, with an insertion that is never brought up again."""
    return count_recall(memory.model_copy(update={"insertion": MemoryInsertion.NONE}), moment)


def add_note(notes: Iterable[UserReturnInsert], new: UserReturnInsert) -> list[UserReturnInsert]:
    """Return the waiting notes with a new one, which replaces an older one of the same id or task."""
    return [*(note for note in notes if note.id != new.id and not (new.uid and note.uid == new.uid)), new]


def remove_notes(notes: Iterable[UserReturnInsert], announced: AbstractSet[UUID]) -> list[UserReturnInsert]:
    """Return the notes that still wait after those with the ids `announced` were delivered; a note added in the meantime is
    among them.
    """
    return [note for note in notes if note.id not in announced]


def _absence_length(absence: UserAbsence, settings: Settings) -> timedelta | None:
    """Return the length of the absence, or None if it is too short for a note or something else forbids one."""
    if absence.last_message is None or absence.previous_is_system or absence.persona.disable_bot_guidance:
        return None
    length = elapsed(absence.last_message, absence.moment)
    # Even with a limit of 0 hours a negative absence does not count.
    return length if length >= max(timedelta(), timedelta(hours=settings.hours_before_afk)) else None


def _time_lines(absence: UserAbsence, absence_length: timedelta) -> list[str]:
    assert absence.last_message is not None
    days = calendar_days_between(absence.last_message, absence.moment)
    clock = spell_time(absence.moment)
    ago = f"{absence.user_name} last wrote {_format_absence(absence_length, days)}."
    if days or absence_length > LONG_ABSENCE:
        return [f"It is {spell_day(absence.moment)}, {clock}. {ago}"]
    return [f"It is {clock}. {ago}"]


def _format_absence(absence_length: timedelta, days: int) -> str:
    """Return the absence in calendar days if it lasted 24 hours or more, else in hours.

    A journey westwards can bring back the day that was left, so that no night has passed; then hours are used as well.
    """
    if absence_length < DAY or days < 1:
        hours = max(1, round(absence_length / timedelta(hours=1)))
        return f"about {hours} hour{'s' if hours > 1 else ''} ago"
    return "yesterday" if days == 1 else f"{days} days ago"


def _schedule_line(absence: UserAbsence) -> str:
    """Return the persona's schedule of this weekday with its prefix; empty if there is none."""
    day = Weekday(WEEKDAYS[absence.moment.weekday()].lower())
    plan = one_line(absence.persona.schedule.get(day, ""))
    if not plan or not absence.is_latest_session:
        return ""
    return f"{one_line(absence.persona.schedule_prefix) or 'Plans for today:'} {plan}"


def _mood_line(absence: UserAbsence, settings: Settings) -> str:
    if not absence.is_latest_session or not (settings.mood_handling and absence.persona.mood):
        return ""
    return one_line(absence.mood)


def _reasons(absence_length: timedelta, notes: int, memories: int) -> Iterable[Reason]:
    yield Reason(kind=ReasonKind.AWAY, value=round(absence_length / timedelta(hours=1), 2))
    if notes:
        yield Reason(kind=ReasonKind.NOTES_WAITED, value=notes)
    if memories:
        yield Reason(kind=ReasonKind.MEMORIES_WAITED, value=memories)
