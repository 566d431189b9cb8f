"""A kind of file the user collects: those that ship with Lethe, and their own, which win."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar, cast

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, ReadOnly, StorageError
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translated
from lethe_app.storage.files.file_names import is_plain, stem_for
from lethe_app.storage.files.json_files import NAME_FIELD, keep_what_is_broken, place_aside, read_model, set_aside, write_model

T = TypeVar("T", bound=Persona | World | InstructPreset | SamplerPreset | SystemPreset)


@dataclass(frozen=True)
class Stock(Generic[T]):
    """What a collection holds: values by file name without ending, sorted by name, and the files that cannot be read."""

    values: dict[str, T] = field(default_factory=dict)
    problems: list[FileError] = field(default_factory=list)


class FileCollection(Generic[T]):
    """One folder of ours and one of the user's with files of one kind; only the user's is ever written."""

    def __init__(self, kind: type[T], shipped: Path, own: Path, trash: Path, *, keeps_values: bool = False) -> None:
        """With `keeps_values` a file that has not changed is not read again: its value is the same object as before."""
        self._kept: dict[Path, tuple[tuple[int, int], T]] | None = {} if keeps_values else None
        self._kind = kind
        self._shipped = shipped
        self._own = own
        self._trash = trash

    def stock(self) -> Stock[T]:
        """Everything readable; of two files with the same name the user's, and ours only if theirs is broken."""
        values: dict[str, T] = {}
        problems: list[FileError] = []
        for folder in (self._shipped, self._own):
            try:
                paths = _files(folder)
            except StorageError as error:
                problems.append(FileError(folder, error.message))
                continue
            for path in paths:
                try:
                    values[path.stem] = self._read(path)
                except FileError as error:
                    problems.append(error)
        return Stock(dict(sorted(values.items(), key=lambda item: (item[1].name.casefold(), item[0]))), problems)

    def get(self, stem: str) -> T:
        """The one value with this file name, as in `stock`; raises `FileError` if it is not there or cannot be read."""
        own, shipped = self._own_path(stem), self._shipped / f"{stem}.json"
        try:
            return read_model(own, self._kind)
        except FileError:
            if not shipped.exists():
                raise
        return read_model(shipped, self._kind)

    def shipped(self, stem: str) -> T | None:
        """The one of this name that came with Lethe, whatever the user made of it; None where there is none."""
        path = self._shipped / f"{stem}.json"
        return read_model(path, self._kind) if is_plain(stem) and path.is_file() else None

    def save(self, value: T, stem: str = "") -> str:
        """Write it to the user's folder and return its file name without ending.

        It keeps the name it has (`stem`, or else its `unique_name`); without one it gets a new name that no other file has.
        """
        stem = stem or str(getattr(value, NAME_FIELD, "")) or self._new_stem(value.name)
        path = self._own_path(stem)
        if not self._is_known(path):
            keep_what_is_broken(path, self._kind, self._trash)
        write_model(path, value)
        if self._kept is not None:  # a large file is not to be read again only because we have written it
            self._kept[path] = (_stamp(path), cast("T", value.model_copy(update={NAME_FIELD: stem})))
        return stem

    def delete(self, stem: str) -> Path:
        """Move the user's file to the trash and return where it lies; one of ours with the same name shows again."""
        path = self._own_path(stem)
        if path.is_file():
            return set_aside(path, self._trash)
        if (self._shipped / f"{stem}.json").exists():
            raise ReadOnly(f"“{stem}” comes with Lethe and cannot be deleted.")
        raise FileError(path, "is not there")

    def put_in_trash(self, value: T) -> Path:
        """Write what never was a file of its own into the trash, under the name it has there; returns where it lies."""
        self.check(stem := str(getattr(value, NAME_FIELD, "")))
        target = place_aside(f"{stem}.json", self._trash)
        write_model(target, value)
        return target

    def restore(self, trashed: Path) -> str:
        """Put a deleted file back, under another name if its own is taken by now; returns the name without ending."""
        stem = trashed.stem.rsplit(".", 1)[0]
        taken = self._stems()
        if stem in taken and (self._own / f"{stem}.json").exists():
            stem = stem_for(stem, taken)
        with translated(trashed):
            self._own.mkdir(parents=True, exist_ok=True)
            trashed.replace(self._own / f"{stem}.json")
        return stem

    def is_own(self, stem: str) -> bool:
        """Does the user have a file of this name, which can be deleted?"""
        return is_plain(stem) and (self._own / f"{stem}.json").is_file()

    def picture(self, value: T) -> Path | None:
        """The picture a persona names, in the user's folder or else in ours; never a file outside of them."""
        name = value.avatar if isinstance(value, Persona) else ""
        if not is_plain(name):
            return None
        for folder in (self._own, self._shipped):
            path = folder / name
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return path
        return None

    def save_picture(self, stem: str, content: bytes, ending: str) -> str:
        """Keep a picture for the persona with this file name and return what to write into its `avatar`."""
        name = f"{stem_for(stem, self._all_names())}{ending}"
        if not is_plain(name):
            raise FileError(self._own / name, "is not the name of a file in that folder")
        write_atomically(self._own / name, content)
        return name

    def _read(self, path: Path) -> T:
        if self._kept is None:
            return read_model(path, self._kind)
        try:
            stamp = _stamp(path)
        except OSError:
            return read_model(path, self._kind)  # which says what is wrong
        known = self._kept.get(path)
        if known is None or known[0] != stamp:
            known = self._kept[path] = (stamp, read_model(path, self._kind))
        return known[1]

    def _is_known(self, path: Path) -> bool:
        """Is the file as we read or wrote it last?"""
        known = self._kept.get(path) if self._kept is not None else None
        try:
            return known is not None and known[0] == _stamp(path)
        except OSError:
            return False

    def check(self, stem: str) -> None:
        """Raises `FileError` for what can be the name of no file here; looks at no disk."""
        if not is_plain(stem):
            raise FileError(self._own / f"{stem}.json", "is not the name of a file in that folder")

    def _own_path(self, stem: str) -> Path:
        self.check(stem)
        return self._own / f"{stem}.json"

    def _new_stem(self, name: str) -> str:
        """Never that of a deleted one, whose conversations and memories are kept under it until the trash is emptied."""
        return stem_for(name, self._stems() | {path.stem.rsplit(".", 1)[0] for path in _files(self._trash)})

    def _stems(self) -> set[str]:
        return {path.stem for folder in (self._shipped, self._own) for path in _files(folder)}

    def _all_names(self) -> set[str]:
        """Stems of everything that is not JSON, so that a picture replaces no other."""
        folders = [folder for folder in (self._shipped, self._own) if folder.is_dir()]
        return {path.stem for folder in folders for path in folder.iterdir() if path.suffix != ".json"}


def _files(folder: Path) -> list[Path]:
    with translated(folder):
        if not folder.exists():
            return []
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and not path.name.startswith("."))


def _stamp(path: Path) -> tuple[int, int]:
    """By which one sees that a file was written: time and size."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size
