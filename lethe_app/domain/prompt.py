"""The text a model will read, the receipt that says who got how many tokens of it, what was cut, and what reading it cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from lethe_app.config.options import PromptLayout


class PromptPart(StrEnum):
    """The sections of a prompt, in the order in which the default layout puts them."""

    SYSTEM = "system prompt"
    PERSONA = "persona"
    USER = "user persona"
    SCENARIO = "scenario"
    STYLE = "style and examples"
    THOUGHTS = "personal thoughts"
    WORLD = "world info"
    SUMMARIES = "previous sessions"
    FACTS = "core facts"
    HISTORY = "history"
    MEMORIES = "memories"
    SPEAKER = "who speaks"
    """In a group: the line that names who is to speak next."""
    MESSAGE = "new message"
    TEMPLATE = "template"
    """Control tokens and role headers of the model's own format."""


@dataclass(frozen=True)
class PromptSpan:
    """A stretch of a prompt that belongs to one part. All spans of a prompt, put together, are its text."""

    part: PromptPart
    text: str


@dataclass(frozen=True)
class Share:
    """What one part got."""

    part: PromptPart
    tokens: int
    cut_tokens: int = 0
    """Tokens that were left out to fit."""
    note: str = ""
    """What was cut and why, in words."""


@dataclass(frozen=True)
class Receipt:
    """Where the tokens of one prompt went."""

    shares: tuple[Share, ...]
    prompt_tokens: int
    """Exact length of the rendered prompt."""
    context: int
    reply_reserve: int
    template_source: str
    """“model”, “recognised: ChatML”, “chosen: Alpaca” or “guessed: ChatML”."""
    dropped_messages: int = 0
    """Messages of the history that did not fit."""
    layout: PromptLayout = PromptLayout.LATE
    """Where what is brought up for one turn was put."""


@dataclass(frozen=True)
class Cost:
    """What reading one prompt cost, in tokens."""

    evaluated: int
    """Computed for this reply."""
    reused: int
    """Known from before."""
    drift: int = 0
    """Cuts in what was read since it was last computed anew."""
    again: int = 0
    """Of the evaluated ones, those that stood in the prompt before, or were said by the model itself, and were read again."""
    because: str = ""
    """Why they were, in words: the rest of “… were read again because …”."""
    compared: bool = True
    """False where it is not known what the model had read of this conversation before."""

    @property
    def words(self) -> str:
        """The cost of where things stand, in a sentence."""
        total = f"{self.evaluated + self.reused:,}"
        if not self.compared:
            return f"Of {total} tokens, {self.evaluated:,} were read; there is no prompt before this one to compare it with."
        if not self.again:
            return f"Of {total} tokens, {self.evaluated:,} were read, none of them again."
        return f"{self.again:,} of {total} tokens were read again because {self.because}."


@dataclass(frozen=True)
class ReceiptEntry:
    """What is kept of the prompt of a reply, without its words."""

    receipt: Receipt
    cost: Cost | None = None
    """None where the reply was stopped before the model could tell."""


@dataclass(frozen=True)
class Prompt:
    """Ready to be tokenised as it stands, control tokens included."""

    text: str
    receipt: Receipt
    stop_strings: tuple[str, ...] = ()
    thinking_start: str = ""
    thinking_end: str = ""
    starts_in_thought: bool = False
    """The prompt itself already opened the thinking block."""
    background: tuple[str, ...] = ()
    """The texts of the memory block, its heading first; a reply that only repeats them says nothing."""
    label: Callable[[], tuple[PromptSpan, ...]] = field(default=tuple, compare=False, repr=False)
    """Takes the text apart, which nobody need wait for before the model begins to read."""

    @cached_property
    def spans(self) -> tuple[PromptSpan, ...]:
        """The text again, in order, each stretch with the part it belongs to."""
        return self.label()


@dataclass(frozen=True)
class PromptTurn:
    """One message as the prompt sees it: role and text, no identity."""

    role: str
    """`system`, `user`, `assistant`, `calls` (the tools a model asked for, as JSON) or `tool` (what came of one)."""
    content: str
    name: str = ""
    """Who speaks; of a tool's result the call's id and the tool's name."""


@dataclass(frozen=True)
class Note:
    """A text that is true for this turn only: a memory, an entry of a world, a note."""

    text: str
    role: str = "system"
    """Who seems to say it."""
    order: int = 100
    """The higher stands later."""
    depth: int = 0
    """Messages from the newest one upwards; what is nearer stands later."""
