"""Backups of the database: one verified copy a day, and one before each migration."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.storage.atomic import delete_temporary_file, sync_file, sync_folder
from lethe_app.storage.database_header import has_content, read_version, sidecar_path
from lethe_app.storage.error_translation import LOW_DISK_BYTES, damaged_error, translate_errors
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_DAILY_BACKUPS, MAX_MIGRATION_BACKUPS = 7, 3
"""Number of backups kept: daily ones, and those made before a migration."""
TIME_FORMAT = "%Y%m%dT%H%M%S%fZ"
"""Format of the UTC time in a backup's file name."""
BACKUP_NAME = re.compile(r"lethe-(\d{8}T\d{12}Z)(?:-v(\d+))?\.sqlite3")
"""File name of a backup: time, and the schema version if it was made before a migration."""
PAGES_PER_STEP, PAUSE_SECONDS = 256, 0.001
"""Pages copied per step (about 1 MB) and seconds of pause after it, so that the disk stays free for a message that is being
stored.
"""


@dataclass(frozen=True)
class Backup:
    """A backup file; `pre_migration_version` is its schema version if it was made before a migration, else None."""

    path: Path
    created: datetime
    size: int
    pre_migration_version: int | None


class BackupCancelled(Exception):
    """Raised inside the copy when its stop event is set."""


def backup_folder(database: Path) -> Path:
    """Return the folder of the backups of `database`."""
    return database.parent / "backups"


def list_backups(folder: Path) -> list[Backup]:
    """Return all backups in `folder`, newest first."""
    backups = []
    with translate_errors(folder):
        for path in folder.glob("lethe-*.sqlite3"):
            match = BACKUP_NAME.fullmatch(path.name)
            if match:
                created = datetime.strptime(match[1], TIME_FORMAT).replace(tzinfo=UTC).astimezone()
                backups.append(Backup(path, created, path.stat().st_size, int(match[2]) if match[2] else None))
    return sorted(backups, key=lambda backup: backup.created, reverse=True)


def delete_backups(database: Path) -> int:
    """Delete all backups of a database and return their number. Raise StorageError."""
    backups = list_backups(backup_folder(database))
    _rotate(backups, 0)
    return len(backups)


async def back_up(database: Path, *, keep: int = MAX_DAILY_BACKUPS, moment: datetime | None = None) -> Path | None:
    """Make the daily backup of the open `database` in a thread of its own.

    Return its path, or None if there is one of today, nothing was written since the last, there are no memories yet, too
    little disk space is free, or the call was cancelled. The copy reads one snapshot while the storage thread continues to
    write; a cancelled copy is deleted. Raise `DatabaseDamaged` if the copy fails its check: then the database itself is
    damaged, and no older backup is deleted.
    """
    stop = threading.Event()
    return await _run_in_thread(lambda: _back_up_daily(database, keep, moment or now(), stop), stop)


async def restore(database: Path, backup: Path) -> Path | None:
    """Replace the closed `database` by a backup; the replaced one is moved to the trash, and its path there is returned, or
    None.

    Raise DatabaseDamaged if the backup is damaged, and DatabaseLocked if a running Lethe uses the home.
    """
    stop = threading.Event()
    return await _run_in_thread(lambda: _restore(database, backup, stop), stop)


