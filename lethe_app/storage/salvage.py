"""Salvage of a damaged database: every row that can still be read is copied into a new one."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from lethe_app.storage.backup import BackupCancelled
from lethe_app.storage.database_header import HEADER_BYTES, has_content, sidecar_path
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.index.pending import queue_all
from lethe_app.storage.migrations import APPLICATION_ID, MIGRATIONS, migrate
from lethe_app.storage.salvaged_relations import mend_relations
from lethe_app.storage.transaction import transaction
from lethe_app.storage.unreadable_values import decode_tolerantly

Progress = Callable[[float], None]
Mend = Callable[[Path, bytes], None]
"""Function that makes the copy of a damaged database readable with the bytes of a new one."""
PAGE_BYTES = 4096
"""Size of a page of every database that Lethe creates."""
INTERIOR_PAGE = 5
"""First byte of a page of a table that refers to other pages."""
ARE_PLAUSIBLE = tuple(
    f"SELECT count(*) = coalesce(sum(length({key}) = 36), 0) FROM (SELECT {key} FROM {table} LIMIT 20)"
    for table, key in (("messages", "id"), ("memories", "guid"), ("sessions", "guid"))
)
"""Queries whether tables contain ids where they should."""
REBUILT_TABLES = ("passage_words", "passage_terms", "passage_places", "passage_debts", "token_counts", "sqlite_")
"""Beginnings of the names of tables that are made again from others."""
MAX_GUESSED_ROWS = 10_000
"""Number of row numbers that are tried beside a damaged page if no index says which ones exist."""
ROWS_PER_CHECK = 500
SELECT_TABLES = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
SELECT_TRIGGERS = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"


@dataclass
class SalvageReport:
    """What was saved of a damaged database, and what was not."""

    saved: dict[str, int] = field(default_factory=dict)
    """Number of rows saved, by table."""
    lost: dict[str, int] = field(default_factory=dict)
    """Number of rows that are known to be lost, by table."""
    damaged: list[str] = field(default_factory=list)
    """Tables of which a part could not be read."""
    incomplete: list[tuple[str, int, int]] = field(default_factory=list)
    """Title, messages saved and messages there were of conversations that are no longer complete."""


def salvage(database: Path, target: Path, stop: threading.Event, on_progress: Progress = lambda _: None) -> SalvageReport:
    """Copy what can be read of a damaged database into a new one at `target`, of the newest schema version; `database` is not
    changed.

    If nothing can be read, the new one is empty. Raise BackupCancelled when `stop` is set, and StorageError.
    """
    with translate_errors(target), tempfile.TemporaryDirectory(dir=target.parent) as folder:
        copy, template = Path(folder) / database.name, Path(folder) / "template.sqlite3"
        with closing(sqlite3.connect(template, isolation_level=None)) as connection:
            migrate(connection)
        found: dict[Mend, dict[str, list[str]]] = {}
        mends: tuple[Mend, ...] = (_keep, _replace_header, _replace_schema)
        for mend in mends:
            _copy_damaged(database, copy)
            mend(copy, template.read_bytes())
            with closing(_open_damaged(copy)) as source:
                found[mend] = tables = _readable_tables(source)
                if _is_complete(source, tables):
                    break
        else:
            mend = max(found, key=lambda one: len(found[one]))
        _copy_damaged(database, copy)
        mend(copy, template.read_bytes())
        with closing(_open_damaged(copy)) as source:
            report = _copy_database(source, found[mend], target, stop, on_progress)
    return report


def _copy_damaged(database: Path, copy: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        sidecar_path(copy, suffix).unlink(missing_ok=True)
    copy.touch()
    for suffix in ("", "-wal"):
        if has_content(sidecar_path(database, suffix)):
            shutil.copyfile(sidecar_path(database, suffix), sidecar_path(copy, suffix))


def _open_damaged(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = decode_tolerantly
    connection.execute("PRAGMA writable_schema = ON")  # tolerates a file that is shorter than its header says
    return connection


def _readable_tables(source: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the tables of a database with their columns, as far as its schema can be read."""
    tables: dict[str, list[str]] = {}
    with suppress(sqlite3.Error):
        for name, sql in source.execute(SELECT_TABLES):
            if str(sql).upper().startswith("CREATE TABLE"):
                tables[name] = [row[1] for row in source.execute(f"PRAGMA table_info({name})")]
    return {name: columns for name, columns in tables.items() if columns}


