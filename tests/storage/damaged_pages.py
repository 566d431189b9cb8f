"""Damage to chosen pages of a database that is closed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

PAGE = 4096


def pages_of(database: Path, table: str) -> list[int]:
    """Return the pages with the content of a table or an index; the root, if there is no other."""
    with closing(sqlite3.connect(database)) as connection:
        query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype <> 'internal' ORDER BY pageno"
        try:
            return [page for (page,) in connection.execute(query, (table,))]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite cannot tell pages")


def damage_pages(database: Path, table: str, every: int = 1) -> None:
    """Overwrite every so many of the pages of a table or an index with garbage."""
    pages = pages_of(database, table)[::every]
    with database.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(b"\xa5" * PAGE)
