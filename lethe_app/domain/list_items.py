"""Rows of long lists of memories and sessions, light enough for tens of thousands, and results of the global search."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import NamedTuple
from uuid import UUID

from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.language_tables import lazy_words
from lethe_app.searchable_text import fold

BEGINNING = 160
"""Number of characters of the content that a row carries."""
_EDGE_MARKS = " ,;:.…–—-"
NEVER = float("inf")
"""End time of a memory that has none, so that it sorts after all others."""
LINKING_WORDS = lazy_words("linking_words")
"""English words that lead on to the next one, with which a shortened text does not end."""


class MemoryFiling(NamedTuple):
    """Category path, tags and metadata of one memory."""

    guid: str
    filed_under: str
    tags: list[str]
    metadata: dict[str, str]


class MemoryLine(NamedTuple):
    """One memory in a list. Moments are seconds since 1970, which compare at once whatever zone they were written in."""

    guid: str
    category: MemoryType
    insertion: MemoryInsertion
    name: str
    words: str
    """Beginning of the content, in one line."""
    searched: str
    """Search text: name, content, reason, keywords, category path and tags, case-folded."""
    priority: int
    added: float
    last: float
    """Time of the last recall; the time when it was added if it was never recalled."""
    times: int
    until: float
    """End time; `NEVER` where it has none."""
    enabled: bool
    sticky: bool
    protected: bool

    @classmethod
    def from_memory(cls, memory: MemoryUnit) -> MemoryLine:
        """Return the row of a memory."""
        words = (*memory.keywords_main, *memory.keywords_secondary, memory.filed_under, *memory.tags)
        metadata = [text for pair in memory.metadata.items() for text in pair]
        return cls(
            str(memory.guid),
            memory.category,
            memory.insertion,
            memory.name,
            beginning(memory.content),
            search_text(memory.name, memory.content, memory.reason, *words, *metadata),
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
        """Return the memory's name, or else its first words."""
        return self.name or self.words

    @property
    def is_session(self) -> bool:
        """Return whether the memory is a session."""
        return self.category is MemoryType.CHAT_SESSION

    def has_ended(self, moment: float) -> bool:
        """Return whether the memory ended before `moment` (seconds since 1970)."""
        return self.until <= moment


def end_at_word(text: str) -> str:
    """Return the beginning of a longer text, without a last word that leads on to the next and with an ellipsis."""
    words = text.split()
    while len(words) > 1 and words[-1].strip(_EDGE_MARKS).casefold() in LINKING_WORDS:
        words.pop()
    return f"{' '.join(words).rstrip(_EDGE_MARKS)}…" if words else ""


def beginning(content: str) -> str:
    """Return the beginning of a text in one line, at most `BEGINNING` characters."""
    return " ".join(content[: 2 * BEGINNING].split())[:BEGINNING]


def search_text(*texts: str) -> str:
    """Return texts joined by line breaks and folded, as they are searched."""
    return fold("\n".join(texts))


class DescriptionAuthor(IntEnum):
    """Author of the description of a session, in order of precedence."""

    NOBODY = 0
    RULES = 1
    MODEL = 2
    USER = 3


class SessionLine(NamedTuple):
    """One session in a list. Moments are seconds since 1970."""

    guid: str
    name: str
    first_words: str
    """The user's first words, shown while the session has no title."""
    searched: str
    """Search text: title, first words, summary and keywords, case-folded."""
    began: float
    last: float
    messages: int
    relevance: int
    is_roleplay: bool
    sticky: bool
    protected: bool
    archived: bool
    maker: DescriptionAuthor
    failed: int
    """Number of parts that a model failed to make."""
    pending: int
    """Number of parts still to be made."""


class MeaningSearchGap(StrEnum):
    """Why a search by meaning finds nothing."""

    NO_EMBEDDER = "no embedder"
    PENDING = "pending"
    """Passages have no embedding yet."""
    NOT_INDEXED = "not indexed"
    """No record of the list has an embedding, and none is waiting for one."""


Mark = tuple[int, int]
"""Start and length of a match in a text, in characters."""


class HitKind(StrEnum):
    """Kind of a result."""

    MESSAGE = "message"
    SUMMARY = "summary"
    FACT = "fact"
    MEMORY = "memory"
    WORLD = "world"
    """Entry of a world."""
    DOCUMENT = "document"
    """Passage of a document."""


@dataclass(frozen=True)
class SearchHit:
    """One search result. A fact can belong to a session or to none."""

    kind: HitKind
    id: UUID
    """Id of the message, fact, memory, entry or passage; for a summary that of its session."""
    persona_id: str
    """Id of the persona, or the owner of a document; empty for a world entry."""
    session: UUID | None
    title: str
    """Title of the session, memory, world or document; may be empty."""
    speaker: str
    when: datetime
    text: str
    """Excerpt for the list, in one line."""
    marks: tuple[Mark, ...] = ()
    world: str = ""
    """File name of the world of an entry."""
    document: UUID | None = None
    """Document of a passage."""
    location: str = ""
    """Title of that document with the page or heading of the passage."""
    is_over: bool = False
    """True for a fact that was superseded."""
    is_exact: bool = True
    """False if a word of it only begins with the last word of the query."""
    other_sessions: tuple[UUID, ...] = ()
    """Further sessions that begin with the same greeting, of which the newest one stands for all."""
