"""Memory set of one persona, indexed once by what a turn needs, so that a turn need not iterate over all memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import overload
from uuid import UUID

from lethe_app.brain.recall.decay import count_recall, is_prunable
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit

_TRIGGER, _RETURN = MemoryInsertion.TRIGGER, MemoryInsertion.USER_RETURN


class MemorySet(Sequence[MemoryUnit]):
    """Immutable sequence of the memories of one persona, newest first.

    Building it for tens of thousands of memories takes a tenth of a second, so do not build it on the main thread. With
    45,000 memories the indexes reduced the longest step of a turn on the main thread from 264 to 36 ms.
    """

    def __init__(self, memories: Iterable[MemoryUnit]) -> None:
        self._by_guid = {memory.guid: memory for memory in memories}
        self._order = tuple(self._by_guid)
        waiting, awaiting_return, triggers, sticky_or_filed, prunable = [], [], [], [], []
        for guid, memory in self._by_guid.items():
            if memory.insertion is _TRIGGER:
                triggers.append(guid)
            elif memory.insertion is _RETURN:
                awaiting_return.append(guid)
            elif memory.insertion in WAITING_INSERTIONS:
                waiting.append(guid)
            if memory.sticky or memory.filed_under:
                sticky_or_filed.append(guid)
            if is_prunable(memory):
                prunable.append(guid)
        # The indexes hold guids, so that a set with other recall counters can share them.
        self._indexes = (waiting, awaiting_return, triggers, sticky_or_filed, prunable)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[MemoryUnit]:
        return iter(self._by_guid.values())

    @overload
    def __getitem__(self, index: int) -> MemoryUnit: ...
    @overload
    def __getitem__(self, index: slice) -> list[MemoryUnit]: ...
    def __getitem__(self, index: int | slice) -> MemoryUnit | list[MemoryUnit]:
        if isinstance(index, slice):
            return [self._by_guid[guid] for guid in self._order[index]]
        return self._by_guid[self._order[index]]

    @property
    def by_guid(self) -> Mapping[UUID, MemoryUnit]:
        """The memories by guid, as a read-only view."""
        return MappingProxyType(self._by_guid)

    @property
    def waiting(self) -> list[MemoryUnit]:
        """The memories that wait to be brought up proactively."""
        return self._memories_of(self._indexes[0])

    @property
    def awaiting_return(self) -> list[MemoryUnit]:
        """The memories that wait for the user's return."""
        return self._memories_of(self._indexes[1])

    @property
    def triggers(self) -> list[MemoryUnit]:
        """The memories that are recalled by a trigger (keyword, name or meaning)."""
        return self._memories_of(self._indexes[2])

    @property
    def sticky_or_filed(self) -> list[MemoryUnit]:
        """The sticky and the filed memories, which include all that are in every prompt."""
        return self._memories_of(self._indexes[3])

    @property
    def prunable(self) -> list[MemoryUnit]:
        """The memories that may be pruned."""
        return self._memories_of(self._indexes[4])

    def select(self, guids: Collection[UUID]) -> list[MemoryUnit]:
        """Return the memories of these guids that exist in the set, newest first."""
        return self._memories_of([guid for guid in self._order if guid in guids]) if guids else []

    def differs_only_in_recalls(self, other: MemorySet) -> bool:
        """Return whether `other` has the same memories and differs at most in their recall counters. True only for sets
        derived by `with_recalls`.
        """
        return self._order is other._order

    def with_recalls(self, guids: Collection[UUID], moment: datetime) -> MemorySet:
        """Return a set in which these memories count one more recall at `moment`. Order and indexes are shared with this
        set.
        """
        updated = MemorySet(())
        recalled = {guid: count_recall(self._by_guid[guid], moment) for guid in guids if guid in self._by_guid}
        updated._by_guid, updated._order, updated._indexes = {**self._by_guid, **recalled}, self._order, self._indexes
        return updated

    def with_changes(self, changed: Iterable[MemoryUnit], guids: Collection[UUID]) -> MemorySet:
        """Return a set in which the memories of the guids `guids` are replaced by those in `changed`; one that is not in
        `changed` is removed.
        """
        changed_by_guid = {one.guid: one for one in changed}
        # No memory was added, removed or dated anew, so the order still holds and nothing has to be sorted.
        if all(
            guid in changed_by_guid and guid in self._by_guid and changed_by_guid[guid].added == self._by_guid[guid].added
            for guid in guids
        ):
            return MemorySet({**self._by_guid, **changed_by_guid}.values())
        unchanged = [one for guid, one in self._by_guid.items() if guid not in changed_by_guid and guid not in guids]
        return MemorySet(sorted((*changed_by_guid.values(), *unchanged), key=lambda one: one.added.timestamp(), reverse=True))

    def exclude(self, guids: Collection[UUID]) -> MemorySet:
        """Return a set without the memories of these guids."""
        remaining, removed = MemorySet(()), set(guids)
        remaining._by_guid = {guid: memory for guid, memory in self._by_guid.items() if guid not in removed}
        remaining._order = tuple(remaining._by_guid)
        waiting, awaiting_return, triggers, sticky_or_filed, prunable = (
            [guid for guid in part if guid not in removed] for part in self._indexes
        )
        remaining._indexes = (waiting, awaiting_return, triggers, sticky_or_filed, prunable)
        return remaining

    def _memories_of(self, guids: Iterable[UUID]) -> list[MemoryUnit]:
        return [self._by_guid[guid] for guid in guids]
