"""Input and result of evaluating one turn: limits, activated entries with their cause, blocked entries with the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lethe_app.brain.lore.compiled import Expand, return_unchanged
from lethe_app.brain.lore.state import LoreState
from lethe_app.domain.recall import BlockReason, Parameter
from lethe_app.domain.worldinfo import World, WorldEntry


class ActivationCause(StrEnum):
    """Cause of an activation."""

    KEY = "key"
    """A keyword matched."""
    ABSENCE = "absence"
    """Keywords whose absence is the condition did not match."""
    CONSTANT = "constant"
    """The entry is constant."""
    ACTIVE = "active"
    """The entry was activated in an earlier turn and its duration has not passed."""
    RECURSION = "recursion"
    """A keyword matched in the text of another entry."""


@dataclass(frozen=True)
class EvaluationTurn:
    """One turn of a session. Evaluating it again with the same values, for a regenerated reply, gives the same result."""

    id: str
    """Identifier shared by all alternatives of a reply, such as the id of the message they answer."""
    number: int
    """Number of turns of the session including this one; unit of durations and cooldowns."""
    message_count: int
    """Number of messages of the session including the one being sent; unit of delays."""
    moment: datetime
    greeting: int | None = None
    """Number of the greeting with which the session began, from 0; None if it is not known in this turn."""
    seed: str = ""
    """Random seed of the session, so that chances differ between sessions."""
    expand: Expand = return_unchanged
    """Macro expansion of entry texts, used before they are scanned or their tokens counted."""

    @property
    def reply_count(self) -> int:
        """Return the number of replies of the session, its greeting included."""
        return max(0, self.message_count - self.number)


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens without a tokenizer: four ASCII characters or one other character per token."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + len(text) - plain


@dataclass(frozen=True)
class LoreLimits:
    """Limits of one evaluation."""

    token_budget: int | None = None
    """Token budget of all entries together; None is unlimited. An entry that does not fit is skipped, smaller ones still
    fit.
    """
    max_rounds: int = 3
    """Maximum number of recursion rounds."""
    count_tokens: Callable[[str], int] = estimate_tokens


@dataclass(frozen=True)
class ActivatedEntry:
    """Activated entry, to be inserted into the prompt."""

    entry: WorldEntry
    world: World
    cause: ActivationCause
    tokens: int
    key: str = ""
    """Keyword that matched; empty if none did."""
    message_index: int | None = None
    """Position of the match: 0 is the text being sent, 1 the newest message before it; None if it is not in a message."""
    message_id: UUID | None = None
    activated_by: str = ""
    """Name of the entry whose text activated it."""
    active_until: int = 0
    """Last turn in which it stays active without another match."""


@dataclass(frozen=True)
class BlockedEntry:
    """Entry whose keywords matched but that is not inserted."""

    entry: WorldEntry
    world: World
    reason: BlockReason
    values: Mapping[str, Parameter] = field(default_factory=dict)
    """Numbers of the rule, as listed with `BlockReason`."""
    key: str = ""
    message_index: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """Result of a turn. For a preview, `state` is simply not stored."""

    activated: list[ActivatedEntry] = field(default_factory=list)
    """Activated entries in insertion order: by `order`, then by ascending priority."""
    blocked: list[BlockedEntry] = field(default_factory=list)
    state: LoreState = field(default_factory=LoreState)
    tokens: int = 0
