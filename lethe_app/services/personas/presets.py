"""Presets in the user's hands: how words are drawn, how a prompt is spelled, how a persona is introduced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.paths import Paths
from lethe_app.services.events import Listeners
from lethe_app.storage.database import Database
from lethe_app.storage.files.collection import FileCollection
from lethe_app.storage.files.json_files import read_model, write_model

T = TypeVar("T", InstructPreset, SamplerPreset, SystemPreset)
R = TypeVar("R")
FOLDERS: dict[type[Any], str] = {SamplerPreset: "samplers", InstructPreset: "instruct", SystemPreset: "system"}


@dataclass(frozen=True)
class KeptPreset(Generic[T]):
    """A preset with its file name, and whose it is."""

    key: str
    value: T
    is_own: bool
    """Is there a file of the user's? Then it can be deleted."""
    is_shipped: bool
    """Does one of this name come with Lethe? Then deleting the user's brings it back."""


class Presets:
    """What comes with Lethe is never written: a changed one becomes the user's own, under the same name."""

    def __init__(self, paths: Paths, database: Database, changed: Listeners[None]) -> None:
        """`changed` is told whenever a file was written or taken away."""
        self._database, self._changed = database, changed
        self._shipped = {kind: paths.shipped_presets / name for kind, name in FOLDERS.items()}
        self._shelves: dict[type[Any], FileCollection[Any]] = {
            kind: FileCollection(kind, self._shipped[kind], paths.presets / name, paths.trash / "presets")
            for kind, name in FOLDERS.items()
        }

    async def all(self, kind: type[T]) -> list[KeptPreset[T]]:
        """By name; files that cannot be read are told of by the library."""
        shelf = self._shelves[kind]

        def work() -> list[KeptPreset[T]]:
            values = shelf.stock().values.items()
            return [KeptPreset(key, value, shelf.is_own(key), self._is_shipped(kind, key)) for key, value in values]

        return await self._database.aside(work)

    async def save(self, value: T, key: str = "") -> str:
        """Write it to the user's folder; without a key under a new name. Returns its key. Raises StorageError."""
        return await self._written(lambda: self._shelves[type(value)].save(value, key))

    async def delete(self, kind: type[T], key: str) -> Path:
        """Move the user's file to the trash; returns where it lies. Raises ReadOnly for one that comes with Lethe."""
        return await self._written(lambda: self._shelves[kind].delete(key))

    async def restore(self, kind: type[T], trashed: Path) -> str:
        """Take a deleted one back; returns its key."""
        return await self._written(lambda: self._shelves[kind].restore(trashed))

    async def read(self, kind: type[T], path: Path) -> T:
        """A preset from a file anywhere; raises FileError that names what is wrong with it."""
        return await self._database.aside(lambda: read_model(path, kind))

    async def write(self, value: T, path: Path) -> None:
        """A copy for others, anywhere. Raises StorageError."""
        await self._database.aside(lambda: write_model(path, value))

    def _is_shipped(self, kind: type[Any], key: str) -> bool:
        return (self._shipped[kind] / f"{key}.json").is_file()

    async def _written(self, work: Callable[[], R]) -> R:
        done = await self._database.aside(work)
        self._changed.tell(None)
        return done
