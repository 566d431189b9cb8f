"""Import of a bundle's files: persona, avatar and worlds, with new file names, a free display name and reuse of identical
worlds.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from lethe_app.domain.bundle import Bundle
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.paths import Paths
from lethe_app.storage.files.collection import FileCollection

IGNORED_FIELDS = {"guid", "added", "last_trigger", "trigger_count", "path"}
"""Fields of an entry that are ignored when two worlds are compared: ids, times, counters and the file's path."""

ASSETS_ENDING = ".charx"
"""Ending of the archive with a card's further pictures."""


@dataclass
class ImportedFiles:
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

    def delete_files(self) -> None:
        """Delete every file and folder that the import wrote."""
        for file in self.files:
            if file.is_dir():
                shutil.rmtree(file, ignore_errors=True)
            else:
                file.unlink(missing_ok=True)


class BundleFileWriter:
    """Writer of a bundle's files. Its methods block on the disk, so they run in the storage thread, never in the event loop."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._personas = FileCollection(Persona, paths.shipped_personas, paths.personas, paths.trash / "personas")
        self._worlds = FileCollection(World, paths.shipped_worlds, paths.worlds, paths.trash / "worldinfo", caches_values=True)

    def write_files(self, imported: ImportedFiles, bundle: Bundle, name: str, replaced_id: str = "") -> None:
        """Write worlds, avatar and persona, in this order, so that the persona appears only when everything it refers to
        exists. With `replaced_id`, the file of that persona is overwritten.

        A world that is already here with the same content is reused instead of written again. `imported` is filled step by
        step, so that it lists the files written so far if a step fails.
        """
        present = self._worlds.load_all().values
        for stem, world in bundle.worlds.items():
            same_world = next((known for known in present.values() if is_same_world(known, world)), None)
            if same_world is not None:
                imported.worlds[stem] = same_world.unique_name
                pairs = zip(world.entries, same_world.entries, strict=True)
                imported.entries |= {entry.guid: known.guid for entry, known in pairs}
            else:
                self._add_world(imported, stem, world, {known.name for known in present.values()})
        avatar = assets = ""
        if bundle.assets:
            assets = self._personas.save_picture(name, bundle.assets, ASSETS_ENDING)
            imported.files.append(self._paths.personas / assets)
        if bundle.picture:
            avatar = self._personas.save_picture(name, bundle.picture, bundle.picture_ending)
            imported.files.append(self._paths.personas / avatar)
        worlds = list(
            dict.fromkeys(imported.worlds[world_name] for world_name in bundle.persona.worlds if world_name in imported.worlds)
        )
        changes = {"unique_name": replaced_id, "name": name, "avatar": avatar, "assets": assets, "worlds": worlds}
        persona = bundle.persona.model_copy(update=changes)
        stem = self._personas.save(persona)
        if not replaced_id:
            imported.files.append(self._paths.personas / f"{stem}.json")
        imported.persona = persona.model_copy(update={"unique_name": stem})

    def _add_world(self, imported: ImportedFiles, stem: str, world: World, taken_names: Collection[str]) -> None:
        entries = []
        for entry in world.entries:
            imported.entries[entry.guid] = uuid4()
            entries.append(entry.model_copy(update={"guid": imported.entries[entry.guid], "path": ""}))
        names = {*taken_names, *(added_world.name for added_world in imported.new_worlds)}
        new_world = world.model_copy(update={"unique_name": "", "name": free_name(world.name, names), "entries": entries})
        imported.worlds[stem] = self._worlds.save(new_world)
        imported.files.append(self._paths.worlds / f"{imported.worlds[stem]}.json")
        imported.new_worlds.append(new_world.model_copy(update={"unique_name": imported.worlds[stem]}))


def is_same_world(world: World, other_world: World) -> bool:
    """Return whether two worlds have the same name, settings and entries, apart from file names and the `IGNORED_FIELDS`
    fields.
    """
    if (world.name, len(world.entries)) != (other_world.name, len(other_world.entries)):
        return False
    excluded: dict[str, Any] = {"unique_name": True, "entries": {"__all__": IGNORED_FIELDS}}
    return world.model_dump(exclude=excluded) == other_world.model_dump(exclude=excluded)


def free_name(name: str, taken_names: Collection[str]) -> str:
    """Return `name`, or “Mira 2”, “Mira 3” and so on if it is taken; case and surrounding spaces are ignored."""
    occupied = {taken_name.casefold().strip() for taken_name in taken_names}
    candidate, number = name, 2
    while candidate.casefold().strip() in occupied:
        candidate, number = f"{name} {number}", number + 1
    return candidate
