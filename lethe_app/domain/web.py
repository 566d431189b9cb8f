"""Records of web research: an inquiry of the user with its searches, page summaries and report, and the log of web requests."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, Field

from lethe_app.domain.clock import now

_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that render as nothing although their Unicode category is not C (format or control)."""
_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class InquiryState(StrEnum):
    """State of an inquiry."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    """Stopped by the user or by the end of the program; what was found until then is kept."""
    FAILED = "failed"


class PageSummary(BaseModel, extra="ignore", frozen=True):
    """Summary of what one page says about the question."""

    number: int
    """Source number by which the report cites the page."""
    query: str
    title: str
    address: str
    text: str


class SearchRound(BaseModel, extra="ignore", frozen=True):
    """One round of searches and its results."""

    queries: list[str]
    pages: int = 0
    """Number of pages that were read."""
    findings: int = 0
    """Number of those pages that are relevant to the question."""


class Inquiry(BaseModel, extra="ignore", frozen=True):
    """Web research for a question of the user, with its progress and report."""

    id: UUID = Field(default_factory=uuid4)
    persona_id: str
    topic: str
    state: InquiryState = InquiryState.RUNNING
    began: AwareDatetime = Field(default_factory=now)
    ended: AwareDatetime | None = None
    doing: str = ""
    """Current step, or the reason why the inquiry ended."""
    questions: list[str] = Field(default_factory=list)
    enough_when: str = ""
    rounds: list[SearchRound] = Field(default_factory=list)
    findings: list[PageSummary] = Field(default_factory=list)
    read: list[str] = Field(default_factory=list)
    """Addresses of all pages that were read, including irrelevant ones."""
    report: str = ""
    reported: int = 0
    """Number of findings that are included in the report."""
    tokens: int = 0
    memory: UUID | None = None
    """The memory in which the report is stored; None if there is none."""

    @property
    def is_running(self) -> bool:
        """Return whether the inquiry has not ended yet."""
        return self.state is InquiryState.RUNNING

    @property
    def markdown(self) -> str:
        """Return the report with its list of sources as Markdown."""
        sources = [f"{one.number}. [{_plain(one.title) or one.address}](<{one.address}>)" for one in self.findings]
        parts = [f"# {self.topic}", self.report or "Nothing was found.", "## Sources", "\n".join(sources)]
        return "\n\n".join(parts if sources else parts[:2]) + "\n"


def _plain(title: str) -> str:
    return " ".join(title.split()).replace("[", "(").replace("]", ")")


@dataclass(frozen=True)
class WebHit:
    """One result of a web search, with the engine's title and description. All of it is untrusted."""

    title: str
    address: str
    description: str = ""


@dataclass(frozen=True)
class PageText:
    """Readable text of a web page. It is untrusted: it enters a prompt only through `prompt/untrusted_text`."""

    address: str
    """Final address, after all redirects."""
    title: str
    text: str
    is_cut: bool = False
    """True if the text was truncated."""
    is_description: bool = False
    """True if the text is only the description of a search engine or of the page's own head."""


class RequestPurpose(StrEnum):
    """Purpose of a web request."""

    SEARCH = "search"
    PAGE = "page"
    ROBOTS = "robots"
    """Request of a site's robots.txt."""


class OutgoingRequest(BaseModel, extra="ignore", frozen=True):
    """Web request that was sent or is about to be sent, as the activity log shows it."""

    id: UUID = Field(default_factory=uuid4)
    when: AwareDatetime = Field(default_factory=now)
    purpose: RequestPurpose
    to: str
    """Name of the search engine or site."""
    host: str
    what: str
    """Search query, or address of the page."""
    why: str = ""
    ended: AwareDatetime | None = None
    """End of the request; None while it is in progress."""
    received: int = 0
    """Bytes received; 0 where a search engine's own library sent the request and does not report it."""
    trouble: str = ""
    """Reason of a failure."""

    @property
    def is_under_way(self) -> bool:
        """Return whether the request has not ended yet."""
        return self.ended is None


class DailyTraffic(BaseModel, extra="ignore"):
    """Number of requests and of received bytes of one day."""

    requests: int = 0
    received: int = 0


def day_of(moment: datetime) -> str:
    """Return the local day of a moment in ISO format, which is the key under which it is stored."""
    return moment.astimezone().date().isoformat()


def sanitized(text: str) -> str:
    r"""Return the visible part of `text` in NFC: no control, zero-width, tag or private-use characters. Line breaks become
    `\n`, runs of spaces become one space, and more than one empty line becomes one.
    """
    text = _BREAKS.sub("\n", text)
    visible = "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter)[0] != "C")
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFC", visible))
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in visible.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