def _is_complete(source: sqlite3.Connection, tables: dict[str, list[str]]) -> bool:
    """Return whether these are all tables of a schema version, and those of the texts contain what they should."""
    if not any(tables == known for known in _known_tables()):
        return False
    with suppress(sqlite3.Error):
        return all(source.execute(query).fetchone()[0] for query in ARE_PLAUSIBLE)
    return True  # what is damaged there is left out


def _known_tables() -> Iterator[dict[str, list[str]]]:
    """Yield the tables of every schema version, the newest first."""
    for version in range(len(MIGRATIONS), 0, -1):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            migrate(connection, MIGRATIONS[:version])
            yield _readable_tables(connection)


def _keep(_copy: Path, _template: bytes) -> None:
    """Change nothing."""


def _replace_header(copy: Path, template: bytes) -> None:
    """Replace the header by that of a new database, which is the same but for the number of pages."""
    _overwrite(copy, 0, template[:HEADER_BYTES])
    header = bytearray(template[:HEADER_BYTES])
    header[28:32] = (copy.stat().st_size // PAGE_BYTES).to_bytes(4)
    header[32:40] = bytes(8)  # no free pages
    header[92:96] = header[24:28]  # the number of pages is valid for this change
    _overwrite(copy, 0, header)


def _replace_schema(copy: Path, template: bytes) -> None:
    """Replace the pages with the list of tables by those of a new database: they fit if the damaged one began as such."""
    for page in _tree_pages(template, 1):
        start = (page - 1) * PAGE_BYTES
        _overwrite(copy, start, template[start : start + PAGE_BYTES])
    _replace_header(copy, template)


def _tree_pages(data: bytes, page: int) -> list[int]:
    """Return a page and all below it: https://www.sqlite.org/fileformat2.html#b_tree_pages."""
    start = (page - 1) * PAGE_BYTES
    head = start + (HEADER_BYTES if page == 1 else 0)
    if data[head] != INTERIOR_PAGE:
        return [page]
    places = [head + 12 + 2 * cell for cell in range(int.from_bytes(data[head + 3 : head + 5]))]
    cells = [start + int.from_bytes(data[place : place + 2]) for place in places]
    children = [int.from_bytes(data[place : place + 4]) for place in (*cells, head + 8)]
    return [page, *(below for child in children for below in _tree_pages(data, child))]


def _overwrite(file: Path, start: int, data: bytes | bytearray) -> None:
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(data)


def _copy_database(
    source: sqlite3.Connection, tables: dict[str, list[str]], target: Path, stop: threading.Event, on_progress: Progress
) -> SalvageReport:
    report = SalvageReport()
    version = _guess_version(tables)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, MIGRATIONS[:version])
        triggers = connection.execute(SELECT_TRIGGERS).fetchall()
        for name, _sql in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA foreign_keys = OFF")
        copied = [name for name in _readable_tables(connection) if name in tables and not name.startswith(REBUILT_TABLES)]
        for number, name in enumerate(copied):
            on_progress(number / len(copied))
            with transaction(connection):
                _TableCopy(source, connection, name, stop, report).run()
        _finish_schema(connection, version, triggers)
        with transaction(connection):
            mend_relations(connection, report.lost, report.incomplete)
            queue_all(connection)
    on_progress(1.0)
    return report


