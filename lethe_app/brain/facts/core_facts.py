"""Selection of the core facts, which are in every prompt: by kind, recency and count, with a share of the token budget per
kind.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from uuid import UUID

from lethe_app.brain.facts.comparison import is_same_attribute
from lethe_app.dates.arithmetic import days_since
from lethe_app.dates.expressions import TimeExpression, find_times
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy

UNDATED_PLAN_DAYS = 60
"""Days after which a plan without a date counts as a past event."""
KEYED_WEIGHT, CLOSE_RELATION_WEIGHT, QUOTED_WEIGHT = 1.5, 2.0, 0.8
"""Weight factors of a fact that states one attribute, of one about a partner, child or parent, and of one in the user's own
words.
"""
_IS_QUOTED = re.compile(r"(?:Asked “[^”]*”, )?[^:“]{1,60}? said(?: on [^:]+)?: “")
_KINDS = {
    FactKind.IDENTITY: (6.0, 0.20),
    FactKind.PEOPLE: (5.0, 0.25),
    FactKind.HEALTH: (5.0, 0.15),
    FactKind.HOME: (4.0, 0.12),
    FactKind.WORK: (4.0, 0.12),
    FactKind.PLAN: (3.0, 0.15),
    FactKind.EVENT: (2.0, 0.12),
    FactKind.OTHER: (1.5, 0.12),
    FactKind.TASTE: (1.0, 0.12),
}
"""Weight of each kind, and its maximum share of the budget in the first round."""
_SHARE_FACTORS = (1.0, 1.5, math.inf)
"""Factors of the shares in successive rounds, which distribute the budget left by other kinds."""
_LASTING_KINDS = frozenset({FactKind.IDENTITY, FactKind.PEOPLE, FactKind.HEALTH, FactKind.HOME, FactKind.WORK})
_DECAY_RATES = {True: 0.005, False: 0.05}
"""Decay of a fact's rank per day since it was last said, for lasting kinds (True) and all others (False)."""
_CLOSE_RELATION = re.compile(
    r"\b(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|sons?|daughters?|child(?:ren)?|kids?|mother|mum|mom|"
    r"father|dad|dating|been together|together (?:for|since|\d))\b"
)


def kind_at(fact: ExtractedFact, now: datetime) -> FactKind:
    """Return the kind of a fact at a moment: a plan whose day has passed is an event."""
    return FactKind.EVENT if fact.kind is FactKind.PLAN and _is_over(fact, now) else fact.kind


def calculate_rank(fact: ExtractedFact, now: datetime) -> float:
    """Return the rank of a fact: weight of its kind × reference count, divided by a factor that grows with the days since it
    was last said.
    """
    kind = kind_at(fact, now)
    weight = _KINDS[kind][0] * (KEYED_WEIGHT if fact.key else QUOTED_WEIGHT if _IS_QUOTED.match(fact.fact) else 1.0)
    if kind is FactKind.PEOPLE and _CLOSE_RELATION.search(f"{fact.key} {fact.fact}"):
        weight *= CLOSE_RELATION_WEIGHT
    return (
        weight * fact.reference_count / (1 + _DECAY_RATES[kind in _LASTING_KINDS] * max(0.0, days_since(fact.last_seen, now)))
    )


def select_candidates(facts: Iterable[ExtractedFact], now: datetime, max_per_kind: int) -> list[ExtractedFact]:
    """Return the facts whose tokens are worth counting: at most `max_per_kind` of each kind and all pinned ones, without
    superseded ones.
    """
    by_kind = defaultdict[FactKind, list[ExtractedFact]](list)
    ranked = _sort_by_rank([fact for fact in facts if not fact.superseded], now)
    for fact in ranked:
        by_kind[kind_at(fact, now)].append(fact)
    chosen = {fact.guid for kind_facts in by_kind.values() for fact in kind_facts[:max_per_kind]}
    return [fact for fact in ranked if fact.pinned or fact.guid in chosen]


def select_core_facts(
    facts: Iterable[ExtractedFact], now: datetime, budget_tokens: int, token_counts: Mapping[UUID, int]
) -> list[ExtractedFact]:
    """Return the facts for every prompt within the token budget: pinned ones first, then by rank, without superseded ones.

    Of two that state the same attribute only one is chosen, even if the user let both hold. No kind exceeds its share before
    the others had theirs. A fact that does not fit is skipped, and smaller ones after it are still considered. `token_counts`
    has the size of every fact that is not superseded.
    """
    ranked = _sort_by_rank(_drop_contradicted([fact for fact in facts if not fact.superseded]), now)
    remaining_tokens, chosen = budget_tokens, set[UUID]()
    used_tokens = defaultdict[FactKind, int](int)
    for share_factor in _SHARE_FACTORS:
        for fact in ranked:
            kind, size = kind_at(fact, now), token_counts[fact.guid]
            if fact.guid in chosen or size > remaining_tokens:
                continue
            if not fact.pinned and used_tokens[kind] + size > share_factor * _KINDS[kind][1] * budget_tokens:
                continue
            remaining_tokens -= size
            used_tokens[kind] += size
            chosen.add(fact.guid)
    return [fact for fact in ranked if fact.guid in chosen]


def _sort_by_rank(facts: Sequence[ExtractedFact], now: datetime) -> list[ExtractedFact]:
    """Return the facts by rank, equal ones by first mention, because people introduce themselves before they go into detail."""
    return sorted(facts, key=lambda fact: (not fact.pinned, -calculate_rank(fact, now), fact.first_seen, fact.guid))


def _drop_contradicted(facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Return the facts without contradictions of an attribute; a pinned fact wins, then the user's own, then the latest."""
    kept: list[ExtractedFact] = []
    by_key = defaultdict[str, list[ExtractedFact]](list)
    for fact in sorted(
        facts, key=lambda candidate: (candidate.pinned, candidate.made_by is MadeBy.USER, candidate.last_seen), reverse=True
    ):
        if not fact.key or not any(is_same_attribute(fact, better) for better in by_key[fact.key]):
            by_key[fact.key].append(fact)
            kept.append(fact)
    return kept


def _is_over(plan: ExtractedFact, now: datetime) -> bool:
    said_on = plan.last_seen.astimezone().date()
    days = [_last_day(time, said_on) for time in find_times(plan.fact, said_on) if time.is_calendar_date]
    return max(days) < now.astimezone().date() if days else days_since(plan.last_seen, now) > UNDATED_PLAN_DAYS


def _last_day(time: TimeExpression, said_on: date) -> date:
    """Return the last day of a time: for one without a year, of its first occurrence after the fact was said."""
    last_days = [last for _first, last in time.ranges]
    return min((day for day in last_days if day >= said_on), default=max(last_days))
