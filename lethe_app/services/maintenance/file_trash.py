"""Trash of files: personas, worlds, presets and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services.library import Library
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.personas.presets import PresetService
from lethe_app.storage.database import Database
from lethe_app.storage.files import trashed_files


class FileTrash:
    """Deleted files. The services that own them restore them."""

    def __init__(
        self, paths: Paths, database: Database, library: Library, presets: PresetService, notebooks: NotebookService
    ) -> None:
        self._folder, self._database, self._personas = paths.trash, database, paths.personas
        self._library, self._presets, self._notebooks = library, presets, notebooks

    async def list_items(self) -> list[Trashed]:
        """Return the deleted files."""
        return await self._database.run_outside_transaction(lambda: trashed_files.list_files(self._folder))

    async def load_preview(self, item: Trashed) -> str:
        """Return the beginning of what a file contains."""
        return await self._database.run_outside_transaction(lambda: trashed_files.load_preview(Path(item.id)))

    async def restore(self, item: Trashed) -> None:
        """Restore a file to its former place. Raise LetheError if it cannot be read."""
        path = Path(item.id)
        match item.kind:
            case TrashKind.PERSONA | TrashKind.USER_PERSONA:
                await self._library.restore_persona(path)
            case TrashKind.WORLD:
                await self._library.restore_world(path)
                self._library.changed.notify(None)
            case TrashKind.PRESET:
                await self._restore_preset(path)
            case TrashKind.NOTEBOOK:
                await self._notebooks.restore(path)
            case _:
                raise LetheError(f"“{item.title}” cannot be read, so it cannot be restored.", f"The file is at {path}.")

    async def _restore_preset(self, path: Path) -> None:
        kind = await self._database.run_outside_transaction(lambda: trashed_files.preset_kind(path))
        if kind is SamplerPreset:
            await self._presets.restore(SamplerPreset, path)
        elif kind is InstructPreset:
            await self._presets.restore(InstructPreset, path)
        else:
            await self._presets.restore(SystemPreset, path)

    async def erase(self, items: Sequence[Trashed]) -> list[str]:
        """Delete files, and the pictures of personas, permanently; return the ids of the personas of which no file is left."""
        await self._database.run_outside_transaction(lambda: self._erase_files([Path(item.id) for item in items]))
        erased_ids = {item.stem for item in items if item.kind is TrashKind.PERSONA}
        lost_ids = [persona_id for persona_id in erased_ids if not await self._has_file(persona_id)]
        for persona_id in lost_ids:
            await self._notebooks.erase_all(persona_id)
        return lost_ids

    async def list_lost_worlds(self, erased: Sequence[Trashed]) -> list[str]:
        """Return the file names of the worlds among the erased items of which no file is left."""
        names = {item.stem for item in erased if item.kind is TrashKind.WORLD}
        if not names:
            return []
        broken = {problem.path.stem for problem in await self._library.errors()}
        return sorted(names - (await self._library.worlds()).keys() - {item.stem for item in await self.list_items()} - broken)

    def _erase_files(self, paths: Sequence[Path]) -> None:
        """Delete files, and the pictures and archives to which no other persona, deleted or not, refers. While the file of
        a persona cannot be read, no picture is deleted: it may be the one to which that file refers.
        """
        unreferenced, _ = trashed_files.read_attachments(paths)
        trashed_files.erase(paths)
        if unreferenced:
            remaining = [*self._personas.glob("*.json"), *(self._folder / "personas").glob("*.json")]
            referenced, are_all_readable = trashed_files.read_attachments(remaining)
            if are_all_readable:
                trashed_files.erase([self._personas / name for name in unreferenced - referenced])

    async def persona_ids(self) -> set[str]:
        """Return the file names of all readable personas, users included."""
        return {persona.unique_name for persona in [*await self._library.personas(), *await self._library.user_personas()]}

    async def _has_file(self, persona_id: str) -> bool:
        """Return whether a file of this persona is left, in use (readable or not) or in the trash."""
        broken = {problem.path.stem for problem in await self._library.errors()}
        return persona_id in await self.persona_ids() | {item.stem for item in await self.list_items()} | broken
