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
from lethe_app.storage.atomic import remove_draft, sync_file, sync_folder
from lethe_app.storage.database_header import beside, has_content, read_version
from lethe_app.storage.error_translation import LOW_DISK_BYTES, damaged, translated
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS

log = logging.getLogger(__name__)
T = TypeVar("T")

KEEP_DAILY, KEEP_BEFORE_MIGRATION = 7, 3
"""Number of backups kept: daily ones, and those made before a migration."""
TIME_FORMAT = "%Y%m%dT%H%M%S%fZ"
"""Format of the UTC time in a backup's file name."""
BACKUP_NAME = re.compile(r"lethe-(\d{8}T\d{12}Z)(?:-v(\d+))?\.sqlite3")
"""File name of a backup: time, and the schema version if it was made before a migration."""
PAGES_PER_STEP, REST_SECONDS = 256, 0.001
"""Pages copied per step (about 1 MB) and seconds of pause after it, so that the disk stays free for a message that is being
stored.
"""


@dataclass(frozen=True)
class Backup:
    """A backup file; `before_migration_from` is its schema version if it was made before a migration, else None."""

    path: Path
    made: datetime
    size: int
    before_migration_from: int | None


class BackupCancelled(Exception):
    """Raised inside the copy when its stop event is set."""


def backups_of(database: Path) -> Path:
    """Return the folder of the backups of `database`."""
    return database.parent / "backups"


def list_backups(folder: Path) -> list[Backup]:
    """Return all backups in `folder`, newest first."""
    found = []
    with translated(folder):
        for path in folder.glob("lethe-*.sqlite3"):
            match = BACKUP_NAME.fullmatch(path.name)
            if match:
                made = datetime.strptime(match[1], TIME_FORMAT).replace(tzinfo=UTC).astimezone()
                found.append(Backup(path, made, path.stat().st_size, int(match[2]) if match[2] else None))
    return sorted(found, key=lambda backup: backup.made, reverse=True)


async def back_up(database: Path, *, keep: int = KEEP_DAILY, moment: datetime | None = None) -> Path | None:
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
    with translated(source), closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.isolation_level = None
        reader.execute("BEGIN")
        # BEGIN alone takes no snapshot; the first read does. Without it the backup API would start over at every write of
        # the storage thread.
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # holds one snapshot for every step
        try:
            with translated(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                partial.unlink(missing_ok=True)
                _copy_pages(reader, partial, stop)
            if not _is_sound(partial, stop):
                raise damaged(source, "is damaged")
            with translated(target):
                sync_file(partial)
                partial.replace(target)
                sync_folder(target.parent)
        finally:
            remove_draft(partial)


def back_up_before_migration(database: Path, version: int) -> Path:
    """Make the backup before a migration and return its path. If this raises, the database must not be migrated."""
    folder = backups_of(database)
    target = folder / f"lethe-{_stamp(now())}-v{version}.sqlite3"
    copy_verified(database, target, threading.Event())
    _rotate([copy for copy in list_backups(folder) if copy.before_migration_from is not None], KEEP_BEFORE_MIGRATION)
    return target


def _back_up_daily(database: Path, keep: int, moment: datetime, stop: threading.Event) -> Path | None:
    folder = backups_of(database)
    with translated(database):
        if not _is_due(database, folder, moment) or not _has_memories(database):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        size = database.stat().st_size + _size(beside(database, "-wal"))
        if shutil.disk_usage(folder).free < 2 * size + LOW_DISK_BYTES:
            log.info("No backup today: too little room on the disk that holds %s", folder)
            return None
    target = folder / f"lethe-{_stamp(moment)}.sqlite3"
    try:
        copy_verified(database, target, stop)
    except BackupCancelled:
        return None
    _rotate([copy for copy in list_backups(folder) if copy.before_migration_from is None], keep)
    return target


def _is_due(database: Path, folder: Path, moment: datetime) -> bool:
    """Return whether something was written since the newest backup and that backup is of another day."""
    newest = next(iter(list_backups(folder)), None)
    if newest is None:
        return True
    written = max(file.stat().st_mtime for file in (database, beside(database, "-wal")) if has_content(file))
    return newest.made.date() != moment.astimezone(newest.made.tzinfo).date() and written > newest.made.timestamp()


def _has_memories(database: Path) -> bool:
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        return reader.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def _copy_pages(reader: sqlite3.Connection, partial: Path, stop: threading.Event) -> None:
    def pause(_status: int, _remaining: int, _total: int) -> None:
        if stop.is_set():
            raise BackupCancelled
        time.sleep(REST_SECONDS)

    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        reader.backup(copy, pages=PAGES_PER_STEP, progress=pause)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file that stands for itself


def _is_sound(path: Path, stop: threading.Event) -> bool:
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
        if not _is_sound(backup, stop):
            raise damaged(backup, "is damaged", "Choose another backup.")
        new = beside(database, ".new")
        with translated(database):
            try:
                shutil.copyfile(backup, new)
                sync_file(new)
                trashed = _move_to_trash(database)
                new.replace(database)
            finally:
                remove_draft(new)
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
    trashed = trash / f"lethe-{_stamp(now())}.sqlite3"
    # The log first: if it were left beside the restored file, SQLite would replay it into that.
    for ending in ("-wal", "-shm", ""):
        if beside(database, ending).exists():
            beside(database, ending).replace(beside(trashed, ending))
    return trashed if trashed.exists() else None


def _rotate(copies: list[Backup], keep: int) -> None:
    for copy in copies[keep:]:
        with translated(copy.path):
            copy.path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(TIME_FORMAT)


async def _run_in_thread(work: Callable[[], T], stop: threading.Event) -> T:
    """Run `work` in a thread; if the caller is cancelled, `stop` is set and the thread joined."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backup")
    try:
        return await asyncio.shield(asyncio.wrap_future(executor.submit(work)))
    finally:
        stop.set()
        executor.shutdown(wait=True)
