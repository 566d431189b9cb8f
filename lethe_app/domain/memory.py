"""MemoryUnit, the one record for everything a persona can remember: sessions, world entries, facts found, research, goals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now


class MemoryType(StrEnum):
    """What a memory is about; some types are inserted, decayed or deduplicated in their own way."""

    GENERAL = "general"
    WORLD_INFO = "world_info"
    WEB_SEARCH = "web_search"
    CHAT_SESSION = "chat_session"
    JOURNAL = "journal"
    IMAGE = "image"
    FILE = "file"
    LOCATION = "location"
    EVENT = "event"
    PERSON = "person"
    GOAL = "goal"
    REMINDER = "reminder"


def kinds_named(names: Iterable[str]) -> frozenset[MemoryType]:
    """What is no kind of memory, such as one of another version, is passed over."""
    wanted = set(names)
    return frozenset(kind for kind in MemoryType if kind.value in wanted)


class MemoryInsertion(StrEnum):
    """How a memory finds its way into the prompt."""

    TRIGGER = "trigger"
    """By similarity or keyword, for `duration` turns."""
    NATURAL = "natural"
    """Once, as a hidden line above the user's message, when it becomes relevant; then it turns into a trigger or is used up."""
    NATURAL_FORCED = "natural_forced"
    """Like natural, but also released by time without relevance."""
    USER_RETURN = "user_return"
    """Said in the note that greets the returning user, then never again."""
    NONE = "none"
    """Never inserted."""


class WordLink(StrEnum):
    """How the main and the secondary keywords work together; an empty secondary list is no condition."""

    AND = "and"
    """A main keyword and any secondary one."""
    AND_ALL = "and_all"
    """A main keyword and every secondary one."""
    OR = "or"
    """A keyword of either list."""
    NOT = "not"
    """A main keyword and none of the secondary ones."""
    NOT_ALL = "not_all"
    """A main keyword, unless every secondary one is there too."""


class MemoryUnit(BaseModel):
    """One thing to remember, whatever it is; times carry zones, vectors lie in storage beside the embedder's id."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    guid: UUID = Field(default_factory=uuid4)
    category: MemoryType = MemoryType.GENERAL
    insertion: MemoryInsertion = MemoryInsertion.TRIGGER
    name: str = ""
    content: str = ""
    reason: str = ""
    """Why it matters; shown with the memory and used for a more natural insertion."""
    path: str = ""
    """The file behind a memory of type image or file."""
    added: AwareDatetime = Field(default_factory=now)
    """In the future: the memory stays silent until then."""
    end_time: AwareDatetime | None = None
    """When it stops being brought up; None is never."""
    last_trigger: AwareDatetime = Field(default_factory=now)
    trigger_count: int = Field(default=0, ge=0)
    priority: int = 1
    position_index: int = Field(default=0, ge=-1)
    """Messages from the newest one (0) upwards; -1 is the system prompt."""
    duration: int = Field(default=1, ge=1)
    """Turns it stays once it was triggered."""
    trigger_chance: float = Field(default=1.0, ge=0.0, le=1.0)
    sticky: bool = False
    """Always inserted."""
    protected: bool = False
    """Never pruned, merged or overwritten by anything but the user."""
    enabled: bool = True
    keywords_main: list[str] = Field(default_factory=list)
    keywords_secondary: list[str] = Field(default_factory=list)
    word_link: WordLink = WordLink.AND
    case_sensitive: bool = False
    meta_info_toggle: bool = False
    meta_info: str = ""
    filed_under: str = Field(default="", max_length=200)
    """A category of the user's or a dream's making, its levels parted by slashes, such as `user-preferences/timezone`."""
    tags: list[str] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)
    """Where it was taken from: addresses of pages, and of what was said `message:` or `session:` with its guid."""
    made_by: str = ""
    """The task or tool that wrote it, such as `journal`; empty for the user. What the user wrote, nobody else changes."""
    needs_permission: bool = False
    """An inferred preference that touches money, safety or secrets: to be asked about, never acted on."""

    @property
    def is_from_web(self) -> bool:
        """Whether it holds words of strangers, which enter a prompt only by `prompt/untrusted_text`."""
        return self.category is MemoryType.WEB_SEARCH or any("://" in source for source in self.sources)

    def is_due(self, moment: datetime) -> bool:
        """Has its time come, and is it not over?"""
        return self.added <= moment and (self.end_time is None or moment < self.end_time)
