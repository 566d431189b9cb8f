"""All or nothing: one transaction around a block, also where SQLite has taken everything back by itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end of the block, or undo all of it when anything in it, or the commit itself, fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        undo(connection)
        raise


def undo(connection: sqlite3.Connection) -> None:
    """Roll back; a full disk may have done so already."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
