"""Notebooks on the disk: a folder for each persona, a readable file for each subject, and an index of the newest ones.

The user may write in these files as well. What they wrote since a file was read is never written over, a file that cannot be
read is left as it is, and where several files change together all of it happens or, whatever ends the program, nothing.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from lethe_app.errors import FileError, StorageError
from lethe_app.storage.atomic import sync_folder, write_atomically
from lethe_app.storage.error_translation import translated
from lethe_app.storage.files.file_names import is_plain, stem_for
from lethe_app.storage.files.json_files import set_aside
from lethe_app.storage.row_mapping import storable

ENDING, INDEX = ".md", "index.txt"
LARGEST = 2 * 1024 * 1024
FOLDER = "notebooks"
"""In the trash."""
_DRAFT, _SETTLED, _PLAN = ".draft", ".change", "plan.json"
"""Ending of a folder in which a change is prepared, and of one that counts: it is carried out, now or at the next start."""


@dataclass
class Shelved:
    """All notebooks of a persona, as they are now."""

    texts: dict[str, str] = field(default_factory=dict)
    problems: list[FileError] = field(default_factory=list)


@dataclass(frozen=True)
class _Seen:
    stamp: tuple[int, int]
    text: str


class NotebookFiles:
    """Not for several threads at once."""

    def __init__(self, folder: Path, trash: Path) -> None:
        self._folder, self._trash = folder, trash
        self._seen: dict[Path, _Seen] = {}

    def folder(self, persona: str) -> Path:
        """Where hers lie. Raises StorageError for a name that is none."""
        if not is_plain(persona):
            raise StorageError(f"“{persona}” is not the name of a persona.")
        return self._folder / persona

    def all(self, persona: str) -> Shelved:
        """By file name; a file that cannot be read is among the problems."""
        folder = self._settled(persona)
        found = Shelved()
        for path in sorted(folder.glob(f"[!.]*{ENDING}")):  # editors keep what is theirs in files with a dot in front
            try:
                found.texts[path.stem] = self._read(path)
            except FileError as error:
                found.problems.append(error)
        return found

    def text(self, persona: str, name: str) -> str:
        """Raises FileError."""
        return self._read(self._path(persona, name))

    def index(self, persona: str) -> str:
        """The text of the index; empty where there is none that can be read."""
        try:
            return self._read(self._settled(persona) / INDEX)
        except FileError:
            return ""

    def set_index(self, persona: str, text: str) -> None:
        """Raises StorageError."""
        path = self._settled(persona) / INDEX
        if text != self.index(persona):
            write_atomically(path, text.encode())

    def free_name(self, persona: str, title: str) -> str:
        """A file name for a new notebook."""
        folder = self._settled(persona)
        taken = [path.stem for path in folder.iterdir()] if folder.is_dir() else []
        return stem_for(title, [*taken, Path(INDEX).stem])

    def write(self, persona: str, name: str, change: Callable[[str], str]) -> str:
        """Put what `change` makes of the text that is there now in its place; what is there after that.

        Raises FileError where the file cannot be read, and leaves it as it is. A new one begins as an empty text.
        """
        path = self._path(persona, name)
        before = self._read(path) if path.exists() else ""
        text = storable(change(before))
        if text != before or not path.exists():
            write_atomically(path, _bytes(text, path))
        return text

    def exchange(self, persona: str, gone: Collection[str], new: Mapping[str, str], index: str) -> None:
        """Some notebooks go to the trash, others come, and the index follows: all of it, or nothing. Raises StorageError."""
        folder = self._settled(persona)
        draft = folder / f".{secrets.token_hex(6)}{_DRAFT}"
        with translated(folder):
            draft.mkdir(parents=True)
            for name, text in new.items():
                write_atomically(draft / f"{name}{ENDING}", storable(text).encode())
            write_atomically(draft / INDEX, index.encode())
            write_atomically(draft / _PLAN, json.dumps({"gone": sorted(gone), "new": sorted(new)}).encode())
            sync_folder(draft)
            settled = draft.with_suffix(_SETTLED)
            draft.rename(settled)  # from here on it has happened, whoever carries it out
            sync_folder(folder)
            self._carry_out(settled, persona)

    def delete(self, persona: str, name: str) -> Path:
        """Move it to the trash, readable or not; returns where it lies."""
        path = self._path(persona, name)
        if not path.exists():
            raise StorageError(f"The notebook “{name}” is no longer there.")
        return set_aside(path, self._trash / FOLDER / persona)

    def restore(self, trashed: Path) -> tuple[str, str]:
        """Out of the trash again; persona and name, another one if its own is taken by now. Raises StorageError."""
        persona, stem = trashed.parent.name, Path(trashed.stem).stem  # without its ending, and without when it was thrown away
        if not trashed.is_file():
            raise StorageError("This notebook is not in the trash any more.")
        folder = self._settled(persona)
        name = stem if not (folder / f"{stem}{ENDING}").exists() else self.free_name(persona, stem)
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
            trashed.replace(folder / f"{name}{ENDING}")
        return persona, name

    def erase_all(self, persona: str) -> None:
        """Hers for good, those in the trash among them."""
        for folder in (self.folder(persona), self._trash / FOLDER / persona):
            if folder.is_dir():
                with translated(folder):
                    shutil.rmtree(folder)
        self._seen = {path: seen for path, seen in self._seen.items() if path.parent != self.folder(persona)}

    # One file

    def _path(self, persona: str, name: str) -> Path:
        if not is_plain(name):
            raise StorageError(f"“{name}” is not the name of a notebook.")
        return self._settled(persona) / f"{name}{ENDING}"

    def _read(self, path: Path) -> str:
        """Only what was written since it was read last is read again."""
        if not is_plain(path.stem):
            raise FileError(path, "has a name that not every system can hold", remedy="Name it without a colon.")
        try:
            there = path.stat()
            stamp = there.st_mtime_ns, there.st_size
            seen = self._seen.get(path)
            if seen is None or seen.stamp != stamp:
                if not S_ISREG(there.st_mode):
                    raise FileError(path, "is not a file")
                if there.st_size > LARGEST:
                    raise FileError(path, f"is larger than {LARGEST // 1024 // 1024} MB")
                text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
                seen = self._seen[path] = _Seen(stamp, text)
        except FileNotFoundError as error:
            raise FileError(path, "is not there") from error
        except OSError as error:
            raise FileError(path, f"cannot be opened: {(error.strerror or str(error)).lower()}") from error
        except UnicodeDecodeError as error:
            raise FileError(path, f"is not UTF-8 text (byte {error.start + 1})", remedy="Save it as UTF-8.") from error
        return seen.text

    # Several files

    def _settled(self, persona: str) -> Path:
        """Her folder, with everything carried out that was begun, and without what was only prepared."""
        folder = self.folder(persona)
        if folder.is_dir():
            for path in sorted(folder.glob(f".*{_SETTLED}")):
                self._carry_out(path, persona)
            for path in folder.glob(f".*{_DRAFT}"):
                shutil.rmtree(path, ignore_errors=True)
        return folder

    def _carry_out(self, settled: Path, persona: str) -> None:
        """Every step may be the last one before the program ends, and every step may find that it was done before."""
        folder = settled.parent
        with translated(folder):
            plan = json.loads((settled / _PLAN).read_text(encoding="utf-8")) if (settled / _PLAN).exists() else {}
            for name in plan.get("gone", ()):
                is_replaced = name in plan["new"]
                old, coming = folder / f"{name}{ENDING}", settled / f"{name}{ENDING}"
                if old.exists() and (not is_replaced or coming.exists()):
                    set_aside(old, self._trash / FOLDER / persona)
            for path in sorted(settled.glob(f"*{ENDING}")):
                path.replace(folder / path.name)
            if (settled / INDEX).exists():
                (settled / INDEX).replace(folder / INDEX)
            sync_folder(folder)
            (settled / _PLAN).unlink(missing_ok=True)  # first: what is left of the folder then says nothing any more
            shutil.rmtree(settled)


def _bytes(text: str, path: Path) -> bytes:
    """With the ends of lines that the file has."""
    is_dos = path.exists() and b"\r\n" in path.read_bytes()[:4096]
    return (text.replace("\n", "\r\n") if is_dos else text).encode()
