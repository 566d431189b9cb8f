"""Version 7 of the database: whom and what a fact is about, what it replaces, and whether it belongs to a story."""

from __future__ import annotations

import sqlite3

ADDED = (
    "ALTER TABLE facts ADD COLUMN kind TEXT NOT NULL DEFAULT 'other'",
    "ALTER TABLE facts ADD COLUMN key TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN subject TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE facts ADD COLUMN in_story INTEGER NOT NULL DEFAULT 0",
)


def fact_schema(connection: sqlite3.Connection) -> None:
    """Version 7: kind, key, subject and story of every fact."""
    for statement in ADDED:
        connection.execute(statement)
