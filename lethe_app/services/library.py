"""Library of personas, worlds and presets: the shipped files and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, LetheError
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.files.collection import CollectionContent, FileCollection
from lethe_app.storage.files.file_names import tidy_name

T = TypeVar("T", Persona, World, InstructPreset, SamplerPreset, SystemPreset)
R = TypeVar("R")
PRESET_FOLDERS: dict[type[Any], str] = {InstructPreset: "instruct", SamplerPreset: "samplers", SystemPreset: "system"}


class Library:
    """Read and write the user's files. Files are read on every access, so that an edit in another program takes effect at
    once.
    """

    def __init__(self, paths: Paths, database: Database) -> None:
        self.changed: Listeners[None] = Listeners()
        self.user_renamed: Listeners[tuple[str, str]] = Listeners()
        """Emits the old and the new name of a user persona."""
        self.deleted: Listeners[str] = Listeners()
        """Emits the name of a persona that was moved to the trash."""
        trash = paths.trash
        self._database = database
        self._personas = FileCollection(Persona, paths.shipped_personas, paths.personas, trash / "personas", caches_values=True)
        self._worlds = FileCollection(World, paths.shipped_worlds, paths.worlds, trash / "worldinfo", caches_values=True)
        self.presets: dict[type[Any], FileCollection[Any]] = {
            kind: FileCollection(kind, paths.shipped_presets / name, paths.presets / name, trash / "presets")
            for kind, name in PRESET_FOLDERS.items()
        }
        """Presets by kind; their methods are to be called in the storage thread."""
        self.is_own = self._personas.is_own
        """Return whether the user has a file of this persona, which can be deleted."""
        self.avatar = self._personas.picture_path
        """Return the path of the persona's picture; None if it has none."""
        self.read_sampler: Callable[[str], SamplerPreset] = self.presets[SamplerPreset].get
        """Return a preset as `sampler` does; to be called in the storage thread."""
        self.read_system_preset: Callable[[str], SystemPreset] = self.presets[SystemPreset].get
        """Return a preset as `system_preset` does; to be called in the storage thread."""

    async def personas(self) -> list[Persona]:
        """Return the personas, by name."""
        return [persona for persona in (await self._load(self._personas)).values.values() if not persona.is_user]

    async def user_personas(self) -> list[Persona]:
        """Return the user personas, by name."""
        return [persona for persona in (await self._load(self._personas)).values.values() if persona.is_user]

    async def persona(self, unique_name: str) -> Persona:
        """Return the persona of this file name. Raise FileError if there is none or it cannot be read."""
        return await self.run_in_storage_thread(lambda: self.read_persona(unique_name))

    def read_persona(self, unique_name: str) -> Persona:
        """Return a persona as `persona` does; to be called in the storage thread."""
        self._personas.check_name(unique_name)
        return self._personas.get(unique_name)

    async def persona_on_disk(self, unique_name: str) -> Persona:
        """Return a persona as `persona` does, but raise FileError if the user's file cannot be read, instead of returning
        the shipped one.
        """
        persona = await self.persona(unique_name)
        for error in (await self._load(self._personas)).errors:
            if error.path.stem == unique_name:
                raise error
        return persona

    async def save_persona(self, persona: Persona, *, trash_existing: bool = False) -> Persona:
        """Write a persona to the user's folder; a new one gets its `unique_name`.

        With `trash_existing` the existing file goes to the trash, because its content is not in the new one.
        """
        persona = persona.model_copy(update={"name": tidy_name(persona.name)})
        old_name = await self.run_in_storage_thread(lambda: self._name_of(persona.unique_name)) if persona.is_user else ""
        stem = await self.run_in_storage_thread(
            lambda: self._replace(persona) if trash_existing else self._personas.save(persona)
        )
        self.changed.notify(None)
        if old_name and old_name != persona.name:
            self.user_renamed.notify((old_name, persona.name))
        return persona.model_copy(update={"unique_name": stem})

    def _name_of(self, unique_name: str) -> str:
        """Return the name of a stored persona; empty if there is none that can be read."""
        with suppress(LetheError):
            return self._personas.get(unique_name).name if unique_name else ""
        return ""

    def _replace(self, persona: Persona) -> str:
        trashed = self._personas.delete(persona.unique_name) if self.is_own(persona.unique_name) else None
        try:
            return self._personas.save(persona)
        # Without this the persona would be gone if the new file cannot be written.
        except LetheError:
            if trashed is not None:
                self._personas.restore(trashed)
            raise

    async def delete_persona(self, unique_name: str) -> Path:
        """Move the user's file to the trash and return its path there; a shipped persona of that name becomes visible again."""
        trashed = await self.run_in_storage_thread(lambda: self._personas.delete(unique_name))
        self.changed.notify(None)
        self.deleted.notify(unique_name)
        return trashed

    async def restore_persona(self, trashed: Path) -> str:
        """Restore a deleted persona from the trash; return its present `unique_name`."""
        stem = await self.run_in_storage_thread(lambda: self._personas.restore(trashed))
        self.changed.notify(None)
        return stem

    async def duplicate_persona(self, unique_name: str, name: str) -> Persona:
        """Create a copy of a persona with the name `name` and the same picture, without sessions and memories."""
        original = await self.persona(unique_name)
        return await self.save_persona(original.model_copy(update={"unique_name": "", "name": name}))

    async def shipped_persona(self, unique_name: str) -> Persona | None:
        """Return the shipped version of a persona, regardless of the user's changes; None for one of the user's own."""
        return await self.run_in_storage_thread(lambda: self._personas.get_shipped(unique_name))

    async def save_picture(self, name: str, content: bytes) -> str:
        """Store a PNG for the persona of that name without replacing any other picture; return the value for its `avatar`."""
        return await self.run_in_storage_thread(lambda: self._personas.save_picture(name, content, ".png"))

    def assets(self, persona: Persona) -> Path | None:
        """Return the path of the archive with the persona's further pictures; None if it has none."""
        return self._personas.attachment_path(persona.assets)

    async def worlds(self) -> dict[str, World]:
        """Return all worlds by file name."""
        return (await self._load(self._worlds)).values

    def read_worlds(self) -> dict[str, World]:
        """Return the worlds as `worlds` does; to be called in the storage thread."""
        return self._worlds.load_all().values

    async def save_world(self, world: World) -> World:
        """Write a world to the user's folder; a new one gets its `unique_name`."""
        stem = await self.run_in_storage_thread(lambda: self._worlds.save(world))
        return world.model_copy(update={"unique_name": stem})

    async def delete_world(self, unique_name: str) -> Path:
        """Move the user's file to the trash and return its path there. Raise ReadOnly for a shipped world."""
        return await self.run_in_storage_thread(lambda: self._worlds.delete(unique_name))

    async def trash_entries(self, entries: World) -> None:
        """Move entries removed from a world to the trash, from which they can be restored as a separate world."""
        await self.run_in_storage_thread(lambda: self._worlds.save_to_trash(entries))

    async def restore_world(self, trashed: Path) -> str:
        """Restore a world from the trash; return its name, which differs if its own is taken by now."""
        stem = await self.run_in_storage_thread(lambda: self._worlds.restore(trashed))
        self.changed.notify(None)
        return stem

    async def instruct_presets(self) -> dict[str, InstructPreset]:
        """Return all instruct presets by file name."""
        return (await self._load(self.presets[InstructPreset])).values

    async def sampler(self, name: str) -> SamplerPreset:
        """Return the sampler preset of that file name. Raise FileError."""
        return await self.run_in_storage_thread(lambda: self.read_sampler(name))

    async def samplers(self) -> dict[str, SamplerPreset]:
        """Return all sampler presets by file name."""
        return (await self._load(self.presets[SamplerPreset])).values

    async def system_preset(self, name: str) -> SystemPreset:
        """Return the system preset of that file name. Raise FileError."""
        return await self.run_in_storage_thread(lambda: self.read_system_preset(name))

    async def system_presets(self) -> dict[str, SystemPreset]:
        """Return all system presets by file name."""
        return (await self._load(self.presets[SystemPreset])).values

    async def errors(self) -> list[FileError]:
        """Return the errors of all files that could not be read."""
        collections: tuple[FileCollection[Any], ...] = (self._personas, self._worlds, *self.presets.values())
        return await self.run_in_storage_thread(lambda: [error for one in collections for error in one.load_all().errors])

    async def _load(self, collection: FileCollection[T]) -> CollectionContent[T]:
        return await self.run_in_storage_thread(collection.load_all)

    async def run_in_storage_thread(self, work: Callable[[], R]) -> R:
        """Run file access in the storage thread, so that it never blocks the window, and return its result."""
        return await self._database.run_outside_transaction(work)
