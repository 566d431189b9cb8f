"""Transactions as a context manager."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end of the block; roll back if the block or the commit fails."""
    # IMMEDIATE takes the write lock at once. A deferred transaction could fail with SQLITE_BUSY in the middle, at its first
    # write.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back, unless SQLite has done so itself, as it may on a full disk."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
