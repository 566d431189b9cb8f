"""Values of the database that SQLite or Python cannot read: what is done so that one of them does not stop everything else."""

from __future__ import annotations

import json
import logging
import sqlite3
from pathlib import Path

from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.database_header import sidecar_path
from lethe_app.storage.files.json_files import trash_path
from lethe_app.storage.row_mapping import JSON_COLUMNS, json_list
from lethe_app.storage.transaction import transaction

log = logging.getLogger(__name__)

NOT_UTF8, NOT_JSON = "Could not decode to UTF-8", "malformed JSON"
"""Beginnings of the errors that one unreadable value causes in a query of a thousand rows."""
SELECT_JSON_COLUMNS = """
SELECT t.name, c.name, coalesce(c.dflt_value, '''[]''') FROM sqlite_schema t JOIN pragma_table_info(t.name) c
WHERE t.type = 'table' AND t.sql LIKE 'CREATE TABLE%' AND c.name IN (SELECT value FROM json_each(?))
"""
"""Query for tables, columns that contain JSON, and their empty values as SQL."""
OWNER_MAY_WRITE = 0o600


def mend_after(error: sqlite3.Error, connection: sqlite3.Connection, trash: Path) -> bool:
    """Make the values readable that made a query fail, and return whether there are any, so that it can be run again.

    Text that is not UTF-8 is read with U+FFFD in its place from now on. JSON that is none is replaced by an empty list or
    object, after it was written to a file in the trash.
    """
    was_strict = connection.text_factory is str
    if not str(error).startswith((NOT_UTF8, NOT_JSON)):
        return False
    connection.text_factory = decode_tolerantly  # what is no JSON may be no text either
    return was_strict if str(error).startswith(NOT_UTF8) else _empty_broken_json(connection, trash)


def decode_tolerantly(stored: bytes) -> str:
    """Return text as it is stored; what is not UTF-8 becomes U+FFFD."""
    return stored.decode("utf-8", "replace")


def allow_writing_logs(database: Path) -> None:
    """Make the log of a writable database writable, too: SQLite creates it with the permissions that the database had then,
    and a database that was read-only once could otherwise not be opened for ever.
    """
    if not database.exists() or database.stat().st_mode & OWNER_MAY_WRITE != OWNER_MAY_WRITE:
        return
    for log_file in (sidecar_path(database, "-wal"), sidecar_path(database, "-shm"), sidecar_path(database, "-journal")):
        if log_file.exists():
            log_file.chmod(log_file.stat().st_mode | OWNER_MAY_WRITE)


def _empty_broken_json(connection: sqlite3.Connection, trash: Path) -> bool:
    found: dict[str, list[str]] = {}
    with transaction(connection):
        for table, column, empty in connection.execute(SELECT_JSON_COLUMNS, (json_list(JSON_COLUMNS),)).fetchall():
            query = f"SELECT {column} FROM {table} WHERE NOT json_valid({column})"
            if broken := [value for (value,) in connection.execute(query)]:
                found[f"{table}.{column}"] = broken
                connection.execute(f"UPDATE {table} SET {column} = {empty} WHERE NOT json_valid({column})")
        if found:
            file = trash_path("unreadable-values.json", trash)
            write_atomically(file, json.dumps(found, ensure_ascii=False, indent=2).encode())
    log.info("Values that are no JSON were emptied: %s", {name: len(values) for name, values in found.items()})
    return bool(found)
