"""What the user said does not belong: a memory that was brought up at the wrong moment comes less easily at moments like it.

An objection says nothing against the memory itself and nothing for ever: it counts as far as what is said now resembles what
was said then, and it fades.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict

from lethe_app.brain.dates.arithmetic import days_since
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.domain.recall import NotRecalled, RecallWay, Recollection
from lethe_app.retrieval.relevance_gate import BY_MEANING

STRENGTH = 0.9
"""Of the likelihood of a memory, what one fresh objection takes away at the very same words."""
HALVED_AFTER = 60.0
"""Days in which an objection comes to count half."""
LEAST = 0.5
"""What must be left of a likelihood for the memory to come."""
UNWANTED = "not relevant"
"""Why such a memory is kept back."""
BROUGHT_BY_WORDS = frozenset(
    {RecallWay.MEANING, RecallWay.FACT, RecallWay.KEYWORD, RecallWay.TITLE, RecallWay.WOKEN, RecallWay.ACTIVE}
)
"""Ways that an objection speaks to; what always stands there, or was told of her own accord, came for other reasons."""


class Objection(BaseModel):
    """The user's word that a memory had nothing to do with what was said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: UUID
    message: UUID
    """The message it was brought up at."""
    words: tuple[str, ...]
    """Stems of the words that carry that message."""
    moment: AwareDatetime


def objection(memory: UUID, message: UUID, said: str, moment: datetime) -> Objection:
    """To `memory` coming up when this was said."""
    words = tuple(sorted(content_words(said)))
    return Objection(memory=memory, message=message, words=words, moment=moment)


def likeness(words: Iterable[str], others: Iterable[str]) -> float:
    """Of two sets of words, from 0 to 1 (Dice); two messages without any word that carries them are alike."""
    one, other = set(words), set(others)
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def left(recollection: Recollection, objections: Iterable[Objection], said: str, moment: datetime) -> float:
    """The share of its likelihood that the objections to it leave, 0 to 1."""
    share, words = 1.0, content_words(said)
    for one in objections:
        if one.memory != recollection.memory:
            continue
        fading = 0.5 ** (max(0.0, days_since(one.moment, moment)) / HALVED_AFTER)
        share *= 1 - STRENGTH * fading * likeness(words, one.words)
    return share


def sift(
    recalled: Sequence[Recollection], objections: Sequence[Objection], said: str, moment: datetime
) -> tuple[list[Recollection], list[NotRecalled]]:
    """What still comes, less likely where something speaks against it, and what is kept back."""
    if not objections:
        return list(recalled), []
    coming: list[Recollection] = []
    kept_back: list[NotRecalled] = []
    for one in recalled:
        share = left(one, objections, said, moment) if one.way in BROUGHT_BY_WORDS else 1.0
        likely = one.likelihood * share
        if share < LEAST or (share < 1 and likely < BY_MEANING.sure):
            kept_back.append(unwanted(one))
        else:
            coming.append(one if share == 1 else one.model_copy(update={"likelihood": likely}))
    return coming, kept_back


def unwanted(recollection: Recollection) -> NotRecalled:
    """The trace of a memory that does not come because the user objected."""
    return NotRecalled(
        memory=recollection.memory,
        title=recollection.title or recollection.text.splitlines()[0][:80],
        world=recollection.world,
        why=UNWANTED,
        detail="you said it did not belong to what was being said",
    )
