"""Passages as rows of their table: writing, taking away, reading back; text and word index always change together."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.storage.row_mapping import Row, of_values, storable

COLUMNS = "number, kind, owner, source, origin, text, searched, time, speaker, place"


def add(connection: sqlite3.Connection, passage: Passage) -> int:
    """Store text and words; a number of 0 gets the next free one."""
    row = row_of(passage)
    number = connection.execute(
        f"INSERT INTO passages ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",  # noqa: S608 - names are ours
        (passage.number or None, *row),
    ).fetchone()[0]
    connection.execute("INSERT INTO passage_words (rowid, searched) VALUES (?, ?)", (number, row[5]))
    return int(number)


def remove(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[int]:
    """The numbers that were there. Words go first: the index needs the old text to forget it."""
    gone = []
    for number in numbers:
        row = connection.execute("SELECT searched FROM passages WHERE number = ?", (number,)).fetchone()
        if row is not None:
            forget = "INSERT INTO passage_words (passage_words, rowid, searched) VALUES ('delete', ?, ?)"
            connection.execute(forget, (number, row[0]))
            connection.execute("DELETE FROM passages WHERE number = ?", (number,))
            gone.append(number)
    return gone


def replace(
    connection: sqlite3.Connection, origins: Sequence[UUID], passages: Sequence[Passage]
) -> tuple[list[int], list[int]]:
    """Put these in the place of all that came from these origins: the numbers taken away, and the number of each passage.

    What is stored already just so stays as it is.
    """
    named = {str(origin) for origin in origins}
    about = list(named | {str(passage.origin) for passage in passages})
    stored: dict[Row, list[int]] = defaultdict(list)
    for row in of_values(connection, f"SELECT {COLUMNS} FROM passages WHERE origin", about):  # noqa: S608 - names are ours
        stored[row[1:]].append(row[0])
    kept = [found.pop(0) if (found := stored[row_of(passage)]) else 0 for passage in passages]
    gone = remove(connection, sorted(number for row, left in stored.items() if row[3] in named for number in left))
    return gone, [number or add(connection, passage) for number, passage in zip(kept, passages, strict=True)]


def row_of(passage: Passage) -> Row:
    """Everything but the number, as stored."""
    return (
        passage.kind.value,
        storable(passage.owner),
        str(passage.source),
        str(passage.origin),
        storable(passage.text),
        storable(passage.searched),
        passage.time.isoformat(),
        storable(passage.speaker),
        passage.place,
    )


def passage_of(row: Row) -> Passage:
    """A passage of a row of `COLUMNS`."""
    number, kind, owner, source, origin, text, searched, time, speaker, place = row
    when = datetime.fromisoformat(time)
    return Passage(PassageKind(kind), owner, UUID(source), UUID(origin), text, searched, when, speaker, place, number)
