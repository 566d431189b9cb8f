"""MemoryUnit, the common record of everything a persona can remember: sessions, world entries, findings, research, goals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, Field, model_validator

from lethe_app.config.form_field import form_field
from lethe_app.domain.clock import now

KEY_MOMENTS = "key_moments"
"""Value of `MemoryUnit.made_by` for key moments, which go to the trash with the messages they were found in."""


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


SOURCE_KEY, INFERRED_SOURCE = "source", "inferred"
"""Metadata of what was concluded from conversations and not stated."""
PERMISSION_KEY, TRUE = "requires_user_permission", "true"
"""Metadata of what a persona must ask about before acting on it."""


def inferred_metadata(*, needs_permission: bool) -> dict[str, str]:
    """Return the metadata of an inferred preference."""
    return {SOURCE_KEY: INFERRED_SOURCE, **({PERMISSION_KEY: TRUE} if needs_permission else {})}


_TAG_PLACEHOLDER = "Type a word, press Enter"


class MemoryUnit(BaseModel, extra="forbid", validate_assignment=True):
    """One memory of any type. Times have zones; vectors are stored separately, by the embedder's id."""

    guid: UUID = Field(default_factory=uuid4)
    category: MemoryType = form_field(MemoryType.GENERAL, "Type")
    insertion: MemoryInsertion = form_field(MemoryInsertion.TRIGGER, "Recall mode")
    name: str = form_field("", "Name")
    content: str = form_field("", "Content")
    reason: str = form_field("", "Why it matters", placeholder="Sent to the model with the memory")
    path: str = form_field("", "File path")
    """The file behind a memory of type image or file."""
    added: AwareDatetime = Field(
        default_factory=now, title="Active from", description="Set a future date to recall the memory only from then on."
    )
    """Time of creation."""
    end_time: AwareDatetime | None = form_field(None, "Active until")
    last_trigger: AwareDatetime = Field(default_factory=now)
    trigger_count: int = Field(default=0, ge=0)
    priority: int = form_field(1, "Priority", "Memories with a higher priority are recalled first.", form_minimum=-100)
    position_index: int = form_field(
        0,
        "Insertion depth",
        "Number of messages above the newest one; 0 = right next to it.",
        ge=-1,
        form_maximum=1000,
        minimum_label="system prompt",
    )
    duration: int = form_field(1, "Sticky (turns)", ge=1)
    """Turns it stays active once it was triggered."""
    trigger_chance: float = form_field(1.0, "Probability", unit="%", ge=0.0, le=1.0)
    sticky: bool = form_field(False, "Always included")
    protected: bool = form_field(False, "Protected", "Prevent automatic changes and removal.")
    """True if only the user may prune, merge or overwrite it."""
    enabled: bool = form_field(True, "Enabled")
    keywords_main: list[str] = form_field(
        [], "Keywords", "Recall the memory when one of these words is mentioned.", placeholder=_TAG_PLACEHOLDER
    )
    keywords_secondary: list[str] = form_field([], "Secondary keywords", placeholder=_TAG_PLACEHOLDER)
    word_link: WordLink = form_field(WordLink.AND, "Selective logic")
    case_sensitive: bool = form_field(False, "Case-sensitive")
    meta_info_toggle: bool = False
    meta_info: str = ""
    filed_under: str = form_field(
        "",
        "Category",
        "Category path with slashes for subcategories; the words of categories and tags recall the memory as well.",
        max_length=200,
        placeholder="family/sister",
    )
    tags: list[str] = form_field([], "Tags", placeholder=_TAG_PLACEHOLDER)
    sources: list[str] = Field(default_factory=list)
    """Sources: addresses of web pages, and `message:` or `session:` with a guid."""
    made_by: str = ""
    """Name of the task or tool that wrote it, such as `journal`; empty for the user. Only the user changes what the user
    wrote.
    """
    metadata: dict[str, str] = form_field(
        {}, "Metadata", "Names and values of your own, and those of the task that wrote the memory.", max_length=100
    )
    """Further properties by name; `SOURCE_KEY` and `PERMISSION_KEY` have a meaning of their own."""

    @model_validator(mode="before")
    @classmethod
    def _convert_permission(cls, values: object) -> object:
        """Move the field of older records into the metadata."""
        if not isinstance(values, dict) or "needs_permission" not in values:
            return values
        others = {name: value for name, value in values.items() if name != "needs_permission"}
        if values["needs_permission"]:
            others["metadata"] = {**(others.get("metadata") or {}), PERMISSION_KEY: TRUE}
        return others

    @property
    def needs_permission(self) -> bool:
        """True for an inferred preference about money, safety or secrets: the persona must ask before acting on it."""
        return self.metadata.get(PERMISSION_KEY) == TRUE

    @property
    def source_messages(self) -> list[UUID]:
        """Return the ids of the messages among its sources."""
        return [UUID(source.removeprefix("message:")) for source in self.sources if source.startswith("message:")]

    @property
    def is_key_moment(self) -> bool:
        """Return whether it is an event that was found in messages."""
        return self.category is MemoryType.EVENT and bool(self.source_messages)

    @property
    def is_from_web(self) -> bool:
        """Return whether it contains untrusted text, which enters a prompt only through `prompt/untrusted_text`."""
        return self.category is MemoryType.WEB_SEARCH or any("://" in source for source in self.sources)

    def is_filed(self, category: str = "", tags: Iterable[str] = ()) -> bool:
        """Return whether it is in a category or one of its subcategories, and has all of these tags; case does not matter."""
        path, wanted = self.filed_under.casefold(), category.strip().strip("/").casefold()
        own_tags = {tag.casefold() for tag in self.tags}
        in_category = not wanted or path == wanted or path.startswith(f"{wanted}/")
        return in_category and all(tag.strip().lstrip("#").casefold() in own_tags for tag in tags)

    def is_due(self, moment: datetime) -> bool:
        """Return whether `moment` lies between its `added` and its `end_time`."""
        return self.added <= moment and (self.end_time is None or moment < self.end_time)


def merge_metadata(memories: Iterable[MemoryUnit]) -> dict[str, str]:
    """Return the metadata of several memories that become one: the first value of each name, and any need of permission."""
    merged: dict[str, str] = {}
    for memory in memories:
        merged = {**memory.metadata, **merged, **({PERMISSION_KEY: TRUE} if memory.needs_permission else {})}
    return merged
