"""The one place where SQLite's and the system's complaints about our own data become sentences for the user."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lethe_app.errors import DatabaseDamaged, DatabaseLocked, DiskFull, ReadOnly, StorageError

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
SCARCE = 16 * 1024 * 1024
"""Below this many free bytes a failed write is put down to the disk being full."""


def translate(error: Exception, path: Path) -> StorageError | None:
    """What to tell about `error` that came up with the file `path`; None when it is not the world's fault but ours."""
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error, path)
    if isinstance(error, OSError):
        return _of_system(error, path)
    return None


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Everything inside that fails because of the world is raised as a `StorageError` that names `path`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        told = translate(error, path)
        if told is None:
            raise
        raise told from error


def disk_full(path: Path) -> DiskFull:
    """There is no room to write at `path`."""
    return DiskFull(
        f"The disk that holds {path} is full; nothing already written is lost.", "Free some space on it, then try again."
    )


def read_only(path: Path) -> ReadOnly:
    """The system does not let us write at `path`."""
    return ReadOnly(f"{path} does not allow writing.", "Give yourself the right to write there, or choose another folder.")


def damaged(path: Path, what: str, remedy: str = "Restore a backup; the file is left as it is.") -> DatabaseDamaged:
    """The database at `path` is not usable: `what` completes the sentence."""
    return DatabaseDamaged(f"The database {path} {what}.", remedy)


def _of_sqlite(error: sqlite3.Error, path: Path) -> StorageError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Python itself complains of text that is not UTF-8; every other error without a code is a wrong call of ours.
        return damaged(path, "holds text that is not readable") if "decode to UTF-8" in str(error) else None
    kind = code & 0xFF  # the rest tells details
    if kind == sqlite3.SQLITE_FULL or (kind == sqlite3.SQLITE_IOERR and _is_scarce(path)):
        return disk_full(path)
    if kind in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return read_only(path)
    if kind in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return damaged(path, "is damaged")
    return _RARER[kind](path, error) if kind in _RARER else None


def _locked(path: Path, _error: sqlite3.Error) -> StorageError:
    return DatabaseLocked(f"Another program holds the database {path}.", "Close that program, then try again.")


def _not_opened(path: Path, _error: sqlite3.Error) -> StorageError:
    if os.access(path if path.exists() else path.parent, os.W_OK) and os.access(path.parent, os.W_OK):
        return StorageError(f"The database {path} could not be opened.")
    return read_only(path)


def _disk_failed(path: Path, error: sqlite3.Error) -> StorageError:
    return StorageError(f"The disk failed while {path} was used ({error}).", "Check the disk; what was stored before is kept.")


_RARER = {
    sqlite3.SQLITE_BUSY: _locked,
    sqlite3.SQLITE_LOCKED: _locked,
    sqlite3.SQLITE_CANTOPEN: _not_opened,
    sqlite3.SQLITE_IOERR: _disk_failed,
}


def _of_system(error: OSError, path: Path) -> StorageError:
    if error.errno in NO_ROOM:
        return disk_full(path)
    if error.errno in NOT_ALLOWED:
        return read_only(path)
    reason = (error.strerror or str(error)).lower()
    return StorageError(f"{path} could not be read or written: {reason}.")


def _is_scarce(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < SCARCE
    except OSError:
        return False
