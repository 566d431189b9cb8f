"""All memories of a persona at hand, sorted once by what a turn asks of them, so that a turn need not go through them all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import overload
from uuid import UUID

from lethe_app.brain.recall.decay import is_prunable, touched
from lethe_app.brain.recall.proactive_rules import WAITING
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit

_TRIGGER, _RETURN = MemoryInsertion.TRIGGER, MemoryInsertion.USER_RETURN


class MemorySet(Sequence[MemoryUnit]):
    """Newest first, and never changed. With tens of thousands of them, sorting takes a tenth of a second: not the window's."""

    def __init__(self, memories: Iterable[MemoryUnit]) -> None:
        self._by_guid = {memory.guid: memory for memory in memories}
        self._order = tuple(self._by_guid)
        waiting, returning, triggers, standing, mortal = [], [], [], [], []
        for guid, memory in self._by_guid.items():
            if memory.insertion is _TRIGGER:
                triggers.append(guid)
            elif memory.insertion is _RETURN:
                returning.append(guid)
            elif memory.insertion in WAITING:
                waiting.append(guid)
            if memory.sticky or memory.filed_under:
                standing.append(guid)
            if is_prunable(memory):
                mortal.append(guid)
        self._sorted = (waiting, returning, triggers, standing, mortal)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[MemoryUnit]:
        return iter(self._by_guid.values())

    @overload
    def __getitem__(self, place: int) -> MemoryUnit: ...
    @overload
    def __getitem__(self, place: slice) -> list[MemoryUnit]: ...
    def __getitem__(self, place: int | slice) -> MemoryUnit | list[MemoryUnit]:
        if isinstance(place, slice):
            return [self._by_guid[guid] for guid in self._order[place]]
        return self._by_guid[self._order[place]]

    @property
    def by_guid(self) -> Mapping[UUID, MemoryUnit]:
        """Each under its guid."""
        return MappingProxyType(self._by_guid)

    @property
    def waiting(self) -> list[MemoryUnit]:
        """Those that wait for their moment."""
        return self._some(self._sorted[0])

    @property
    def returning(self) -> list[MemoryUnit]:
        """Those that wait for the user's return."""
        return self._some(self._sorted[1])

    @property
    def triggers(self) -> list[MemoryUnit]:
        """Those that come when they are called."""
        return self._some(self._sorted[2])

    @property
    def standing(self) -> list[MemoryUnit]:
        """Those among which are all that stand in every prompt: sticky ones, and ones that are filed somewhere."""
        return self._some(self._sorted[3])

    @property
    def mortal(self) -> list[MemoryUnit]:
        """Those that may fade."""
        return self._some(self._sorted[4])

    def some(self, guids: Collection[UUID]) -> list[MemoryUnit]:
        """Those of these that are there, newest first."""
        return self._some([guid for guid in self._order if guid in guids]) if guids else []

    def is_same_but_touched(self, other: MemorySet) -> bool:
        """Are these the same memories, but for which were brought up since?"""
        return self._order is other._order

    def touched(self, guids: Collection[UUID], moment: datetime) -> MemorySet:
        """With these brought up anew; what they are does not change by that."""
        made = MemorySet(())
        anew = {guid: touched(self._by_guid[guid], moment) for guid in guids if guid in self._by_guid}
        made._by_guid, made._order, made._sorted = {**self._by_guid, **anew}, self._order, self._sorted
        return made

    def kept(self, changed: Iterable[MemoryUnit], named: Collection[UUID]) -> MemorySet:
        """With the memories of these guids as they are now; one that is not among `changed` is there no longer."""
        there = {one.guid: one for one in changed}
        if all(guid in there and guid in self._by_guid and there[guid].added == self._by_guid[guid].added for guid in named):
            return MemorySet({**self._by_guid, **there}.values())
        left = [one for guid, one in self._by_guid.items() if guid not in there and guid not in named]
        return MemorySet(sorted((*there.values(), *left), key=lambda one: one.added.timestamp(), reverse=True))

    def without(self, guids: Collection[UUID]) -> MemorySet:
        """All but these."""
        made, gone = MemorySet(()), set(guids)
        made._by_guid = {guid: memory for guid, memory in self._by_guid.items() if guid not in gone}
        made._order = tuple(made._by_guid)
        waiting, returning, triggers, standing, mortal = ([guid for guid in part if guid not in gone] for part in self._sorted)
        made._sorted = (waiting, returning, triggers, standing, mortal)
        return made

    def _some(self, guids: Iterable[UUID]) -> list[MemoryUnit]:
        return [self._by_guid[guid] for guid in guids]
