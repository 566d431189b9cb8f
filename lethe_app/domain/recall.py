"""Record of what was recalled for one reply, and why. The prompt, the window, the terminal and the database share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from pydantic import AliasChoices, BaseModel, Field

from lethe_app.domain.chat import Degradation, Role
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import PassageKind


class RecallWay(StrEnum):
    """Mechanism by which a memory was recalled."""

    MEANING = "meaning"
    """Similarity to the message."""
    FACT = "fact"
    """A fact that matched the message led to it."""
    KEYWORD = "keyword"
    """One of its keywords matched."""
    TITLE = "title"
    """Its name occurred in the message; people and places only."""
    CONSTANT = "constant"
    """It is constant (sticky)."""
    ACTIVE = "active"
    """It was recalled some turns ago and its `duration` is not over."""
    WOKEN = "woken"
    """The text of another entry activated it, or the absence of a keyword did."""
    NATURAL = "natural"
    """A memory with natural insertion that became relevant."""
    FORCED = "forced"
    """A memory with forced natural insertion whose waiting time was over."""
    NEWS = "news"
    """The user asked for news."""
    RETURN = "return"
    """It was kept for the user's return."""
    TIME = "time"
    """The user asked about the period to which it belongs."""
    OPENING = "opening"
    """It is among the most important memories, which are recalled when a new session begins."""


NOTEBOOK_WORLD = "notebook"
"""Value of `RecalledMemory.world` for a notebook, which marks it as a file and not as a memory that can be forgotten by its
id.
"""
LOGGED = frozenset({RecallWay.NATURAL, RecallWay.FORCED, RecallWay.NEWS, RecallWay.RETURN})
"""Ways of recall whose memories are written into the session once, as a hidden message."""


Parameter = str | int | float


class ReasonKind(StrEnum):
    """Why a memory was recalled. The keys of `Reason.values` are listed with each."""

    ALWAYS = "always"
    STAYS = "stays"
    """It was recalled a few turns ago, and its duration is not over."""
    STAYS_UNTIL = "stays until"
    """turn"""
    OPENING = "opening"
    KEY = "key"
    """key; before: messages between it and the newest one"""
    NAME = "name"
    """name; before, as with KEY"""
    NO_KEY = "no key"
    """None of the keys occurs that would keep it back."""
    ENTRY = "entry"
    """key; entry: title of the lore entry in which the key is"""
    SIGNAL = "signal"
    """signal: name of a ranking signal"""
    SHARED_WORDS = "shared words"
    """words; count"""
    ASKED_FOR = "asked for"
    TIME = "time"
    """words that name its date"""
    ASKED_TIME = "asked time"
    """words with which the user asked for the sessions of a time"""
    NOTEBOOK = "notebook"
    NOTEBOOK_CONTINUED = "notebook continued"
    DISTANCE = "distance"
    TITLE_WORD = "title word"
    """word"""
    WAITED = "waited"
    """The measured value is in messages."""
    NEWS = "news"
    """words with which the user asked for news"""
    DUE = "due"
    AWAY = "away"
    """The measured value is in hours."""
    NOTES_WAITED = "notes waited"
    MEMORIES_WAITED = "memories waited"


class Reason(BaseModel, extra="forbid", frozen=True):
    """One reason for a recall, as data; user interfaces put it into words."""

    kind: ReasonKind
    values: dict[str, Parameter] = Field(default_factory=dict)
    value: float = 0.0
    """Measured value; 0 if nothing was measured."""


class BlockReason(StrEnum):
    """What keeps a memory back whose key occurs. The keys of `BlockedMemory.values` are listed with each."""

    SECONDARY = "secondary"
    """condition: the selective logic of the entry"""
    CHANCE = "chance"
    """drawn, chance: both from 0 to 1"""
    COOLDOWN = "cooldown"
    """until, turn"""
    DELAY = "delay"
    """needed, messages"""
    GROUP = "group"
    """winner, group; more, fewer: matching keys, where these decided"""
    BUDGET = "budget"
    """cost, left: tokens"""
    DISABLED = "disabled"
    NOT_DUE = "not due"
    """begins or ended: time as ISO 8601 with minutes"""
    RECURSION = "recursion limit"
    """rounds: limit of rounds; or round: the first one in which it may be activated"""
    CROWDED_OUT = "crowded out"
    """most; rank"""
    DECORATOR = "decorator"
    """name: the decorator of the entry whose condition is not met"""
    UNWANTED = "not relevant"
    """The user objected to it."""


OUTDATED = " (no longer so)"
"""Suffix of a line whose fact was superseded."""


class RecallLead(BaseModel, extra="forbid", frozen=True):
    """Text that led to a memory: a fact, a message or a sentence of a summary."""

    kind: str
    text: str
    origin: UUID
    """Id of the fact, message or memory the text belongs to."""
    words: list[str] = Field(default_factory=list)
    """Words of the user's message that occur in the text, in any inflected form."""
    cosine: float = 0.0
    is_outdated: bool = False
    """True if another fact superseded it."""


