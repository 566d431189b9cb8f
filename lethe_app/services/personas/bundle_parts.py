"""Parts of a bundle: its files (persona, avatar and worlds), which are imported with new names, and what a persona has in mind:
notebooks, mood and goal requests.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from lethe_app.brain.notebooks import document
from lethe_app.brain.notebooks.document import NotebookIndexEntry
from lethe_app.domain.bundle import Bundle, BundledMind, PersonaHistory
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World
from lethe_app.interchange.bundles import is_member_name
from lethe_app.paths import Paths
from lethe_app.services.mood import HISTORY, MOODS, READINGS, MoodService
from lethe_app.services.personas.inner_life import SCOPE as GOAL_REQUESTS
from lethe_app.storage.database import Database
from lethe_app.storage.files.collection import FileCollection
from lethe_app.storage.files.file_names import unique_stem
from lethe_app.storage.files.notebooks import INDEX, SUFFIX, NotebookFiles
from lethe_app.storage.key_value import AppState

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


class MindTransfer:
    """Read notebooks, mood and goal requests for a bundle and write them on import. Files are accessed in the storage
    thread.
    """

    def __init__(self, paths: Paths, database: Database, app_state: AppState, moods: MoodService) -> None:
        self._files = NotebookFiles(paths.notebooks, paths.trash)
        self._database, self._app_state, self._moods = database, app_state, moods

    # Export

    async def measure_notebooks(self, persona_id: str) -> tuple[int, int]:
        """Return the number of the persona's readable notebooks and their total length in characters."""
        texts = (await self._database.run_outside_transaction(lambda: self._files.read_all(persona_id))).texts
        return len(texts), sum(map(len, texts.values()))

    async def add_mind(self, persona_id: str, history: PersonaHistory, *, with_sessions: bool) -> PersonaHistory:
        """Return `history` completed with the persona's notebooks, mood and goal requests.

        Without `with_sessions`, references to sessions and the mood readings are left out. Raise FileError if a notebook
        cannot be read.
        """
        notebooks, index = await self._database.run_outside_transaction(lambda: self._pack_notebooks(persona_id))
        mind = await self._load_mind(persona_id)
        return replace(
            history, notebooks=notebooks, notebook_index=index, mind=mind if with_sessions else _remove_session_references(mind)
        )

    def _pack_notebooks(self, persona_id: str) -> tuple[dict[str, str], str]:
        notebooks = self._files.read_all(persona_id)
        if notebooks.errors:
            raise notebooks.errors[0]
        names: dict[str, str] = {}
        # Names that the bundle format allows keep their name, so they are assigned first; others get a name derived from
        # their own.
        for name in sorted(notebooks.texts, key=lambda name: not is_member_name(name)):
            names[name] = name if is_member_name(name) else unique_stem(name, [*names.values(), Path(INDEX).stem])
        index_entries = _rename_index_entries(self._files.read_index(persona_id), names)
        return {names[name]: text for name, text in notebooks.texts.items()}, document.render_index(index_entries)

    async def _load_mind(self, persona_id: str) -> BundledMind:
        """Return the persona's mood and goal requests; values of a format this version does not know are left out."""
        stored = await self._app_state.get(GOAL_REQUESTS, persona_id)
        goal_fields = stored if isinstance(stored, dict) else {}
        return BundledMind(
            mood=await self._moods.load_stored(persona_id),
            samples=await self._moods.load_samples(persona_id),
            readings=await self._moods.load_readings(persona_id),
            goal_request=str(goal_fields.get("request", "")),
            goal_notice=str(goal_fields.get("notice", "")),
        )

    # Import

    def write_notebooks(self, persona_id: str, history: PersonaHistory, written_files: list[Path]) -> None:
        """Write all of the persona's notebooks, or none; a name that is taken is replaced by a free one. Runs in the storage
        thread.

        The files are appended to `written_files` before they are created, so that the caller can remove them if a later step
        fails.
        """
        if not history.notebooks:
            return
        taken_names = [*self._files.read_all(persona_id).texts, Path(INDEX).stem]
        names: dict[str, str] = {}
        for name in history.notebooks:
            names[name] = unique_stem(name, [*taken_names, *names.values()])
        index_entries = document.update_index(
            document.parse_index(self._files.read_index(persona_id)), _rename_index_entries(history.notebook_index, names)
        )
        texts = {names[name]: text for name, text in history.notebooks.items()}
        folder = self._files.folder(persona_id)
        written_files += [folder / f"{name}{SUFFIX}" for name in texts] if folder.exists() else [folder]
        self._files.replace_notebooks(persona_id, (), texts, document.render_index(index_entries))


def build_app_state(mind: BundledMind, persona_id: str) -> dict[tuple[str, str], object]:
    """Return the app state values of a persona's mood and goal requests by scope and key; None means that there is none."""
    goal_fields = {"request": mind.goal_request, "notice": mind.goal_notice}
    return {
        (MOODS, persona_id): mind.mood.model_dump(mode="json") if mind.mood is not None else None,
        (HISTORY, persona_id): [sample.model_dump(mode="json") for sample in mind.samples],
        (READINGS, persona_id): [reading.model_dump(mode="json") for reading in mind.readings],
        (GOAL_REQUESTS, persona_id): goal_fields if any(goal_fields.values()) else None,
    }


def _rename_index_entries(index: str, names: Mapping[str, str]) -> list[NotebookIndexEntry]:
    """Return the entries of the notebook index under the new names. Entries of notebooks that no longer exist are dropped."""
    return [replace(entry, name=names[entry.name]) for entry in document.parse_index(index) if entry.name in names]


def _remove_session_references(mind: BundledMind) -> BundledMind:
    """Return the mood without references to sessions and messages, and without the readings that models took from them."""
    mood = mind.mood.model_copy(update={"session": None, "message": None, "said": ""}) if mind.mood is not None else None
    samples = [sample.model_copy(update={"session": None}) for sample in mind.samples]
    return mind.model_copy(update={"mood": mood, "samples": samples, "readings": []})
