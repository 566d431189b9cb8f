"""Selection of the waiting memory to bring up in a turn: by relevance first, then by elapsed time, then because the user
asks for news.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf, isnan
from uuid import UUID

from lethe_app.brain.recall.decay import count_recall, is_prunable
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS, ProactivePace
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.config.settings import Settings
from lethe_app.dates.arithmetic import elapsed
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import Reason, ReasonKind, RecallWay
from lethe_app.language_tables import compile_table, table_pattern

SHARED_WORD_BONUS = 0.02
"""Subtracted from the cosine distance for each word that the memory's title shares with the message."""
NATURAL_LIMIT = 0.09
"""Cosine distance up to which a waiting memory is relevant to the message, with one embedding model; calibrate it."""
FORCED_BONUS = 0.02
"""Subtracted from the cosine distance of a memory with the insertion `NATURAL_FORCED`."""
_CLAUSE = re.compile(r"[.?!,;:]|\bbut\b")


@dataclass(frozen=True)
class ProactiveEvidence:
    """Evidence for a waiting memory in this turn."""

    distance: float | None = None
    """Cosine distance between the message and the memory, 0 to 2; None if it was not measured."""
    keyword: str = ""
    """A keyword of the memory that was found in the message; empty if none."""


@dataclass(frozen=True)
class ChosenMemory:
    """The memory to bring up, with the way and the reasons."""

    memory: MemoryUnit
    way: RecallWay
    because: tuple[Reason, ...]


@dataclass(frozen=True)
class _RankedMemory:
    """Waiting memory with its relevance to the message."""

    memory: MemoryUnit
    keyword: str
    distance: float
    """Cosine distance after all deductions; infinite if it was not measured."""
    measured: float
    shared: frozenset[str]

    @property
    def rank(self) -> tuple[object, ...]:
        """Sort key; lower is better."""
        return (not self.keyword, self.distance, *_importance_key(self.memory))


def find_waiting(memories: Iterable[MemoryUnit], moment: datetime, settings: Settings) -> list[MemoryUnit]:
    """Return the memories that may be brought up: proactive ones that are enabled, due and not stale, newest first. Empty if
    proactive messages are off.
    """
    if not settings.proactive_messages:
        return []
    max_age = timedelta(days=settings.eureka_cut_off_days)
    found = [
        memory
        for memory in memories
        if memory.insertion in WAITING_INSERTIONS
        and memory.enabled
        and memory.is_due(moment)
        and (memory.sticky or memory.protected or elapsed(memory.added, moment) <= max_age)
    ]
    return sorted(found, key=lambda memory: (memory.added, memory.guid), reverse=True)


def choose_memory(
    waiting: Sequence[MemoryUnit],
    evidence: Mapping[UUID, ProactiveEvidence],
    message: str,
    pace: ProactivePace,
    settings: Settings,
    moment: datetime,
    natural_limit: float = NATURAL_LIMIT,
) -> ChosenMemory | None:
    """Return the memory to bring up now, or None, independent of the order of `waiting`. `pace` has already counted this
    message.

    The most relevant memory wins: one with a keyword in the message before any other, otherwise the nearest within
    `natural_limit`. If none is relevant, the most important `NATURAL_FORCED` one is chosen when `pace` allows it, or the
    most important one of all when the user asks for news.
    """
    if not settings.proactive_messages or not waiting:
        return None
    return (
        _choose_relevant(waiting, evidence, message, natural_limit)
        or _choose_by_time(waiting, pace, settings, moment)
        or _choose_on_request(waiting, message)
    )


def mark_used(memory: MemoryUnit, moment: datetime) -> MemoryUnit | None:
    """Return the memory as it is stored after it was brought up: a trigger memory with one more recall. None if it is used
    up and to be removed.

    Memories above priority 1 and those that may not be pruned stay. Web research stays whatever its priority, because the
    user may come back to it later; decay removes it if nobody does.
    """
    if memory.priority <= 1 and memory.category is not MemoryType.WEB_SEARCH and is_prunable(memory):
        return None
    return count_recall(memory.model_copy(update={"insertion": MemoryInsertion.TRIGGER}), moment)


def _choose_relevant(
    waiting: Sequence[MemoryUnit], evidence: Mapping[UUID, ProactiveEvidence], message: str, natural_limit: float
) -> ChosenMemory | None:
    message_words = content_words(message)
    candidates = [_weigh_memory(memory, evidence[memory.guid], message_words) for memory in waiting if memory.guid in evidence]
    relevant = [each for each in candidates if each.keyword or each.distance <= natural_limit]
    if not relevant:
        return None
    best = min(relevant, key=lambda each: each.rank)
    return ChosenMemory(best.memory, RecallWay.NATURAL, tuple(_reasons(best, natural_limit)))


def _weigh_memory(memory: MemoryUnit, evidence: ProactiveEvidence, message_words: frozenset[str]) -> _RankedMemory:
    shared = content_words(memory.name) & message_words
    distance = inf if evidence.distance is None or isnan(evidence.distance) else evidence.distance
    is_forced = memory.insertion is MemoryInsertion.NATURAL_FORCED
    bonus = SHARED_WORD_BONUS * len(shared) + FORCED_BONUS * is_forced
    return _RankedMemory(memory, evidence.keyword, distance - bonus, distance, shared)


def _reasons(best: _RankedMemory, natural_limit: float) -> Iterable[Reason]:
    if best.keyword:
        yield Reason(kind=ReasonKind.KEY, values={"key": best.keyword, "before": 0})
    if best.distance <= natural_limit:
        yield Reason(kind=ReasonKind.DISTANCE, value=best.measured)
        yield from (Reason(kind=ReasonKind.TITLE_WORD, values={"word": word}) for word in sorted(best.shared))


def _choose_by_time(
    waiting: Sequence[MemoryUnit], pace: ProactivePace, settings: Settings, moment: datetime
) -> ChosenMemory | None:
    forced = [memory for memory in waiting if memory.insertion is MemoryInsertion.NATURAL_FORCED]
    if not forced or not pace.is_insertion_allowed(moment, settings):
        return None
    reason = Reason(kind=ReasonKind.WAITED, value=pace.messages)
    return ChosenMemory(min(forced, key=_importance_key), RecallWay.FORCED, (reason,))


def _choose_on_request(waiting: Sequence[MemoryUnit], message: str) -> ChosenMemory | None:
    words = find_news_request(message)
    if not words:
        return None
    return ChosenMemory(
        min(waiting, key=_importance_key), RecallWay.NEWS, (Reason(kind=ReasonKind.NEWS, values={"words": words}),)
    )


def find_news_request(message: str) -> str:
    """Return the words by which the user asks for news, or an empty string. “There isn't any news” is no request."""
    for clause in _CLAUSE.split(normalize_text(message, keep_case=False).replace("'", "").replace("_", " ")):
        found = compile_table("news_phrases", "phrases").search(clause)
        if found and not table_pattern("news_phrases", "denial").search(clause[: found.start()]):
            return found[0]
    return ""


def _importance_key(memory: MemoryUnit) -> tuple[object, ...]:
    """Return the sort key by importance, lower is more important. The guid makes it independent of the input order."""
    return (-memory.priority, -memory.added.timestamp(), memory.guid)
