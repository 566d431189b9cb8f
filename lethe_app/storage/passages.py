"""Keeps passages with their words and vectors: what is found, where each word stands, and what each text means."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.storage.database import Database
from lethe_app.storage.text import storable

Row = tuple[Any, ...]

COLUMNS = "number, kind, owner, source, origin, text, searched, time, speaker, place"
TOKENIZER = "porter unicode61 remove_diacritics 2"
AT_ONCE = 500
"""Numbers in one question; SQLite allows some thousands."""
MOST_PLACES = 50_000
"""A word that stands in more places says nothing; it is left out unless all are like that."""


@dataclass(frozen=True)
class Vectors:
    """The meaning of one stored passage, by one embedder."""

    passage: int
    vector: bytes
    """Unit vector of float32, native byte order."""
    tokens: bytes = b""
    """A row of signed bytes per token; may be empty."""


@dataclass(frozen=True)
class Card:
    """What an index needs of a passage to rank it without its text."""

    number: int
    kind: str
    source: str
    origin: str
    time: datetime
    speaker: str
    place: int
    length: int
    """Characters that words find."""
    vector: bytes
    """Empty where this embedder has not seen it yet."""


@dataclass(frozen=True)
class Occurrences:
    """Where the words of a question stand: one entry per place, all lists equally long."""

    word: list[int]
    """Position of the word in the question as it was asked for."""
    passage: list[int]
    offset: list[int]
    """Words before it in its passage."""


class Passages:
    """Text and word index change in the same transaction. Removing what is not there does nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, passages: Sequence[Passage]) -> list[int]:
        """The number given to each, in their order."""
        return await self._database.run(lambda connection: [_add(connection, passage) for passage in passages])

    async def change(self, passage: Passage) -> bool:
        """Give the passage of that number its new content; its vectors go. False where there is none of that number."""

        def work(connection: sqlite3.Connection) -> bool:
            if not _remove(connection, [passage.number]):
                return False
            _add(connection, passage)
            return True

        return await self._database.run(work)

    async def remove(self, numbers: Sequence[int]) -> list[int]:
        """The numbers that really were there."""
        return await self._database.run(lambda connection: _remove(connection, numbers))

    async def remove_of(self, *, source: UUID | None = None, origin: UUID | None = None) -> list[int]:
        """Take away everything that came from a session or memory (`source`), or from one message or fact (`origin`)."""

        def work(connection: sqlite3.Connection) -> list[int]:
            rows = connection.execute(
                "SELECT number FROM passages WHERE source = ? OR origin = ?",
                (str(source) if source else None, str(origin) if origin else None),
            ).fetchall()
            return _remove(connection, [number for (number,) in rows])

        return await self._database.run(work)

    async def read(self, numbers: Sequence[int]) -> dict[int, Passage]:
        """The passages of these numbers that still exist."""

        def work(connection: sqlite3.Connection) -> dict[int, Passage]:
            rows = _of_numbers(connection, f"SELECT {COLUMNS} FROM passages WHERE number", numbers)  # noqa: S608 - names are ours
            return {row[0]: _passage(row) for row in rows}

        return await self._database.run(work)

    async def of(self, source: UUID) -> list[Passage]:
        """Everything taken from a session or memory, in its order."""
        question = f"SELECT {COLUMNS} FROM passages WHERE source = ? ORDER BY place, number"  # noqa: S608 - names are ours
        return await self._database.run(
            lambda connection: [_passage(row) for row in connection.execute(question, (str(source),))]
        )

    async def cards(self, owner: str, embedder: str) -> list[Card]:
        """All passages of a persona as an index wants them, by number."""

        def work(connection: sqlite3.Connection) -> list[Card]:
            question = """
                SELECT number, kind, source, origin, time, speaker, place, length(searched), coalesce(vector, x'')
                FROM passages LEFT JOIN passage_vectors ON passage = number AND embedder = ? WHERE owner = ? ORDER BY number
            """
            rows = connection.execute(question, (embedder, owner))
            return [
                Card(number, kind, source, origin, datetime.fromisoformat(time), speaker, place, length, vector)
                for number, kind, source, origin, time, speaker, place, length, vector in rows
            ]

        return await self._database.run(work)

    # Meaning

    async def set_vectors(self, embedder: str, vectors: Sequence[Vectors]) -> None:
        """Those of another embedder are replaced; passages that are gone by now are passed over."""
        rows = [(item.passage, embedder, item.vector, item.tokens) for item in vectors]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR REPLACE INTO passage_vectors (passage, embedder, vector, tokens) "
                "SELECT :1, :2, :3, :4 WHERE EXISTS (SELECT 1 FROM passages WHERE number = :1)",
                rows,
            )

        await self._database.run(work)

    async def without_vectors(self, embedder: str, limit: int) -> list[Passage]:
        """Some passages of anybody that this embedder has not seen, newest first."""
        question = f"""
            SELECT {COLUMNS} FROM passages WHERE NOT EXISTS
                (SELECT 1 FROM passage_vectors WHERE passage = number AND embedder = ?) ORDER BY number DESC LIMIT ?
        """  # noqa: S608 - names are ours
        return await self._database.run(
            lambda connection: [_passage(row) for row in connection.execute(question, (embedder, limit))]
        )

    async def token_vectors(self, embedder: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """The token rows of these passages, where there are any."""

        def work(connection: sqlite3.Connection) -> dict[int, bytes]:
            rows = _of_numbers(connection, "SELECT passage, embedder, tokens FROM passage_vectors WHERE passage", numbers)
            return {number: tokens for number, by, tokens in rows if by == embedder and tokens}

        return await self._database.run(work)

    # Words

    async def occurrences(self, words: Sequence[str]) -> Occurrences:
        """Every place of every word in the passages of anybody; a word counts in all the forms that share its stem."""

        def work(connection: sqlite3.Connection) -> Occurrences:
            stems = _stems(connection, words)
            wanted = _telling(connection, stems)
            found = Occurrences([], [], [])
            for position, stem in enumerate(stems):
                if stem in wanted:
                    rows = connection.execute("SELECT doc, offset FROM passage_places WHERE term = ?", (stem,)).fetchall()
                    found.word.extend([position] * len(rows))
                    found.passage.extend(row[0] for row in rows)
                    found.offset.extend(row[1] for row in rows)
            return found

        return await self._database.run(work)

    async def is_whole(self) -> bool:
        """Do the words agree with the texts? Reads everything."""

        def work(connection: sqlite3.Connection) -> bool:
            try:
                connection.execute("INSERT INTO passage_words (passage_words, rank) VALUES ('integrity-check', 1)")
            except sqlite3.DatabaseError:
                return False
            return True

        return await self._database.run(work)


def _add(connection: sqlite3.Connection, passage: Passage) -> int:
    """Store text and words; a number of 0 gets the next free one."""
    searched = storable(passage.searched)
    number = connection.execute(
        f"INSERT INTO passages ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",  # noqa: S608 - names are ours
        (
            passage.number or None,
            passage.kind.value,
            storable(passage.owner),
            str(passage.source),
            str(passage.origin),
            storable(passage.text),
            searched,
            passage.time.isoformat(),
            storable(passage.speaker),
            passage.place,
        ),
    ).fetchone()[0]
    connection.execute("INSERT INTO passage_words (rowid, searched) VALUES (?, ?)", (number, searched))
    return int(number)


def _remove(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[int]:
    """Words first: the index needs the old text to forget it."""
    gone = []
    for number in numbers:
        row = connection.execute("SELECT searched FROM passages WHERE number = ?", (number,)).fetchone()
        if row is not None:
            forget = "INSERT INTO passage_words (passage_words, rowid, searched) VALUES ('delete', ?, ?)"
            connection.execute(forget, (number, row[0]))
            connection.execute("DELETE FROM passages WHERE number = ?", (number,))
            gone.append(number)
    return gone


def _of_numbers(connection: sqlite3.Connection, question: str, numbers: Sequence[int]) -> list[Row]:
    """The rows of a question that ends with the column of the number."""
    rows: list[Row] = []
    for start in range(0, len(numbers), AT_ONCE):
        some = [int(number) for number in numbers[start : start + AT_ONCE]]
        rows += connection.execute(f"{question} IN ({', '.join('?' * len(some))})", some).fetchall()
    return rows


def _stems(connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
    """What the word index makes of each word, asked of an index of its own kind; empty where nothing is left of it."""
    connection.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5(word, tokenize = '{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms USING fts5vocab('temp', 'asked', instance)")
    connection.execute("DELETE FROM temp.asked")
    rows = [(number, storable(word)) for number, word in enumerate(words)]
    connection.executemany("INSERT INTO temp.asked (rowid, word) VALUES (?, ?)", rows)
    stems = [""] * len(words)
    for number, term in connection.execute("SELECT doc, term FROM temp.asked_terms WHERE offset = 0"):
        stems[number] = term
    return stems


def _telling(connection: sqlite3.Connection, stems: Sequence[str]) -> set[str]:
    """The stems worth looking up: not those that stand everywhere, unless there is no other."""
    counts = {}
    for stem in filter(None, stems):
        row = connection.execute("SELECT cnt FROM passage_terms WHERE term = ?", (stem,)).fetchone()
        counts[stem] = row[0] if row else 0
    few = {stem for stem, count in counts.items() if count <= MOST_PLACES}
    return few or set(sorted(counts, key=lambda stem: counts[stem])[:1])


def _passage(row: Row) -> Passage:
    number, kind, owner, source, origin, text, searched, time, speaker, place = row
    when = datetime.fromisoformat(time)
    return Passage(PassageKind(kind), owner, UUID(source), UUID(origin), text, searched, when, speaker, place, number)
