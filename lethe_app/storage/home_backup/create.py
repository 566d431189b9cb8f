"""Making backups of a data folder while it is in use: one a day, on request, and into a file of the user's choice."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from lethe_app.domain.bundle import BackupContents, BackupKind
from lethe_app.domain.clock import now
from lethe_app.errors import DiskFull, StorageError
from lethe_app.storage.atomic import delete_temporary_file
from lethe_app.storage.backup import Progress, backup_folder, backup_path, copy_verified, list_backups, rotate
from lethe_app.storage.database_header import has_content, sidecar_path
from lethe_app.storage.error_translation import LOW_DISK_BYTES, disk_full_error, translate_errors
from lethe_app.storage.home_backup.archive import DATABASE, find_files, write_archive
from lethe_app.storage.home_backup.contents import describe_home

log = logging.getLogger(__name__)


def back_up_home(
    home: Path, target: Path, stop: threading.Event, on_progress: Progress = lambda _: None, *, moment: datetime | None = None
) -> BackupContents:
    """Write everything of a data folder that belongs to a backup into one file, also while it is in use.

    The copy of the database reads one snapshot while others continue to write; it is checked before it is packed. Raise
    DatabaseDamaged if that check fails, StorageError, and BackupCancelled if `stop` was set; then no file is left.
    """
    database = home / DATABASE
    if target.exists():
        raise StorageError(f"{target} exists already.", "Choose another name.")
    if not database.exists() and next(find_files(home), None) is None:
        raise StorageError(f"There is nothing to back up in the folder {home}.")
    with translate_errors(target):
        for folder in (backup_folder(database), target.parent):
            folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(folder).free < 2 * _size_of(home) + LOW_DISK_BYTES:
                raise disk_full_error(folder)
    # The copy never lies where the user wants the file, which may be a stick that is given away.
    copy = backup_folder(database) / f".{target.name}.database.partial"
    try:
        if database.exists():
            copy_verified(database, copy, stop, lambda done: on_progress(done / 2))
        contents = describe_home(home, copy).model_copy(update={"made": moment or now()})
        return write_archive(home, copy if copy.exists() else None, contents, target, lambda done: on_progress(0.5 + done / 2))
    finally:
        delete_temporary_file(copy)
        with suppress(OSError):  # which is of no use while there is no backup in it
            copy.parent.rmdir()


def back_up_daily(home: Path, keep: int | None, moment: datetime, stop: threading.Event, on_progress: Progress) -> Path | None:
    """Make the daily backup and return its path.

    Return None if there is one of today, nothing was written since the last, there are no memories yet, or too little disk
    space is free. Raise BackupCancelled if `stop` was set, and DatabaseDamaged if the copy of the database fails its check:
    then the database itself is damaged, and no older backup is deleted.
    """
    database = home / DATABASE
    folder = backup_folder(database)
    with translate_errors(database):
        if not _is_due(database, folder, moment) or not _has_memories(database):
            return None
    target = backup_path(folder, moment, BackupKind.DAILY)
    try:
        back_up_home(home, target, stop, on_progress, moment=moment)
    except DiskFull:
        log.info("No backup today: too little room on the disk that holds %s", folder)
        return None
    rotate(folder, BackupKind.DAILY, keep)
    return target


def _is_due(database: Path, folder: Path, moment: datetime) -> bool:
    """Return whether something was written since the newest backup and that backup is of another day.

    One whose date is still to come was made while the clock was wrong, and does not count.
    """
    newest = next((backup for backup in list_backups(folder) if backup.created <= moment), None)
    if newest is None:
        return True
    written = max(file.stat().st_mtime for file in (database, sidecar_path(database, "-wal")) if has_content(file))
    return newest.created.date() != moment.astimezone(newest.created.tzinfo).date() and written > newest.created.timestamp()


def _has_memories(database: Path) -> bool:
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        return reader.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def _size_of(home: Path) -> int:
    """Return the number of bytes that a backup of `home` has without compression."""
    database = home / DATABASE
    files = [database, sidecar_path(database, "-wal"), *(path for _name, path in find_files(home))]
    return sum(path.stat().st_size for path in files if path.exists())
