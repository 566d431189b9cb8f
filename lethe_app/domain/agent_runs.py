"""Records of background tasks: runs with their cost and results, undoable changes to memories, and the user's feedback."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, Field

from lethe_app.domain.clock import now


class RunOutcome(StrEnum):
    """Result of a run."""

    MADE = "made"
    """The run produced something."""
    NOTHING = "nothing"
    """The run completed but found nothing to do. It counts as done: it is not repeated before its next scheduled time."""
    GAVE_WAY = "gave_way"
    """Interrupted because the user came back, or its time or tokens were used up."""
    STOPPED = "stopped"
    """Stopped by the user."""
    FAILED = "failed"
    LOST = "lost"
    """The program ended during the run."""


class ProducedKind(StrEnum):
    """Kind of a result of a run."""

    MEMORY = "memory"
    FACT = "fact"
    NOTE = "note"
    """Note for the user's return."""
    CHANGE = "change"
    """Change to memories or facts, applied or proposed."""
    NOTEBOOK = "notebook"
    PERSONA = "persona"
    """The persona's personal thoughts or weekly schedule."""
    REPORT = "report"
    """Report of an inquiry."""


class ProducedRecord(BaseModel, extra="forbid", frozen=True):
    """One result of a run."""

    kind: ProducedKind
    id: str
    """Guid of a memory, fact, note, change or report; name of a notebook or persona."""
    title: str = ""


class TaskRun(BaseModel, extra="forbid", frozen=True):
    """One run of a background task."""

    id: UUID = Field(default_factory=uuid4)
    persona_id: str
    task: str
    """Name of the task, such as `journal`."""
    began: AwareDatetime = Field(default_factory=now)
    ended: AwareDatetime | None = None
    outcome: RunOutcome | None = None
    """Result; None while the task runs."""
    tokens: int = Field(default=0, ge=0)
    """Evaluated and generated tokens together."""
    summary: str = ""
    """One sentence for the user that says what was done."""
    trouble: str = ""
    """One sentence that says why the run failed."""
    made: tuple[ProducedRecord, ...] = ()
    undone: bool = False


class ChangeState(StrEnum):
    """State of a recorded change."""

    PROPOSED = "proposed"
    APPLIED = "applied"
    REVERTED = "reverted"
    DECLINED = "declined"


class RecordedChange(BaseModel, extra="forbid", frozen=True):
    """One change to memories or facts, with everything needed to undo it."""

    id: UUID = Field(default_factory=uuid4)
    run_id: UUID | None = None
    persona_id: str
    at: AwareDatetime = Field(default_factory=now)
    state: ChangeState = ChangeState.PROPOSED
    what: str
    """Kind of change: `merge`, `refine`, `drop`, `infer` or `avoid` of a dream; other tasks have kinds of their own."""
    reason: str = ""
    before: str = ""
    """JSON of the records before the change."""
    after: str = ""
    """JSON of the records after the change."""


class ReplyRating(StrEnum):
    """The user's rating of a reply."""

    GOOD = "good"
    BAD = "bad"


class Feedback(BaseModel, extra="forbid", frozen=True):
    """The user's feedback on one alternative of a reply: a thumb up or down, or words such as “don't do that”."""

    message_id: UUID
    position: int = Field(default=0, ge=0)
    persona_id: str
    verdict: ReplyRating
    words: str = ""
    at: AwareDatetime = Field(default_factory=now)
    settled: bool = False
    """True once a dream has drawn its conclusion from it."""


@dataclass(frozen=True)
class PlannedTask:
    """Task of a persona with the time of its next run and what a run usually costs."""

    name: str
    title: str
    help: str
    due: datetime | None
    """Earliest time of the next run; None is as soon as the user is away."""
    missing: str = ""
    """Requirement that is not met, such as “model”, without which the task does not run; empty if all are met."""
    tokens: int = 0
    """Mean tokens of the latest successful runs; 0 if there was none."""
    time: timedelta = timedelta()
    """Mean duration of the latest successful runs."""
