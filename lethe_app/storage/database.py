"""Owns the one SQLite file and the one thread that may touch it, so that whatever was handed over is stored whole."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lethe_app.errors import StorageError
from lethe_app.storage.atomic import sync_folder
from lethe_app.storage.backup import backups_of, before_migration, list_backups
from lethe_app.storage.database_header import beside, has_content, read_version
from lethe_app.storage.error_translation import damaged, translated
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS, Migration, migrate
from lethe_app.storage.transaction import transaction, undo

log = logging.getLogger(__name__)
T = TypeVar("T")

BUSY_SECONDS = 5.0
PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # a message that was answered must survive a power cut
    "fullfsync = ON",  # macOS needs it for that; elsewhere it does nothing
    "journal_size_limit = 67108864",
    "foreign_keys = ON",
    "secure_delete = FAST",  # what the user purged should not linger in free space
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "temp_store = MEMORY",
    "cache_size = -16000",
)


class Database:
    """Work is handed over with `run`; each piece is one transaction, and they are done in the order they came."""

    def __init__(self, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        self.path = path
        self._migrations = migrations
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storage")
        self._lock: HomeLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> Database:
        """The database at `path`, created if there is none, brought up to date after a verified backup if it is older.

        Raises `DatabaseLocked` if another Lethe has this home, `DatabaseTooNew` and `DatabaseDamaged` with the file untouched.
        A file that is missing or empty means a first start only if there is no backup beside it; with one, something went
        wrong, and starting empty would in time push the backups out: that is `DatabaseDamaged` too.
        """
        database = cls(path, migrations)
        try:
            await database._hand_over(database._begin)
        except BaseException:
            await database.close()  # even cancelled half-way, the home is free again when we return
            raise
        return database

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`, done in the storage thread within one transaction.

        Cancelling the caller does not cancel the work: once handed over it is done whole. What it raises is raised here,
        after everything it wrote was taken back.
        """
        return await self._hand_over(lambda: self._transact(work))

    async def aside(self, work: Callable[[], T]) -> T:
        """The result of `work` that reads or writes files, done in the storage thread so that the window need not wait."""
        return await self._hand_over(work)

    async def close(self) -> None:
        """Finish what was handed over, fold the log into the file, give the home back. Closing twice does no harm."""
        if self._closed:
            return
        self._closed = True
        await _outcome(self._thread.submit(self._end))
        self._thread.shutdown(wait=True)

    async def _hand_over(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StorageError(f"The database {self.path} is closed already.")
        return await _outcome(self._thread.submit(work))

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        assert connection is not None, "open() makes the connection before anything else is handed over"
        with translated(self.path), transaction(connection):
            return work(connection)

    def _begin(self) -> None:
        with translated(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = HomeLock(self.path.parent)
            if _is_absent(self.path):
                _create(self.path, self._migrations)
            version = read_version(self.path, len(self._migrations))
            connection = self._connection = _connect(self.path)
            if version < len(self._migrations):
                before_migration(self.path, version)
                migrate(connection, self._migrations)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _try_to_write(connection, len(self._migrations))

    def _end(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):  # on a full disk the log stays beside the file and is read next time
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _try_to_write(connection: sqlite3.Connection, version: int) -> None:
    """A file that cannot be written is told at once and not with the first message; nothing reaches the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA user_version = {version}")
    finally:
        undo(connection)


def _is_absent(path: Path) -> bool:
    """Is this a first start? Raises when the file is missing or empty although there has been one."""
    if has_content(path) or path.is_dir():
        return False
    state = "is empty" if path.exists() else "is gone"
    if has_content(beside(path, "-wal")):
        raise damaged(path, f"{state}, though its log is there", f"Put the file back beside {beside(path, '-wal').name}.")
    backups = list_backups(backups_of(path))
    if backups:
        raise damaged(
            path,
            f"{state}, though there was one before",
            f"Restore the backup {backups[0].path}, or move the folder {backups[0].path.parent} away to start afresh.",
        )
    return True


def _create(path: Path, migrations: Sequence[Migration]) -> None:
    """Made under another name first, so that a crash leaves either no database or a whole one."""
    fresh = beside(path, ".new")
    for leftover in (fresh, beside(fresh, "-journal"), beside(fresh, "-wal"), beside(path, "-wal"), beside(path, "-shm")):
        leftover.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        migrate(connection, migrations)
    fresh.replace(path)
    sync_folder(path.parent)


async def _outcome(handed_over: Future[T]) -> T:
    """Wait for the thread; a caller who is cancelled stops waiting, the work goes on."""
    waiting = asyncio.wrap_future(handed_over)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        waiting.add_done_callback(_report)
        raise


def _report(waiting: asyncio.Future[T]) -> None:
    """A write whose caller has gone must not fail in silence."""
    error = None if waiting.cancelled() else waiting.exception()
    if error is not None:
        log.error("What was handed over could not be stored: %s", error, exc_info=error)