def copy_verified(source: Path, target: Path, stop: threading.Event) -> None:
    """Copy a database that may be in use, check every page of the copy, and only then rename it to `target`. Raise
    DatabaseDamaged.
    """
    partial = target.with_suffix(".partial")
    with translate_errors(source), closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.isolation_level = None
        reader.execute("BEGIN")
        # BEGIN alone takes no snapshot; the first read does. Without it the backup API would start over at every write of
        # the storage thread.
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # holds one snapshot for every step
        try:
            with translate_errors(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                partial.unlink(missing_ok=True)
                _copy_pages(reader, partial, stop)
            if not _passes_integrity_check(partial, stop):
                raise damaged_error(source, "is damaged")
            with translate_errors(target):
                sync_file(partial)
                partial.replace(target)
                sync_folder(target.parent)
        finally:
            delete_temporary_file(partial)


def back_up_before_migration(database: Path, version: int) -> Path:
    """Make the backup before a migration and return its path. If this raises, the database must not be migrated."""
    folder = backup_folder(database)
    target = folder / f"lethe-{_format_timestamp(now())}-v{version}.sqlite3"
    copy_verified(database, target, threading.Event())
    _rotate([copy for copy in list_backups(folder) if copy.pre_migration_version is not None], MAX_MIGRATION_BACKUPS)
    return target


def _back_up_daily(database: Path, keep: int, moment: datetime, stop: threading.Event) -> Path | None:
    folder = backup_folder(database)
    with translate_errors(database):
        if not _is_due(database, folder, moment) or not _has_memories(database):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        size = database.stat().st_size + _size(sidecar_path(database, "-wal"))
        if shutil.disk_usage(folder).free < 2 * size + LOW_DISK_BYTES:
            log.info("No backup today: too little room on the disk that holds %s", folder)
            return None
    target = folder / f"lethe-{_format_timestamp(moment)}.sqlite3"
    try:
        copy_verified(database, target, stop)
    except BackupCancelled:
        return None
    _rotate([copy for copy in list_backups(folder) if copy.pre_migration_version is None], keep)
    return target


def _is_due(database: Path, folder: Path, moment: datetime) -> bool:
    """Return whether something was written since the newest backup and that backup is of another day."""
    newest = next(iter(list_backups(folder)), None)
    if newest is None:
        return True
    written = max(file.stat().st_mtime for file in (database, sidecar_path(database, "-wal")) if has_content(file))
    return newest.created.date() != moment.astimezone(newest.created.tzinfo).date() and written > newest.created.timestamp()


def _has_memories(database: Path) -> bool:
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        return reader.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def _copy_pages(reader: sqlite3.Connection, partial: Path, stop: threading.Event) -> None:
    def pause(_status: int, _remaining: int, _total: int) -> None:
        if stop.is_set():
            raise BackupCancelled
        time.sleep(PAUSE_SECONDS)

    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        reader.backup(copy, pages=PAGES_PER_STEP, progress=pause)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file that stands for itself


def _passes_integrity_check(path: Path, stop: threading.Event) -> bool:
    """Return whether the database passes SQLite's checks of every page, index and foreign key."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        # The check of a large database takes long; every 20,000 virtual machine instructions the stop event can abort it.
        connection.set_progress_handler(stop.is_set, 20_000)
        try:
            result = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            return result == "ok" and connection.execute("PRAGMA foreign_key_check").fetchone() is None
        except sqlite3.DatabaseError as error:
            if stop.is_set():
                raise BackupCancelled from error
            log.info("The check of %s ended early: %s", path, error)
            return False


def _restore(database: Path, backup: Path, stop: threading.Event) -> Path | None:
    lock = HomeLock(database.parent)
    try:
        read_version(backup, len(MIGRATIONS))
        if not _passes_integrity_check(backup, stop):
            raise damaged_error(backup, "is damaged", "Choose another backup.")
        restored = sidecar_path(database, ".new")
        with translate_errors(database):
            try:
                shutil.copyfile(backup, restored)
                sync_file(restored)
                trashed = _move_to_trash(database)
                restored.replace(database)
            finally:
                delete_temporary_file(restored)
            sync_folder(database.parent)
    except BackupCancelled as error:
        raise StorageError(f"Restoring {backup} was stopped; nothing has changed.") from error
    else:
        return trashed
    finally:
        lock.release()


def _move_to_trash(database: Path) -> Path | None:
    """Move the database with its write-ahead log to the trash, so that it can still be opened there."""
    trash = database.parent / "trash"
    trash.mkdir(exist_ok=True)
    trashed = trash / f"lethe-{_format_timestamp(now())}.sqlite3"
    # The log first: if it were left beside the restored file, SQLite would replay it into that.
    for suffix in ("-wal", "-shm", ""):
        if sidecar_path(database, suffix).exists():
            sidecar_path(database, suffix).replace(sidecar_path(trashed, suffix))
    return trashed if trashed.exists() else None


def _rotate(backups: list[Backup], keep: int) -> None:
    for copy in backups[keep:]:
        with translate_errors(copy.path):
            copy.path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _format_timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(TIME_FORMAT)


async def _run_in_thread(work: Callable[[], T], stop: threading.Event) -> T:
    """Run `work` in a thread; if the caller is cancelled, `stop` is set and the thread joined."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backup")
    try:
        return await asyncio.shield(asyncio.wrap_future(executor.submit(work)))
    finally:
        stop.set()
        executor.shutdown(wait=True)
