"""Collection of files of one kind: those that ship with Lethe, and the user's own, which take precedence."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar, cast

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError, ReadOnly, StorageError
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.file_names import is_plain_name, tidy_name, unique_stem
from lethe_app.storage.files.json_files import (
    NAME_FIELD,
    FileStamp,
    file_stamp,
    move_to_trash,
    read_model,
    trash_if_unreadable,
    trash_path,
    write_model,
)

T = TypeVar("T", bound=Persona | World | InstructPreset | SamplerPreset | SystemPreset)


@dataclass(frozen=True)
class CollectionContent(Generic[T]):
    """Content of a collection: values by file name without extension, sorted by display name, and the files that cannot be
    read.
    """

    values: dict[str, T] = field(default_factory=dict)
    errors: list[FileError] = field(default_factory=list)


class FileCollection(Generic[T]):
    """Files of one kind in a shipped folder and a user folder; only the user folder is ever written."""

    def __init__(self, kind: type[T], shipped: Path, own: Path, trash: Path, *, caches_values: bool = False) -> None:
        """Set up the collection. With `caches_values`, values are cached by file time and size: an unchanged file yields the
        same object.
        """
        self._cache: dict[Path, tuple[FileStamp, T]] | None = {} if caches_values else None
        self._kind = kind
        self._shipped_folder = shipped
        self._user_folder = own
        self._trash = trash

    def load_all(self) -> CollectionContent[T]:
        """Read everything. Of two files with the same name the user's is returned, or the shipped one if the user's is
        broken.
        """
        values: dict[str, T] = {}
        errors: list[FileError] = []
        for folder in (self._shipped_folder, self._user_folder):
            try:
                paths = _files(folder)
            except StorageError as error:
                errors.append(FileError(folder, error.message))
                continue
            for path in paths:
                try:
                    values[path.stem] = self._read(path)
                except FileError as error:
                    errors.append(error)
        return CollectionContent(dict(sorted(values.items(), key=lambda item: (item[1].name.casefold(), item[0]))), errors)

    def get(self, stem: str) -> T:
        """Return the value with this file name, the user's before the shipped one. Raise `FileError` if it is missing or
        unreadable.
        """
        own, shipped = self._user_path(stem), self._shipped_folder / f"{stem}.json"
        try:
            return read_model(own, self._kind)
        except FileError:
            if not shipped.exists():
                raise
        return read_model(shipped, self._kind)

    def get_shipped(self, stem: str) -> T | None:
        """Return the shipped value of this name, even if the user has one of the same name; None if there is none."""
        path = self._shipped_folder / f"{stem}.json"
        return read_model(path, self._kind) if is_plain_name(stem) and path.is_file() else None

    def save(self, value: T, stem: str = "") -> str:
        """Write a value to the user folder and return its file name without extension.

        An existing name is kept (`stem`, or else the one it was read from); without one it gets a new one.
        An unreadable file of that name is moved to the trash first. The name in the value is written as `tidy_name` returns
        it. Raise FileError, StorageError, and LetheError for a name that nobody could see.
        """
        value = cast("T", value.model_copy(update={"name": tidy_name(value.name)}))
        stem = stem or str(getattr(value, NAME_FIELD, "")) or self._create_stem(value.name)
        path = self._user_path(stem)
        if not self._is_unchanged(path):
            trash_if_unreadable(path, self._kind, self._trash)
        write_model(path, value)
        # A large file is not to be read again only because we have written it.
        if self._cache is not None and (stamp := file_stamp(path)) is not None:
            self._cache[path] = (stamp, cast("T", value.model_copy(update={NAME_FIELD: stem})))
        return stem

    def delete(self, stem: str) -> Path:
        """Move the user's file to the trash and return its path there; a shipped file of the same name becomes visible
        again.

        Raise ReadOnly for a shipped file, FileError if there is none.
        """
        path = self._user_path(stem)
        if path.is_file():
            return move_to_trash(path, self._trash)
        if (self._shipped_folder / f"{stem}.json").exists():
            raise ReadOnly(f"“{stem}” comes with Lethe and cannot be deleted.")
        raise FileError(path, "does not exist")

    def save_to_trash(self, value: T) -> Path:
        """Write a value that never was a file into the trash, under the name a deleted file would have; return its path."""
        self.check_name(stem := str(getattr(value, NAME_FIELD, "")))
        target = trash_path(f"{stem}.json", self._trash)
        write_model(target, value)
        return target

    def restore(self, trashed: Path) -> str:
        """Move a deleted file back, under a new name if its own is taken; return the name without extension."""
        stem = trashed.stem.rsplit(".", 1)[0]
        used_stems = self._used_stems()
        if stem in used_stems and (self._user_folder / f"{stem}.json").exists():
            stem = unique_stem(stem, used_stems)
        with translate_errors(trashed):
            self._user_folder.mkdir(parents=True, exist_ok=True)
            trashed.replace(self._user_folder / f"{stem}.json")
        return stem

    def is_own(self, stem: str) -> bool:
        """Return whether the user folder contains a file of this name, which can be deleted."""
        return is_plain_name(stem) and (self._user_folder / f"{stem}.json").is_file()

    def picture_path(self, value: T) -> Path | None:
        """Return the path of a persona's avatar, in the user folder or else the shipped one; never a file outside of them."""
        return self.attachment_path(value.avatar if isinstance(value, Persona) else "")

    def attachment_path(self, name: str) -> Path | None:
        """Return the path of a file of this name beside the records; None if there is none."""
        if not is_plain_name(name):
            return None
        for folder in (self._user_folder, self._shipped_folder):
            path = folder / name
            # A symbolic link in the folder could point to any file.
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return path
        return None

    def save_picture(self, stem: str, content: bytes, suffix: str) -> str:
        """Write a picture or an archive for a persona and return its file name. Raise FileError, StorageError."""
        name = f"{unique_stem(stem, self._picture_stems())}{suffix}"
        if not is_plain_name(name):
            raise FileError(self._user_folder / name, "is not a valid name for a file in that folder")
        write_atomically(self._user_folder / name, content)
        return name

    def _read(self, path: Path) -> T:
        if self._cache is None or (stamp := file_stamp(path)) is None:
            return read_model(path, self._kind)  # which says what is wrong
        cached = self._cache.get(path)
        if cached is None or cached[0] != stamp:
            cached = self._cache[path] = (stamp, read_model(path, self._kind))
        return cached[1]

    def _is_unchanged(self, path: Path) -> bool:
        """Return whether the file is unchanged since it was last read or written here."""
        cached = self._cache.get(path) if self._cache is not None else None
        return cached is not None and cached[0] == file_stamp(path)

    def check_name(self, stem: str) -> None:
        """Raise `FileError` if the name cannot be a file name in the folder; does not access the disk."""
        if not is_plain_name(stem):
            raise FileError(self._user_folder / f"{stem}.json", "is not a valid name for a file in that folder")

    def _user_path(self, stem: str) -> Path:
        self.check_name(stem)
        return self._user_folder / f"{stem}.json"

    def _create_stem(self, name: str) -> str:
        """Return a new file name, never that of a deleted file, whose sessions and memories refer to it until the trash is
        emptied.
        """
        return unique_stem(name, self._used_stems() | {path.stem.rsplit(".", 1)[0] for path in _files(self._trash)})

    def _used_stems(self) -> set[str]:
        return {path.stem for folder in (self._shipped_folder, self._user_folder) for path in _files(folder)}

    def _picture_stems(self) -> set[str]:
        """Return the stems of all files that are not JSON, so that a new picture replaces none."""
        folders = [folder for folder in (self._shipped_folder, self._user_folder) if folder.is_dir()]
        return {path.stem for folder in folders for path in folder.iterdir() if path.suffix != ".json"}


def _files(folder: Path) -> list[Path]:
    with translate_errors(folder):
        if not folder.exists():
            return []
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and not path.name.startswith("."))