def _guess_version(tables: dict[str, list[str]]) -> int:
    """Return the schema version that has these tables and columns, the newest if there is none."""
    versions = range(len(MIGRATIONS), 0, -1)
    return next((version for version, known in zip(versions, _known_tables(), strict=True) if known == tables), len(MIGRATIONS))


def _finish_schema(connection: sqlite3.Connection, version: int, triggers: Sequence[tuple[str, str]]) -> None:
    """Bring the tables to the newest version and make the triggers again; rows may have lost their parents, unlike in a
    migration.
    """
    with transaction(connection):
        for _name, sql in triggers:
            connection.execute(sql)
        for migration in MIGRATIONS[version:]:
            migration(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


class _TableCopy:
    """Copy of one table, from both ends to the pages that cannot be read, and then row by row."""

    def __init__(
        self,
        source: sqlite3.Connection,
        target: sqlite3.Connection,
        name: str,
        stop: threading.Event,
        report: SalvageReport,
    ) -> None:
        self._source, self._target, self._name, self._stop, self._report = source, target, name, stop, report
        info = target.execute(f"PRAGMA table_info({name})").fetchall()
        known = {row[1] for row in source.execute(f"PRAGMA table_info({name})")}
        self._columns = [row[1] for row in info if row[1] in known]
        self._key = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
        (sql,) = target.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,)).fetchone()
        self._has_rowid = "WITHOUT ROWID" not in sql.upper()
        names = ", ".join(["rowid", *self._columns] if self._has_rowid else self._columns)
        self._select = f"SELECT {names} FROM {name}"
        self._insert = f"INSERT OR IGNORE INTO {name} ({names}) VALUES ({', '.join('?' * len(names.split(', ')))})"
        self._saved = 0
        self._saved_ids: set[int] = set()

    def run(self) -> None:
        """Copy what can be read, and add the figures to the report."""
        order = "rowid" if self._has_rowid else ", ".join(self._key)
        is_whole = self._copy_rows(f"{self._select} ORDER BY {order}")
        if not is_whole:
            last = max(self._saved_ids, default=0)
            backwards = ", ".join(f"{column} DESC" for column in order.split(", "))
            self._copy_rows(f"{self._select} ORDER BY {backwards}")
            self._report.damaged.append(self._name)
            if self._has_rowid:
                self._copy_single_rows(last)
        self._report.saved[self._name] = self._saved

    def _copy_single_rows(self, last: int) -> None:
        """Copy the rows between the damaged ends one by one, and count those that an index knows and that are lost."""
        known = set(self._read_ids())
        first = min((number for number in self._saved_ids if number > last), default=last + MAX_GUESSED_ROWS)
        between = range(max(last + 1, first - MAX_GUESSED_ROWS), first) if self._saved_ids else range(0)
        for number in sorted((known | set(between)) - self._saved_ids):
            self._copy_rows(f"{self._select} WHERE rowid = {number}")
        lost = len(known - self._saved_ids)
        if lost:
            self._report.lost[self._name] = self._report.lost.get(self._name, 0) + lost

    def _read_ids(self) -> Iterator[int]:
        """Yield the row numbers that an index of the table contains, as far as it can be read."""
        with suppress(sqlite3.Error):
            for (number,) in self._source.execute(f"SELECT rowid FROM {self._name}"):
                yield number

    def _copy_rows(self, query: str) -> bool:
        """Copy the rows of a query until one cannot be read; return whether all could be. Rows that are known are skipped."""
        try:
            for count, row in enumerate(self._source.execute(query)):
                if count % ROWS_PER_CHECK == 0 and self._stop.is_set():
                    raise BackupCancelled
                self._store(row)
        except sqlite3.Error:
            return False
        return True

    def _store(self, row: tuple[object, ...]) -> None:
        """Store a row, unless a constraint rejects it because it is damaged."""
        self._saved += self._target.execute(self._insert, row).rowcount
        if self._has_rowid:
            self._saved_ids.add(int(str(row[0])))
