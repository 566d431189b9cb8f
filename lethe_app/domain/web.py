"""What comes from the internet, and what leaves for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now


@dataclass(frozen=True)
class Found:
    """One hit of a search, in the engine's words. Nobody vouches for any of them."""

    title: str
    address: str
    description: str = ""


@dataclass(frozen=True)
class PageText:
    """What could be read of a page. Written by strangers: it goes to a model only through `prompt/quoting`."""

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
