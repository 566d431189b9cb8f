"""Looks at a database file without opening it for writing, so that one we must not touch stays as it is to the last byte."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from lethe_app.errors import DatabaseTooNew
from lethe_app.storage.error_translation import damaged, translated
from lethe_app.storage.migrations import APPLICATION_ID, version

MAGIC = b"SQLite format 3\x00"
HEADER_BYTES = 100
VERSION_AT, APPLICATION_AT = 60, 68
"""Where the header keeps `user_version` and `application_id`: https://www.sqlite.org/fileformat2.html#the_database_header"""


def beside(path: Path, ending: str) -> Path:
    """The file SQLite keeps next to a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + ending)


def has_content(path: Path) -> bool:
    """Is there a file with at least one byte?"""
    return path.exists() and path.stat().st_size > 0


def read_version(path: Path, latest: int) -> int:
    """The version of our database at `path`; raises `DatabaseDamaged` if it is not one, `DatabaseTooNew` above `latest`."""
    with translated(path):
        if not path.is_file():
            raise damaged(path, "is not a file", "Move it away, or choose another folder.")
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
            raise damaged(path, "is not one, or its beginning is damaged")
        found = int.from_bytes(header[VERSION_AT : VERSION_AT + 4])
        if has_content(beside(path, "-wal")):
            found = max(found, _version_with_log(path))
    if int.from_bytes(header[APPLICATION_AT : APPLICATION_AT + 4]) != APPLICATION_ID or found == 0:
        raise damaged(path, "belongs to another program", "Move it away, or choose another folder.")
    if found > latest:
        raise DatabaseTooNew(
            f"The database {path} was written by a newer Lethe (version {found}, this one knows {latest}).",
            "Install the newer version; the file is left as it is.",
        )
    return found


def _version_with_log(path: Path) -> int:
    """After a crash the newest version may stand in the write-ahead log alone; an index built for reading it is taken away."""
    index = beside(path, "-shm")
    was_there = index.exists()
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return version(connection)
    finally:
        if not was_there:
            index.unlink(missing_ok=True)
