"""Backups of the data folder: the daily one in the background, on request, and restoring, also without a running Lethe."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from lethe_app.domain.bundle import Backup, BackupContents
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.scheduling.offload import (
    CancelToken,
    ProgressCallback,
    ignore_progress,
    run_cancellable,
    run_in_thread,
)
from lethe_app.storage import backup as storage
from lethe_app.storage.home_backup import restore
from lethe_app.storage.home_backup.create import back_up_daily, back_up_home
from lethe_app.storage.home_files import create_files_privately

log = logging.getLogger(__name__)
T = TypeVar("T")

START_DELAY_SECONDS, INTERVAL_SECONDS = 30.0, 3600.0
"""Seconds after the start before the backup begins, so that it does not slow the start down, and until the next look."""


@dataclass(frozen=True)
class ListedBackup:
    """Backup with its contents, or with the reason why it cannot be restored."""

    backup: Backup
    contents: BackupContents | None
    trouble: str = ""


def start_daily_backups(home: Path) -> BackgroundLoop:
    """Start the background loop that makes at most one verified backup a day; closing it cancels a backup in progress."""

    async def make_backup() -> None:
        try:
            await make_daily_backup(home)
        except LetheError as error:
            log.warning("No backup could be made: %s", error)

    loop = BackgroundLoop(make_backup, INTERVAL_SECONDS)
    loop.start(START_DELAY_SECONDS)
    return loop


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


async def prepare_restore(paths: Paths, backup: Path, on_progress: ProgressCallback = ignore_progress) -> Path:
    """Extract and check a backup while Lethe runs; the next start puts it in place. Return the folder with what was extracted.

    Raise FileError, DatabaseDamaged, DatabaseTooNew and StorageError with nothing changed.
    """
    return await run_cancellable_work(
        lambda token: restore.prepare_restore(paths, backup, token.cancel_event, token.report_progress), on_progress
    )


async def restore_backup(paths: Paths, backup: Path, on_progress: ProgressCallback = ignore_progress) -> Path | None:
    """Replace the data of a closed Lethe, which need not be readable, by a backup of any form. Return the folder with what was
    there, if there was anything; raise as `prepare_restore` does, and DatabaseLocked.
    """
    await run_in_thread(partial(restore.finish_restore, paths))
    await prepare_restore(paths, backup, on_progress)
    restored = await run_in_thread(partial(restore.finish_restore, paths))
    return restored[1] if restored is not None else None


async def finish_restore(paths: Paths) -> list[LetheError]:
    """Put a backup in place that is to be restored, before anything is read, and return a notice of it."""
    restored = await run_in_thread(partial(restore.finish_restore, paths))
    if restored is None:
        return []
    backup, replaced = restored
    kept = f"What was here before is kept as a backup: {replaced}." if replaced is not None else ""
    return [LetheError(f"The backup {backup} was restored.", kept)]


async def run_cancellable_work(work: Callable[[CancelToken], T], on_progress: ProgressCallback) -> T:
    """Return the result of `work`, run in a thread; if the caller is cancelled, its token tells it to stop."""
    token = CancelToken(on_progress)
    create_files_privately()
    return await run_cancellable(asyncio.to_thread(work, token), token)
