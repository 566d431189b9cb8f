"""What a persona does while nobody writes: runs of tasks, what they cost and made, and changes that can be taken back."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now


class RunOutcome(StrEnum):
    """How a run ended."""

    MADE = "made"
    """Something came of it."""
    NOTHING = "nothing"
    """It did all it could, and there was nothing to do. That counts as done: it is not tried again before its time."""
    GAVE_WAY = "gave_way"
    """The user came back in the middle of it."""
    STOPPED = "stopped"
    """The user stopped it."""
    FAILED = "failed"
    LOST = "lost"
    """The program ended in the middle of it."""


class MadeKind(StrEnum):
    """What a run can leave behind."""

    MEMORY = "memory"
    FACT = "fact"
    NOTE = "note"
    """Something to tell at the user's return."""
    CHANGE = "change"
    """A change to what is remembered, applied or proposed."""
    NOTEBOOK = "notebook"
    PERSONA = "persona"
    """Her own thoughts, or her plan of the week."""
    REPORT = "report"
    """What was found out about a question of the user's."""


class Made(BaseModel):
    """One thing that came of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: MadeKind
    id: str
    """The guid of a memory, fact, note, change or report; the name of a notebook or persona."""
    title: str = ""


class TaskRun(BaseModel):
    """One attempt at a task, from the moment it began."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: UUID = Field(default_factory=uuid4)
    persona_id: str
    task: str
    """Name of the task, such as `journal`."""
    began: AwareDatetime = Field(default_factory=now)
    ended: AwareDatetime | None = None
    outcome: RunOutcome | None = None
    """None while it is under way."""
    tokens: int = Field(default=0, ge=0)
    """Evaluated and written, together."""
    summary: str = ""
    """One sentence for the user: what was done."""
    trouble: str = ""
    """One sentence: why it failed."""
    made: tuple[Made, ...] = ()
    undone: bool = False


class ChangeState(StrEnum):
    """What has become of a change."""

    PROPOSED = "proposed"
    APPLIED = "applied"
    REVERTED = "reverted"
    DECLINED = "declined"


class RecordedChange(BaseModel):
    """One change to what is remembered, with everything needed to take it back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: UUID = Field(default_factory=uuid4)
    run_id: UUID | None = None
    persona_id: str
    at: AwareDatetime = Field(default_factory=now)
    state: ChangeState = ChangeState.PROPOSED
    what: str
    """`merge`, `refine`, `drop`, `infer` or `avoid` of a dream; other hands have words of their own."""
    reason: str = ""
    before: str = ""
    """JSON: the records as they were."""
    after: str = ""
    """JSON: the records as they are to be."""


class ReplyRating(StrEnum):
    """What the user thinks of a reply."""

    GOOD = "good"
    BAD = "bad"


class Feedback(BaseModel):
    """A thumb up or down, or words such as “don't do that”, about one wording of a reply."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message_id: UUID
    position: int = Field(default=0, ge=0)
    persona_id: str
    verdict: ReplyRating
    words: str = ""
    at: AwareDatetime = Field(default_factory=now)
    settled: bool = False
    """A dream has drawn its conclusion from it."""
