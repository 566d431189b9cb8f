"""Damage in a database that can be opened: what it concerns, and renewing the tables that are made from others."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from enum import StrEnum
from pathlib import Path

from lethe_app.errors import WorkCancelled
from lethe_app.storage.backup import passes_integrity_check
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.index.pending import queue_all
from lethe_app.storage.transaction import transaction

IS_DERIVED = "(tbl_name LIKE 'passage%' OR tbl_name = 'token_counts')"
"""Condition, as SQL, of what is made from other tables: passages, their vectors, words and queue, and counted tokens."""
SELECT_TABLES = f"SELECT name, {IS_DERIVED} FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
SELECT_STATEMENTS = f"""
SELECT sql FROM sqlite_schema WHERE {IS_DERIVED} AND sql IS NOT NULL AND name NOT LIKE 'passage\\_words\\_%' ESCAPE '\\'
"""
"""Query of the statements that create those tables; the full-text index creates tables of its own."""
READ_WORDS = "SELECT sum(cnt) FROM passage_terms"
"""Query that reads the whole full-text index, whose contents SQLite's check does not cover."""


class Damage(StrEnum):
    """What of a database is damaged."""

    NOTHING = "nothing"
    DERIVED = "only the search index, which can be made again"
    RECORDS = "a part cannot be read"


def find_damage(database: Path, stop: threading.Event) -> Damage:
    """Check every page of a database, which may be in use. Raise WorkCancelled if `stop` is set, and StorageError."""
    with translate_errors(database), closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.set_progress_handler(stop.is_set, 20_000)
        if passes_integrity_check(database, stop) and _returns(reader, READ_WORDS):
            return Damage.NOTHING
        are_derived = [
            is_derived
            for table, is_derived in reader.execute(SELECT_TABLES).fetchall()
            if not _returns(reader, f"PRAGMA integrity_check('{table}')", ("ok",))
            or not _returns(reader, f"PRAGMA foreign_key_check('{table}')", None)
        ]
    if stop.is_set():
        raise WorkCancelled
    return Damage.DERIVED if all(are_derived) else Damage.RECORDS


def _returns(reader: sqlite3.Connection, query: str, *wanted: object) -> bool:
    """Return whether a query can be run and has one of these first rows; any if none is given."""
    try:
        row = reader.execute(query).fetchone()
    except sqlite3.DatabaseError:
        return False
    return not wanted or row in wanted


def renew_derived_tables(connection: sqlite3.Connection) -> None:
    """Replace the tables that are made from others by empty ones, queue what they are made from, and write the file anew,
    without the pages that were damaged. They need not be readable.
    """
    connection.execute("PRAGMA writable_schema = ON")  # dropping a table would read its pages
    try:
        with transaction(connection):
            statements = connection.execute(SELECT_STATEMENTS).fetchall()
            connection.execute(f"DELETE FROM sqlite_schema WHERE {IS_DERIVED}")
            connection.execute("PRAGMA writable_schema = RESET")
            for (statement,) in statements:
                connection.execute(statement)
            queue_all(connection)
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("VACUUM")
