"""Store of saved KV-cache states: files in a folder of bounded size, written by a background thread.

The least recently used file is deleted first. Deleted states are removed from the folder at once, and a state captured
before a deletion is not written after it.
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
"""Bytes of free disk space that saving never uses."""
A_MOMENT = 0.02
"""Interval in seconds at which `wait` checks the stop flag, which cannot notify a condition."""


@dataclass(frozen=True)
class PendingState:
    """Saved state that is queued for writing."""

    at: KeptAt
    path: Path
    mark: SavedState
    seen: int
    """Number of the last deletion that cannot concern the state."""


class StateStore:
    """Saved states of one engine. Every method may be called from any thread."""

    def __init__(self, identity: str) -> None:
        """Create the store; `identity` names everything a cache depends on besides its tokens, and states of another
        identity are ignored.
        """
        self._identity = identity
        self._suffix = f".{hashlib.sha256(identity.encode()).hexdigest()[:16]}{ENDING}"
        self._changed = threading.Condition()
        self._waiting: dict[Path, PendingState] = {}
        """Queued states by path, oldest first; each stays until it is written."""
        self._forgotten: list[tuple[int, str]] = []
        """Deletions as (number, part of the name), in order."""
        self._thread: threading.Thread | None = None

    @property
    def forgettings(self) -> int:
        """Number of the last deletion; 0 before the first."""
        with self._changed:
            return self._last_forgotten()

    def save(self, at: KeptAt, mark: SavedState, seen: int) -> None:
        """Queue a state for writing. `seen` is the value of `forgettings` when evaluation began; a later deletion that
        matches the name prevents the write.
        """
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
        """Wait until all queued states are written and return True, or return False when `stopped` becomes true."""
        with self._changed:
            while self._waiting and not stopped():
                self._changed.wait(A_MOMENT)
            return not self._waiting

    def head(self, at: KeptAt) -> Head | None:
        """Return tokens and seams of a session's saved state, or None."""
        path = self._path(at)
        with self._changed:
            if entry := self._waiting.get(path):
                return entry.mark
        with suppress(OSError), path.open("rb") as file:
            return read_head(file, self._identity)
        return None

    def take(self, at: KeptAt) -> SavedState | None:
        """Return a session's saved state, or None; a damaged file is deleted."""
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
        """Delete all states, on disk and queued, whose names contain `part`; an empty part deletes all."""
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
        """Write queued states for the life of the process. Runs in a thread of its own."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                # The entry stays queued while it is written, so that `head` and `take` still find it and `delete` can cancel
                # it.
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
        # The old file of the same session is not counted, since the new one replaces it.
        trim(folder, entry.at.limit - needed, entry.path)
        try:
            with open_private(draft) as file:
                whole = write(file, entry.mark, self._identity, lambda: self._is_wanted(entry))
            with self._changed:
                # Renaming under the lock: a deletion either cancels it or finds the finished file.
                if whole and self._waiting.get(entry.path) is entry:  # not forgotten meanwhile
                    draft.replace(entry.path)
        finally:
            draft.unlink(missing_ok=True)

    def _is_wanted(self, entry: PendingState) -> bool:
        with self._changed:
            return self._waiting.get(entry.path) is entry


def remove(folder: Path, part: str) -> None:
    """Delete the saved states in a folder whose names contain `part`, drafts included; other files are left alone."""
    for path in folder.glob(f"*{ENDING}*"):
        if part in path.name and path.name.endswith((ENDING, ENDING + DRAFT)):
            path.unlink(missing_ok=True)


def trim(folder: Path, limit: int, besides: Path | None = None) -> None:
    """Delete the least recently used states until all but `besides` use at most `limit` bytes."""
    others = [(path.stat(), path) for path in folder.glob(f"*{ENDING}") if path != besides]
    held = sum(found.st_size for found, _path in others)
    for found, path in sorted(others, key=lambda one: one[0].st_mtime_ns):
        if held <= limit:
            break
        path.unlink(missing_ok=True)
        held -= found.st_size
