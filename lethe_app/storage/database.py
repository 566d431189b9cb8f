"""Access to the SQLite file from a single storage thread; every piece of work is one transaction."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from lethe_app.errors import DatabaseDamaged, RecordMissing, StorageError
from lethe_app.storage.atomic import sync_folder
from lethe_app.storage.backup import back_up_before_migration, backup_folder, list_backups
from lethe_app.storage.chats import incognito
from lethe_app.storage.database_header import has_content, read_version, sidecar_path
from lethe_app.storage.error_translation import damaged_error, translate_errors
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS, Migration, migrate
from lethe_app.storage.transaction import roll_back, transaction
from lethe_app.storage.unreadable_values import allow_writing_logs, mend_after

log = logging.getLogger(__name__)
T = TypeVar("T")
Arguments = ParamSpec("Arguments")
StoreType = TypeVar("StoreType", bound="Store")

BUSY_SECONDS = 5.0
"""Seconds SQLite waits for a lock of another program."""
PRAGMAS = (
    # WAL lets the backup read a snapshot while the storage thread writes.
    "journal_mode = WAL",
    "synchronous = FULL",  # a message that was answered must survive a power cut
    "fullfsync = ON",  # macOS needs it for that; elsewhere it does nothing
    # After a checkpoint the log file is truncated to 64 MB; otherwise it keeps its largest size for ever.
    "journal_size_limit = 67108864",
    "foreign_keys = ON",
    "secure_delete = ON",  # what the user purged must not linger in free space
    # The file may come from someone else: its views and triggers must not call functions with side effects.
    "trusted_schema = OFF",
    # Finds damaged pages when they are read, before wrong data is returned.
    "cell_size_check = ON",
    "temp_store = MEMORY",  # temporary tables hold words of the user; they are never written to a file
    # Negative values are KiB, so about 16 MB.
    "cache_size = -16000",
)
"""Settings of every connection."""
LOCK_PATIENCE = 0.5
"""Seconds to wait for the lock of the home."""
MERGE_FULL_TEXT = "INSERT INTO passage_words (passage_words) VALUES ('optimize')"
"""Statement that merges the full-text index, which then contains only words of passages that exist."""


class Database:
    """One SQLite database with its storage thread. Functions are passed to `run` and executed in order, each as one
    transaction.
    """

    def __init__(self, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        self.path = path
        self._migrations = migrations
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storage")
        self._lock: HomeLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self.damage_listeners: list[Callable[[], None]] = []
        """Called in the event loop when SQLite finds damage while it reads or writes."""

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> Database:
        """Open the database at `path`, creating it if necessary; an older one is migrated after a verified backup.

        Raise `DatabaseLocked` if another Lethe uses this home, `DatabaseTooNew` and `DatabaseDamaged` with the file
        unchanged. A missing or empty file counts as a first start only if there is no backup beside it. With a backup
        something went wrong, and starting empty would in time rotate the backups out, so that raises `DatabaseDamaged` too.
        """
        database = cls(path, migrations)
        try:
            await database.run_outside_transaction(database._open_file)
        except BaseException:
            await database.close()  # even cancelled half-way, the home is free again when we return
            raise
        return database

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in the storage thread within one transaction and return its result.

        Cancelling the caller does not cancel the work: once submitted, it runs to its end. An exception rolls the
        transaction back and is raised here, SQLite's own as StorageError.
        """
        try:
            return await self.run_outside_transaction(lambda: self._run_in_transaction(work))
        except DatabaseDamaged as error:
            for listener in self.damage_listeners if isinstance(error.__cause__, sqlite3.Error) else ():
                listener()
            raise

    async def run_outside_transaction(self, work: Callable[[], T]) -> T:
        """Run file access in the storage thread, without a transaction, so that it does not block the event loop; return its
        result.
        """
        if self._closed:
            raise StorageError(f"The database {self.path} is already closed.")
        return await _wait_for(self._thread.submit(work))

    async def scrub(self) -> None:
        """Remove from the files what was deleted: words that the full-text index keeps until it is merged, and old pages in the
        log, unless a backup is reading them.
        """
        await self.run(lambda connection: connection.execute(MERGE_FULL_TEXT))
        await self.run_in_thread(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())

    async def run_in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in the storage thread without a transaction, so that it may begin its own, and return its result."""

        def run() -> T:
            assert self._connection is not None, "open() makes the connection before any work is submitted"
            with translate_errors(self.path):
                return work(self._connection)

        return await self.run_outside_transaction(run)

    async def close(self) -> None:
        """Finish submitted work, checkpoint the log into the file and release the home lock. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        await _wait_for(self._thread.submit(self._close_file))
        self._thread.shutdown(wait=True)

    def _run_in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        assert connection is not None, "open() makes the connection before any work is submitted"
        with translate_errors(self.path):
            while True:
                try:
                    with transaction(connection):
                        return work(connection)
                except sqlite3.Error as error:  # one unreadable value is no reason to fail for ever
                    if not mend_after(error, connection, self.path.parent / "trash"):
                        raise

    def _open_file(self) -> None:
        with translate_errors(self.path):
            if self.path.parent.is_file():
                message = f"{self.path.parent} is a file, but it should be the folder with your data."
                raise StorageError(message, "Move the file elsewhere, or choose another folder.")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # The lock comes before any look at the file: another Lethe could be creating or migrating it.
            self._lock = HomeLock(self.path.parent, LOCK_PATIENCE)
            if _is_absent(self.path):
                _create(self.path, self._migrations)
            version = read_version(self.path, len(self._migrations))
            allow_writing_logs(self.path)
            connection = self._connection = _connect(self.path)
            if version < len(self._migrations):
                # If the backup fails, it raises, and the database is not migrated.
                back_up_before_migration(self.path, version)
                migrate(connection, self._migrations)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            with transaction(connection):
                incognito.erase(connection, None)  # what a crash left of them, which has no texts
            _check_writable(connection, len(self._migrations))

    def _close_file(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):  # on a full disk the log stays beside the file and is read next time
                with transaction(self._connection):
                    incognito.erase(self._connection, None)
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class Store:
    """Base of the classes that read and write tables."""

    def __init__(self, database: Database) -> None:
        self._database = database


