"""Order of the entries of a world, and its edits as pure functions that return a changed copy."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from lethe_app.domain.worldinfo import World, WorldEntry

ORDER_STEP = 10
"""Gap between the orders of consecutive entries, which leaves room for others."""


def replace_entries(world: World, entries: Iterable[WorldEntry]) -> World:
    """Return the world with new versions of some of its entries."""
    # This happens at every key press, with ten thousand entries too, and Python hashes a number much faster than a UUID.
    new_versions = {entry.guid.int: entry for entry in entries}
    return world.model_copy(update={"entries": [new_versions.get(entry.guid.int, entry) for entry in world.entries]})


def find_entry(world: World | None, guid: UUID | None) -> WorldEntry | None:
    """Return the entry with a GUID; None if the world does not have it."""
    entries = world.entries if world is not None else []
    return next((entry for entry in entries if entry.guid == guid), None)


def sort_entries(entries: Iterable[WorldEntry]) -> list[WorldEntry]:
    """Return entries in prompt order, for entries at the same position."""
    return sorted(entries, key=order_key)


def reorder_entries(entries: Iterable[WorldEntry], moved: Collection[UUID], before: UUID | None) -> list[WorldEntry]:
    """Return new versions of as few entries as possible, so that the moved ones are together before the entry `before`.

    None as `before` is the end. Only `order` is changed.
    """
    ordered = sort_entries(entries)
    moving = [entry for entry in ordered if entry.guid in moved]
    rest = [entry for entry in ordered if entry.guid not in moved]
    position = next((index for index, entry in enumerate(rest) if entry.guid == before), len(rest))
    orders = _spread_orders(
        rest[position - 1].order if position else None, rest[position].order if position < len(rest) else None, len(moving)
    )
    new = [_with_order(entry, order) for entry, order in zip(moving, orders, strict=True)]
    last = new[-1] if new else None
    for entry in rest[position:]:
        if last is None or order_key(last) < order_key(entry):
            break
        last = _with_order(
            entry, last.order + (0 if order_key(last) < order_key(_with_order(entry, last.order)) else ORDER_STEP)
        )
        new.append(last)
    old_orders = {entry.guid: entry.order for entry in ordered}
    return [entry for entry in new if entry.order != old_orders[entry.guid]]


def _spread_orders(low: int | None, high: int | None, count: int) -> list[int]:
    """Return orders for `count` entries between two others, with gaps if there is room."""
    # 100 is the order of a new entry.
    if low is None:
        return [(high or 0) - ORDER_STEP * (count - index) for index in range(count)] if high is not None else [100] * count
    gap = high - low if high is not None else ORDER_STEP * (count + 1)
    step = max(1, min(ORDER_STEP, gap // (count + 1)))
    return [low + step * (index + 1) for index in range(count)]


def _with_order(entry: WorldEntry, order: int) -> WorldEntry:
    return entry.model_copy(update={"order": order})


def order_key(entry: WorldEntry) -> tuple[int, int, str, UUID]:
    """Return the sort key of entries at the same position."""
    return entry.order, entry.priority, entry.name, entry.guid
