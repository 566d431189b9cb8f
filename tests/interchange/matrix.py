"""Which fields survive the way from one format to another: run as a program it prints the table of docs/formats.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import cast

from lethe_app.domain.import_notes import ImportNotes
from lethe_app.domain.worldinfo import World
from lethe_app.interchange.cards.card import read_card, write_json
from lethe_app.interchange.lorebooks.lorebook import read_lorebook, write_character_book, write_world_info
from tests.interchange.external_files import JsonObject, as_bytes, book_entry, v2_card, v3_card, world_info

V1 = {
    name: value
    for name, value in v2_card().items()
    if name in ("name", "description", "personality", "scenario", "first_mes", "mes_example")
}
BOOK = {
    "name": "B",
    "description": "d",
    "scan_depth": 5,
    "token_budget": 300,
    "recursive_scanning": True,
    "extensions": {"a": 1},
}


def through_card(card: object) -> object:
    read = read_card(as_bytes(card), "x.json")
    return json.loads(write_json(read.persona, read.world))


def world_of(values: object) -> World:
    return read_lorebook(values, "B", ImportNotes())  # type: ignore[arg-type]


ROUTES: dict[str, tuple[object, Callable[[object], object]]] = {
    "card V1 → V3": (V1, through_card),
    "card V2 → V3": (v2_card(), through_card),
    "card V3 → V3": (v3_card(), through_card),
    "World Info → World Info": (world_info(), lambda values: write_world_info(world_of(values))),
    "World Info → card's book → World Info": (
        world_info(),
        lambda values: write_world_info(world_of(write_character_book(world_of(values)))),
    ),
    "card's book → card's book": (BOOK | {"entries": [book_entry()]}, lambda values: write_character_book(world_of(values))),
    "card's book → World Info → card's book": (
        BOOK | {"entries": [book_entry()]},
        lambda values: write_character_book(world_of(write_world_info(world_of(values)))),
    ),
}
"""A file with every field, and what becomes of it, by the name of the way."""


def leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Every field of a file; those of entries are named once."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from leaves(value[0], f"{place}[0]")
    else:
        yield place, value


def changes(before: object, after: object) -> list[str]:
    """The fields that are missing or other than before."""
    found = dict(leaves(after))
    return [place for place, value in leaves(before) if found.get(place, ...) != value]


def table() -> str:
    """The table in Markdown."""
    lines = ["| way | fields | unchanged | changed |", "|---|---|---|---|"]
    for name, (values, convert) in ROUTES.items():
        fields = list(leaves(values))
        changed = changes(values, convert(cast("JsonObject", values)))
        lines.append(
            f"| {name} | {len(fields)} | {len(fields) - len(changed)} | {', '.join(f'`{one}`' for one in changed) or '–'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201 - what it is run for
