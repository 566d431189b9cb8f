"""ZIP archive of a backup: which files of a data folder belong to it, writing it, and reading one without trusting it.

The names in it are relative. Models, caches, logs and secrets are in none. Nothing is extracted before all members were
checked, and no member further than its size.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from lethe_app.config.settings import SECRET_SETTINGS
from lethe_app.domain.bundle import BACKUP_VERSION, BackupContents
from lethe_app.errors import DatabaseTooNew, FileError
from lethe_app.storage.atomic import delete_temporary_file, sync_file, sync_folder, write_atomically
from lethe_app.storage.backup import PieceCopier, Progress
from lethe_app.storage.database_header import sidecar_path
from lethe_app.storage.error_translation import LOW_DISK_BYTES, disk_full_error, translate_errors
from lethe_app.storage.files.json_files import read_object

DATABASE, SETTINGS, MANIFEST = "lethe.sqlite3", "settings.json", "backup.json"
DATABASE_ITEMS = tuple(sidecar_path(Path(DATABASE), suffix).name for suffix in ("-wal", "-shm", "-journal", ""))
"""Files of the database. Its logs come first: left beside another database, SQLite would replay them into it."""
FOLDERS = ("personas", "worldinfo", "presets", "notebooks", "prompts", "translations", "subjects", "mood")
TRASH_FOLDERS = tuple(f"trash/{name}" for name in ("personas", "worldinfo", "presets", "notebooks"))
FILE_ITEMS = (SETTINGS, *FOLDERS, *TRASH_FOLDERS)
"""Files and folders that are restored together with the database, each as a whole."""
MAX_FILE_BYTES = 1 << 30
"""Maximum size of a file other than the database."""
SECRET = re.compile("|".join([*SECRET_SETTINGS, "_key$", "_password$", "_token$"]))
"""Names of settings that are in no backup: those that are masked on screen, and what a newer version may call so."""
MAX_MEMBERS, MAX_MANIFEST_BYTES, MAX_DATABASE_BYTES = 500_000, 16 << 20, 1 << 40
"""Limits far above any real backup."""
LEVEL = 1
"""Compression of zlib: a quarter of the size of a database, at several times the speed of the default."""
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""Exceptions that Python's zipfile raises for a damaged or malicious archive."""


def is_backup_name(name: str) -> bool:
    """Return whether a name is that of a file of a backup: relative, below one of the folders, and valid on every system."""
    parts = name.split("/")
    if name in {DATABASE, SETTINGS}:
        return True
    if not name.isprintable() or not name.startswith(tuple(f"{item}/" for item in FILE_ITEMS)):
        return False
    return not any(part in {"", ".", ".."} or set(part) & set("\\:") for part in parts)


