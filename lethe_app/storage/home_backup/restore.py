"""Restoring a backup: everything is prepared and checked beside the data, and then put in place, completely or not at all.

A file `restore.json` in the data folder commits the change: from then on the backup is put in place, now or at the next
start. What it replaces is moved, unchanged, into a folder among the backups, from which it can be restored in turn.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from lethe_app.domain.bundle import BackupContents, BackupKind
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseLocked, DatabaseTooNew, FileError, StorageError
from lethe_app.paths import Paths
from lethe_app.storage.atomic import sync_folder, write_atomically
from lethe_app.storage.backup import Progress, backup_folder, backup_path, passes_integrity_check, rotate
from lethe_app.storage.database_header import MAGIC, has_content, read_version, sidecar_path
from lethe_app.storage.error_translation import damaged_error, translate_errors
from lethe_app.storage.home_backup.archive import (
    DATABASE,
    DATABASE_ITEMS,
    FILE_ITEMS,
    SETTINGS,
    extract,
    find_files,
    keep_secrets,
    open_archive,
    place_files,
    unreadable_backup_error,
)
from lethe_app.storage.home_backup.create import describe_database, describe_home
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS

PLAN, PREPARED_PREFIX = "restore.json", ".restore-"
"""Name of the file that commits a restore, and prefix of the folder in which one is prepared; both are in the data folder."""


def read_contents(backup: Path) -> BackupContents:
    """Return the contents of a backup of any form. Raise FileError or StorageError if it cannot be restored."""
    if backup.is_dir():
        return describe_home(backup)
    if _is_database(backup):
        return describe_database(backup)
    with open_archive(backup) as (_archive, contents):
        return contents


def restore_backup(
    paths: Paths, backup: Path, on_progress: Progress = lambda _: None, stop: threading.Event | None = None
) -> Path | None:
    """Replace the data by a backup of any form, and return the folder that contains what was replaced; None if there was
    nothing.

    The database must be closed; it need not be readable. If this raises, nothing has changed: FileError for a file that is no
    backup or tries to leave the folder, DatabaseDamaged, DatabaseTooNew, DatabaseLocked while Lethe runs, StorageError.
    """
    with translate_errors(paths.home):
        paths.home.mkdir(parents=True, exist_ok=True)
    with HomeLock(paths.home):
        _finish(paths)
        return _put_in_place(paths, *_prepare(paths, backup, stop or threading.Event(), on_progress))


def prepare_restore(paths: Paths, backup: Path, stop: threading.Event, on_progress: Progress) -> Callable[[], Path | None]:
    """Extract and check a backup while the data is in use, and return the function that puts it in place once the database is
    closed. Both raise and return as `restore_backup` does; if `stop` is set, BackupCancelled is raised.
    """
    return partial(commit_restore, paths, *_prepare(paths, backup, stop, on_progress))


@contextmanager
def prepared_folder(paths: Paths) -> Iterator[Path]:
    """Create a folder beside the data, for what is to replace some of it; it is deleted if the body raises."""
    with translate_errors(paths.home):
        folder = Path(tempfile.mkdtemp(prefix=PREPARED_PREFIX, dir=paths.home))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def commit_restore(paths: Paths, folder: Path, items: tuple[str, ...]) -> Path | None:
    """Replace these files and folders of the data by those in a prepared folder; those that it does not contain are only
    moved away. The database must be closed. Return the folder that contains what was replaced, None if there was nothing.
    Raise DatabaseLocked and StorageError with nothing changed.
    """
    with HomeLock(paths.home):
        return _put_in_place(paths, folder, items)


def _prepare(paths: Paths, backup: Path, stop: threading.Event, on_progress: Progress) -> tuple[Path, tuple[str, ...]]:
    """Extract a backup into a prepared folder and check it. Return the folder and the items that it replaces."""
    with prepared_folder(paths) as folder:
        with translate_errors(backup):
            items = _extract(backup, folder, on_progress)
        if DATABASE in items:
            _check_database(backup, folder / DATABASE, stop)
        if (folder / SETTINGS).exists():
            with suppress(FileError):  # settings that cannot be read are restored as they are
                keep_secrets(folder / SETTINGS, paths.settings)
    return folder, items


def finish_restore(paths: Paths) -> None:
    """Complete a restore that was interrupted, and delete what one that was not committed has left. Call it before anything is
    read from the data folder. Does nothing while another Lethe uses it. Raise StorageError.
    """
    with translate_errors(paths.home):
        is_pending = (paths.home / PLAN).exists() or next(paths.home.glob(f"{PREPARED_PREFIX}*"), None) is not None
    if is_pending:
        with suppress(DatabaseLocked), HomeLock(paths.home):
            _finish(paths)


def _is_database(backup: Path) -> bool:
    with translate_errors(backup), backup.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _extract(backup: Path, folder: Path, on_progress: Progress) -> tuple[str, ...]:
    """Extract a backup of any form into `folder` and return the items of the data folder that it replaces."""
    is_database = not backup.is_dir() and _is_database(backup)
    if not is_database and not backup.is_dir():
        extract(backup, folder, on_progress)
    else:
        parts = {name: backup / name for name in DATABASE_ITEMS if (backup / name).exists()} | dict(find_files(backup))
        files = {DATABASE: backup} if is_database else parts
        sources = [(name, path.stat().st_size, lambda path=path: path.open("rb")) for name, path in files.items()]
        place_files(sources, folder, on_progress)
    if next(folder.iterdir(), None) is None:
        raise unreadable_backup_error(backup)
    files_replaced = () if is_database else FILE_ITEMS
    return (*DATABASE_ITEMS, *files_replaced) if (folder / DATABASE).exists() else files_replaced


def _check_database(backup: Path, database: Path, stop: threading.Event) -> None:
    """Check the extracted database; errors name the backup."""
    try:
        read_version(database, len(MIGRATIONS))
        is_intact = passes_integrity_check(database, stop)
        for log_file in (sidecar_path(database, "-shm"), sidecar_path(database, "-wal")):  # which the check may have made
            if not has_content(log_file) or log_file.suffix.endswith("-shm"):
                log_file.unlink(missing_ok=True)
    except DatabaseTooNew as error:
        message = f"The backup {backup} was made by a newer version of Lethe."
        raise DatabaseTooNew(message, "Install the newer version; nothing was changed.") from error
    except StorageError:
        is_intact = False
    if not is_intact:
        raise damaged_error(backup, "is damaged", "Choose another backup; nothing was changed.")


def _put_in_place(paths: Paths, folder: Path, items: tuple[str, ...]) -> Path | None:
    """Commit the change and carry it out. Raise StorageError, with everything as it was before."""
    replaced = backup_path(backup_folder(paths.database), now(), BackupKind.REPLACED)
    new = [item for item in items if (folder / item).exists()]
    plan = {"prepared": folder.name, "replaced": replaced.name, "items": items, "new": new}
    with translate_errors(folder):
        for parent, _folders, _files in os.walk(folder):
            sync_folder(Path(parent))
    write_atomically(paths.home / PLAN, json.dumps(plan).encode())  # from here on the change is committed
    _finish(paths)
    return replaced if replaced.exists() else None


def _finish(paths: Paths) -> None:
    """Carry out a committed change, as far as that was not done, and delete prepared ones. The lock of the home must be held.

    If a file cannot be moved, all that were moved are moved back, and StorageError is raised.
    """
    path = paths.home / PLAN
    with translate_errors(paths.home):
        if path.exists():
            plan = json.loads(path.read_text(encoding="utf-8"))
            prepared, replaced = paths.home / plan["prepared"], backup_folder(paths.database) / plan["replaced"]
            try:
                _apply(plan["items"], plan["new"], paths.home, prepared, replaced)
            except OSError:
                _revert(plan["items"], plan["new"], paths.home, prepared, replaced)
                path.unlink()
                raise
            for cache in (paths.index, paths.states):  # made from the other database, whose numbers mean other texts
                shutil.rmtree(cache, ignore_errors=True)
            path.unlink()
            sync_folder(paths.home)
            rotate(replaced.parent, BackupKind.REPLACED)
        for folder in paths.home.glob(f"{PREPARED_PREFIX}*"):
            shutil.rmtree(folder, ignore_errors=True)


def _apply(items: list[str], new: list[str], home: Path, prepared: Path, replaced: Path) -> None:
    """Move the items in use to `replaced` and the `new` ones in their place; what was moved already is left alone."""
    for item in items:
        is_prepared = os.path.lexists(prepared / item)
        if os.path.lexists(home / item) and (is_prepared or item not in new):
            _move(home / item, replaced / item)
        if is_prepared:
            _move(prepared / item, home / item)
    for folder in {path.parent for item in items for path in (home / item, replaced / item) if path.parent.is_dir()}:
        sync_folder(folder)


def _revert(items: list[str], new: list[str], home: Path, prepared: Path, replaced: Path) -> None:
    """Move back what `_apply` has moved."""
    for item in items:
        if item in new and not os.path.lexists(prepared / item) and os.path.lexists(home / item):
            _move(home / item, prepared / item)
        if os.path.lexists(replaced / item):
            _move(replaced / item, home / item)
    shutil.rmtree(replaced, ignore_errors=True)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
