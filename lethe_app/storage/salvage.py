"""Salvage of a damaged database: every row that can still be read is copied into a new one."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lethe_app.storage.backup import Progress
from lethe_app.storage.database_header import HEADER_BYTES, has_content, sidecar_path
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.index.pending import queue_all
from lethe_app.storage.migrations import MIGRATIONS, migrate
from lethe_app.storage.salvaged_relations import mend_relations
from lethe_app.storage.transaction import transaction
from lethe_app.storage.unreadable_values import decode_tolerantly

PAGE_BYTES = 4096
"""Size of a page of every database that Lethe creates."""
EMPTY_TABLE = b"\x0d" + bytes(4) + PAGE_BYTES.to_bytes(2) + b"\x00"
"""Beginning of the page of a table without rows: https://www.sqlite.org/fileformat2.html#b_tree_pages."""
ARE_PLAUSIBLE = tuple(
    f"SELECT count(*) = coalesce(sum(length({key}) = 36), 0) FROM (SELECT {key} FROM {table} LIMIT 20)"
    for table, key in (("messages", "id"), ("memories", "guid"), ("sessions", "guid"))
)
"""Queries whether tables contain ids where they should."""
REBUILT_TABLES = ("passage_words", "passage_terms", "passage_places", "passage_debts", "token_counts")
"""Beginnings of the names of tables that are made again from others."""
MAX_GUESSED_ROWS, MAX_RANGES = 1_000, 60_000
"""Number of rows that are looked for behind the last one known of a damaged table, and of ranges that are tried."""
SELECT_COLUMNS = """
SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
WHERE t.type = 'table' AND t.sql LIKE 'CREATE TABLE%' AND t.name NOT LIKE 'sqlite_%'
"""
HAS_ROWID = "SELECT sql NOT LIKE '%WITHOUT ROWID%' FROM sqlite_schema WHERE type = 'table' AND name = ?"


@dataclass
class SalvageReport:
    """What could not be saved of a damaged database."""

    damaged: list[str]
    """Tables of which a part could not be read."""
    incomplete: list[tuple[str, int, int]]
    """Title, messages saved and messages there were of conversations that are no longer complete."""


def salvage(database: Path, target: Path, on_progress: Progress = lambda _: None) -> SalvageReport:
    """Copy what can be read of a damaged database into a new one at `target`, of the newest schema version; `database` is not
    changed.

    If nothing can be read, the new one is empty. `on_progress` is called for every row and may raise to cancel. Raise
    StorageError.
    """
    with translate_errors(target), tempfile.TemporaryDirectory(dir=target.parent) as folder:
        template = Path(folder) / "template.sqlite3"
        with closing(sqlite3.connect(template, isolation_level=None)) as connection:
            migrate(connection)
        copy = Path(folder) / database.name
        for has_schema in (True, False):
            with closing(_open_copy(database, copy, template, has_schema=has_schema)) as source:
                if version := _find_version(source):
                    return _copy_database(source, version, target, on_progress)
        with closing(_open_copy(database, copy, template, has_schema=True)) as source:
            return _copy_database(source, len(MIGRATIONS), target, on_progress)


