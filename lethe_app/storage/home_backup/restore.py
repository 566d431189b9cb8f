"""Restoring a backup of any form, without trusting it: everything is extracted and checked beside the data, and then put in
place, completely or not at all.

A file `.restore.json` in the data folder commits the change: from then on the backup is put in place, now or at the next
start. What it replaces is moved, unchanged, into a folder among the backups, from which it can be restored in turn.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from lethe_app.domain.bundle import BACKUP_VERSION, BackupContents, BackupKind
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseLocked, DatabaseTooNew, FileError, StorageError
from lethe_app.paths import Paths
from lethe_app.storage.atomic import sync_file, sync_folder, write_atomically
from lethe_app.storage.backup import (
    DATABASE_SUFFIX,
    PieceCopier,
    Progress,
    backup_folder,
    backup_path,
    passes_integrity_check,
    rotate,
)
from lethe_app.storage.database_header import read_version
from lethe_app.storage.error_translation import LOW_DISK_BYTES, damaged_error, disk_full_error, translate_errors
from lethe_app.storage.files.json_files import read_object
from lethe_app.storage.home_backup.create import (
    DATABASE,
    DATABASE_ITEMS,
    FILE_ITEMS,
    MANIFEST,
    SECRET,
    SETTINGS,
    describe_database,
    describe_home,
    find_files,
    is_backup_name,
)
from lethe_app.storage.lock import HomeLock
from lethe_app.storage.migrations import MIGRATIONS

PLAN, DONE, PREPARED_PREFIX = ".restore.json", ".restored.json", ".restore-"
"""Names of the file that commits a restore and of the one that tells the next start of it, and prefix of the folder in which
one is prepared; all are in the data folder.
"""
MAX_MANIFEST_BYTES = 16 << 20
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, LookupError, TypeError)
"""Exceptions for a damaged or malicious archive, and for a manifest that is none."""

Sources = Mapping[str, tuple[int, Callable[[], IO[bytes]]]]
"""Files of a backup by name, each with its size and a function that opens it."""


def read_contents(backup: Path) -> BackupContents:
    """Return the contents of a backup of any form. Raise FileError or StorageError if it cannot be restored."""
    if backup.is_dir():
        return describe_home(backup)
    if backup.suffix == DATABASE_SUFFIX:
        return describe_database(backup)
    with _open_archive(backup) as (_archive, contents):
        return contents


@contextmanager
def _open_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, BackupContents]]:
    """Open an archive whose names have all been checked, with its contents. Raise FileError, DatabaseTooNew, StorageError."""
    try:
        with translate_errors(path), zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name != MANIFEST and not is_backup_name(name):
                    raise FileError(path, f"contains “{name[:80]}”, which is not part of a backup; nothing was changed")
            manifest = json.loads(archive.open(MANIFEST).read(MAX_MANIFEST_BYTES))
            if manifest["version"] > BACKUP_VERSION:
                message = f"The backup {path} was made by a newer version of Lethe."
                raise DatabaseTooNew(message, "Install the newer version; nothing was changed.")
            yield archive, BackupContents.model_validate(manifest)
    except DAMAGED as error:
        raise unreadable_backup_error(path) from error


@contextmanager
def _open_sources(backup: Path) -> Iterator[Sources]:
    """Open a backup of any form. Raise FileError, DatabaseTooNew, StorageError."""
    if backup.is_dir() or backup.suffix == DATABASE_SUFFIX:
        with translate_errors(backup):
            files = find_files(backup) if backup.is_dir() else {DATABASE: backup}
            yield {name: (path.stat().st_size, partial(io.FileIO, path)) for name, path in files.items()}
    else:
        with _open_archive(backup) as (archive, _contents):
            members = [member for member in archive.infolist() if member.filename != MANIFEST]
            yield {member.filename: (member.file_size, partial(archive.open, member)) for member in members}


def _extract(sources: Sources, folder: Path, on_progress: Progress) -> None:
    """Write the files of a backup into an empty folder, none further than its size; `on_progress` may raise to cancel."""
    total = sum(size for size, _open_source in sources.values())
    copier = PieceCopier(total, on_progress)
    with translate_errors(folder):
        if total + LOW_DISK_BYTES > shutil.disk_usage(folder).free:
            raise disk_full_error(folder)
        for name, (_size, open_source) in sources.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with open_source() as source, (folder / name).open("xb") as copy:
                copier.copy(source, copy)
            sync_file(folder / name)


def _check_database(backup: Path, database: Path, stop: threading.Event) -> None:
    """Check the extracted database; errors name the backup."""
    try:
        read_version(database, len(MIGRATIONS))
        if not passes_integrity_check(database, stop):
            raise damaged_error(database, "is damaged")
    except StorageError as error:
        message = error.message.replace(str(database), str(backup))
        raise type(error)(message, "Choose another backup; nothing was changed.") from error


def unreadable_backup_error(path: Path) -> FileError:
    """Return the error for a file that is no backup, or only a part of one."""
    return FileError(path, "is not a backup of Lethe, or is incomplete", remedy="Choose another backup.")


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
    return prepare_restore(paths, backup, stop or threading.Event(), on_progress)()


def prepare_restore(paths: Paths, backup: Path, stop: threading.Event, on_progress: Progress) -> Callable[[], Path | None]:
    """Extract and check a backup while the data is in use, and return the function that puts it in place once the database is
    closed. Both raise and return as `restore_backup` does; if `stop` is set, BackupCancelled is raised.
    """
    with prepared_folder(paths) as folder:
        with _open_sources(backup) as sources:
            if not sources:
                raise unreadable_backup_error(backup)
            _extract(sources, folder, on_progress)
        if DATABASE in sources:
            _check_database(backup, folder / DATABASE, stop)
        with suppress(FileError):  # settings that are not there or cannot be read have no keys to keep, or no place for them
            secrets = {name: value for name, value in read_object(paths.settings).items() if SECRET.search(name)}
            restored = read_object(folder / SETTINGS) | secrets
            write_atomically(folder / SETTINGS, json.dumps(restored, ensure_ascii=False, indent=2).encode())
    items = DATABASE_ITEMS if backup.suffix == DATABASE_SUFFIX else (*DATABASE_ITEMS, *FILE_ITEMS)
    return partial(commit_restore, paths, folder, items, backup.name)


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


def commit_restore(paths: Paths, folder: Path, items: Sequence[str], backup_name: str = "") -> Path | None:
    """Replace these files and folders of the data by those in a prepared folder; those that it does not contain are only
    moved away. The database must be closed. Return the folder that contains what was replaced, None if there was nothing.
    With the name of a backup, `finish_restore` tells of it. Raise DatabaseLocked and StorageError with nothing changed.
    """
    home, replaced = paths.home, backup_path(backup_folder(paths.database), now(), BackupKind.REPLACED)
    with HomeLock(home):
        with translate_errors(folder):
            for parent, _folders, _files in os.walk(folder):
                sync_folder(Path(parent))
            kept = replaced.relative_to(home)
            moves = [(item, f"{kept.as_posix()}/{item}") for item in items if os.path.lexists(home / item)]
            moves += [(f"{folder.name}/{item}", item) for item in items if (folder / item).exists()]
        plan = {"moves": moves, "replaced": str(kept), "backup": backup_name}
        write_atomically(home / PLAN, json.dumps(plan).encode())  # from here on the change is committed
        _finish(paths)
        return replaced if replaced.exists() else None


def finish_restore(paths: Paths) -> tuple[str, Path] | None:
    """Complete a restore that was interrupted, and delete what one that was not committed has left. Call it before anything is
    read from the data folder. Does nothing while another Lethe uses it. Raise StorageError.

    Return the name of the backup that was restored since the last call, and the folder with what it has replaced.
    """
    with translate_errors(paths.home):
        if next(paths.home.glob(".restore*"), None) is None:
            return None
    with suppress(DatabaseLocked), HomeLock(paths.home):
        _finish(paths)
        done = paths.home / DONE
        if done.exists():
            plan = json.loads(done.read_text(encoding="utf-8"))
            done.unlink()
            return (plan["backup"], paths.home / plan["replaced"]) if plan["backup"] else None
    return None


def _finish(paths: Paths) -> None:
    """Carry out a committed change, as far as that was not done, and delete prepared ones. The lock of the home must be held.

    If a file cannot be moved, all that were moved are moved back, and StorageError is raised.
    """
    home = paths.home
    with translate_errors(home):
        if (home / PLAN).exists():
            plan = json.loads((home / PLAN).read_text(encoding="utf-8"))
            replaced = home / plan["replaced"]
            try:
                _move(home, plan["moves"])
            except OSError:
                _move(home, [(target, source) for source, target in reversed(plan["moves"])])
                shutil.rmtree(replaced, ignore_errors=True)
                (home / PLAN).unlink()
                raise
            for cache in (paths.index, paths.states):  # made from the other database, whose numbers mean other texts
                shutil.rmtree(cache, ignore_errors=True)
            (home / PLAN).replace(home / DONE)
            sync_folder(home)
            rotate(replaced.parent, BackupKind.REPLACED)
        for folder in home.glob(f"{PREPARED_PREFIX}*"):
            shutil.rmtree(folder, ignore_errors=True)


def _move(home: Path, moves: Sequence[tuple[str, str]]) -> None:
    """Rename files and folders of a data folder, in this order; those that were renamed already are left alone."""
    for source, target in moves:
        if os.path.lexists(home / source) and not os.path.lexists(home / target):
            (home / target).parent.mkdir(parents=True, exist_ok=True)
            (home / source).rename(home / target)
    for folder in {(home / name).parent for move in moves for name in move}:
        sync_folder(folder)