def find_files(home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of `home` that belong to a backup with their names, the database and files in progress excluded."""
    if (home / SETTINGS).is_file():
        yield SETTINGS, home / SETTINGS
    for item in (*FOLDERS, *TRASH_FOLDERS):
        for folder, names, files in os.walk(home / item):
            names[:] = sorted(name for name in names if not name.startswith(".") or name.endswith(".change"))
            for file in sorted(files):
                path = Path(folder, file)
                if not file.startswith(".") and stat.S_ISREG(path.stat().st_mode if path.exists() else 0):
                    yield path.relative_to(home).as_posix(), path


def read_settings(path: Path, *, are_secret: bool) -> dict[str, object]:
    """Return the keys and passwords of a settings file, or all others. Raise FileError."""
    return {name: value for name, value in read_object(path).items() if bool(SECRET.search(name)) is are_secret}


def keep_secrets(restored: Path, current: Path) -> None:
    """Add the keys and passwords of the settings in use, if they can be read, to restored ones. Raise FileError."""
    values = read_settings(restored, are_secret=False)
    with suppress(FileError):
        values |= read_settings(current, are_secret=True)
    write_atomically(restored, json.dumps(values, ensure_ascii=False, indent=2).encode())


def write_archive(
    home: Path, database: Path | None, contents: BackupContents, target: Path, on_progress: Progress
) -> BackupContents:
    """Write a backup of `home` to `target`, with the copy `database` of its database, and return its contents.

    Files that cannot be read are left out and named in the contents. `on_progress` may raise to cancel. Raise StorageError;
    then no file is left.
    """
    files = {**({} if database is None else {DATABASE: database}), **dict(find_files(home))}
    copier = PieceCopier(sum(path.stat().st_size for path in files.values()), on_progress)
    draft = target.with_name(f".{target.name}.partial")
    with translate_errors(target):
        try:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
                for name, path in files.items():
                    source = _open_file(name, path)
                    if source is None:
                        contents.left_out.append(name)
                        continue
                    with source, archive.open(name, "w", force_zip64=True) as member:
                        copier.copy(source, member)
                archive.writestr(MANIFEST, contents.model_dump_json())
            sync_file(draft)
            draft.replace(target)
            sync_folder(target.parent)
        finally:
            delete_temporary_file(draft)
    return contents


def _open_file(name: str, path: Path) -> IO[bytes] | None:
    """Open a file to be backed up, the settings without secrets; None if it cannot be read or is too large."""
    with suppress(OSError, FileError):
        if name == SETTINGS:
            return io.BytesIO(json.dumps(read_settings(path, are_secret=False), indent=2).encode())
        if name == DATABASE or (is_backup_name(name) and path.stat().st_size <= MAX_FILE_BYTES):
            return path.open("rb")
    return None


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, BackupContents]]:
    """Open a backup whose members have all been checked, with its contents. Raise FileError, DatabaseTooNew, StorageError."""
    try:
        with translate_errors(path), path.open("rb") as file, zipfile.ZipFile(file) as archive:
            _check_members(path, archive.infolist())
            yield archive, _read_manifest(path, archive)
    except DAMAGED as error:
        raise unreadable_backup_error(path) from error


def extract(path: Path, folder: Path, on_progress: Progress) -> None:
    """Extract a backup into the empty `folder`; `on_progress` may raise to cancel. Raise FileError, DatabaseTooNew,
    StorageError.
    """
    with open_archive(path) as (archive, _contents):
        members = [member for member in archive.infolist() if member.filename != MANIFEST]
        place_files([(one.filename, one.file_size, partial(archive.open, one)) for one in members], folder, on_progress)


def place_files(files: Sequence[tuple[str, int, Callable[[], IO[bytes]]]], folder: Path, on_progress: Progress) -> None:
    """Write files into a folder; each is given as its name in it, its size, and a function that opens its source."""
    total = sum(size for _name, size, _open_source in files)
    copier = PieceCopier(total, on_progress)
    with translate_errors(folder):
        if total + LOW_DISK_BYTES > shutil.disk_usage(folder).free:
            raise disk_full_error(folder)
        for name, _size, open_source in files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_source() as source, target.open("xb") as copy:
                copier.copy(source, copy)
                copy.flush()
                os.fsync(copy.fileno())


def unreadable_backup_error(path: Path) -> FileError:
    """Return the error for a file that is no backup, or only a part of one."""
    return FileError(path, "is not a backup of Lethe, or is incomplete", remedy="Choose another backup.")


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_MEMBERS:
        raise FileError(path, f"contains more than {MAX_MEMBERS} files")
    names: set[str] = set()
    for member in members:
        name = member.filename
        # Type 0 means that the archive was written on a system that stores no file types.
        is_file = stat.S_IFMT(member.external_attr >> 16) in {0, stat.S_IFREG}
        if name in names or not is_file or member.orig_filename != name or not (name == MANIFEST or is_backup_name(name)):
            raise FileError(path, f"contains “{name[:80]}”, which is not part of a backup; nothing was changed")
        limit = {DATABASE: MAX_DATABASE_BYTES, MANIFEST: MAX_MANIFEST_BYTES}.get(name, MAX_FILE_BYTES)
        if member.file_size > limit:
            raise FileError(path, f"contains “{name[:80]}”, which is too large; nothing was changed")
        names.add(name)


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> BackupContents:
    if MANIFEST not in archive.namelist():
        raise unreadable_backup_error(path)
    content = archive.read(MANIFEST)
    try:
        version = int(json.loads(content)["version"])
    except (KeyError, TypeError) as error:
        raise unreadable_backup_error(path) from error
    if version > BACKUP_VERSION:
        raise DatabaseTooNew(
            f"The backup {path} was made by a newer version of Lethe.", "Install the newer version; nothing was changed."
        )
    return BackupContents.model_validate_json(content)
