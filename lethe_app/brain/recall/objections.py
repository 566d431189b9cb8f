"""Objections: the user marked a recalled memory as not relevant, so it is recalled less easily at similar messages.

An objection does not change the memory and is not permanent: it counts as far as the current message resembles the message
it was objection at, and it decays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict

from lethe_app.brain.text.fingerprint import content_words
from lethe_app.dates.arithmetic import days_since
from lethe_app.domain.recall import BlockedMemory, BlockReason, RecalledMemory, RecallWay
from lethe_app.retrieval.relevance_gate import BY_MEANING

STRENGTH = 0.9
"""Share of a memory's likelihood that one fresh objection removes at an identical message."""
HALF_LIFE_DAYS = 60.0
"""Half-life of an objection, in days."""
MIN_REMAINING_SHARE = 0.5
"""Share of the likelihood that must be left for the memory to be recalled."""
OBJECTIONABLE_WAYS = frozenset(
    {RecallWay.MEANING, RecallWay.FACT, RecallWay.KEYWORD, RecallWay.TITLE, RecallWay.WOKEN, RecallWay.ACTIVE}
)
"""Ways of recall that objections apply to. Sticky memories and ones that the persona brought up proactively have other
reasons.
"""


class Objection(BaseModel):
    """The user's statement that a memory was not relevant to a message."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: UUID
    message: UUID
    """The message at which the memory was recalled."""
    words: tuple[str, ...]
    """Stems of the content words of that message."""
    moment: AwareDatetime


def create_objection(memory: UUID, message: UUID, message_text: str, moment: datetime) -> Objection:
    """Create the objection to `memory` being recalled at the message with the text `message_text`."""
    words = tuple(sorted(content_words(message_text)))
    return Objection(memory=memory, message=message, words=words, moment=moment)


def dice_similarity(words: Iterable[str], others: Iterable[str]) -> float:
    """Return the Dice coefficient of two sets of words, 0 to 1. Two messages without content words count as alike (1)."""
    first, second = set(words), set(others)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0


def remaining_share(
    recalled_memory: RecalledMemory, objections: Iterable[Objection], message_text: str, moment: datetime
) -> float:
    """Return the share of the recollection's likelihood that the objections leave, 0 to 1."""
    share, words = 1.0, content_words(message_text)
    for objection in objections:
        if objection.memory != recalled_memory.memory:
            continue
        decay = 0.5 ** (max(0.0, days_since(objection.moment, moment)) / HALF_LIFE_DAYS)
        share *= 1 - STRENGTH * decay * dice_similarity(words, objection.words)
    return share


def apply_objections(
    recalled: Sequence[RecalledMemory], objections: Sequence[Objection], message_text: str, moment: datetime
) -> tuple[list[RecalledMemory], list[BlockedMemory]]:
    """Split recollections into those that are still recalled, with reduced likelihood where objections apply, and those kept
    back.
    """
    if not objections:
        return list(recalled), []
    kept: list[RecalledMemory] = []
    suppressed: list[BlockedMemory] = []
    for recalled_memory in recalled:
        share = (
            remaining_share(recalled_memory, objections, message_text, moment)
            if recalled_memory.way in OBJECTIONABLE_WAYS
            else 1.0
        )
        likelihood = recalled_memory.likelihood * share
        # A recollection that was only just likely enough does not survive even a weak objection.
        if share < MIN_REMAINING_SHARE or (share < 1 and likelihood < BY_MEANING.sure):
            suppressed.append(to_blocked_memory(recalled_memory))
        else:
            kept.append(recalled_memory if share == 1 else recalled_memory.model_copy(update={"likelihood": likelihood}))
    return kept, suppressed


def to_blocked_memory(recalled_memory: RecalledMemory) -> BlockedMemory:
    """Return the record of a memory that is not recalled because the user objected."""
    return BlockedMemory(
        memory=recalled_memory.memory,
        title=recalled_memory.title or recalled_memory.text.splitlines()[0][:80],
        world=recalled_memory.world,
        why=BlockReason.UNWANTED,
    )
