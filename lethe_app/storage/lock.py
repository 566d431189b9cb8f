"""Keeps two Lethes from writing into the same home: a lock of the operating system that even a crash gives back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lethe_app.errors import DatabaseLocked
from lethe_app.storage.error_translation import translated

if sys.platform == "win32":
    import msvcrt

    def _seize(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _seize(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class HomeLock:
    """Held from construction to `release`; the file itself stays, for removing it would open a race."""

    def __init__(self, home: Path) -> None:
        path = home / "lethe.lock"
        with translated(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _seize(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            if isinstance(error, BlockingIOError | PermissionError):
                raise DatabaseLocked(
                    f"Lethe is already running with the folder {home}.", "Use the window that is open, or close it first."
                ) from error
            with translated(path):
                raise

    def release(self) -> None:
        """Closing the file gives the lock back."""
        os.close(self._descriptor)
