"""ZIP archive of a backup: writes a data folder into one file, and reads such a file without trusting it.

The names in it are relative. Nothing is extracted before all members were checked, and no member further than its size.
"""

from __future__ import annotations

import json
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lethe_app.domain.bundle import BACKUP_VERSION, BackupContents
from lethe_app.errors import DatabaseTooNew, FileError
from lethe_app.storage.atomic import delete_temporary_file, sync_file, sync_folder
from lethe_app.storage.backup import Progress
from lethe_app.storage.error_translation import LOW_DISK_BYTES, disk_full_error, translate_errors
from lethe_app.storage.home_backup.files import (
    DATABASE,
    MANIFEST,
    MAX_FILE_BYTES,
    SETTINGS,
    find_files,
    is_backup_name,
    read_settings,
)

PIECE_BYTES = 1 << 20
MAX_MEMBERS, MAX_MANIFEST_BYTES = 500_000, 16 << 20
"""Limits far above any real backup."""
MAX_DATABASE_BYTES = 1 << 40
LEVEL = 1
"""Compression of zlib: a third of the size at several times the speed of the default."""
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""Exceptions that Python's zipfile raises for a damaged or malicious archive."""


def write_archive(
    home: Path, database: Path | None, contents: BackupContents, target: Path, on_progress: Progress
) -> BackupContents:
    """Write a backup of `home` to `target`, with the copy `database` of its database, and return its contents.

    Files that cannot be read are left out and named in the contents. `on_progress` is called with the fraction, 0 to 1, and may
    raise to cancel. Raise StorageError; then no file is left.
    """
    files = dict(find_files(home))
    if database is not None:
        files = {DATABASE: database, **files}
    total = sum(path.stat().st_size for path in files.values() if path.exists()) or 1
    draft, done = target.with_name(f".{target.name}.partial"), 0
    left_out: list[str] = []
    with translate_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
                for name, path in files.items():
                    for count in _add_file(archive, name, path, left_out):
                        done += count
                        on_progress(min(1.0, done / total))
                contents = contents.model_copy(update={"left_out": left_out})
                archive.writestr(MANIFEST, contents.model_dump_json())
            sync_file(draft)
            draft.replace(target)
            sync_folder(target.parent)
        finally:
            delete_temporary_file(draft)
    return contents


def _add_file(archive: zipfile.ZipFile, name: str, path: Path, left_out: list[str]) -> Iterator[int]:
    """Add a file and yield the number of bytes of each piece; a file that cannot be read is added to `left_out`."""
    try:
        if name != DATABASE and (not is_backup_name(name) or path.stat().st_size > MAX_FILE_BYTES):
            left_out.append(name)
            return
        content = json.dumps(read_settings(path, are_secret=False), indent=2) if name == SETTINGS else None
        source = path.open("rb")
    except (OSError, FileError):
        left_out.append(name)
        return
    with source:
        if content is not None:
            archive.writestr(name, content)
            yield len(content)
            return
        with archive.open(name, "w", force_zip64=True) as member:
            while piece := source.read(PIECE_BYTES):
                member.write(piece)
                yield len(piece)


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
        total, done = sum(member.file_size for member in members), 0
        if total + LOW_DISK_BYTES > shutil.disk_usage(folder).free:
            raise disk_full_error(folder)
        for member in members:
            with translate_errors(folder):
                for count in _extract_member(archive, member, folder / member.filename):
                    done += count
                    on_progress(min(1.0, done / total))


def _extract_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> Iterator[int]:
    """Extract one file and yield the number of bytes of each piece."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("xb") as extracted:
        while piece := source.read(PIECE_BYTES):
            extracted.write(piece)
            yield len(piece)


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
