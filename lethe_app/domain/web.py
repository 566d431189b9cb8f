"""What the user had found out: one question, how it was gone about, what each page said to it, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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


class PageSummary(BaseModel):
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
    findings: list[PageSummary] = Field(default_factory=list)
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


@dataclass(frozen=True)
class WebHit:
    """One hit of a search, in the engine's words. Nobody vouches for any of them."""

    title: str
    address: str
    description: str = ""


@dataclass(frozen=True)
class PageText:
    """What could be read of a page. Written by strangers: it goes to a model only through `prompt/untrusted_text`."""

    address: str
    """Where it was in the end, after all that it was moved to."""
    title: str
    text: str
    is_cut: bool = False
    """There was more of it."""
    is_description: bool = False
    """Only what a search engine, or the page's own head, says of it."""


class Purpose(StrEnum):
    """What a request is for."""

    SEARCH = "search"
    PAGE = "page"
    ROBOTS = "robots"
    """Asking a site whether it may be read by programs."""


class Outgoing(BaseModel):
    """One request that left this computer, or is about to."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: UUID = Field(default_factory=uuid4)
    when: AwareDatetime = Field(default_factory=now)
    purpose: Purpose
    to: str
    """Who is asked: the name of a search engine, or of a site."""
    host: str
    what: str
    """The words that are searched, or the address that is read."""
    why: str = ""
    ended: AwareDatetime | None = None
    """None while it is under way."""
    received: int = 0
    """Bytes that came back; unknown where a search engine's own library asked."""
    trouble: str = ""
    """Why nothing came of it."""

    @property
    def is_under_way(self) -> bool:
        return self.ended is None


class DayOut(BaseModel):
    """How much left and came in on one day."""

    model_config = ConfigDict(extra="ignore")

    requests: int = 0
    received: int = 0


def day_of(moment: datetime) -> str:
    """The local day, as it is kept."""
    return moment.astimezone().date().isoformat()
