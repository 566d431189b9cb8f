"""Edits of worlds as pure functions that return a changed copy, and the undo command for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from uuid import UUID

from PySide6.QtGui import QUndoCommand

from lethe_app.domain.worldinfo import World, WorldEntry

STEP = 10
"""Gap between the orders of consecutive entries, which leaves room for others."""
FEW = 20
"""Changed entries that are replaced one by one; above it the whole list is rebuilt."""
Change = tuple[World, World]
"""World before and after an edit."""


class WorldEdit(QUndoCommand):
    """Undo command that replaces worlds; consecutive edits with the same `merges` key, such as typing in a field, are one
    step.
    """

    def __init__(self, title: str, changes: Sequence[Change], put: Callable[[Sequence[World]], None], merges: str = "") -> None:
        super().__init__(title)
        self.changes, self._put, self.merges = list(changes), put, merges

    def id(self) -> int:
        # The id of a QUndoCommand is a C int; -1 means that it never merges.
        return hash(self.merges) & 0x7FFFFFFF if self.merges else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, WorldEdit) or other.merges != self.merges:
            return False
        self.changes = [(old, new) for (old, _), (_, new) in zip(self.changes, other.changes, strict=True)]
        self.setObsolete(all(old == new for old, new in self.changes))
        return True

    def redo(self) -> None:
        self._put([new for _old, new in self.changes])

    def undo(self) -> None:
        self._put([old for old, _new in self.changes])


def replaced(world: World, entries: Iterable[WorldEntry]) -> World:
    """Return the world with new versions of some of its entries."""
    new = {entry.guid: entry for entry in entries}
    if len(new) > FEW:
        return world.model_copy(update={"entries": [new.get(entry.guid, entry) for entry in world.entries]})
    line, guids = list(world.entries), [entry.guid for entry in world.entries]
    for guid, entry in new.items():  # which is much faster than a look at each of ten thousand, and happens at every key press
        if guid in guids:
            line[guids.index(guid)] = entry
    return world.model_copy(update={"entries": line})


def added(world: World, entries: Sequence[WorldEntry]) -> World:
    """Return the world with more entries at its end."""
    return world.model_copy(update={"entries": [*world.entries, *entries]})


def without(world: World, guids: Collection[UUID]) -> World:
    """Return the world without the entries of these GUIDs."""
    return world.model_copy(update={"entries": [entry for entry in world.entries if entry.guid not in guids]})


def entry_of(world: World | None, guid: UUID | None) -> WorldEntry | None:
    """Return the entry with a GUID; None if the world does not have it."""
    entries = world.entries if world is not None else []
    return next((entry for entry in entries if entry.guid == guid), None)


def in_order(entries: Iterable[WorldEntry]) -> list[WorldEntry]:
    """Return entries in prompt order, for entries at the same position."""
    return sorted(entries, key=standing)


def reordered(entries: Iterable[WorldEntry], moved: Collection[UUID], before: UUID | None) -> list[WorldEntry]:
    """Return new versions of as few entries as possible, so that the moved ones are together before the entry `before`.

    None as `before` is the end. Only `order` is changed.
    """
    line = in_order(entries)
    moving = [entry for entry in line if entry.guid in moved]
    rest = [entry for entry in line if entry.guid not in moved]
    place = next((place for place, entry in enumerate(rest) if entry.guid == before), len(rest))
    orders = _between(rest[place - 1].order if place else None, rest[place].order if place < len(rest) else None, len(moving))
    new = [_at(entry, order) for entry, order in zip(moving, orders, strict=True)]
    last = new[-1] if new else None
    for entry in rest[place:]:
        if last is None or standing(last) < standing(entry):
            break
        last = _at(entry, last.order + (0 if standing(last) < standing(_at(entry, last.order)) else STEP))
        new.append(last)
    known = {entry.guid: entry.order for entry in line}
    return [entry for entry in new if entry.order != known[entry.guid]]


def _between(low: int | None, high: int | None, count: int) -> list[int]:
    """Return orders for `count` entries between two others, with gaps if there is room."""
    # 100 is the order of a new entry.
    if low is None:
        return [(high or 0) - STEP * (count - place) for place in range(count)] if high is not None else [100] * count
    room = high - low if high is not None else STEP * (count + 1)
    step = max(1, min(STEP, room // (count + 1)))
    return [low + step * (place + 1) for place in range(count)]


def _at(entry: WorldEntry, order: int) -> WorldEntry:
    return entry.model_copy(update={"order": order})


def standing(entry: WorldEntry) -> tuple[int, int, str, UUID]:
    """Return the sort key of entries at the same position."""
    return entry.order, entry.priority, entry.name, entry.guid


def with_fields(entry: WorldEntry, fields: Mapping[str, object]) -> WorldEntry:
    """Return the entry with changed fields; the values must be valid, as they are not checked."""
    return entry.model_copy(update=dict(fields))
