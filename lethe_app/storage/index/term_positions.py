"""Positions of words in passages, read from the word index in bounded time regardless of the number of passages."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.storage.row_mapping import select_by_values, storable_text

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""FTS5 tokenizer; it must be that of the table `passage_words`."""
READ_PER_WORD = 500
"""Passages read for every word."""
READ_IN_ADDITION = 3_000
"""Passages read for all words together beyond those."""
# `asked` has content of its own, so its rows can be deleted. `looked_at` is contentless, since only the positions of its words
# are read; such a table cannot delete single rows, only all of them with the command "delete-all".
CREATE_TABLES = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5(word, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms USING fts5vocab('temp', 'asked', instance)",
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.looked_at USING fts5(searched, content = '', tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.looked_at_places USING fts5vocab('temp', 'looked_at', instance)",
)
"""Statements that create the temporary tables by which words and texts are tokenised in the same way as in the word index."""


@dataclass(frozen=True)
class Occurrences:
    """Positions of the words of a query; the lists have equal length, with one entry per position."""

    word: list[int]
    """Index of the word in the query."""
    passage: list[int]
    offset: list[int]
    """Number of words before it in its passage."""


NO_OCCURRENCES = Occurrences([], [], [])


@dataclass(frozen=True)
class TermPassages:
    """Passages that contain the words of a query, one entry per word."""

    passages: list[str]
    """Passage numbers separated by commas, descending."""
    complete: list[bool]
    """False if the word is so common that only the newest passages were read."""


def occurrences(connection: sqlite3.Connection, words: Sequence[str], most: int | None = None) -> Occurrences | None:
    """Return every position of every word, in any form, in all passages; None if there are more than `most`."""
    return _positions(connection, "passage_places", _terms(connection, words), most)


def occurrences_in(connection: sqlite3.Connection, words: Sequence[str], numbers: Sequence[int]) -> Occurrences:
    """Return every position of every word in these passages. They are tokenised again, because fts5vocab cannot be
    restricted to some rows.
    """
    terms = _terms(connection, words)
    texts = select_by_values(connection, "SELECT number, searched FROM passages WHERE number", numbers)
    connection.execute("INSERT INTO temp.looked_at (looked_at) VALUES ('delete-all')")
    connection.executemany("INSERT INTO temp.looked_at (rowid, searched) VALUES (?, ?)", texts)
    return _positions(connection, "temp.looked_at_places", terms) or NO_OCCURRENCES


def passages_of_terms(connection: sqlite3.Connection, words: Sequence[str]) -> TermPassages:
    """Return the passages of each word, newest first; the rarer a word, the more of them are read."""
    asked = [word if terms else "" for word, terms in zip(words, _terms(connection, words), strict=True)]
    found = TermPassages([_newest_passages(connection, word, READ_PER_WORD) for word in asked], [True] * len(asked))
    lowest = {
        place: _lowest(numbers) for place, numbers in enumerate(found.passages) if numbers.count(",") + 1 == READ_PER_WORD
    }
    remaining = READ_IN_ADDITION
    for place in sorted(lowest, key=lambda place: lowest[place]):  # the lower they reach, the rarer is the word
        more = _newest_passages(connection, asked[place], remaining + 1, lowest[place] - 1)
        found.complete[place] = (count := more.count(",") + 1 if more else 0) <= remaining
        found.passages[place] += f",{more}" if more else ""
        remaining = max(0, remaining - count)
    return found


def _newest_passages(connection: sqlite3.Connection, word: str, most: int, up_to: int = 2**62) -> str:
    """Return the numbers of passages with this word, in any form, descending, separated by commas."""
    if not word:
        return ""
    query = """
        SELECT group_concat(number) FROM (SELECT rowid AS number FROM passage_words
        WHERE passage_words MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?)
    """
    # In quotation marks, a word cannot be taken for an operator of the FTS5 query syntax.
    quoted = '"' + storable_text(word).replace('"', '""') + '"'
    return connection.execute(query, (quoted, up_to, most)).fetchone()[0] or ""


def _lowest(numbers: str) -> int:
    return int(numbers[numbers.rfind(",") + 1 :])


def _positions(
    connection: sqlite3.Connection, table: str, words: Sequence[Sequence[str]], most: int | None = None
) -> Occurrences | None:
    """Return every position of every word; a word of several terms matches where these are adjacent."""
    query = f"""
        SELECT count(*), group_concat(doc), group_concat(offset) FROM (SELECT doc, offset FROM {table} WHERE term = ? LIMIT ?)
    """  # noqa: S608 - names are ours
    found, remaining = Occurrences([], [], []), most
    for position, terms in enumerate(words):
        positions: list[tuple[int, int]] = []
        for after, term in enumerate(terms):
            # One more than allowed is read, which tells that there are too many.
            count, passages, offsets = connection.execute(query, (term, -1 if remaining is None else remaining + 1)).fetchone()
            if remaining is not None:
                remaining -= count
                if remaining < 0:
                    return None
            found_positions = (
                list(zip(map(int, passages.split(",")), map(int, offsets.split(",")), strict=True)) if count else []
            )
            following = {(passage, offset - after) for passage, offset in found_positions} if after else set()
            positions = [place for place in positions if place in following] if after else found_positions
        found.word.extend([position] * len(positions))
        found.passage.extend(passage for passage, _offset in positions)
        found.offset.extend(offset for _passage, offset in positions)
    return found


def _terms(connection: sqlite3.Connection, words: Sequence[str]) -> list[list[str]]:
    """Return the terms the word index makes of each word, by tokenising it in a temporary index; empty if nothing remains."""
    for statement in CREATE_TABLES:
        connection.execute(statement)
    connection.execute("DELETE FROM temp.asked")
    rows = [(number, storable_text(word)) for number, word in enumerate(words)]
    connection.executemany("INSERT INTO temp.asked (rowid, word) VALUES (?, ?)", rows)
    terms: list[dict[int, str]] = [{} for _word in words]
    for number, term, offset in connection.execute("SELECT doc, term, offset FROM temp.asked_terms"):
        terms[number][offset] = term
    return [[one[offset] for offset in sorted(one)] for one in terms]