class RecalledMemory(BaseModel, extra="forbid", frozen=True):
    """One recalled memory."""

    memory: UUID
    """Id of a session, memory, fact or world entry."""
    category: MemoryType
    title: str = ""
    text: str
    """Text for the prompt, with macros not yet expanded."""
    way: RecallWay
    because: list[Reason] = Field(default_factory=list)
    leads: list[RecallLead] = Field(default_factory=list)
    score: float = 0.0
    """Ranking score; comparable only with others of the same turn."""
    likelihood: float = 1.0
    """Estimated probability, 0 to 1, that the message refers to it; 1 where a rule recalled it."""
    priority: int = 1
    order: int = 100
    """Among texts inserted at one position, a higher order is placed later."""
    position_index: int = 0
    """Insertion depth: messages counted from the newest one upwards; -1 is the system prompt."""
    role: Role = Role.SYSTEM
    world: str = ""
    """File name of its world, if it is a world entry."""
    outlet: str = ""
    """Name under which a macro inserts it; it then has no place of its own."""
    ignores_budget: bool = False
    """True for a world entry that may take whatever space is free in the prompt."""

    @property
    def is_notebook(self) -> bool:
        """Return whether it is a notebook, which is a file as a world is, but written by the persona."""
        return bool(self.world) and self.category is MemoryType.FILE

    @property
    def is_passage(self) -> bool:
        """Return whether it is a passage of a document."""
        return bool(self.leads) and self.leads[0].kind == PassageKind.DOCUMENT


@dataclass(frozen=True, slots=True)
class RecallCounts:
    """Numbers of what was recalled for one message, by kind of source."""

    memories: int = 0
    """Memories, facts, conversations and notebooks."""
    world_entries: int = 0
    passages: int = 0
    """Passages of documents."""
    irrelevant: int = 0
    """Those of any kind that the user has marked as irrelevant to the message since."""

    @property
    def total(self) -> int:
        return self.memories + self.world_entries + self.passages + self.irrelevant


def count_recalled(recalled: Iterable[RecalledMemory]) -> RecallCounts:
    """Return the numbers of recalled memories, world entries and passages of documents."""
    return RecallCounts(**Counter(map(_source_of, recalled)))


def _source_of(recollection: RecalledMemory) -> str:
    """Return the name of the number in `RecallCounts`."""
    if recollection.world and not recollection.is_notebook:
        return "world_entries"
    return "passages" if recollection.is_passage else "memories"


class BlockedMemory(BaseModel, extra="forbid", frozen=True):
    """Memory that matched but was not recalled, with the reason."""

    memory: UUID
    title: str = ""
    world: str = ""
    why: BlockReason
    values: dict[str, Parameter] = Field(default_factory=dict)
    was_recalled: bool = False
    """True if it was recalled, and the user objected to it in this turn."""


class TurnMemory(BaseModel, extra="forbid", frozen=True):
    """Everything that was recalled for one message. It is stored with the message, so that a regenerated reply gets the
    same.
    """

    recalled: list[RecalledMemory] = Field(default_factory=list)
    blocked: list[BlockedMemory] = Field(default_factory=list)
    session_notes: str = Field(default="", validation_alias=AliasChoices("session_notes", "scratch"))
    """Facts of the present session, in one line."""
    mood: str = ""
    """Text about the persona's mood, where it has changed."""
    working_memory: str = Field(default="", validation_alias=AliasChoices("working_memory", "bench"))
    """Contents of the working memory of this session; part of the prompt, but not stored."""
    remark: str = ""
    """Remark about a time the user asked for, such as that there was no conversation then."""
    degradations: list[Degradation] = Field(default_factory=list)
    """What failed during the recall."""
    is_stripped: bool = False
    """True if only ids and kinds are stored, because the user does not want the recalled texts kept."""
    forgotten: int = Field(default=0, exclude=True)
    """Number of memories that were recalled and have been forgotten since; not stored."""

    @property
    def sources(self) -> set[UUID]:
        """Return the ids of the memories, sessions, facts and messages that were recalled, without world entries."""
        own = [one for one in self.recalled if not one.world]
        return {one.memory for one in own} | {lead.origin for one in own for lead in one.leads}

    def without_texts(self) -> TurnMemory:
        """Return a copy with only the ids and kinds of what was recalled and blocked."""
        blank = {"title": "", "text": "", "because": []}
        recalled = [
            one.model_copy(update={**blank, "leads": [lead.model_copy(update={"text": "", "words": []}) for lead in one.leads]})
            for one in self.recalled
        ]
        blocked = [one.model_copy(update={"title": "", "values": {}}) for one in self.blocked]
        return TurnMemory(recalled=recalled, blocked=blocked, degradations=self.degradations, is_stripped=True)

    def without_background(self) -> TurnMemory:
        """Return a copy with only the memories that are part of the system prompt."""
        return TurnMemory(recalled=[one for one in self.recalled if one.position_index < 0])
