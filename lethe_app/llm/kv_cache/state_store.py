"""Stores saved states in a folder of bounded size, written by a thread that nobody waits for.

The least recently used leave first. What was forgotten is gone from the folder at once, and a saved state that was made before
is not written after it, whoever still holds it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lethe_app.llm.kv_cache.saved_state import Head, SavedState, open_private, read, read_head, write
from lethe_app.llm.protocol import KeptAt

ENDING, DRAFT = ".kv", ".part"
SPARE_DISK = 1 << 30
"""Bytes that are left to everything else."""
A_MOMENT = 0.02


@dataclass(frozen=True)
class PendingState:
    """A saved state on its way to the disk."""

    at: KeptAt
    path: Path
    mark: SavedState
    seen: int
    """How often something had been forgotten when it was read."""


class StateStore:
    """The saved states of one engine. Every method may be called from any thread."""

    def __init__(self, identity: str) -> None:
        """`identity` says all that a cache depends on besides its tokens."""
        self._identity = identity
        self._suffix = f".{hashlib.sha256(identity.encode()).hexdigest()[:16]}{ENDING}"
        self._changed = threading.Condition()
        self._waiting: dict[Path, PendingState] = {}
        """In the order in which they came; each stays until it is written."""
        self._forgotten: list[tuple[int, str]] = []
        """Parts of the names that were forgotten, numbered in order."""
        self._thread: threading.Thread | None = None

    @property
    def forgettings(self) -> int:
        """The number of what was forgotten last."""
        with self._changed:
            return self._last_forgotten()

    def save(self, at: KeptAt, mark: SavedState, seen: int) -> None:
        """Have it written. `seen` is what `forgettings` was when reading began; later ones may concern it."""
        path = self._path(at)
        with self._changed:
            if not self._may_stay(at.name, seen):
                return
            self._waiting.pop(path, None)
            self._waiting[path] = PendingState(at, path, mark, seen)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True, name="bookmarks")
                self._thread.start()
            self._changed.notify_all()

    def wait(self, stopped: Callable[[], bool]) -> bool:
        """Until everything is written, which is True, or it was stopped."""
        with self._changed:
            while self._waiting and not stopped():
                self._changed.wait(A_MOMENT)
            return not self._waiting

    def head(self, at: KeptAt) -> Head | None:
        """What was read of a conversation."""
        path = self._path(at)
        with self._changed:
            if entry := self._waiting.get(path):
                return entry.mark
        with suppress(OSError), path.open("rb") as file:
            return read_head(file, self._identity)
        return None

    def take(self, at: KeptAt) -> SavedState | None:
        """What was read of a conversation and made of it; a file that cannot be believed is removed."""
        path = self._path(at)
        with self._changed:
            if entry := self._waiting.get(path):
                return entry.mark
        with suppress(OSError):
            with path.open("rb") as file:
                mark = read(file, self._identity)
            if mark is None:
                path.unlink()
            else:
                os.utime(path)  # used now, so others leave before it
            return mark
        return None

    def delete(self, folder: Path, part: str, number: int | None = None) -> None:
        """Delete everything with that part in its name, which is all of it if the part is empty."""
        with self._changed:
            self._forgotten.append((self._last_forgotten() + 1 if number is None else number, part))
            for path in [path for path, entry in self._waiting.items() if part in entry.at.name]:
                del self._waiting[path]
            remove(folder, part)
            self._changed.notify_all()

    def _path(self, at: KeptAt) -> Path:
        return at.folder / f"{at.name}{self._suffix}"

    def _may_stay(self, name: str, seen: int) -> bool:
        return not any(number > seen and part in name for number, part in self._forgotten)

    def _last_forgotten(self) -> int:
        return max((number for number, _part in self._forgotten), default=0)

    def _work(self) -> None:
        """Thread: write what waits, for as long as the process lives."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                entry = next(iter(self._waiting.values()))
            with suppress(OSError):  # a full or vanished disk: it is read again next time, as if there were no shelf
                self._write(entry)
            with self._changed:
                if self._waiting.get(entry.path) is entry:
                    del self._waiting[entry.path]
                self._changed.notify_all()

    def _write(self, entry: PendingState) -> None:
        folder, draft = entry.at.folder, entry.path.with_name(entry.path.name + DRAFT)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left_over in folder.glob(f"*{DRAFT}"):  # of a process that was ended while it wrote
            left_over.unlink(missing_ok=True)
        needed = entry.mark.size
        if needed > entry.at.limit or shutil.disk_usage(folder).free - needed < SPARE_DISK:
            return
        trim(folder, entry.at.limit - needed, entry.path)
        try:
            with open_private(draft) as file:
                whole = write(file, entry.mark, self._identity, lambda: self._is_wanted(entry))
            with self._changed:
                if whole and self._waiting.get(entry.path) is entry:  # not forgotten meanwhile
                    draft.replace(entry.path)
        finally:
            draft.unlink(missing_ok=True)

    def _is_wanted(self, entry: PendingState) -> bool:
        with self._changed:
            return self._waiting.get(entry.path) is entry


def remove(folder: Path, part: str) -> None:
    """Delete the saved states with that part in their names, drafts as well."""
    for path in folder.glob(f"*{ENDING}*"):
        if part in path.name and path.name.endswith((ENDING, ENDING + DRAFT)):
            path.unlink(missing_ok=True)


def trim(folder: Path, limit: int, besides: Path | None = None) -> None:
    """Delete the least recently used until the others, `besides` one, have so many bytes at most."""
    others = [(path.stat(), path) for path in folder.glob(f"*{ENDING}") if path != besides]
    held = sum(found.st_size for found, _path in others)
    for found, path in sorted(others, key=lambda one: one[0].st_mtime_ns):
        if held <= limit:
            break
        path.unlink(missing_ok=True)
        held -= found.st_size
