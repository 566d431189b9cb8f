"""Translation of SQLite and operating-system errors into StorageError with a sentence for the user."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lethe_app.errors import DatabaseDamaged, DatabaseLocked, DiskFull, ReadOnly, StorageError

DISK_FULL_CODES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers that mean a full disk, an exhausted quota or a file-size limit."""
PERMISSION_CODES = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
"""Error numbers that mean missing permission or a read-only file system."""
LOW_DISK_BYTES = 16 * 1024 * 1024
"""Free bytes below which an I/O error of SQLite is attributed to a full disk."""


def translate(error: Exception, path: Path) -> StorageError | None:
    """Return the StorageError for an error with the file `path`, or None if it is a programming error."""
    if isinstance(error, sqlite3.Error):
        return _translate_sqlite(error, path)
    if isinstance(error, OSError):
        return _translate_os(error, path)
    return None


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Context manager that raises errors of SQLite and the operating system as a `StorageError` that names `path`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        translated_error = translate(error, path)
        if translated_error is None:
            raise
        raise translated_error from error


def disk_full_error(path: Path) -> DiskFull:
    """Return the error for a full disk at `path`."""
    return DiskFull(
        f"The disk that holds {path} is full; nothing already written is lost.", "Free up some disk space, then try again."
    )


def read_only_error(path: Path) -> ReadOnly:
    """Return the error for a path that must not be written."""
    return ReadOnly(f"{path} is not writable.", "Change the permissions of the folder, or choose another one.")


def damaged_error(path: Path, what: str, remedy: str = "Repair it, or restore a backup.") -> DatabaseDamaged:
    """Return the error for an unusable database; `what` completes the sentence “The database <path> …”."""
    return DatabaseDamaged(f"The database {path} {what}.", remedy)


def _translate_sqlite(error: sqlite3.Error, path: Path) -> StorageError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Without a code the error is from the sqlite3 module: text that is not UTF-8, or else a wrong call.
        return damaged_error(path, "contains unreadable text") if "decode to UTF-8" in str(error) else None
    kind = code & 0xFF  # the rest tells details
    if kind == sqlite3.SQLITE_FULL or (kind == sqlite3.SQLITE_IOERR and _is_disk_nearly_full(path)):
        return disk_full_error(path)
    if kind in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return read_only_error(path)
    if kind in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return damaged_error(path, "is damaged")
    return _OTHER_ERRORS[kind](path, error) if kind in _OTHER_ERRORS else None


def _locked(path: Path, _error: sqlite3.Error) -> StorageError:
    return DatabaseLocked(f"Another program is using the database {path}.", "Close that program, then try again.")


def _cannot_open(path: Path, _error: sqlite3.Error) -> StorageError:
    if os.access(path if path.exists() else path.parent, os.W_OK) and os.access(path.parent, os.W_OK):
        return StorageError(f"The database {path} could not be opened.")
    return read_only_error(path)


def _disk_error(path: Path, error: sqlite3.Error) -> StorageError:
    return StorageError(
        f"A disk error occurred while accessing {path} ({error}).", "Check the disk; everything stored before is kept."
    )


_OTHER_ERRORS = {
    sqlite3.SQLITE_BUSY: _locked,
    sqlite3.SQLITE_LOCKED: _locked,
    sqlite3.SQLITE_CANTOPEN: _cannot_open,
    sqlite3.SQLITE_IOERR: _disk_error,
}


def _translate_os(error: OSError, path: Path) -> StorageError:
    if error.errno in DISK_FULL_CODES:
        return disk_full_error(path)
    if error.errno in PERMISSION_CODES:
        return read_only_error(path)
    reason = (error.strerror or str(error)).lower()
    return StorageError(f"{path} could not be read or written: {reason}.")


def _is_disk_nearly_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < LOW_DISK_BYTES
    except OSError:
        return False
