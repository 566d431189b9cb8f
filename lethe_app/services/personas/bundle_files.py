"""Import of a bundle's files: persona, avatar and worlds, with new file names, a free display name and reuse of identical
worlds.
"""

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
"""Fields of an entry that are ignored when two worlds are compared: ids, times, counters and the file's path."""


@dataclass
class Guests:
    """Files written by an import, with the ids and names they got; used to link records to them and to remove them on
    failure.
    """

    persona: Persona
    worlds: dict[str, str] = field(default_factory=dict)
    """File name of each world in this home, by its name in the bundle."""
    new_worlds: list[World] = field(default_factory=list)
    entries: dict[UUID, UUID] = field(default_factory=dict)
    """Id of each world entry in this home, by its id in the bundle."""
    files: list[Path] = field(default_factory=list)
    """Files and folders to remove if the import fails."""

    def leave(self) -> None:
        """Delete every file and folder that the import wrote."""
        for file in self.files:
            if file.is_dir():
                shutil.rmtree(file, ignore_errors=True)
            else:
                file.unlink(missing_ok=True)


class GuestBook:
    """Writer of a bundle's files. Its methods block on the disk, so they run in the storage thread, never in the event loop."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._personas = FileCollection(Persona, paths.shipped_personas, paths.personas, paths.trash / "personas")
        self._worlds = FileCollection(World, paths.shipped_worlds, paths.worlds, paths.trash / "worldinfo")

    def write_files(self, guests: Guests, bundle: Bundle, name: str) -> None:
        """Write worlds, avatar and persona, in this order, so that the persona appears only when everything it refers to
        exists.

        A world that is already here with the same content is reused instead of written again. `guests` is filled step by
        step, so that it lists the files written so far if a step fails.
        """
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
    """Return whether two worlds have the same name, settings and entries, apart from file names and the `PASSING` fields."""
    if (one.name, len(one.entries)) != (other.name, len(other.entries)):
        return False
    return _told(one) == _told(other)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return `name`, or “Mira 2”, “Mira 3” and so on if it is taken; case and surrounding spaces are ignored."""
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
