"""Finds room for what a bundle brings as files: new file names, names that nobody has yet, and worlds that are here already."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from lethe_app.domain.bundle import Bundle
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.paths import Paths
from lethe_app.storage.files.collection import FileCollection

PASSING = {"guid", "added", "last_trigger", "trigger_count", "path"}
"""Of an entry, what says nothing about whether it is the same."""


@dataclass
class Guests:
    """What was written, by which one finds it again and by which it is taken away where something else fails."""

    persona: Persona
    worlds: dict[str, str] = field(default_factory=dict)
    """File names in this home by those in the bundle."""
    new_worlds: list[World] = field(default_factory=list)
    entries: dict[UUID, UUID] = field(default_factory=dict)
    """Ids of world entries in this home by those in the bundle."""
    files: list[Path] = field(default_factory=list)

    def leave(self) -> None:
        """As if they had never come."""
        for file in self.files:
            if file.is_dir():
                shutil.rmtree(file, ignore_errors=True)
            else:
                file.unlink(missing_ok=True)


class GuestBook:
    """Works on files, so it is called where files are read and written, never in the loop."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._personas = FileCollection(Persona, paths.shipped_personas, paths.personas, paths.trash / "personas")
        self._worlds = FileCollection(World, paths.shipped_worlds, paths.worlds, paths.trash / "worldinfo")

    def write_files(self, guests: Guests, bundle: Bundle, name: str) -> None:
        """Write worlds, portrait and persona, in this order: she appears when all that she needs is there."""
        present = self._worlds.stock().values
        for stem, world in bundle.worlds.items():
            twin = next((known for known in present.values() if is_same(known, world)), None)
            if twin is not None:
                guests.worlds[stem] = twin.unique_name
                pairs = zip(world.entries, twin.entries, strict=True)
                guests.entries |= {entry.guid: known.guid for entry, known in pairs}
            else:
                self._add_world(guests, stem, world, {known.name for known in present.values()})
        avatar = ""
        if bundle.picture:
            avatar = self._personas.save_picture(name, bundle.picture, bundle.picture_ending)
            guests.files.append(self._paths.personas / avatar)
        worlds = list(dict.fromkeys(guests.worlds[one] for one in bundle.persona.worlds if one in guests.worlds))
        own = {"unique_name": "", "name": name, "avatar": avatar, "worlds": worlds}
        persona = bundle.persona.model_copy(update=own)
        stem = self._personas.save(persona)
        guests.files.append(self._paths.personas / f"{stem}.json")
        guests.persona = persona.model_copy(update={"unique_name": stem})

    def _add_world(self, guests: Guests, stem: str, world: World, taken: Collection[str]) -> None:
        entries = []
        for entry in world.entries:
            guests.entries[entry.guid] = uuid4()
            entries.append(entry.model_copy(update={"guid": guests.entries[entry.guid], "path": ""}))
        names = {*taken, *(new.name for new in guests.new_worlds)}
        own = world.model_copy(update={"unique_name": "", "name": free_name(world.name, names), "entries": entries})
        guests.worlds[stem] = self._worlds.save(own)
        guests.files.append(self._paths.worlds / f"{guests.worlds[stem]}.json")
        guests.new_worlds.append(own.model_copy(update={"unique_name": guests.worlds[stem]}))


def is_same(one: World, other: World) -> bool:
    """Do both say the same, whatever they are filed under?"""
    if (one.name, len(one.entries)) != (other.name, len(other.entries)):
        return False
    return _told(one) == _told(other)


def free_name(name: str, taken: Collection[str]) -> str:
    """The name itself, or “Mira 2” where there is a Mira, and so on."""
    occupied = {other.casefold().strip() for other in taken}
    candidate, number = name, 2
    while candidate.casefold().strip() in occupied:
        candidate, number = f"{name} {number}", number + 1
    return candidate


def _told(world: World) -> tuple[Mapping[str, object], list[Mapping[str, object]]]:
    entries = [_entry(entry) for entry in world.entries]
    return world.model_dump(exclude={"unique_name", "entries"}), entries


def _entry(entry: WorldEntry) -> Mapping[str, object]:
    return entry.model_dump(exclude=PASSING)
