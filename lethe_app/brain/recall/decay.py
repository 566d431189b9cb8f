"""Decay of memories: which ones are pruned when they have not been recalled for long, and what counts as a recall."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.config.settings import Settings
from lethe_app.dates.arithmetic import days_since, elapsed
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit

_NEVER_PRUNED = frozenset({MemoryType.CHAT_SESSION, MemoryType.WORLD_INFO})
"""Types that are never pruned automatically: past sessions and World Info belong to the user."""


def find_faded(memories: Iterable[MemoryUnit], moment: datetime, settings: Settings) -> list[MemoryUnit]:
    """Return the memories to prune by decay: proactive ones that waited longer than `eureka_cut_off_days`, and unused ones
    of the decaying types. Protected memories are never among them.
    """
    return [memory for memory in memories if is_prunable(memory) and _has_faded(memory, moment, settings)]


def find_expired(memories: Iterable[MemoryUnit], moment: datetime) -> list[MemoryUnit]:
    """Return the prunable memories whose `end_time` has passed. One that may not be pruned stays stored, but is no longer
    due; see `MemoryUnit.is_due`.
    """
    return [
        memory
        for memory in memories
        if is_prunable(memory) and memory.end_time is not None and elapsed(memory.end_time, moment) >= timedelta()
    ]


def is_prunable(memory: MemoryUnit) -> bool:
    """Return whether the memory may be removed automatically: it is neither protected nor sticky, and not of a type that
    belongs to the user.
    """
    return not memory.protected and not memory.sticky and memory.category not in _NEVER_PRUNED


def days_to_live(memory: MemoryUnit, settings: Settings) -> int:
    """Return the days without a recall after which a memory of a decaying type is pruned."""
    return settings.min_no_recall_days * max(0, memory.priority + 1) + memory.trigger_count


def count_recall(memory: MemoryUnit, moment: datetime) -> MemoryUnit:
    """Return a copy of the memory with one more recall counted at `moment`. Call it for a new recall only: staying in the
    prompt for further turns, or being redrawn, is not a recall.
    """
    return memory.model_copy(update={"last_trigger": moment, "trigger_count": memory.trigger_count + 1})


def _has_faded(memory: MemoryUnit, moment: datetime, settings: Settings) -> bool:
    if memory.insertion in WAITING_INSERTIONS:
        return days_since(memory.added, moment) > settings.eureka_cut_off_days
    if memory.insertion is not MemoryInsertion.TRIGGER or memory.category not in settings.decaying_types:
        return False
    # `last_trigger` is filled for memories that were never recalled too, so only `trigger_count` shows whether there was a
    # recall.
    last_recall = memory.last_trigger if memory.trigger_count else memory.added
    return days_since(last_recall, moment) > days_to_live(memory, settings)
