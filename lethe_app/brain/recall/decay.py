"""What fades from memory when it is not brought up for long, and what counts as being brought up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from lethe_app.brain.dates.arithmetic import days_since, elapsed
from lethe_app.brain.recall.proactive_rules import WAITING, ProactiveRules
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit

_NEVER_PRUNED = frozenset({MemoryType.CHAT_SESSION, MemoryType.WORLD_INFO})
"""Conversations and lore are the user's own."""


def faded(memories: Iterable[MemoryUnit], moment: datetime, rules: ProactiveRules) -> list[MemoryUnit]:
    """Those to be forgotten: natural ones whose moment never came, and unused ones of types that decay. Protected never."""
    return [memory for memory in memories if is_prunable(memory) and _has_faded(memory, moment, rules)]


def over(memories: Iterable[MemoryUnit], moment: datetime) -> list[MemoryUnit]:
    """Those whose end has come and that may go. What may not go is silent from its end on, see `MemoryUnit.is_due`."""
    return [
        memory
        for memory in memories
        if is_prunable(memory) and memory.end_time is not None and elapsed(memory.end_time, moment) >= timedelta()
    ]


def is_prunable(memory: MemoryUnit) -> bool:
    """May it be forgotten by anyone but the user?"""
    return not memory.protected and not memory.sticky and memory.category not in _NEVER_PRUNED


def days_to_live(memory: MemoryUnit, rules: ProactiveRules) -> int:
    """Days without being brought up after which a memory of a decaying type is forgotten."""
    return rules.min_no_recall_days_per_priority * max(0, memory.priority + 1) + memory.trigger_count


def touched(memory: MemoryUnit, moment: datetime) -> MemoryUnit:
    """As it is once it was brought up anew. Merely staying in the prompt, or being drawn again, is not being brought up."""
    return memory.model_copy(update={"last_trigger": moment, "trigger_count": memory.trigger_count + 1})


def _has_faded(memory: MemoryUnit, moment: datetime, rules: ProactiveRules) -> bool:
    if memory.insertion in WAITING:
        return days_since(memory.added, moment) > rules.eureka_cut_off_days
    if memory.insertion is not MemoryInsertion.TRIGGER or memory.category not in rules.decaying:
        return False
    last = memory.last_trigger if memory.trigger_count else memory.added
    return days_since(last, moment) > days_to_live(memory, rules)
