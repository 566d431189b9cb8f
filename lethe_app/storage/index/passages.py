"""Store of passages with their words and vectors."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.index import term_positions
from lethe_app.storage.index.term_positions import Occurrences, TermPassages
from lethe_app.storage.row_mapping import Row, json_list, parse_rows, select_by_values, storable_text

KINDS = tuple(PassageKind)
"""Kinds of passages in the order in which `Passages.encoded_rows` numbers them."""
ROWS_PER_QUERY = 20_000
"""Rows read per query, so that other work gets the storage thread in between."""

NEWEST_SEARCHED = 500
"""Number of the highest passage numbers that are searched first for passages without vectors."""


@dataclass(frozen=True)
class PassageVector:
    """Embedding of one passage by one embedding model."""

    passage: int
    vector: bytes
    """Unit vector of float32 in native byte order."""
    tokens: bytes = b""
    """One row of signed bytes per token; may be empty."""
    embedded: Passage | None = None
    """Passage that was embedded; if the number belongs to another passage by now, the vector is not stored."""


class StoredVector(NamedTuple):
    """A stored vector with its passage number, origin and kind."""

    number: int
    origin: UUID
    kind: PassageKind
    vector: bytes


@dataclass(frozen=True)
class MessagePassage:
    """One message passage with its speaker."""

    number: int
    speaker: str
    text: str
    before: str
    """Passage of the previous message in its session; empty if not requested or if there is none."""


@dataclass(frozen=True)
class PassageDetails:
    """Details of the most promising passages by number: word positions, and vectors where the embedder has made them."""

    occurrences: Occurrences
    vectors: dict[int, bytes]
    tokens: dict[int, bytes]


class Passages(Store):
    """Store of passages. Text and word index change in one transaction. Removing a missing passage does nothing."""

    @in_transaction
    def replace(
        self,
        connection: sqlite3.Connection,
        origins: Sequence[UUID],
        passages: Sequence[Passage],
        queue_numbers: Sequence[int] = (),
    ) -> tuple[list[int], list[int]]:
        """Replace all passages of these origins and delete entries of the indexing queue by number, in one transaction.

        Return the numbers deleted and the number of each new passage; an unchanged passage keeps number and vectors.
        """
        changed = replace_passages(connection, origins, passages)
        connection.executemany("DELETE FROM passage_debts WHERE number = ?", [(number,) for number in queue_numbers])
        return changed

    @in_transaction
    def read(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Passage]:
        """Return the passages of these numbers that exist."""
        found = select_by_values(connection, f"SELECT {COLUMNS} FROM passages WHERE number", numbers)
        return {passage.number: passage for passage in parse_rows(from_row, found)}

    @in_transaction
    def encoded_rows(self, connection: sqlite3.Connection, owner: str, after: int = 0) -> str:
        """Return the passages of an owner above number `after` as text, 68 hexadecimal digits each, ordered by number; empty
        at the end.

        Number (16 digits), kind as index in `KINDS` (2), whether it is its own source (2), day as in `date.toordinal` (8),
        length of the searched text (8), source (32). One string is read instead of one object per passage.
        """
        kinds = " ".join(f"WHEN '{kind}' THEN {place}" for place, kind in enumerate(KINDS))
        # `julianday` counts from noon of 4714 BC: less 1,721,424.5 it is the ordinal of a date.
        query = f"""
            SELECT group_concat(printf('%016x%02x%02x%08x%08x', number, CASE kind {kinds} END, source = origin,
                                       julianday(substr(time, 1, 10)) - 1721424.5, length(searched))
                                || replace(source, '-', ''), '')
            FROM (SELECT number, kind, source, origin, time, searched FROM passages
                  WHERE owner = ? AND number > ? ORDER BY number LIMIT ?)
        """
        return _select_text(connection, query, (owner, after, ROWS_PER_QUERY))

    # Vectors

    @in_transaction
    def set_vectors(self, connection: sqlite3.Connection, embedder: str, vectors: Sequence[PassageVector]) -> list[int]:
        """Store vectors, replacing those of another embedder; return the numbers stored. Passages that are gone or changed
        are skipped.
        """
        found = select_by_values(
            connection,
            f"SELECT {COLUMNS} FROM passages WHERE number",
            [item.passage for item in vectors],
        )
        stored = {row[0]: row[1:] for row in found}
        kept = [
            item
            for item in vectors
            if item.passage in stored and (item.embedded is None or to_row(item.embedded) == stored[item.passage])
        ]
        connection.executemany(
            "INSERT OR REPLACE INTO passage_vectors (passage, embedder, vector, tokens) VALUES (?, ?, ?, ?)",
            [(item.passage, embedder, item.vector, item.tokens) for item in kept],
        )
        return [item.passage for item in kept]

    @in_transaction
    def delete_vectors(self, connection: sqlite3.Connection, embedder: str, numbers: Sequence[int]) -> None:
        """Delete the vectors of these passages, so that they are made again."""
        query = "DELETE FROM passage_vectors WHERE passage = ? AND embedder = ?"
        connection.executemany(query, [(number, embedder) for number in numbers])

    @in_transaction
    def count_without_vectors(self, connection: sqlite3.Connection, embedder: str) -> int:
        """Return the number of passages without a vector of this embedder."""
        return _count_without_vectors(connection, embedder)

    @in_transaction
    def sources_without_vectors(self, connection: sqlite3.Connection, embedder: str, owners: Sequence[str]) -> list[UUID]:
        """Return the source of each passage of these owners without a vector of this embedder."""
        query = """
            SELECT source FROM passages WHERE owner IN (SELECT value FROM json_each(?))
                AND NOT EXISTS (SELECT 1 FROM passage_vectors WHERE passage = number AND embedder = ?)
        """
        if not _count_without_vectors(connection, embedder):  # nearly always, and far quicker than looking at each
            return []
        rows = connection.execute(query, (json_list(owners), embedder))
        return [UUID(source) for (source,) in rows]

    @in_transaction
    def passages_without_vectors(self, connection: sqlite3.Connection, embedder: str, limit: int) -> list[Passage]:
        """Return passages of all owners without a vector of this embedder, newest first; empty only if there are none."""
        query = f"""
            SELECT {COLUMNS} FROM passages WHERE number > ? AND NOT EXISTS
                (SELECT 1 FROM passage_vectors WHERE passage = number AND embedder = ?) ORDER BY number DESC LIMIT ?
        """
        last = connection.execute("SELECT coalesce(max(number), 0) FROM passages").fetchone()[0]
        found = connection.execute(query, (last - NEWEST_SEARCHED, embedder, limit)).fetchall()
        if not found:  # counted first: with a limit above their number, the query would search all passages
            count = min(limit, _count_without_vectors(connection, embedder))
            found = connection.execute(query, (0, embedder, count)).fetchall() if count else []
        return parse_rows(from_row, found)

    @in_transaction
    def token_vectors(self, connection: sqlite3.Connection, embedder: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the token rows of these passages, as far as stored."""
        found = select_by_values(connection, "SELECT passage, embedder, tokens FROM passage_vectors WHERE passage", numbers)
        return {number: tokens for number, stored_embedder, tokens in found if stored_embedder == embedder and tokens}

    @in_transaction
    def message_passages(
        self, connection: sqlite3.Connection, numbers: Sequence[int], personas: Collection[str]
    ) -> list[MessagePassage]:
        """Return those of these passages that are messages; the lines of `personas` with the message above them."""
        query = "SELECT number, speaker, text, source, place FROM passages WHERE kind = 'message' AND number"
        previous = """
            SELECT text FROM passages WHERE source = ? AND kind = 'message' AND place < ? ORDER BY place DESC, number LIMIT 1
        """
        found_messages = []
        for number, speaker, text, source, place in select_by_values(connection, query, numbers):
            previous_row = connection.execute(previous, (source, place)).fetchone() if speaker in personas else None
            found_messages.append(MessagePassage(number, speaker, text, previous_row[0] if previous_row else ""))
        return found_messages

    @in_transaction
    def numbers_with_vectors(self, connection: sqlite3.Connection, embedder: str, after: int = 0) -> str:
        """Return some passage numbers above `after` that have a vector, 16 hexadecimal digits each, ordered; empty at the
        end.
        """
        query = """
            SELECT group_concat(printf('%016x', passage), '')
            FROM (SELECT passage FROM passage_vectors WHERE embedder = ? AND passage > ? ORDER BY passage LIMIT ?)
        """
        return _select_text(connection, query, (embedder, after, ROWS_PER_QUERY))

    @in_transaction
    def vectors(self, connection: sqlite3.Connection, embedder: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the vectors of these passages, as far as stored."""
        found = select_by_values(connection, "SELECT passage, embedder, vector FROM passage_vectors WHERE passage", numbers)
        return {number: vector for number, stored_embedder, vector in found if stored_embedder == embedder}

    @in_transaction
    def vectors_of_origins(self, connection: sqlite3.Connection, embedder: str, origins: Sequence[UUID]) -> list[StoredVector]:
        """Return the vectors of all passages of these origins."""
        query = """
            SELECT number, origin, kind, embedder, vector FROM passages JOIN passage_vectors ON passage = number WHERE origin
        """
        found = select_by_values(connection, query, [str(origin) for origin in origins])
        return [
            StoredVector(number, UUID(origin), PassageKind(kind), vector)
            for number, origin, kind, stored_embedder, vector in found
            if stored_embedder == embedder
        ]

    # Full text

    @in_transaction
    def occurrences_up_to(self, connection: sqlite3.Connection, words: Sequence[str], limit: int) -> Occurrences | None:
        """Return every position of every word, or None if there are more than `limit`."""
        return term_positions.occurrences(connection, words, limit)

    @in_transaction
    def details_of(
        self, connection: sqlite3.Connection, embedder: str, words: Sequence[str], numbers: Sequence[int]
    ) -> PassageDetails:
        """Return word positions, vectors and token rows of some passages."""
        query = "SELECT passage, embedder, vector, tokens FROM passage_vectors WHERE passage"
        found = [row for row in select_by_values(connection, query, numbers) if row[1] == embedder]
        return PassageDetails(
            term_positions.occurrences_in(connection, words, numbers),
            {row[0]: row[2] for row in found},
            {row[0]: row[3] for row in found},
        )

    @in_transaction
    def passages_of_terms(self, connection: sqlite3.Connection, words: Sequence[str]) -> TermPassages:
        """Return the passages of all owners that contain each word, newest first; for common words only the newest."""
        return term_positions.passages_of_terms(connection, words)


def _select_text(connection: sqlite3.Connection, query: str, values: tuple[object, ...]) -> str:
    return connection.execute(query, values).fetchone()[0] or ""


def _count_without_vectors(connection: sqlite3.Connection, embedder: str) -> int:
    query = "SELECT (SELECT count(*) FROM passages) - (SELECT count(*) FROM passage_vectors WHERE embedder = ?)"
    return int(connection.execute(query, (embedder,)).fetchone()[0])


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
