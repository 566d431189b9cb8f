"""Schema migrations of the database: one numbered step per change, never edited once released."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from lethe_app.storage.schema.v8_reasons import convert_reasons
from lethe_app.storage.schema.v19_folded_words import fold_words
from lethe_app.storage.transaction import transaction

Migration = Callable[[sqlite3.Connection], None]

APPLICATION_ID = 0x4C657468
"""“Leth” in ASCII, stored in the header of every Lethe database."""
SCHEMA = Path(__file__).parent / "schema"
"""Folder of the SQL scripts."""


def run_script(name: str, connection: sqlite3.Connection) -> None:
    """Execute the statements of a script in `SCHEMA` within the caller's transaction."""
    # Not `executescript`: that commits the open transaction first, and a failing step could no longer be rolled back.
    for statement in split_statements((SCHEMA / name).read_text(encoding="utf-8")):
        connection.execute(statement)


def split_statements(script: str) -> Iterator[str]:
    """Yield the statements of an SQL script; each must end at the end of a line."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):  # knows comments, quoted text and the semicolons inside triggers
            yield statement
            statement = ""


MIGRATIONS: tuple[Migration, ...] = (
    partial(run_script, "v1_sessions.sql"),
    partial(run_script, "v2_passages.sql"),
    partial(run_script, "v3_facts.sql"),
    partial(run_script, "v4_receipts.sql"),
    partial(run_script, "v5_background_tasks.sql"),
    partial(run_script, "v6_guests.sql"),
    partial(run_script, "v7_fact_kinds.sql"),
    convert_reasons,
    partial(run_script, "v9_cut_replies.sql"),
    partial(run_script, "v10_originals.sql"),
    partial(run_script, "v11_documents.sql"),
    partial(run_script, "v12_message_data.sql"),
    partial(run_script, "v13_memory.sql"),
    partial(run_script, "v14_state_keys.sql"),
    partial(run_script, "v15_superseding.sql"),
    partial(run_script, "v16_plain_names.sql"),
    partial(run_script, "v17_fact_validity.sql"),
    partial(run_script, "v18_withdrawn_lines.sql"),
    fold_words,
)
"""Migration steps in order; step n migrates from version n to version n + 1."""


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of the database: the number of steps applied."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply all outstanding steps, each in a transaction of its own; a failing step leaves the version before it."""
    # SQLite ignores this pragma inside a transaction, so it must come before the first BEGIN.
    connection.execute("PRAGMA foreign_keys = OFF")  # a step may rebuild a table that others refer to
    for number in range(schema_version(connection), len(migrations)):
        with transaction(connection):
            migrations[number](connection)
            # With foreign keys off, nothing else would notice a row that lost its parent.
            _check_references(connection)
            # Both pragmas write to the header page, so they are part of the transaction.
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")
    connection.execute("PRAGMA foreign_keys = ON")


def _check_references(connection: sqlite3.Connection) -> None:
    orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
    if orphan is not None:
        raise sqlite3.IntegrityError(f"a row of {orphan[0]} is left without its {orphan[2]}")
