"""What a turn is to its world entries, and what comes of it: who fired and why, who was blocked and by what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lethe_app.brain.lore.compiled import Expand, as_it_is
from lethe_app.brain.lore.state import LoreState
from lethe_app.domain.worldinfo import World, WorldEntry


class ActivationCause(StrEnum):
    """Why an entry fired."""

    KEY = "key"
    """A keyword was said."""
    ABSENCE = "absence"
    """It waits for something not to be said, and it was not."""
    CONSTANT = "constant"
    """It is always there."""
    ACTIVE = "active"
    """It woke in an earlier turn and its duration is not over."""
    RECURSION = "recursion"
    """The text of another entry woke it."""


class Why(StrEnum):
    """Why an entry whose words were said did not fire."""

    SECONDARY = "secondary"
    CHANCE = "chance"
    COOLDOWN = "cooldown"
    DELAY = "delay"
    GROUP = "group"
    BUDGET = "budget"
    DISABLED = "disabled"
    NOT_DUE = "not due"
    RECURSION = "recursion limit"


@dataclass(frozen=True)
class EvaluationTurn:
    """One turn of one session. Evaluated again with the same values, for a regenerated reply, it comes out the same."""

    id: str
    """The same for every reply to the same message, such as that message's id."""
    number: int
    """Turns of the session so far, this one included; durations and cooldowns count in it."""
    spoken: int
    """Messages spoken in the session so far, the one being sent included; delays count in it."""
    moment: datetime
    seed: str = ""
    """The session's own, so that two sessions have different luck."""
    expand: Expand = as_it_is
    """Fills in the macros of texts that may wake other entries or are weighed."""


def rough_tokens(text: str) -> int:
    """An estimate for when no tokenizer is at hand: four plain letters, or one other character, to a token."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + len(text) - plain


@dataclass(frozen=True)
class LoreLimits:
    """How much may come."""

    tokens: int | None = None
    """All entries together; None is no limit. An entry too big for what is left is skipped, smaller ones still come."""
    rounds: int = 3
    """How often the texts of entries that have just woken may wake others."""
    count: Callable[[str], int] = rough_tokens


@dataclass(frozen=True)
class Fired:
    """An entry that belongs into the prompt."""

    entry: WorldEntry
    world: World
    reason: ActivationCause
    tokens: int
    key: str = ""
    """The keyword that woke it; empty if none did."""
    message_index: int | None = None
    """Where the keyword is: 0 the text being sent, 1 the newest message before it. None: not in a message."""
    message_id: UUID | None = None
    woken_by: str = ""
    """The name of the entry whose text woke it."""
    active_until: int = 0
    """The last turn in which it is there without being woken again."""


@dataclass(frozen=True)
class Blocked:
    """An entry that was mentioned but does not come."""

    entry: WorldEntry
    world: World
    why: Why
    detail: str = ""
    """The rule with its numbers, in words."""
    key: str = ""
    message_index: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """Everything that came of a turn. Whoever only wanted to know lets `state` go."""

    fired: list[Fired] = field(default_factory=list)
    """In the order in which they stand: by `order`, then the more important ones later."""
    blocked: list[Blocked] = field(default_factory=list)
    state: LoreState = field(default_factory=LoreState)
    tokens: int = 0
