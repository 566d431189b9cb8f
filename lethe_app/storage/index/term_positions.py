"""Positions of words in passages, read from the word index in bounded time regardless of the number of passages."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.storage.row_mapping import select_by_values, storable_text

TOKENIZER = "porter unicode61 remove_diacritics 0 categories ''L* N* Co M*''"
"""FTS5 tokenizer of folded texts; it must be that of the table `passage_words`. Marks that folding left are letters."""
PASSAGES_PER_WORD = 500
"""Passages read for every word."""
ADDITIONAL_PASSAGES = 3_000
"""Passages read for all words together beyond those."""
# `query_words` has content of its own, so its rows can be deleted. `texts` is contentless, since only the positions of its
# words are read; such a table cannot delete single rows, only all of them with the command "delete-all".
CREATE_TABLES = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.query_words USING fts5(word, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.query_terms USING fts5vocab('temp', 'query_words', instance)",
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.texts USING fts5(searched, content = '', tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.text_terms USING fts5vocab('temp', 'texts', instance)",
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


def occurrences(connection: sqlite3.Connection, words: Sequence[str], limit: int | None = None) -> Occurrences | None:
    """Return every position of every word, in any form, in all passages; None if there are more than `limit`."""
    return _positions(connection, "passage_places", _terms(connection, words), limit)


def occurrences_in(connection: sqlite3.Connection, words: Sequence[str], numbers: Sequence[int]) -> Occurrences:
    """Return every position of every word in these passages. They are tokenised again, because fts5vocab cannot be
    restricted to some rows.
    """
    terms = _terms(connection, words)
    texts = select_by_values(connection, "SELECT number, searched FROM passages WHERE number", numbers)
    connection.execute("INSERT INTO temp.texts (texts) VALUES ('delete-all')")
    connection.executemany("INSERT INTO temp.texts (rowid, searched) VALUES (?, ?)", texts)
    return _positions(connection, "temp.text_terms", terms) or NO_OCCURRENCES


def passages_of_terms(connection: sqlite3.Connection, words: Sequence[str]) -> TermPassages:
    """Return the passages of each word, newest first; the rarer a word, the more of them are read."""
    searchable_words = [word if terms else "" for word, terms in zip(words, _terms(connection, words), strict=True)]
    found = TermPassages(
        [_newest_passages(connection, word, PASSAGES_PER_WORD) for word in searchable_words], [True] * len(searchable_words)
    )
    lowest_numbers = {
        index: _lowest_number(numbers)
        for index, numbers in enumerate(found.passages)
        if numbers.count(",") + 1 == PASSAGES_PER_WORD
    }
    remaining = ADDITIONAL_PASSAGES
    for index in sorted(lowest_numbers, key=lambda index: lowest_numbers[index]):  # the lower they reach, the rarer is the word
        more = _newest_passages(connection, searchable_words[index], remaining + 1, lowest_numbers[index] - 1)
        found.complete[index] = (count := more.count(",") + 1 if more else 0) <= remaining
        found.passages[index] += f",{more}" if more else ""
        remaining = max(0, remaining - count)
    return found


def _newest_passages(connection: sqlite3.Connection, word: str, limit: int, up_to: int = 2**62) -> str:
    """Return the numbers of passages with this word, in any form, descending, separated by commas."""
    if not word:
        return ""
    query = """
        SELECT group_concat(number) FROM (SELECT rowid AS number FROM passage_words
        WHERE passage_words MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?)
    """
    # In quotation marks, a word cannot be taken for an operator of the FTS5 query syntax.
    quoted = '"' + storable_text(word).replace('"', '""') + '"'
    return connection.execute(query, (quoted, up_to, limit)).fetchone()[0] or ""


def _lowest_number(numbers: str) -> int:
    return int(numbers[numbers.rfind(",") + 1 :])


def _positions(
    connection: sqlite3.Connection, table: str, words: Sequence[Sequence[str]], limit: int | None = None
) -> Occurrences | None:
    """Return every position of every word; a word of several terms matches where these are adjacent."""
    query = f"""
        SELECT count(*), group_concat(doc), group_concat(offset) FROM (SELECT doc, offset FROM {table} WHERE term = ? LIMIT ?)
    """
    result, remaining = Occurrences([], [], []), limit
    for position, terms in enumerate(words):
        positions: list[tuple[int, int]] = []
        for term_index, term in enumerate(terms):
            # One more than allowed is read, which tells that there are too many.
            count, passages, offsets = connection.execute(query, (term, -1 if remaining is None else remaining + 1)).fetchone()
            if remaining is not None:
                remaining -= count
                if remaining < 0:
                    return None
            found_positions = (
                list(zip(map(int, passages.split(",")), map(int, offsets.split(",")), strict=True)) if count else []
            )
            shifted = {(passage, offset - term_index) for passage, offset in found_positions} if term_index else set()
            positions = [occurrence for occurrence in positions if occurrence in shifted] if term_index else found_positions
        result.word.extend([position] * len(positions))
        result.passage.extend(passage for passage, _offset in positions)
        result.offset.extend(offset for _passage, offset in positions)
    return result


def _terms(connection: sqlite3.Connection, words: Sequence[str]) -> list[list[str]]:
    """Return the terms the word index makes of each word, by tokenising it in a temporary index; empty if nothing remains."""
    for statement in CREATE_TABLES:
        connection.execute(statement)
    connection.execute("DELETE FROM temp.query_words")
    rows = [(number, storable_text(word)) for number, word in enumerate(words)]
    connection.executemany("INSERT INTO temp.query_words (rowid, word) VALUES (?, ?)", rows)
    terms: list[dict[int, str]] = [{} for _word in words]
    for number, term, offset in connection.execute("SELECT doc, term, offset FROM temp.query_terms"):
        terms[number][offset] = term
    return [[term_by_offset[offset] for offset in sorted(term_by_offset)] for term_by_offset in terms]
