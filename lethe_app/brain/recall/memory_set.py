"""Memory set of one persona, indexed once by what a turn needs, so that a turn need not iterate over all memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args, overload
from uuid import UUID

from lethe_app.brain.recall.decay import count_recall, is_prunable
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit

MemoryGroup = Literal["waiting", "awaiting_return", "triggers", "constant_or_filed", "prunable"]
"""Memories that a turn needs together: those that wait to be brought up proactively or for the user's return, those recalled by
a trigger (keyword, name or meaning), those among which are all that are in every prompt, and those that may be pruned.
"""


class MemorySet(Sequence[MemoryUnit]):
    """Immutable sequence of the memories of one persona, newest first.

    Building it for tens of thousands of memories takes a tenth of a second, so do not build it on the main thread. With
    45,000 memories the indexes reduced the longest step of a turn on the main thread from 264 to 36 ms. Hashing a UUID is slow,
    so nothing below looks up every memory by its guid: copied dictionaries keep the hashes they have.
    """

    def __init__(self, memories: Iterable[MemoryUnit]) -> None:
        self.by_guid: Mapping[UUID, MemoryUnit] = {memory.guid: memory for memory in memories}
        self._order = tuple(self.by_guid)
        self._groups: dict[MemoryGroup, dict[UUID, MemoryUnit]] = {group: {} for group in get_args(MemoryGroup)}
        for guid, memory in self.by_guid.items():
            if memory.insertion is MemoryInsertion.TRIGGER:
                self._groups["triggers"][guid] = memory
            elif memory.insertion is MemoryInsertion.USER_RETURN:
                self._groups["awaiting_return"][guid] = memory
            elif memory.insertion in WAITING_INSERTIONS:
                self._groups["waiting"][guid] = memory
            if memory.sticky or memory.filed_under:
                self._groups["constant_or_filed"][guid] = memory
            if is_prunable(memory):
                self._groups["prunable"][guid] = memory

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[MemoryUnit]:
        return iter(self.by_guid.values())

    @overload
    def __getitem__(self, index: int) -> MemoryUnit: ...
    @overload
    def __getitem__(self, index: slice) -> list[MemoryUnit]: ...
    def __getitem__(self, index: int | slice) -> MemoryUnit | list[MemoryUnit]:
        if isinstance(index, slice):
            return [self.by_guid[guid] for guid in self._order[index]]
        return self.by_guid[self._order[index]]

    def in_group(self, group: MemoryGroup) -> list[MemoryUnit]:
        """Return the memories of a group, newest first."""
        return list(self._groups[group].values())

    def select(self, guids: Collection[UUID]) -> list[MemoryUnit]:
        """Return the memories of these guids that exist in the set, newest first."""
        selected = {id(self.by_guid[guid]) for guid in guids if guid in self.by_guid}
        return [memory for memory in self if id(memory) in selected]

    def differs_only_in_recalls(self, other: MemorySet) -> bool:
        """Return whether `other` has the same memories and differs at most in their recall counters. True only for sets
        derived by `with_recalls`.
        """
        return self._order is other._order

    def with_recalls(self, guids: Collection[UUID], moment: datetime) -> MemorySet:
        """Return a set in which these memories count one more recall at `moment`. The order is shared with this set."""
        updated = MemorySet(())
        recalled = {guid: count_recall(self.by_guid[guid], moment) for guid in guids if guid in self.by_guid}
        updated.by_guid, updated._order = {**self.by_guid, **recalled}, self._order
        updated._groups = {
            group: {**memories, **{guid: memory for guid, memory in recalled.items() if guid in memories}}
            for group, memories in self._groups.items()
        }
        return updated

    def with_changes(self, changed: Iterable[MemoryUnit], guids: Collection[UUID]) -> MemorySet:
        """Return a set in which the memories of the guids `guids` are replaced by those in `changed`; one that is not in
        `changed` is removed.
        """
        changed_by_guid = {one.guid: one for one in changed}
        # No memory was added, removed or dated anew, so the order still holds and nothing has to be sorted.
        if all(
            guid in changed_by_guid and guid in self.by_guid and changed_by_guid[guid].added == self.by_guid[guid].added
            for guid in guids
        ):
            return MemorySet({**self.by_guid, **changed_by_guid}.values())
        unchanged = [one for guid, one in self.by_guid.items() if guid not in changed_by_guid and guid not in guids]
        return MemorySet(sorted((*changed_by_guid.values(), *unchanged), key=lambda one: one.added.timestamp(), reverse=True))

    def exclude(self, guids: Collection[UUID]) -> MemorySet:
        """Return a set without the memories of these guids."""
        remaining = MemorySet(())
        remaining.by_guid = _without(self.by_guid, guids)
        remaining._order = tuple(remaining.by_guid)
        remaining._groups = {group: _without(memories, guids) for group, memories in self._groups.items()}
        return remaining


def _without(memories: Mapping[UUID, MemoryUnit], guids: Collection[UUID]) -> dict[UUID, MemoryUnit]:
    remaining = dict(memories)
    for guid in guids:
        remaining.pop(guid, None)
    return remaining
