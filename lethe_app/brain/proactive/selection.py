"""Memories that wait for their moment, and whether this is it: relevance first, then time, then because the user asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf, isnan
from uuid import UUID

from lethe_app.brain.dates.arithmetic import elapsed
from lethe_app.brain.proactive.intent import asks_for_news
from lethe_app.brain.recall.decay import is_prunable, touched
from lethe_app.brain.recall.proactive_rules import WAITING, Pace, ProactiveRules
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import Because, RecallWay

PER_SHARED_WORD = 0.02
"""Taken off the distance for each word that the title shares with the message."""
FOR_FORCED = 0.02


@dataclass(frozen=True)
class ProactiveEvidence:
    """What speaks for a waiting memory in this turn."""

    distance: float | None = None
    """Cosine distance between the message and the memory, 0 to 2; None if it was not measured."""
    keyword: str = ""
    """One of its keywords that was said."""


@dataclass(frozen=True)
class Chosen:
    """The one memory that comes, and why."""

    memory: MemoryUnit
    way: RecallWay
    because: tuple[Because, ...]


@dataclass(frozen=True)
class _Relevant:
    """A memory that fits the message, and how well."""

    memory: MemoryUnit
    keyword: str
    distance: float
    """After everything that was taken off; infinite if it was not measured."""
    measured: float
    shared: frozenset[str]

    @property
    def rank(self) -> tuple[object, ...]:
        """Lower is better."""
        return (not self.keyword, self.distance, *_importance(self.memory))


def waiting(memories: Iterable[MemoryUnit], moment: datetime, rules: ProactiveRules) -> list[MemoryUnit]:
    """Those whose moment may come: natural ones that are enabled, due and not stale, newest first."""
    if rules.disable_eurekas:
        return []
    longest = timedelta(days=rules.eureka_cut_off_days)
    found = [
        memory
        for memory in memories
        if memory.insertion in WAITING
        and memory.enabled
        and memory.is_due(moment)
        and (memory.sticky or memory.protected or elapsed(memory.added, moment) <= longest)
    ]
    return sorted(found, key=lambda memory: (memory.added, memory.guid), reverse=True)


def choose(
    waiting: Sequence[MemoryUnit],
    evidence: Mapping[UUID, ProactiveEvidence],
    message: str,
    pace: Pace,
    rules: ProactiveRules,
    moment: datetime,
) -> Chosen | None:
    """The one to bring up now, whatever order they come in; `pace` has already counted this message.

    The most relevant one wins: a keyword beats nearness, and of the near ones the nearest must be within `natural_limit`. If
    none is relevant, the most important forced one comes when enough time has passed, and any when the user asks for news.
    """
    if rules.disable_eurekas or not waiting:
        return None
    return _relevant(waiting, evidence, message, rules) or _timed(waiting, pace, rules, moment) or _asked_for(waiting, message)


def used(memory: MemoryUnit, moment: datetime) -> MemoryUnit | None:
    """What becomes of it once it was brought up: a trigger, brought up once more; or None if it is used up and goes.

    Above priority 1 it stays, and so does whatever may not be pruned. Research stays too, however little urgent it was: the
    user may come back to it tomorrow, and decay takes it when nobody does.
    """
    if memory.priority <= 1 and memory.category is not MemoryType.WEB_SEARCH and is_prunable(memory):
        return None
    return touched(memory.model_copy(update={"insertion": MemoryInsertion.TRIGGER}), moment)


def _relevant(
    waiting: Sequence[MemoryUnit], evidence: Mapping[UUID, ProactiveEvidence], message: str, rules: ProactiveRules
) -> Chosen | None:
    said = content_words(message)
    weighed = [_weighed(memory, evidence[memory.guid], said) for memory in waiting if memory.guid in evidence]
    fitting = [each for each in weighed if each.keyword or each.distance <= rules.natural_limit]
    if not fitting:
        return None
    best = min(fitting, key=lambda each: each.rank)
    return Chosen(best.memory, RecallWay.NATURAL, tuple(_reasons(best, rules)))


def _weighed(memory: MemoryUnit, evidence: ProactiveEvidence, said: frozenset[str]) -> _Relevant:
    shared = content_words(memory.name) & said
    distance = inf if evidence.distance is None or isnan(evidence.distance) else evidence.distance
    forced = memory.insertion is MemoryInsertion.NATURAL_FORCED
    nearer = PER_SHARED_WORD * len(shared) + FOR_FORCED * forced
    return _Relevant(memory, evidence.keyword, distance - nearer, distance, shared)


def _reasons(best: _Relevant, rules: ProactiveRules) -> Iterable[Because]:
    if best.keyword:
        yield Because(what=f"the keyword “{best.keyword}” was said")
    if best.distance <= rules.natural_limit:
        yield Because(what="the message is near to it", value=best.measured)
        yield from (Because(what=f"its title shares the word “{word}”") for word in sorted(best.shared))


def _timed(waiting: Sequence[MemoryUnit], pace: Pace, rules: ProactiveRules, moment: datetime) -> Chosen | None:
    forced = [memory for memory in waiting if memory.insertion is MemoryInsertion.NATURAL_FORCED]
    if not forced or not pace.allows(moment, rules):
        return None
    reason = Because(what="it waited long enough, in messages", value=pace.messages)
    return Chosen(min(forced, key=_importance), RecallWay.FORCED, (reason,))


def _asked_for(waiting: Sequence[MemoryUnit], message: str) -> Chosen | None:
    words = asks_for_news(message)
    if not words:
        return None
    return Chosen(min(waiting, key=_importance), RecallWay.NEWS, (Because(what=f"the user asked: “{words}”"),))


def _importance(memory: MemoryUnit) -> tuple[object, ...]:
    """Lower is more important; the guid makes any order of the memories give the same."""
    return (-memory.priority, -memory.added.timestamp(), memory.guid)
