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

from lethe_app.llm.kv_cache.saved_state import SavedState, SavedStateHeader, open_private, read, read_head, write
from lethe_app.llm.protocol import StateLocation

STATE_SUFFIX, DRAFT_SUFFIX = ".kv", ".part"
MIN_FREE_DISK = 1 << 30
"""Bytes of free disk space that saving never uses."""
POLL_SECONDS = 0.02
"""Interval in seconds at which `wait_until_written` checks the stop flag, which cannot notify a condition."""


@dataclass(frozen=True)
class PendingState:
    """Saved state that is queued for writing."""

    location: StateLocation
    path: Path
    state: SavedState
    last_deletion: int
    """Number of the last deletion that cannot concern the state."""


class StateStore:
    """Saved states of one engine. Every method may be called from any thread."""

    def __init__(self, identity: str) -> None:
        """Create the store; `identity` names everything a cache depends on besides its tokens, and states of another
        identity are ignored.
        """
        self._identity = identity
        self._suffix = f".{hashlib.sha256(identity.encode()).hexdigest()[:16]}{STATE_SUFFIX}"
        self._changed = threading.Condition()
        self._queue: dict[Path, PendingState] = {}
        """Queued states by path, oldest first; each stays until it is written."""
        self._deletions: list[tuple[int, str]] = []
        """Deletions as (number, part of the name), in order."""
        self._thread: threading.Thread | None = None

    @property
    def last_deletion(self) -> int:
        """Number of the last deletion; 0 before the first."""
        with self._changed:
            return self._last_deletion_number()

    def save(self, location: StateLocation, state: SavedState, last_deletion: int) -> None:
        """Queue a state for writing. `last_deletion` is the value of `last_deletion` when evaluation began; a later deletion
        that matches the name prevents the write.
        """
        path = self._path_of(location)
        with self._changed:
            if not self._is_current(location.name, last_deletion):
                return
            self._queue.pop(path, None)
            self._queue[path] = PendingState(location, path, state, last_deletion)
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_queued, daemon=True, name="state writer")
                self._thread.start()
            self._changed.notify_all()

    def wait_until_written(self, should_stop: Callable[[], bool]) -> bool:
        """Wait until all queued states are written and return True, or return False when `should_stop` becomes true."""
        with self._changed:
            while self._queue and not should_stop():
                self._changed.wait(POLL_SECONDS)
            return not self._queue

    def load_head(self, location: StateLocation) -> SavedStateHeader | None:
        """Return tokens and seams of a session's saved state, or None."""
        path = self._path_of(location)
        with self._changed:
            if entry := self._queue.get(path):
                return entry.state
        with suppress(OSError), path.open("rb") as file:
            return read_head(file, self._identity)
        return None

    def load(self, location: StateLocation) -> SavedState | None:
        """Return a session's saved state, or None; a damaged file is deleted."""
        path = self._path_of(location)
        with self._changed:
            if entry := self._queue.get(path):
                return entry.state
        with suppress(OSError):
            with path.open("rb") as file:
                state = read(file, self._identity)
            if state is None:
                path.unlink()
            else:
                os.utime(path)  # recently used, so that `trim_folder` deletes others first
            return state
        return None

    def delete(self, folder: Path, name_part: str, deletion_number: int | None = None) -> None:
        """Delete all states, on disk and queued, whose names contain `name_part`; an empty one deletes all."""
        with self._changed:
            self._deletions.append(
                (self._last_deletion_number() + 1 if deletion_number is None else deletion_number, name_part)
            )
            for path in [path for path, entry in self._queue.items() if name_part in entry.location.name]:
                del self._queue[path]
            delete_states(folder, name_part)
            self._changed.notify_all()

    def _path_of(self, location: StateLocation) -> Path:
        return location.folder / f"{location.name}{self._suffix}"

    def _is_current(self, name: str, last_deletion: int) -> bool:
        return not any(number > last_deletion and part in name for number, part in self._deletions)

    def _last_deletion_number(self) -> int:
        return max((number for number, _part in self._deletions), default=0)

    def _write_queued(self) -> None:
        """Write queued states for the life of the process. Runs in a thread of its own."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
            self._write_oldest()

    def _write_oldest(self) -> None:
        """Write the oldest queued state. Its copy of the cache, up to a gigabyte, is freed when this returns."""
        with self._changed:
            entry = next(iter(self._queue.values()), None)
        if entry is None:  # deleted meanwhile
            return
        # The entry stays queued while it is written, so that `load_head` and `load` still find it and `delete` can cancel it.
        with suppress(OSError):  # a full or missing disk: without the file, the prompt is evaluated again next time
            self._write(entry)
        with self._changed:
            if self._queue.get(entry.path) is entry:
                del self._queue[entry.path]
            self._changed.notify_all()

    def _write(self, entry: PendingState) -> None:
        folder, draft = entry.location.folder, entry.path.with_name(entry.path.name + DRAFT_SUFFIX)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old_draft in folder.glob(f"*{DRAFT_SUFFIX}"):  # of a process that was ended while it wrote
            old_draft.unlink(missing_ok=True)
        size = entry.state.size
        if size > entry.location.limit or shutil.disk_usage(folder).free - size < MIN_FREE_DISK:
            return
        # The old file of the same session is not counted, since the new one replaces it.
        trim_folder(folder, entry.location.limit - size, entry.path)
        try:
            with open_private(draft) as file:
                is_complete = write(file, entry.state, self._identity, lambda: self._is_queued(entry))
            with self._changed:
                # Renaming under the lock: a deletion either cancels it or finds the finished file.
                if is_complete and self._queue.get(entry.path) is entry:  # not deleted meanwhile
                    draft.replace(entry.path)
        finally:
            draft.unlink(missing_ok=True)

    def _is_queued(self, entry: PendingState) -> bool:
        with self._changed:
            return self._queue.get(entry.path) is entry


def delete_states(folder: Path, name_part: str) -> None:
    """Delete the saved states in a folder whose names contain `name_part`, drafts included; other files are left alone."""
    for path in folder.glob(f"*{STATE_SUFFIX}*"):
        if name_part in path.name and path.name.endswith((STATE_SUFFIX, STATE_SUFFIX + DRAFT_SUFFIX)):
            path.unlink(missing_ok=True)


def trim_folder(folder: Path, limit: int, excluded: Path | None = None) -> None:
    """Delete the least recently used states until all but `excluded` use at most `limit` bytes."""
    files = [(path.stat(), path) for path in folder.glob(f"*{STATE_SUFFIX}") if path != excluded]
    total_size = sum(found.st_size for found, _path in files)
    for found, path in sorted(files, key=lambda one: one[0].st_mtime_ns):
        if total_size <= limit:
            break
        path.unlink(missing_ok=True)
        total_size -= found.st_size
