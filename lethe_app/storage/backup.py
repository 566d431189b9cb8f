"""Keeps verified copies of the database, one a day, so that a damaged one costs a day and not a life together."""

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
from lethe_app.storage.error_translation import SCARCE, damaged, translated
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS

log = logging.getLogger(__name__)
T = TypeVar("T")

KEEP_DAILY, KEEP_BEFORE_MIGRATION = 7, 3
STAMP = "%Y%m%dT%H%M%S%fZ"
NAME = re.compile(r"lethe-(\d{8}T\d{12}Z)(?:-v(\d+))?\.sqlite3")
PAGES_PER_STEP, REST_SECONDS = 256, 0.001
"""A megabyte, then a breath, so that the disk stays free for a message that is being stored."""


@dataclass(frozen=True)
class Backup:
    """One copy; `before_migration_from` is the version it still has when it was made ahead of a migration."""

    path: Path
    made: datetime
    size: int
    before_migration_from: int | None


class BackupCancelled(Exception):
    """The copy was called off."""


def backups_of(database: Path) -> Path:
    """The folder that holds the copies of `database`."""
    return database.parent / "backups"


def list_backups(folder: Path) -> list[Backup]:
    """Every copy in `folder`, newest first."""
    found = []
    with translated(folder):
        for path in folder.glob("lethe-*.sqlite3"):
            match = NAME.fullmatch(path.name)
            if match:
                made = datetime.strptime(match[1], STAMP).replace(tzinfo=UTC).astimezone()
                found.append(Backup(path, made, path.stat().st_size, int(match[2]) if match[2] else None))
    return sorted(found, key=lambda backup: backup.made, reverse=True)


async def back_up(database: Path, *, keep: int = KEEP_DAILY, moment: datetime | None = None) -> Path | None:
    """Today's copy of the open `database`, or None if there is one, nothing changed since, or there is too little room.

    It reads a snapshot of its own while the storage thread goes on writing. Cancelling stops it; what was begun is removed.
    Raises `DatabaseDamaged` when the copy fails its check: then the database itself is damaged, and no older copy is removed.
    """
    stop = threading.Event()
    return await _in_a_thread(lambda: _daily(database, keep, moment or now(), stop), stop)


async def restore(database: Path, backup: Path) -> Path | None:
    """Put a copy in the place of the closed `database`; what was there is kept in the trash, and its new path returned."""
    stop = threading.Event()
    return await _in_a_thread(lambda: _restore(database, backup, stop), stop)


def copy_verified(source: Path, target: Path, stop: threading.Event) -> None:
    """Copy a database that may be in use, check every page of the copy, and only then give it its name."""
    partial = target.with_suffix(".partial")
    with translated(source), closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.isolation_level = None
        reader.execute("BEGIN")
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


def before_migration(database: Path, version: int) -> Path:
    """The copy made before the tables of `database` are changed; raises if it cannot be had, and then nothing is changed."""
    folder = backups_of(database)
    target = folder / f"lethe-{_stamp(now())}-v{version}.sqlite3"
    copy_verified(database, target, threading.Event())
    _rotate([copy for copy in list_backups(folder) if copy.before_migration_from is not None], KEEP_BEFORE_MIGRATION)
    return target


def _daily(database: Path, keep: int, moment: datetime, stop: threading.Event) -> Path | None:
    folder = backups_of(database)
    with translated(database):
        if not _is_due(database, folder, moment) or not _holds_anything(database):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        size = database.stat().st_size + _size(beside(database, "-wal"))
        if shutil.disk_usage(folder).free < 2 * size + SCARCE:
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
    """Has something been written since the newest copy, and is that one of another day?"""
    newest = next(iter(list_backups(folder)), None)
    if newest is None:
        return True
    written = max(file.stat().st_mtime for file in (database, beside(database, "-wal")) if has_content(file))
    return newest.made.date() != moment.astimezone(newest.made.tzinfo).date() and written > newest.made.timestamp()


def _holds_anything(database: Path) -> bool:
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        return reader.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def _copy_pages(reader: sqlite3.Connection, partial: Path, stop: threading.Event) -> None:
    def breathe(_status: int, _remaining: int, _total: int) -> None:
        if stop.is_set():
            raise BackupCancelled
        time.sleep(REST_SECONDS)

    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        reader.backup(copy, pages=PAGES_PER_STEP, progress=breathe)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file that stands for itself


def _is_sound(path: Path, stop: threading.Event) -> bool:
    """Does every page, index and reference of the database pass SQLite's own check?"""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.set_progress_handler(stop.is_set, 20_000)
        try:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            return verdict == "ok" and connection.execute("PRAGMA foreign_key_check").fetchone() is None
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
        fresh = beside(database, ".new")
        with translated(database):
            try:
                shutil.copyfile(backup, fresh)
                sync_file(fresh)
                aside = _set_aside(database)
                fresh.replace(database)
            finally:
                remove_draft(fresh)
            sync_folder(database.parent)
    except BackupCancelled as error:
        raise StorageError(f"Restoring {backup} was stopped; nothing has changed.") from error
    else:
        return aside
    finally:
        lock.release()


def _set_aside(database: Path) -> Path | None:
    """Move the database with its log to the trash, together, so that it can still be opened there."""
    trash = database.parent / "trash"
    trash.mkdir(exist_ok=True)
    aside = trash / f"lethe-{_stamp(now())}.sqlite3"
    for ending in ("-wal", "-shm", ""):
        if beside(database, ending).exists():
            beside(database, ending).replace(beside(aside, ending))
    return aside if aside.exists() else None


def _rotate(copies: list[Backup], keep: int) -> None:
    for copy in copies[keep:]:
        with translated(copy.path):
            copy.path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(STAMP)


async def _in_a_thread(work: Callable[[], T], stop: threading.Event) -> T:
    """Run `work` beside the event loop; if the caller is cancelled, `stop` is set and the thread waited for."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backup")
    try:
        return await asyncio.shield(asyncio.wrap_future(executor.submit(work)))
    finally:
        stop.set()
        executor.shutdown(wait=True)
