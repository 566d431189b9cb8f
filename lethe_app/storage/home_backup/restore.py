"""Restoring a backup of any form, without trusting it: everything is extracted and checked beside the data, and then put in
place, completely or not at all.

A file `.restore.json` in the data folder commits the restore, which is carried out when the folder is opened next, before
anything is read. What it replaces is moved, unchanged, into a folder among the backups, from which it can be restored in turn.
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
from lethe_app.errors import DatabaseTooNew, FileError, StorageError
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
from lethe_app.storage.database import LOCK_PATIENCE
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

PLAN, PREPARED_PREFIX = ".restore.json", ".restore-"
"""Name of the file that commits a restore, and prefix of the folder in which one is prepared; both are in the data folder."""
MAX_MANIFEST_BYTES = 16 << 20
NO_BACKUP = "is not a backup of Lethe, or is incomplete"
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, LookupError, TypeError)
"""Exceptions for a damaged or malicious archive, and for a manifest that is none."""

Sources = Mapping[str, tuple[int, Callable[[], IO[bytes]]]]
"""Files of a backup by name, each with its size and a function that opens it."""


def read_contents(backup: Path) -> BackupContents:
    """Return the contents of a backup of any form. Raise FileError or StorageError if it cannot be restored."""
    with _open_backup(backup) as (_sources, contents):
        return contents


@contextmanager
def _open_backup(backup: Path) -> Iterator[tuple[Sources, BackupContents]]:
    """Open a backup: an archive, a data folder, or a database alone. Raise FileError, DatabaseTooNew, StorageError."""
    if backup.is_dir() or backup.suffix == DATABASE_SUFFIX:
        with translate_errors(backup):
            files = find_files(backup) if backup.is_dir() else {DATABASE: backup}
            sources = {name: (path.stat().st_size, partial(io.FileIO, path)) for name, path in files.items()}
        yield sources, describe_home(backup) if backup.is_dir() else describe_database(backup)
    else:
        with _open_archive(backup) as opened:
            yield opened


@contextmanager
def _open_archive(path: Path) -> Iterator[tuple[Sources, BackupContents]]:
    """Open an archive whose names have all been checked. Raise FileError, DatabaseTooNew, StorageError."""
    try:
        with translate_errors(path), zipfile.ZipFile(path) as archive:
            members = {one.filename: one for one in archive.infolist() if one.filename != MANIFEST}
            for name in members:
                if not is_backup_name(name):
                    raise FileError(path, f"contains “{name[:80]}”, which is not part of a backup; nothing was changed")
            manifest = json.loads(archive.open(MANIFEST).read(MAX_MANIFEST_BYTES))
            if manifest["version"] > BACKUP_VERSION:
                message = f"The backup {path} was made by a newer version of Lethe."
                raise DatabaseTooNew(message, "Install the newer version; nothing was changed.")
            sources = {name: (member.file_size, partial(archive.open, member)) for name, member in members.items()}
            yield sources, BackupContents.model_validate(manifest)
    except DAMAGED as error:
        raise FileError(path, NO_BACKUP) from error


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


def prepare_restore(paths: Paths, backup: Path, stop: threading.Event, on_progress: Progress) -> Path:
    """Extract and check a backup while the data is in use, and commit its restore, for `finish_restore`. Return the folder with
    what was extracted. Raise FileError for a file that is no backup or tries to leave the data folder, DatabaseDamaged,
    DatabaseTooNew, StorageError, and WorkCancelled if `on_progress` does; then nothing has changed.
    """
    with prepared_folder(paths) as folder:
        with _open_backup(backup) as (sources, _contents):
            if not sources:
                raise FileError(backup, NO_BACKUP)
            _extract(sources, folder, on_progress)
        if DATABASE in sources:
            _check_database(backup, folder / DATABASE, stop)
        with suppress(FileError):  # settings that are not there or cannot be read have no keys to keep, or no place for them
            secrets = {name: value for name, value in read_object(paths.settings).items() if SECRET.search(name)}
            restored = read_object(folder / SETTINGS) | secrets
            write_atomically(folder / SETTINGS, json.dumps(restored, ensure_ascii=False, indent=2).encode())
        items = DATABASE_ITEMS if backup.suffix == DATABASE_SUFFIX else (*DATABASE_ITEMS, *FILE_ITEMS)
        _commit(paths.home, folder, items, backup.name)
    return folder


@contextmanager
def prepared_folder(paths: Paths) -> Iterator[Path]:
    """Create a folder beside the data, for what is to replace some of it; it is deleted if the body raises."""
    with translate_errors(paths.home):
        paths.home.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=PREPARED_PREFIX, dir=paths.home))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def replace_items(paths: Paths, folder: Path, items: Sequence[str]) -> Path | None:
    """Replace these files and folders of the data by those in a prepared folder; those that it does not contain are only
    moved away. Return the folder that contains what was replaced, None if there was nothing. Raise DatabaseLocked while Lethe
    runs, and StorageError, with nothing changed.
    """
    with HomeLock(paths.home):
        _commit(paths.home, folder, items)
        return _carry_out(paths)[1]


def finish_restore(paths: Paths) -> tuple[str, Path | None] | None:
    """Carry out the restore that was committed, and delete what one that was not has left. Call it before anything is read from
    the data folder. Raise DatabaseLocked while another Lethe uses it, and StorageError.

    Return the name of the backup that was restored, and the folder with what it has replaced, if there was anything.
    """
    with translate_errors(paths.home):
        if not paths.home.is_dir():
            return None
    with HomeLock(paths.home, LOCK_PATIENCE):
        restored = _carry_out(paths) if (paths.home / PLAN).exists() else None
        for folder in paths.home.glob(f"{PREPARED_PREFIX}*"):
            shutil.rmtree(folder, ignore_errors=True)
    return restored


def _commit(home: Path, folder: Path, items: Sequence[str], backup_name: str = "") -> None:
    """Write what is to be replaced by what into the file that commits it."""
    with translate_errors(folder):
        for parent, _folders, _files in os.walk(folder):
            sync_folder(Path(parent))
    plan = {"backup": backup_name, "prepared": folder.name, "items": items}
    write_atomically(home / PLAN, json.dumps(plan).encode())


def _carry_out(paths: Paths) -> tuple[str, Path | None]:
    """Carry out what was committed, as far as that was not done, and return what `finish_restore` does. The lock of the home
    must be held.

    If a file cannot be moved, all that were moved are moved back, and StorageError is raised.
    """
    home, committed = paths.home, paths.home / PLAN
    with translate_errors(home):
        plan = json.loads(committed.read_text(encoding="utf-8"))
        if "moves" not in plan:  # first what there is now, to know it from what is put in its place
            kept = backup_path(backup_folder(paths.database), now(), BackupKind.REPLACED).relative_to(home).as_posix()
            old = [(item, f"{kept}/{item}") for item in plan["items"] if os.path.lexists(home / item)]
            prepared = home / plan["prepared"]
            new = [(f"{prepared.name}/{item}", item) for item in plan["items"] if (prepared / item).exists()]
            plan |= {"replaced": kept, "moves": old + new}
            write_atomically(committed, json.dumps(plan).encode())
        replaced = home / plan["replaced"]
        try:
            _move(home, plan["moves"])
        except OSError:
            _move(home, [(target, source) for source, target in reversed(plan["moves"])])
            shutil.rmtree(replaced, ignore_errors=True)
            committed.unlink()
            raise
        for cache in (paths.index, paths.states):  # made from the other database, whose numbers mean other texts
            shutil.rmtree(cache, ignore_errors=True)
        committed.unlink()
        sync_folder(home)
        rotate(replaced.parent, BackupKind.REPLACED)
    return plan["backup"], replaced if replaced.exists() else None


def _move(home: Path, moves: Sequence[tuple[str, str]]) -> None:
    """Rename files and folders of a data folder, in this order; those that were renamed already are left alone."""
    for source, target in moves:
        if os.path.lexists(home / source) and not os.path.lexists(home / target):
            (home / target).parent.mkdir(parents=True, exist_ok=True)
            (home / source).rename(home / target)
    for folder in {(home / name).parent for move in moves for name in move if (home / name).exists()}:
        sync_folder(folder)
