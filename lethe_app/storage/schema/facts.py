"""Version 7 of the schema: kind, key, subject and story flag of facts."""

from __future__ import annotations

import sqlite3

ADDED = (
    "ALTER TABLE facts ADD COLUMN kind TEXT NOT NULL DEFAULT 'other'",
    "ALTER TABLE facts ADD COLUMN key TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN subject TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN in_story INTEGER NOT NULL DEFAULT 0",
)


def fact_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 7: kind, key, subject and story flag of every fact."""
    for statement in ADDED:
        connection.execute(statement)
