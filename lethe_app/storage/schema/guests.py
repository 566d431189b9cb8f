"""What came with conversations of several personas: who takes part in one besides the persona whose it is."""

from __future__ import annotations

import sqlite3


def guest_schema(connection: sqlite3.Connection) -> None:
    """Version 6."""
    connection.execute("ALTER TABLE sessions ADD COLUMN guests TEXT NOT NULL DEFAULT '[]'")  # JSON
