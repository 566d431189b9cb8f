"""Version 6 of the schema: the other participants of a group session."""

from __future__ import annotations

import sqlite3


def guest_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 6: participants besides the session's own persona."""
    connection.execute("ALTER TABLE sessions ADD COLUMN guests TEXT NOT NULL DEFAULT '[]'")  # JSON
