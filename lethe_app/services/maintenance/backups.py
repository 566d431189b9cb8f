"""Backups of the data folder: the daily one in the background, on request, and restoring, also without a running Lethe."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from lethe_app.domain.bundle import Backup, BackupContents
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services.scheduling.offload import (
    CancelToken,
    ProgressCallback,
    WorkCancelled,
    ignore_progress,
    run_cancellable,
)
from lethe_app.storage import backup as storage
from lethe_app.storage.home_backup import restore
from lethe_app.storage.home_backup.create import back_up_daily, back_up_home
from lethe_app.storage.home_files import create_files_privately

log = logging.getLogger(__name__)
T = TypeVar("T")

START_DELAY_SECONDS = 30.0
"""Seconds after the start before the backup begins, so that it does not slow the start down."""


@dataclass(frozen=True)
class ListedBackup:
    """Backup with its contents, or with the reason why it cannot be restored."""

    backup: Backup
    contents: BackupContents | None
    trouble: str = ""


class BackupService:
    """Background task that makes at most one verified backup a day; `close` cancels a backup in progress."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        await asyncio.sleep(START_DELAY_SECONDS)
        try:
            await make_daily_backup(self._paths.home)
        except LetheError as error:
            log.warning("No backup could be made: %s", error)


def list_backups(home: Path) -> list[Backup]:
    """Return the backups of a data folder, newest first. Raise StorageError."""
    return storage.list_backups(home / "backups")


def read_contents(backup: Path) -> BackupContents:
    """Return what a backup contains, or a data folder, also while it is in use. Raise FileError or StorageError if it cannot be
    restored.
    """
    return restore.read_contents(backup)


def read_backups(home: Path) -> list[ListedBackup]:
    """Return the backups of a data folder with what they contain, newest first. Raise StorageError."""
    return [_read_backup(backup) for backup in list_backups(home)]


def _read_backup(backup: Backup) -> ListedBackup:
    try:
        return ListedBackup(backup, read_contents(backup.path))
    except LetheError as error:
        return ListedBackup(backup, None, error.message)


async def make_daily_backup(home: Path, *, keep: int | None = None, moment: datetime | None = None) -> Path | None:
    """Make the daily backup of a data folder in a thread, and return its path; None if it is not due."""
    return await run_cancellable_work(
        lambda token: back_up_daily(home, keep, moment or now(), token.cancel_event, token.report_progress), ignore_progress
    )


async def back_up(home: Path, file: Path | None = None, on_progress: ProgressCallback = ignore_progress) -> Path:
    """Write everything of a data folder into `file`, or into a new one in that folder, by default that of its backups, and
    return its path. Raise StorageError.
    """
    return await run_cancellable_work(
        lambda token: back_up_home(home, file, token.cancel_event, token.report_progress), on_progress
    )


async def delete_backup(backup: Backup) -> None:
    """Delete a backup for good. Raise StorageError."""
    await asyncio.to_thread(storage.delete_backup, backup.path)


async def prepare_restore(
    paths: Paths, backup: Path, on_progress: ProgressCallback = ignore_progress
) -> Callable[[], Path | None]:
    """Extract and check a backup while Lethe runs, and return the function that puts it in place once Lethe is closed.

    Raise FileError, DatabaseDamaged, DatabaseTooNew and StorageError with nothing changed.
    """
    return await run_cancellable_work(
        lambda token: restore.prepare_restore(paths, backup, token.cancel_event, token.report_progress), on_progress
    )


async def restore_backup(paths: Paths, backup: Path, on_progress: ProgressCallback = ignore_progress) -> Path | None:
    """Replace the data of a closed Lethe by a backup; see `storage/home_backup/restore.restore_backup`."""
    return await run_cancellable_work(
        lambda token: restore.restore_backup(paths, backup, token.report_progress, token.cancel_event), on_progress
    )


async def finish_restore(paths: Paths) -> list[LetheError]:
    """Complete a restore that was interrupted, before anything is read, and return a notice of one since the last start."""
    restored = await asyncio.to_thread(restore.finish_restore, paths)
    if restored is None:
        return []
    backup, replaced = restored
    return [LetheError(f"The backup {backup} was restored.", f"What was here before is kept as a backup: {replaced}.")]


async def run_cancellable_work(work: Callable[[CancelToken], T], on_progress: ProgressCallback) -> T:
    """Return the result of `work`, run in a thread; if the caller is cancelled, its token tells it to stop."""
    token = CancelToken(on_progress)
    create_files_privately()

    def run() -> T:
        try:
            return work(token)
        except storage.BackupCancelled as error:
            raise WorkCancelled from error

    return await run_cancellable(asyncio.to_thread(run), token)
