"""MemoryUnit, the common record of everything a persona can remember: sessions, world entries, findings, research, goals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now


class MemoryType(StrEnum):
    """Type of a memory; some types are inserted, decayed or deduplicated in their own way."""

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


def memory_types_named(names: Iterable[str]) -> frozenset[MemoryType]:
    """Return the memory types of these names. Unknown names, such as those of another version, are ignored."""
    wanted = set(names)
    return frozenset(kind for kind in MemoryType if kind.value in wanted)


class MemoryInsertion(StrEnum):
    """Way in which a memory is inserted into the prompt."""

    TRIGGER = "trigger"
    """By similarity or keyword, for `duration` turns."""
    NATURAL = "natural"
    """Once, as a hidden message before the user's message, when it becomes relevant; afterwards it becomes a trigger memory
    or is consumed.
    """
    NATURAL_FORCED = "natural_forced"
    """Like natural, but after some time it is inserted without being relevant."""
    USER_RETURN = "user_return"
    """Once, in the note for the user's return."""
    NONE = "none"
    """Never inserted."""


class WordLink(StrEnum):
    """Logic that combines main and secondary keywords; an empty secondary list is no condition."""

    AND = "and"
    """A main keyword and any secondary one."""
    AND_ALL = "and_all"
    """A main keyword and every secondary one."""
    OR = "or"
    """A keyword of either list."""
    NOT = "not"
    """A main keyword and none of the secondary ones."""
    NOT_ALL = "not_all"
    """A main keyword, unless every secondary one matches too."""


class MemoryUnit(BaseModel):
    """One memory of any type. Times have zones; vectors are stored separately, by the embedder's id."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    guid: UUID = Field(default_factory=uuid4)
    category: MemoryType = MemoryType.GENERAL
    insertion: MemoryInsertion = MemoryInsertion.TRIGGER
    name: str = ""
    content: str = ""
    reason: str = ""
    """Why it matters; shown with the memory and used to phrase its insertion."""
    path: str = ""
    """The file behind a memory of type image or file."""
    added: AwareDatetime = Field(default_factory=now)
    """Time of creation; if it is in the future, the memory is not recalled before it."""
    end_time: AwareDatetime | None = None
    """Time from which on it is no longer recalled; None is never."""
    last_trigger: AwareDatetime = Field(default_factory=now)
    trigger_count: int = Field(default=0, ge=0)
    priority: int = 1
    position_index: int = Field(default=0, ge=-1)
    """Insertion depth: messages from the newest one (0) upwards; -1 is the system prompt."""
    duration: int = Field(default=1, ge=1)
    """Turns it stays active once it was triggered."""
    trigger_chance: float = Field(default=1.0, ge=0.0, le=1.0)
    sticky: bool = False
    """True if it is always inserted (constant)."""
    protected: bool = False
    """True if only the user may prune, merge or overwrite it."""
    enabled: bool = True
    keywords_main: list[str] = Field(default_factory=list)
    keywords_secondary: list[str] = Field(default_factory=list)
    word_link: WordLink = WordLink.AND
    case_sensitive: bool = False
    meta_info_toggle: bool = False
    meta_info: str = ""
    filed_under: str = Field(default="", max_length=200)
    """Category path, chosen by the user or a dream, with levels separated by slashes, such as `user-preferences/timezone`."""
    tags: list[str] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)
    """Sources: addresses of web pages, and `message:` or `session:` with a guid."""
    made_by: str = ""
    """Name of the task or tool that wrote it, such as `journal`; empty for the user. Only the user changes what the user
    wrote.
    """
    needs_permission: bool = False
    """True for an inferred preference about money, safety or secrets: the persona must ask before acting on it."""

    @property
    def is_from_web(self) -> bool:
        """Return whether it contains untrusted text, which enters a prompt only through `prompt/untrusted_text`."""
        return self.category is MemoryType.WEB_SEARCH or any("://" in source for source in self.sources)

    def is_due(self, moment: datetime) -> bool:
        """Return whether `moment` lies between its `added` and its `end_time`."""
        return self.added <= moment and (self.end_time is None or moment < self.end_time)
