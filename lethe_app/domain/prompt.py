"""The text a model will read, and the receipt that says who got how many tokens of it and what was cut."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
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
    MESSAGE = "new message"
    TEMPLATE = "template"
    """Control tokens and role headers of the model's own format."""


@dataclass(frozen=True)
class Share:
    """What one part got."""

    part: Part
    tokens: int
    cut_tokens: int = 0
    """Tokens that were left out to fit."""
    note: str = ""
    """What was cut, in words."""


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


@dataclass(frozen=True)
class Turn:
    """One message as the prompt sees it: role and text, no identity."""

    role: str
    """`system`, `user`, `assistant` or `tool`."""
    content: str
    name: str = ""


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
