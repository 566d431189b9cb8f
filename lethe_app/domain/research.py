"""What the user had found out: one question, how it was gone about, what each page said to it, and the report."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now


class InquiryState(StrEnum):
    """How far it has come."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    """By the user, or by the end of the program; what was found until then is there."""
    FAILED = "failed"


class PageFinding(BaseModel):
    """What one page says to the question."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    number: int
    """Under which the report names it."""
    query: str
    title: str
    address: str
    text: str


class Round(BaseModel):
    """Some searches, and what came of them."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    queries: list[str]
    pages: int = 0
    """Pages that were read."""
    findings: int = 0
    """Of them, those that say something to the question."""


class Inquiry(BaseModel):
    """One question of the user's to the internet."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: UUID = Field(default_factory=uuid4)
    persona_id: str
    topic: str
    state: InquiryState = InquiryState.RUNNING
    began: AwareDatetime = Field(default_factory=now)
    ended: AwareDatetime | None = None
    doing: str = ""
    """What is being done now, or why it ended."""
    questions: list[str] = Field(default_factory=list)
    enough_when: str = ""
    rounds: list[Round] = Field(default_factory=list)
    findings: list[PageFinding] = Field(default_factory=list)
    read: list[str] = Field(default_factory=list)
    """Addresses of pages that were read, also of those that say nothing to the question."""
    report: str = ""
    reported: int = 0
    """How many of the findings are in it."""
    tokens: int = 0
    memory: UUID | None = None
    """The memory it is kept as."""

    @property
    def is_running(self) -> bool:
        return self.state is InquiryState.RUNNING

    @property
    def markdown(self) -> str:
        """The report as a file, with its sources."""
        sources = [f"{one.number}. [{_plain(one.title) or one.address}](<{one.address}>)" for one in self.findings]
        parts = [f"# {self.topic}", self.report or "Nothing was found.", "## Sources", "\n".join(sources)]
        return "\n\n".join(parts if sources else parts[:2]) + "\n"


def _plain(title: str) -> str:
    return " ".join(title.split()).replace("[", "(").replace("]", ")")
