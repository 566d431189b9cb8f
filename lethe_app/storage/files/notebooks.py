"""Notebook files: a folder per persona, a Markdown file per subject, an index of the newest entries, and a list of those that
the user neither made nor edited.

The user may edit these files too. What they wrote since a file was read is never overwritten, an unreadable file is left
unchanged, and a change of several files is applied completely or not at all, even if the program ends in the middle.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lethe_app.errors import FileError, RecordMissing, StorageError
from lethe_app.storage.atomic import sync_folder, write_atomically
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.file_names import is_plain_name, unique_stem
from lethe_app.storage.files.json_files import FileStamp, file_stamp, move_to_trash, read_text
from lethe_app.storage.row_mapping import storable_text

SUFFIX, INDEX, AUTOMATIC = ".md", "index.txt", "automatic.txt"
MAX_BYTES = 2 * 1024 * 1024
"""Maximum size of a notebook in bytes."""
TRASH_FOLDER = "notebooks"
"""Name of the notebooks' folder inside the trash."""
_PREPARED, _COMMITTED, _PLAN = ".draft", ".change", "plan.json"
"""Suffix of the folder in which a change is prepared; suffix of one that is committed and will be applied, now or at the next
start; name of the file that describes the change.
"""


@dataclass
class StoredNotebooks:
    """All readable notebooks of a persona by file name, and the files that cannot be read."""

    texts: dict[str, str] = field(default_factory=dict)
    errors: list[FileError] = field(default_factory=list)


