"""What a long list shows of a memory: light enough for tens of thousands, and ready to be sorted and searched as it is."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit

BEGINNING = 160
"""Characters of the content that a line carries."""
NEVER = float("inf")
"""The end of what does not end."""


class FiledLine(NamedTuple):
    """Where one memory is filed."""

    guid: str
    filed_under: str
    tags: list[str]


class MemoryLine(NamedTuple):
    """One memory in a list. Moments are seconds since 1970, which compare at once whatever zone they were written in."""

    guid: str
    category: MemoryType
    insertion: MemoryInsertion
    name: str
    words: str
    """How the content begins, in one line."""
    searched: str
    """Name, content, reason, keywords, and where it is filed, casefolded."""
    priority: int
    added: float
    last: float
    """When it was last brought up; when it was added, if it never was."""
    times: int
    until: float
    """`NEVER` where it has no end."""
    enabled: bool
    sticky: bool
    protected: bool

    @classmethod
    def from_memory(cls, memory: MemoryUnit) -> MemoryLine:
        """The line of a memory that is at hand."""
        words = (*memory.keywords_main, *memory.keywords_secondary, memory.filed_under, *memory.tags)
        return cls(
            str(memory.guid),
            memory.category,
            memory.insertion,
            memory.name,
            beginning(memory.content),
            folded(memory.name, memory.content, memory.reason, *words),
            memory.priority,
            memory.added.timestamp(),
            memory.last_trigger.timestamp(),
            memory.trigger_count,
            memory.end_time.timestamp() if memory.end_time is not None else NEVER,
            memory.enabled,
            memory.sticky,
            memory.protected,
        )

    @property
    def title(self) -> str:
        """Its name, or else its first words."""
        return self.name or self.words

    @property
    def is_session(self) -> bool:
        return self.category is MemoryType.CHAT_SESSION

    def waits_for_its_day(self, moment: float) -> bool:
        return self.added > moment

    def is_over(self, moment: float) -> bool:
        return self.until <= moment


def beginning(content: str) -> str:
    """The first words of a text in one line."""
    return " ".join(content[: 2 * BEGINNING].split())[:BEGINNING]


def folded(*texts: str) -> str:
    """Texts as they are searched, whatever the case."""
    return "\n".join(texts).casefold()


class Maker(IntEnum):
    """Who told what a conversation was about, in the order of their weight."""

    NOBODY = 0
    RULES = 1
    MODEL = 2
    USER = 3


class SessionLine(NamedTuple):
    """One conversation in a list. Moments are seconds since 1970."""

    guid: str
    name: str
    first_words: str
    """What the user said first, where it has no title yet."""
    searched: str
    """Title, first words, summary and keywords, casefolded."""
    began: float
    last: float
    messages: int
    relevance: int
    is_roleplay: bool
    sticky: bool
    protected: bool
    archived: bool
    maker: Maker
    failed: int
    """Parts that a model could not make."""
    pending: int
    """Parts that are still to be made."""
