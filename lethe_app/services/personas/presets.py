"""Sampler, instruct and system prompt presets: listing, saving, deleting, importing and exporting."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from lethe_app.domain.import_notes import ImportNotes
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.errors import FileError
from lethe_app.interchange.json_text import decode_text, parse_json_text
from lethe_app.interchange.presets.preset import is_preset, read_presets, write_preset
from lethe_app.services.library import Library
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.database import Database
from lethe_app.storage.files.json_files import read_model, write_model
from lethe_app.storage.files.trashed_files import preset_kind

T = TypeVar("T", bound=InstructPreset | SamplerPreset | SystemPreset)
R = TypeVar("R")


@dataclass(frozen=True)
class StoredPreset(Generic[T]):
    """Preset with its file name and its origin."""

    key: str
    value: T
    is_own: bool
    """True if the user has a file of this name that can be deleted, and that differs from what ships with Lethe."""
    shipped: T | None = None
    """The preset of this name that ships with Lethe, if any; deleting the user's makes it visible again."""

    @property
    def is_shipped(self) -> bool:
        """Return whether a preset of this name ships with Lethe."""
        return self.shipped is not None

    def change(self, value: T) -> StoredPreset[T]:
        """Return the preset with another value."""
        return replace(self, value=value, is_own=value != self.shipped)


class PresetService:
    """Collections of presets. Shipped files are never written: a changed preset is saved to the user's folder under the same
    name.
    """

    def __init__(self, library: Library, database: Database) -> None:
        """Set up the service. The library's `changed` is notified after a file was written or moved."""
        self._database, self._changed, self._collections = database, library.changed, library.presets

    async def list_presets(self, kind: type[T]) -> list[StoredPreset[T]]:
        """Return all readable presets of a kind, sorted by name; the library reports the files that cannot be read."""
        collection = self._collections[kind]

        def work() -> list[StoredPreset[T]]:
            values = collection.load_all().values.items()
            return [
                StoredPreset(key, value, collection.is_own(key) and value != shipped, shipped)
                for key, value in values
                for shipped in (collection.get_shipped(key),)
            ]

        return await self._database.run_outside_transaction(work)

    async def save(self, value: T, key: str = "") -> str:
        """Write a preset to the user's folder, under a new file name if `key` is empty, and return its key. Raise
        StorageError.
        """
        return await self._run_and_notify(lambda: self._collections[type(value)].save(value, key))

    async def delete(self, kind: type[T], key: str) -> Path:
        """Move the user's file to the trash and return its path there. Raise ReadOnly for a shipped preset."""
        return await self._run_and_notify(lambda: self._collections[kind].delete(key))

    async def restore(self, trashed: Path) -> str:
        """Restore a preset from the trash and return its key. Raise FileError if it cannot be read."""

        def work() -> str:
            kind = preset_kind(trashed)
            if kind is None:
                raise FileError(trashed, "cannot be read")
            return self._collections[kind].restore(trashed)

        return await self._run_and_notify(work)

    async def read_file(self, kind: type[T], path: Path) -> T:
        """Read a preset from any file, one of SillyTavern too. Raise FileError, which names the invalid field."""
        return await self._database.run_outside_transaction(lambda: read_preset_file(path, kind))

    async def write_file(self, value: T, path: Path) -> None:
        """Write a copy of a preset to any path. Raise StorageError."""
        await self._database.run_outside_transaction(lambda: write_model(path, value))

    async def write_external_file(self, value: InstructPreset | SamplerPreset | SystemPreset, path: Path) -> None:
        """Write a copy of a preset for SillyTavern to any path. Raise StorageError."""
        text = json.dumps(write_preset(value), ensure_ascii=False, indent=4)
        await self._database.run_outside_transaction(lambda: write_atomically(path, text.encode()))

    async def _run_and_notify(self, work: Callable[[], R]) -> R:
        result = await self._database.run_outside_transaction(work)
        self._changed.notify(None)
        return result


def read_preset_file(path: Path, kind: type[T]) -> T:
    """Read a preset of Lethe, or else the first of this kind in a file of SillyTavern. Raise FileError."""
    try:
        return read_model(path, kind)
    except FileError:
        found = next((preset for preset in _read_external_presets(path) if isinstance(preset, kind)), None)
        if found is None:
            raise
        return found


def _read_external_presets(path: Path) -> list[InstructPreset | SamplerPreset | SystemPreset]:
    """Return the presets in a file of SillyTavern; none if it cannot be read."""
    with suppress(OSError, FileError):
        values = parse_json_text(decode_text(path.read_bytes(), str(path)), str(path), ImportNotes())
        if isinstance(values, dict) and is_preset(values):
            return read_presets(values, path.stem, ImportNotes())
    return []
