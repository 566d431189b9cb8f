"""Changes to worlds as values and as commands: every one makes another world and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from uuid import UUID

from PySide6.QtGui import QUndoCommand

from lethe_app.domain.worldinfo import World, WorldEntry

STEP = 10
"""Between the orders of entries that were put one after the other, so that there is room for another."""
FEW = 20
"""Changed entries up to which each is looked for by itself."""
Change = tuple[World, World]
"""What a world was and what it becomes."""


class WorldEdit(QUndoCommand):
    """Some worlds become others at once; what is typed into one field in one go (`merges`) is undone in one go."""

    def __init__(self, title: str, changes: Sequence[Change], put: Callable[[Sequence[World]], None], merges: str = "") -> None:
        super().__init__(title)
        self.changes, self._put, self.merges = list(changes), put, merges

    def id(self) -> int:
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
    """The world with these versions of entries it has."""
    new = {entry.guid: entry for entry in entries}
    if len(new) > FEW:
        return world.model_copy(update={"entries": [new.get(entry.guid, entry) for entry in world.entries]})
    line, guids = list(world.entries), [entry.guid for entry in world.entries]
    for guid, entry in new.items():  # which is much faster than a look at each of ten thousand, and happens at every key press
        if guid in guids:
            line[guids.index(guid)] = entry
    return world.model_copy(update={"entries": line})


def added(world: World, entries: Sequence[WorldEntry]) -> World:
    """The world with these entries at its end."""
    return world.model_copy(update={"entries": [*world.entries, *entries]})


def without(world: World, guids: Collection[UUID]) -> World:
    """The world without the entries of these guids."""
    return world.model_copy(update={"entries": [entry for entry in world.entries if entry.guid not in guids]})


def entry_of(world: World | None, guid: UUID | None) -> WorldEntry | None:
    """The entry of that guid, if the world has it."""
    entries = world.entries if world is not None else []
    return next((entry for entry in entries if entry.guid == guid), None)


def in_order(entries: Iterable[WorldEntry]) -> list[WorldEntry]:
    """As they stand in a prompt, as far as they stand at one place."""
    return sorted(entries, key=standing)


def reordered(entries: Iterable[WorldEntry], moved: Collection[UUID], before: UUID | None) -> list[WorldEntry]:
    """New versions of as few entries as need another `order`, so that those moved stand together before that one.

    None is the end.
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
    """Orders for that many entries after one and before another, with room between them where there is any."""
    if low is None:
        return [(high or 0) - STEP * (count - place) for place in range(count)] if high is not None else [100] * count
    room = high - low if high is not None else STEP * (count + 1)
    step = max(1, min(STEP, room // (count + 1)))
    return [low + step * (place + 1) for place in range(count)]


def _at(entry: WorldEntry, order: int) -> WorldEntry:
    return entry.model_copy(update={"order": order})


def standing(entry: WorldEntry) -> tuple[int, int, str, UUID]:
    """By which entries at one place are sorted."""
    return entry.order, entry.priority, entry.name, entry.guid


def with_fields(entry: WorldEntry, fields: Mapping[str, object]) -> WorldEntry:
    """The entry with other values in some fields, each of the right kind already."""
    return entry.model_copy(update=dict(fields))
