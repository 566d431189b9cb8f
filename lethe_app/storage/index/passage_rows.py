"""Rows of the passage table; text and word index are always changed together."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.storage.row_mapping import Row, select_by_values, storable_text

COLUMNS = "number, kind, owner, source, origin, text, searched, time, speaker, place"


def insert_passage(connection: sqlite3.Connection, passage: Passage) -> int:
    """Insert a passage and its words and return its number; a passage with number 0 gets the next free one."""
    row = to_row(passage)
    number = connection.execute(
        f"INSERT INTO passages ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
        (passage.number or None, *row),
    ).fetchone()[0]
    connection.execute("INSERT INTO passage_words (rowid, searched) VALUES (?, ?)", (number, row[5]))
    return int(number)


def delete_passages(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[int]:
    """Delete passages and return the numbers that existed."""
    deleted = []
    for number in numbers:
        row = connection.execute("SELECT searched FROM passages WHERE number = ?", (number,)).fetchone()
        if row is not None:
            # The index has external content: FTS5 needs the old text to remove its words, so this comes before the row is
            # deleted.
            delete_words = "INSERT INTO passage_words (passage_words, rowid, searched) VALUES ('delete', ?, ?)"
            connection.execute(delete_words, (number, row[0]))
            connection.execute("DELETE FROM passages WHERE number = ?", (number,))
            deleted.append(number)
    return deleted


def replace_passages(
    connection: sqlite3.Connection, origins: Sequence[UUID], passages: Sequence[Passage]
) -> tuple[list[int], list[int]]:
    """Replace all passages of these origins; return the numbers deleted, and the number of each new passage.

    A passage that is stored already with the same content is left unchanged and keeps its number and vector.
    """
    origin_ids = {str(origin) for origin in origins}
    all_origin_ids = list(origin_ids | {str(passage.origin) for passage in passages})
    stored: dict[Row, list[int]] = defaultdict(list)
    for row in select_by_values(connection, f"SELECT {COLUMNS} FROM passages WHERE origin", all_origin_ids):
        stored[row[1:]].append(row[0])
    kept = [found.pop(0) if (found := stored[to_row(passage)]) else 0 for passage in passages]
    deleted = delete_passages(
        connection, sorted(number for row, numbers in stored.items() if row[3] in origin_ids for number in numbers)
    )
    return deleted, [number or insert_passage(connection, passage) for number, passage in zip(kept, passages, strict=True)]


def to_row(passage: Passage) -> Row:
    """Return the column values of a passage without its number."""
    return (
        passage.kind.value,
        storable_text(passage.owner),
        str(passage.source),
        str(passage.origin),
        storable_text(passage.text),
        storable_text(passage.searched),
        passage.time.isoformat(),
        storable_text(passage.speaker),
        passage.position,
    )


def from_row(row: Row) -> Passage:
    """Return the passage of a row of `COLUMNS`."""
    number, kind, owner, source, origin, text, searched, time, speaker, place = row
    moment = datetime.fromisoformat(time)
    return Passage(PassageKind(kind), owner, UUID(source), UUID(origin), text, searched, moment, speaker, place, number)