def _open_copy(database: Path, copy: Path, template: Path, *, has_schema: bool) -> sqlite3.Connection:
    """Copy a damaged database with its log, and open the copy with the header of a new one and, unless it has a list of tables
    itself, with that list: it fits a database that began as such.
    """
    for suffix in ("", "-wal", "-shm"):
        sidecar_path(copy, suffix).unlink(missing_ok=True)
        if suffix != "-shm" and has_content(sidecar_path(database, suffix)):
            shutil.copyfile(sidecar_path(database, suffix), sidecar_path(copy, suffix))
    copy.touch()
    header = bytearray(template.read_bytes()[:HEADER_BYTES])
    size = max(copy.stat().st_size, template.stat().st_size)  # tables must not begin on pages that are added
    header[28:32] = (size // PAGE_BYTES).to_bytes(4)
    header[32:40] = bytes(8)  # no free pages
    header[92:96] = header[24:28]  # the number of pages is valid for this change
    with copy.open("r+b") as file:
        file.truncate(size)
        file.write(header if has_schema else header + EMPTY_TABLE)
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.text_factory = decode_tolerantly
    connection.execute("PRAGMA writable_schema = ON")  # tolerates what cannot be read in the list of tables
    if not has_schema:
        with suppress(sqlite3.Error):
            connection.execute("ATTACH ? AS template", (str(template),))
            connection.execute("INSERT INTO sqlite_schema SELECT * FROM template.sqlite_schema")
            connection.execute("PRAGMA writable_schema = RESET")  # reads the list
            connection.execute("PRAGMA writable_schema = ON")
    return connection


def _readable_tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the tables of a database with their columns, as far as its schema can be read."""
    tables: dict[str, list[str]] = {}
    with suppress(sqlite3.Error):
        for table, column in connection.execute(SELECT_COLUMNS):
            tables.setdefault(table, []).append(column)
    return tables


def _find_version(source: sqlite3.Connection) -> int:
    """Return the schema version that has these tables, the oldest of several; 0 if there is none, or if what they contain
    belongs to others.
    """
    tables = _readable_tables(source)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for version in range(1, len(MIGRATIONS) + 1):
            migrate(connection, MIGRATIONS[:version])
            if _readable_tables(connection) == tables:
                break
        else:
            return 0
    with suppress(sqlite3.Error):  # what is damaged there is left out
        return version if all(source.execute(query).fetchone()[0] for query in ARE_PLAUSIBLE) else 0
    return version


def _copy_database(source: sqlite3.Connection, version: int, target: Path, on_progress: Progress) -> SalvageReport:
    """Copy the rows into a new database of the same schema version, which is then migrated to the newest."""
    found, damaged = _readable_tables(source), []
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, MIGRATIONS[:version])
        connection.execute("PRAGMA foreign_keys = OFF")
        tables = _readable_tables(connection)
        with transaction(connection):
            for number, name in enumerate(tables):
                report = partial(on_progress, number / len(tables))
                known = [column for column in tables[name] if column in found.get(name, ())]
                is_rebuilt = name.startswith(REBUILT_TABLES)
                if not is_rebuilt and not (known and _copy_table(source, connection, name, known, report)):
                    damaged.append(name)
            for migration in MIGRATIONS[version:]:  # not by `migrate`: rows may have lost their parents
                migration(connection)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            incomplete = mend_relations(connection)
            queue_all(connection)
    return SalvageReport(damaged, incomplete)


def _copy_table(
    source: sqlite3.Connection, target: sqlite3.Connection, name: str, columns: list[str], report: Callable[[], None]
) -> bool:
    """Copy the rows of a table around those that cannot be read; return whether all could be."""
    errors: list[sqlite3.Error] = []
    (has_rowid,) = target.execute(HAS_ROWID, (name,)).fetchone()
    names = ", ".join(["rowid", *columns] if has_rowid else columns)
    # A row that a constraint rejects is damaged.
    insert = f"INSERT OR IGNORE INTO {name} ({names}) VALUES ({', '.join('?' * len(names.split(', ')))})"

    def read(query: str) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a query until one cannot be read."""
        try:
            report()
            for row in source.execute(query):
                report()
                yield row
        except sqlite3.Error as error:
            errors.append(error)

    def copy(condition: str) -> bool:
        """Copy the rows in the order of the table until one cannot be read; return whether all could be."""
        known_errors = len(errors)
        target.executemany(insert, read(f"SELECT {names} FROM {name} NOT INDEXED {condition}"))
        return len(errors) == known_errors

    if copy(""):
        return True
    if has_rowid:
        saved = target.execute(f"SELECT coalesce(max(rowid), 0) FROM {name}")
        # The end of the table and an index, as far as they can be read, know rows behind the damage.
        known = (*read(f"SELECT coalesce(max(rowid), 0) FROM {name}"), *read(f"SELECT rowid FROM {name}"), *saved)
        if highest := max(known)[0]:
            _copy_ranges(copy, highest + MAX_GUESSED_ROWS)
    else:
        source.execute("PRAGMA reverse_unordered_selects = ON")
        copy("")
        source.execute("PRAGMA reverse_unordered_selects = OFF")
    return False


def _copy_ranges(copy: Callable[[str], bool], highest: int) -> None:
    """Copy the rows whose numbers are at most `highest`, in ranges that are halved until only what cannot be read is left."""
    ranges = [(1, highest)]
    for first, last in ranges:
        is_whole = copy(f"WHERE rowid BETWEEN {first} AND {last} LIMIT {last - first + 1}")
        if not is_whole and first < last and len(ranges) < MAX_RANGES:
            middle = (first + last) // 2
            ranges += [(first, middle), (middle + 1, last)]