class NotebookFiles:
    """Notebook files of all personas. Not thread-safe."""

    def __init__(self, folder: Path, trash: Path) -> None:
        self._folder, self._trash = folder, trash
        self._cache: dict[Path, tuple[FileStamp | None, str]] = {}

    def folder(self, persona: str) -> Path:
        """Return the folder of a persona. Raise StorageError for an invalid name."""
        if not is_plain_name(persona):
            raise StorageError(f"“{persona}” is not a valid persona name.")
        return self._folder / persona

    def read_all(self, persona: str) -> StoredNotebooks:
        """Read all notebooks of a persona."""
        folder = self._recovered_folder(persona)
        notebooks = StoredNotebooks()
        for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):  # editors keep temporary files with a leading dot
            try:
                notebooks.texts[path.stem] = self._read(path)
            except FileError as error:
                notebooks.errors.append(error)
        return notebooks

    def read_text(self, persona: str, name: str) -> str:
        """Return the text of a notebook. Raise FileError."""
        return self._read(self._path(persona, name))

    def read_index(self, persona: str) -> str:
        """Return the text of the index; empty if there is no readable one."""
        return self._read_list(persona, INDEX)

    def write_index(self, persona: str, text: str) -> None:
        """Write the index. Raise StorageError."""
        self._write_list(persona, INDEX, text)

    def read_automatic(self, persona: str) -> set[str]:
        """Return the names of the notebooks that the user neither made nor edited."""
        return set(self._read_list(persona, AUTOMATIC).splitlines())

    def write_automatic(self, persona: str, names: Collection[str]) -> None:
        """Store the names of the notebooks that the user neither made nor edited. Raise StorageError."""
        self._write_list(persona, AUTOMATIC, "".join(f"{name}\n" for name in sorted(names)))

    def free_name(self, persona: str, title: str) -> str:
        """Return an unused file name for a new notebook."""
        folder = self._recovered_folder(persona)
        taken = [path.stem for path in folder.iterdir()] if folder.is_dir() else []
        return unique_stem(title, [*taken, Path(INDEX).stem])

    def write(self, persona: str, name: str, change: Callable[[str], str]) -> str:
        """Apply `change` to the current text of a notebook, write the result and return it.

        A missing notebook counts as an empty text. Raise FileError if the file cannot be read; it is then left unchanged.
        Raise StorageError if it cannot be written.
        """
        path = self._path(persona, name)
        try:
            before: str | None = self._read(path)
        except FileError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            before = None
        text = storable_text(change(before or ""))
        if text != before:
            with translate_errors(path):
                uses_crlf = before is not None and b"\r\n" in path.read_bytes()[:4096]
            write_atomically(path, (text.replace("\n", "\r\n") if uses_crlf else text).encode())
        return text

    def replace_notebooks(self, persona: str, removed: Collection[str], new: Mapping[str, str], index: str) -> None:
        """Move the notebooks `removed` to the trash, write the `new` ones and the index, completely or not at all. Raise
        StorageError.
        """
        folder = self._recovered_folder(persona)
        prepared = folder / f".{secrets.token_hex(6)}{_PREPARED}"
        with translate_errors(folder):
            prepared.mkdir(parents=True)
            for name, text in new.items():
                write_atomically(prepared / f"{name}{SUFFIX}", storable_text(text).encode())
            write_atomically(prepared / INDEX, index.encode())
            write_atomically(prepared / _PLAN, json.dumps({"gone": sorted(removed), "new": sorted(new)}).encode())
            # Everything must be on the disk before the rename that commits the change.
            sync_folder(prepared)
            committed = prepared.with_suffix(_COMMITTED)
            prepared.rename(committed)  # from here on the change is committed, even if the program ends
            sync_folder(folder)
            self._apply_change(committed, persona)

    def delete(self, persona: str, name: str) -> Path:
        """Move a notebook to the trash, readable or not, and return its path there. Raise StorageError."""
        path = self._path(persona, name)
        if not os.path.lexists(path):
            raise RecordMissing(f"The notebook “{name}” no longer exists.")
        return move_to_trash(path, self._trash / TRASH_FOLDER / persona)

    def erase(self, persona: str, name: str) -> None:
        """Delete a notebook for good. Raise StorageError."""
        path = self._path(persona, name)
        with translate_errors(path):
            path.unlink(missing_ok=True)
        self._cache.pop(path, None)

    def restore(self, trashed: Path) -> tuple[str, str]:
        """Move a notebook back from the trash; return persona and name, a new one if its own is taken. Raise StorageError."""
        persona, stem = trashed.parent.name, Path(trashed.stem).stem  # without the extension and the time of deletion
        if not trashed.is_file():
            raise StorageError("This notebook is no longer in the Trash.")
        folder = self._recovered_folder(persona)
        name = stem if not (folder / f"{stem}{SUFFIX}").exists() else self.free_name(persona, stem)
        with translate_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            trashed.replace(folder / f"{name}{SUFFIX}")
        return persona, name

    def erase_all(self, persona: str) -> None:
        """Delete all notebooks of a persona for good, including those in the trash."""
        for folder in (self.folder(persona), self._trash / TRASH_FOLDER / persona):
            if folder.is_dir():
                with translate_errors(folder):
                    shutil.rmtree(folder)
        self._cache = {path: cached for path, cached in self._cache.items() if path.parent != self.folder(persona)}

    # One file

    def _read_list(self, persona: str, file_name: str) -> str:
        try:
            return self._read(self._recovered_folder(persona) / file_name)
        except FileError:
            return ""

    def _write_list(self, persona: str, file_name: str, text: str) -> None:
        if text != self._read_list(persona, file_name):
            write_atomically(self._recovered_folder(persona) / file_name, text.encode())

    def _path(self, persona: str, name: str) -> Path:
        if not is_plain_name(name):
            raise StorageError(f"“{name}” is not a valid notebook name.")
        return self._recovered_folder(persona) / f"{name}{SUFFIX}"

    def _read(self, path: Path) -> str:
        """Read a file, or return its cached text if time and size are unchanged. Raise FileError."""
        if not is_plain_name(path.stem):
            raise FileError(path, "has a name that is not valid on every system", remedy="Remove the colon from its name.")
        stamp = file_stamp(path)
        cached = self._cache.get(path)
        if stamp is None or cached is None or cached[0] != stamp:
            if stamp is not None and not path.is_file():
                raise FileError(path, "is not a file")
            text = read_text(path, MAX_BYTES).replace("\r\n", "\n").replace("\r", "\n")
            cached = self._cache[path] = (stamp, text)
        return cached[1]

    # Several files

    def _recovered_folder(self, persona: str) -> Path:
        """Return the folder of a persona after applying committed changes and deleting prepared ones."""
        folder = self.folder(persona)
        if folder.is_dir():
            for path in sorted(folder.glob(f".*{_COMMITTED}")):
                self._apply_change(path, persona)
            for path in folder.glob(f".*{_PREPARED}"):
                shutil.rmtree(path, ignore_errors=True)
        return folder

    def _apply_change(self, committed: Path, persona: str) -> None:
        """Apply a committed change. The program may end after any step, and any step may have been done before."""
        folder = committed.parent
        with translate_errors(folder):
            plan = json.loads((committed / _PLAN).read_text(encoding="utf-8")) if (committed / _PLAN).exists() else {}
            for name in plan.get("gone", ()):
                is_replaced = name in plan["new"]
                old, replacement = folder / f"{name}{SUFFIX}", committed / f"{name}{SUFFIX}"
                if old.exists() and (not is_replaced or replacement.exists()):
                    move_to_trash(old, self._trash / TRASH_FOLDER / persona)
            for path in sorted(committed.glob(f"*{SUFFIX}")):
                path.replace(folder / path.name)
            if (committed / INDEX).exists():
                (committed / INDEX).replace(folder / INDEX)
            sync_folder(folder)
            (committed / _PLAN).unlink(missing_ok=True)  # first: a folder without a plan changes nothing
            shutil.rmtree(committed)
