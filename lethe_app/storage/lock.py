"""Lock of a home folder against a second Lethe. It is an operating-system lock, which is released even after a crash."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lethe_app.errors import DatabaseLocked
from lethe_app.storage.error_translation import translate_errors

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class HomeLock:
    """Lock held from construction to `release`. Raise DatabaseLocked if another process holds it.

    The lock file is never deleted: between deleting and creating it, two processes could lock different files.
    """

    def __init__(self, home: Path) -> None:
        path = home / "lethe.lock"
        with translate_errors(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _acquire(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            # flock raises BlockingIOError, msvcrt.locking PermissionError.
            if isinstance(error, BlockingIOError | PermissionError):
                raise DatabaseLocked(
                    f"Lethe is already running and uses the folder {home}.", "Use the open window, or close it first."
                ) from error
            with translate_errors(path):
                raise

    def release(self) -> None:
        """Release the lock by closing the file."""
        os.close(self._descriptor)