def in_transaction(
    method: Callable[Concatenate[StoreType, sqlite3.Connection, Arguments], T],
) -> Callable[Concatenate[StoreType, Arguments], Coroutine[Any, Any, T]]:
    """Make a method of a store, which gets the connection first, a coroutine that runs it by `Database.run`."""

    @wraps(method)
    async def run(store: StoreType, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> T:
        return await store._database.run(lambda connection: method(store, connection, *args, **kwargs))  # noqa: SLF001 - its base

    return run


def _connect(path: Path) -> sqlite3.Connection:
    # Without isolation_level=None, the sqlite3 module would begin transactions itself; `transaction` does that here.
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        for statement in incognito.CREATE_TABLES:
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_writable(connection: sqlite3.Connection, version: int) -> None:
    """Raise at once if the file cannot be written, instead of with the first message. The transaction is rolled back, so
    nothing is written.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA user_version = {version}")
    finally:
        roll_back(connection)


def _is_absent(path: Path) -> bool:
    """Return whether this is a first start. Raise DatabaseDamaged if the file is missing or empty although there was one."""
    if has_content(path) or path.is_dir():
        return False
    state = "is empty" if path.exists() else "is missing"
    if has_content(sidecar_path(path, "-wal")):
        raise damaged_error(
            path, f"{state}, although its log exists", f"Put the file back next to {sidecar_path(path, '-wal').name}."
        )
    backups = list_backups(backup_folder(path))
    if backups:
        raise damaged_error(
            path,
            f"{state}, although it existed before",
            f"Restore the backup {backups[0].path}, or move the folder {backups[0].path.parent} away to start afresh.",
        )
    return True


def _create(path: Path, migrations: Sequence[Migration]) -> None:
    """Create the database under a temporary name and rename it, so that a crash leaves either no database or a complete one."""
    temporary = sidecar_path(path, ".new")
    # Leftovers of a creation that crashed: SQLite would replay a journal into the new file. A log of `path` with content was
    # refused before.
    for leftover in (
        temporary,
        sidecar_path(temporary, "-journal"),
        sidecar_path(temporary, "-wal"),
        sidecar_path(path, "-wal"),
        sidecar_path(path, "-shm"),
    ):
        leftover.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
        migrate(connection, migrations)
    temporary.replace(path)
    sync_folder(path.parent)


async def _wait_for(submitted: Future[T]) -> T:
    """Wait for the storage thread; if the caller is cancelled, the work continues."""
    future = asyncio.wrap_future(submitted)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        future.add_done_callback(_log_error)
        raise


def _log_error(future: asyncio.Future[T]) -> None:
    """Log the error of work whose caller was cancelled; it would otherwise be lost. Nothing is lost if a record is missing."""
    error = None if future.cancelled() else future.exception()
    if error is not None and not isinstance(error, RecordMissing):
        log.error("Work in the storage thread failed after its caller was cancelled: %s", error, exc_info=error)
