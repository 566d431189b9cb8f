"""Lock of a home folder against a second Lethe. It is an operating-system lock, which is released even after a crash."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Self

from lethe_app.errors import DatabaseLocked
from lethe_app.storage.error_translation import translate_errors

RETRY_INTERVAL = 0.02
"""Seconds between two attempts."""

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _acquire_within(seconds: float, descriptor: int) -> None:
    """Acquire the lock, and try again until the time is over. Raise OSError."""
    end = time.monotonic() + seconds
    while True:
        try:
            return _acquire(descriptor)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= end:
                raise
            time.sleep(RETRY_INTERVAL)


class HomeLock:
    """Lock held from construction to `release`. Raise DatabaseLocked if another process holds it.

    The lock file is never deleted: between deleting and creating it, two processes could lock different files.
    """

    def __init__(self, home: Path, patience: float = 0.0) -> None:
        """Acquire the lock, for at most `patience` seconds: a Lethe that was killed while it started a process holds it until
        that process has closed what it inherited.
        """
        path = home / "lethe.lock"
        with translate_errors(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _acquire_within(patience, self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            # flock raises BlockingIOError, msvcrt.locking PermissionError.
            if isinstance(error, BlockingIOError | PermissionError):
                raise DatabaseLocked(
                    f"Lethe is already running and uses the folder {home}.", "Close its window, or end it in its terminal."
                ) from error
            with translate_errors(path):
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock by closing the file."""
        os.close(self._descriptor)
