"""The backups of a data folder: their names, their number, and verified copies of the database."""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from lethe_app.domain.bundle import BACKUP_SUFFIX, Backup, BackupKind
from lethe_app.domain.clock import now
from lethe_app.errors import WorkCancelled
from lethe_app.storage.atomic import complete_file, delete_temporary_file
from lethe_app.storage.error_translation import damaged_error, translate_errors

log = logging.getLogger(__name__)

MAX_BACKUPS = {BackupKind.DAILY: 7, BackupKind.MIGRATION: 3, BackupKind.REPLACED: 3}
"""Number of backups kept of each kind; those that the user made are never deleted unasked."""
DATABASE_SUFFIX = ".sqlite3"
"""Suffix of a copy of the database alone, as earlier versions made it every day."""
TIME_FORMAT = "%Y%m%dT%H%M%S%fZ"
"""Format of the UTC time in a backup's file name."""
BACKUP_NAME = re.compile(r"lethe-(\d{8}T\d{12}Z)(?:-v(\d+)|-(manual|replaced))?")
"""Name of a backup without suffix: time, and the schema version if it was made before a migration, or else the kind."""
PAGES_PER_STEP, PAUSE_SECONDS = 256, 0.001
"""Pages copied per step (about 1 MB) and seconds of pause after it, so that the disk stays free for a message that is being
stored.
"""

Progress = Callable[[float], None]
"""Function that is called with the fraction done, 0 to 1, and may raise to cancel."""
COPIED_BYTES = 1 << 20
"""Bytes copied between two reports of progress."""


def backup_folder(database: Path) -> Path:
    """Return the folder of the backups of `database`."""
    return database.parent / "backups"


def backup_path(folder: Path, moment: datetime, kind: BackupKind) -> Path:
    """Return the path of a backup in `folder`; one of what was replaced is a folder."""
    name = f"lethe-{moment.astimezone(UTC).strftime(TIME_FORMAT)}"
    return folder / (
        name + {BackupKind.DAILY: BACKUP_SUFFIX, BackupKind.REPLACED: "-replaced"}.get(kind, f"-{kind}{BACKUP_SUFFIX}")
    )


def list_backups(folder: Path) -> list[Backup]:
    """Return all backups in `folder`, newest first. Raise StorageError."""
    with translate_errors(folder):
        backups = [_read_backup(path) for path in folder.glob("lethe-*")]
    return sorted(filter(None, backups), key=lambda backup: backup.created, reverse=True)


def _read_backup(path: Path) -> Backup | None:
    """Return the backup at `path`; None for any other file."""
    match = BACKUP_NAME.fullmatch(path.name.removesuffix(path.suffix))
    is_replaced = match is not None and match[3] == BackupKind.REPLACED
    if match is None or path.suffix not in ({""} if is_replaced else {BACKUP_SUFFIX, DATABASE_SUFFIX}):
        return None
    created = datetime.strptime(match[1], TIME_FORMAT).replace(tzinfo=UTC).astimezone()
    version = int(match[2]) if match[2] else None
    kind = BackupKind.MIGRATION if version is not None else BackupKind(match[3] or BackupKind.DAILY)
    return Backup(path, created, _size_on_disk(path), kind, version)


def delete_backups(database: Path) -> int:
    """Delete all backups of a database, also those that were cut off; return the number of others. Raise StorageError."""
    backups = list_backups(folder := backup_folder(database))
    for backup in backups:
        delete_backup(backup.path)
    for partial in folder.glob("*.partial"):
        delete_temporary_file(partial)
    return len(backups)


def delete_backup(path: Path) -> None:
    """Delete a backup, which may be a folder. Raise StorageError."""
    with translate_errors(path):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


class PieceCopier:
    """Copies files in pieces and reports the fraction of all bytes, after any of which the report may raise to cancel."""

    def __init__(self, total: int, on_progress: Progress) -> None:
        self._total, self._on_progress, self._done = max(1, total), on_progress, 0

    def copy(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Copy the rest of `source`."""
        while piece := source.read(COPIED_BYTES):
            self._done += target.write(piece)
            self._on_progress(min(1.0, self._done / self._total))


def rotate(folder: Path, kind: BackupKind, keep: int | None = None) -> None:
    """Delete the oldest backups of a kind, so that `keep` are left, by default as many as are kept of that kind.

    Those whose date is still to come are counted for themselves: they may be right, and the clock wrong.
    """
    moment = now()
    kept = MAX_BACKUPS.get(kind) if keep is None else keep
    for is_future in (False, True) if kept is not None else ():
        backups = [each for each in list_backups(folder) if each.kind is kind and (each.created > moment) is is_future]
        for backup in backups[kept:]:
            delete_backup(backup.path)


def copy_verified(source: Path, target: Path, stop: threading.Event, on_progress: Progress = lambda _: None) -> None:
    """Copy a database that may be in use, check every page of the copy, and only then rename it to `target`. Raise
    DatabaseDamaged.
    """
    with translate_errors(source), closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.isolation_level = None
        reader.execute("BEGIN")
        # BEGIN alone takes no snapshot; the first read does. Without it the backup API would start over at every write of
        # the storage thread.
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # holds one snapshot for every step
        with translate_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with complete_file(target) as draft:
                _copy_pages(reader, draft, on_progress)
                if not passes_integrity_check(draft, stop):
                    raise damaged_error(source, "is damaged")


def back_up_before_migration(database: Path, version: int) -> Path:
    """Make the backup before a migration and return its path. If this raises, the database must not be migrated."""
    folder = backup_folder(database)
    target = folder / f"lethe-{now().astimezone(UTC).strftime(TIME_FORMAT)}-v{version}{DATABASE_SUFFIX}"
    copy_verified(database, target, threading.Event())
    rotate(folder, BackupKind.MIGRATION)
    return target


def _copy_pages(reader: sqlite3.Connection, partial: Path, on_progress: Progress) -> None:
    def pause(_status: int, remaining: int, total: int) -> None:
        on_progress(1 - remaining / total)
        time.sleep(PAUSE_SECONDS)

    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        reader.backup(copy, pages=PAGES_PER_STEP, progress=pause)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file that stands for itself


def passes_integrity_check(path: Path, stop: threading.Event) -> bool:
    """Return whether the database passes SQLite's checks of every page, index and foreign key."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        # The check of a large database takes long; every 20,000 virtual machine instructions the stop event can abort it.
        connection.set_progress_handler(stop.is_set, 20_000)
        try:
            result = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            return result == "ok" and connection.execute("PRAGMA foreign_key_check").fetchone() is None
        except sqlite3.DatabaseError as error:
            if stop.is_set():
                raise WorkCancelled from error
            log.info("The check of %s ended early: %s", path, error)
            return False


def _size_on_disk(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())
