"""Backups of the data folder: the daily one in the background, on request, and restoring, also without a running Lethe."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from lethe_app.domain.bundle import Backup, BackupContents, BackupKind
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.storage import backup as storage
from lethe_app.storage.home_backup import restore
from lethe_app.storage.home_backup.contents import describe_home
from lethe_app.storage.home_backup.create import back_up_daily, back_up_home

log = logging.getLogger(__name__)
T = TypeVar("T")

START_DELAY_SECONDS = 30.0
"""Seconds after the start before the backup begins, so that it does not slow the start down."""
Progress = Callable[[float], None]
"""Function that is called with the fraction done, 0 to 1, in the thread that does the work."""


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
    """Return what a backup contains. Raise FileError or StorageError if it cannot be restored."""
    return restore.read_contents(backup)


def read_current_contents(home: Path) -> BackupContents:
    """Return what a data folder contains now, also while it is in use. Raise StorageError."""
    return describe_home(home, is_in_use=True)


async def make_daily_backup(home: Path, *, keep: int | None = None, moment: datetime | None = None) -> Path | None:
    """Make the daily backup of a data folder in a thread of its own, and return its path; None if it is not due."""
    stop = threading.Event()
    return await _run_in_thread(lambda: back_up_daily(home, keep, moment or now(), stop), stop)


async def back_up(home: Path, file: Path | None = None, on_progress: Progress = lambda _: None) -> Path:
    """Write everything of a data folder into `file`, or into a new one in that folder, by default that of its backups, and
    return the path; a cancelled one is deleted. Raise StorageError.
    """
    target, stop = _choose_target(home, file), threading.Event()
    await _run_in_thread(lambda: back_up_home(home, target, stop, on_progress), stop)
    return target


def _choose_target(home: Path, file: Path | None) -> Path:
    default = storage.backup_path(home / "backups", now(), BackupKind.MANUAL)
    return file / default.name if file is not None and file.is_dir() else file or default


async def restore_backup(paths: Paths, backup: Path, on_progress: Progress = lambda _: None) -> Path | None:
    """Replace the data of a closed Lethe by a backup in a thread; see `storage/home_backup/restore.restore_backup`."""
    return await asyncio.to_thread(restore.restore_backup, paths, backup, on_progress)


async def _run_in_thread(work: Callable[[], T], stop: threading.Event) -> T:
    """Run `work` in a thread; if the caller is cancelled, `stop` is set and the thread joined."""
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backup")
    try:
        return await asyncio.shield(asyncio.wrap_future(executor.submit(work)))
    finally:
        stop.set()
        executor.shutdown(wait=True)
