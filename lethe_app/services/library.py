"""What the user collects: personas, worlds and presets, those that ship with Lethe beside their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, LetheError
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.files.collection import FileCollection, Stock

T = TypeVar("T", Persona, World, InstructPreset, SamplerPreset, SystemPreset)
R = TypeVar("R")


class Library:
    """Files are read anew whenever they are asked for, so that an edit by hand is seen at once."""

    def __init__(self, paths: Paths, database: Database) -> None:
        self.changed: Listeners[None] = Listeners()
        self.deleted: Listeners[str] = Listeners()
        """Told the name of a persona that is in the trash now."""
        trash = paths.trash
        presets, shipped = paths.presets, paths.shipped_presets
        self._database = database
        self._personas = FileCollection(Persona, paths.shipped_personas, paths.personas, trash / "personas")
        self._worlds = FileCollection(World, paths.shipped_worlds, paths.worlds, trash / "worldinfo", keeps_values=True)
        self._instruct = FileCollection(InstructPreset, shipped / "instruct", presets / "instruct", trash / "presets")
        self._samplers = FileCollection(SamplerPreset, shipped / "samplers", presets / "samplers", trash / "presets")
        self._systems = FileCollection(SystemPreset, shipped / "system", presets / "system", trash / "presets")

    async def personas(self) -> list[Persona]:
        """Characters to talk with, by name."""
        return [persona for persona in (await self._stock(self._personas)).values.values() if not persona.is_user]

    async def user_personas(self) -> list[Persona]:
        """The user's own selves, by name."""
        return [persona for persona in (await self._stock(self._personas)).values.values() if persona.is_user]

    async def persona(self, unique_name: str) -> Persona:
        """Raises FileError if there is none of that name or it cannot be read."""
        self._personas.check(unique_name)
        return await self._aside(lambda: self._personas.get(unique_name))

    async def persona_on_disk(self, unique_name: str) -> Persona:
        """As `persona`; but where the user's file cannot be read, ours does not stand in for it. Raises FileError."""
        persona = await self.persona(unique_name)
        for problem in (await self._stock(self._personas)).problems:
            if problem.path.stem == unique_name:
                raise problem
        return persona

    async def save_persona(self, persona: Persona, *, keeps_other: bool = False) -> Persona:
        """Write it to the user's folder; a new one gets its `unique_name`.

        With `keeps_other` the file that is there goes to the trash, because it says what this one does not.
        """
        stem = await self._aside(lambda: self._replace(persona) if keeps_other else self._personas.save(persona))
        self.changed.tell(None)
        return persona.model_copy(update={"unique_name": stem})

    def _replace(self, persona: Persona) -> str:
        trashed = self._personas.delete(persona.unique_name) if self.is_own(persona.unique_name) else None
        try:
            return self._personas.save(persona)
        except LetheError:
            if trashed is not None:
                self._personas.restore(trashed)
            raise

    async def delete_persona(self, unique_name: str) -> Path:
        """Move the user's file to the trash and return where it lies; one of ours with that name shows again."""
        trashed = await self._aside(lambda: self._personas.delete(unique_name))
        self.changed.tell(None)
        self.deleted.tell(unique_name)
        return trashed

    async def restore_persona(self, trashed: Path) -> str:
        """Take a deleted one out of the trash; returns the `unique_name` it has now."""
        stem = await self._aside(lambda: self._personas.restore(trashed))
        self.changed.tell(None)
        return stem

    async def duplicate_persona(self, unique_name: str, name: str) -> Persona:
        """A second one like it, called `name`, with the same picture and with no past."""
        original = await self.persona(unique_name)
        return await self.save_persona(original.model_copy(update={"unique_name": "", "name": name}))

    async def shipped_persona(self, unique_name: str) -> Persona | None:
        """As it came with Lethe, whatever the user made of it; None for one of their own."""
        return await self._aside(lambda: self._personas.shipped(unique_name))

    def is_own(self, unique_name: str) -> bool:
        """Does the user have a file of this persona, which can be deleted?"""
        return self._personas.is_own(unique_name)

    async def save_picture(self, name: str, content: bytes) -> str:
        """Keep a PNG for the persona of that name; returns what to write into its `avatar`. It replaces no other picture."""
        return await self._aside(lambda: self._personas.save_picture(name, content, ".png"))

    def avatar(self, persona: Persona) -> Path | None:
        """Its picture, if it has one."""
        return self._personas.picture(persona)

    async def worlds(self) -> dict[str, World]:
        """By file name."""
        return (await self._stock(self._worlds)).values

    async def save_world(self, world: World) -> World:
        """Write it to the user's folder; a new one gets its `unique_name`."""
        stem = await self._aside(lambda: self._worlds.save(world))
        return world.model_copy(update={"unique_name": stem})

    async def delete_world(self, unique_name: str) -> Path:
        """Move the user's file to the trash and return where it lies; raises ReadOnly for one that comes with Lethe."""
        return await self._aside(lambda: self._worlds.delete(unique_name))

    async def trash_part(self, part: World) -> None:
        """Put a part of a world that was taken out of it into the trash, from where it comes back as a world of its own."""
        await self._aside(lambda: self._worlds.put_in_trash(part))

    async def restore_world(self, trashed: Path) -> str:
        """Take a file out of the trash again; returns its name, another one if its own is taken by now."""
        return await self._aside(lambda: self._worlds.restore(trashed))

    async def instruct_presets(self) -> dict[str, InstructPreset]:
        """By file name."""
        return (await self._stock(self._instruct)).values

    async def sampler(self, name: str) -> SamplerPreset:
        """The preset of that file name; raises FileError."""
        return await self._aside(lambda: self._samplers.get(name))

    async def samplers(self) -> dict[str, SamplerPreset]:
        """By file name."""
        return (await self._stock(self._samplers)).values

    async def system_preset(self, name: str) -> SystemPreset:
        """The preset of that file name; raises FileError."""
        return await self._aside(lambda: self._systems.get(name))

    async def system_presets(self) -> dict[str, SystemPreset]:
        """By file name."""
        return (await self._stock(self._systems)).values

    async def problems(self) -> list[FileError]:
        """Files that could not be read, each with what is wrong with it."""
        found: list[FileError] = []
        shelves: tuple[FileCollection[Any], ...] = (self._personas, self._worlds, self._instruct, self._samplers, self._systems)
        for shelf in shelves:
            found += (await self._aside(shelf.stock)).problems
        return found

    async def _stock(self, shelf: FileCollection[T]) -> Stock[T]:
        return await self._aside(shelf.stock)

    async def _aside(self, work: Callable[[], R]) -> R:
        """Files are read and written where the database is, so that the window never waits for a disk."""
        return await self._database.aside(work)
