"""Inspection of a database file without opening it for writing, so that a file Lethe must not touch stays unchanged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from lethe_app.errors import DatabaseTooNew
from lethe_app.storage.error_translation import damaged_error, translate_errors
from lethe_app.storage.migrations import APPLICATION_ID, schema_version

MAGIC = b"SQLite format 3\x00"
HEADER_BYTES = 100
VERSION_OFFSET, APPLICATION_ID_OFFSET = 60, 68
"""Offsets of `user_version` and `application_id` in the header: https://www.sqlite.org/fileformat2.html#the_database_header."""


def sidecar_path(path: Path, suffix: str) -> Path:
    """Return the path of the file that SQLite keeps next to a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


def has_content(path: Path) -> bool:
    """Return whether the file exists and is not empty."""
    return path.exists() and path.stat().st_size > 0


def read_version(path: Path, latest: int) -> int:
    """Return the schema version of the database at `path`. Raise `DatabaseDamaged` if it is none of Lethe's,
    `DatabaseTooNew` above `latest`.
    """
    with translate_errors(path):
        if not path.is_file():
            raise damaged_error(path, "is not a file", "Move it elsewhere, or choose another folder.")
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
            raise damaged_error(path, "is not a SQLite file, or its header is damaged")
        version = int.from_bytes(header[VERSION_OFFSET : VERSION_OFFSET + 4])
        if has_content(sidecar_path(path, "-wal")):
            version = max(version, _read_version_with_wal(path))
    if int.from_bytes(header[APPLICATION_ID_OFFSET : APPLICATION_ID_OFFSET + 4]) != APPLICATION_ID or version == 0:
        raise damaged_error(path, "belongs to another program", "Move it elsewhere, or choose another folder.")
    if version > latest:
        raise DatabaseTooNew(
            f"The database {path} was written by a newer version of Lethe (schema {version}; this version supports {latest}).",
            "Install the newer version; the file was left unchanged.",
        )
    return version


def _read_version_with_wal(path: Path) -> int:
    """Return the version as the write-ahead log has it: after a crash the newest one may be only there."""
    index = sidecar_path(path, "-shm")
    # Even a read-only connection creates the -shm file of the log; it is deleted so that nothing has changed.
    existed = index.exists()
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return schema_version(connection)
    finally:
        if not existed:
            index.unlink(missing_ok=True)
