"""Where words stand: places in passages as the word index has them, in bounded time however many passages there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.storage.row_mapping import of_values, storable

TOKENIZER = "porter unicode61 remove_diacritics 2"
AT_FIRST = 500
"""Passages read of every word."""
MOST_READ = 3_000
"""Passages read of all words together, beyond what is read at first."""
SET_UP = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5(word, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms USING fts5vocab('temp', 'asked', instance)",
    f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.looked_at USING fts5(searched, content = '', tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.looked_at_places USING fts5vocab('temp', 'looked_at', instance)",
)


@dataclass(frozen=True)
class Occurrences:
    """Where the words of a question stand: one entry per place, all lists equally long."""

    word: list[int]
    """Position of the word in the question as it was asked for."""
    passage: list[int]
    offset: list[int]
    """Words before it in its passage."""


NOWHERE = Occurrences([], [], [])


@dataclass(frozen=True)
class Listed:
    """In which passages words stand, one entry per word of the question."""

    passages: list[str]
    """Their numbers, separated by commas, from the highest down."""
    complete: list[bool]
    """False where only the newest passages were read, for it stands in too many."""


def occurrences(connection: sqlite3.Connection, words: Sequence[str], most: int | None = None) -> Occurrences | None:
    """Every place of every word in the passages of anybody, in any form; None where that would be more than `most`."""
    return _places(connection, "passage_places", _terms(connection, words), most)


def occurrences_in(connection: sqlite3.Connection, words: Sequence[str], numbers: Sequence[int]) -> Occurrences:
    """Every place of every word in these passages: they are taken apart anew, for the word index can only be asked of all."""
    terms = _terms(connection, words)
    texts = of_values(connection, "SELECT number, searched FROM passages WHERE number", numbers)
    connection.execute("INSERT INTO temp.looked_at (looked_at) VALUES ('delete-all')")
    connection.executemany("INSERT INTO temp.looked_at (rowid, searched) VALUES (?, ?)", texts)
    return _places(connection, "temp.looked_at_places", terms) or NOWHERE


def listed(connection: sqlite3.Connection, words: Sequence[str]) -> Listed:
    """The passages of each word, newest first; the rarer the word, the more of them are read."""
    asked = [word if terms else "" for word, terms in zip(words, _terms(connection, words), strict=True)]
    found = Listed([_newest(connection, word, AT_FIRST) for word in asked], [True] * len(asked))
    lowest = {place: _lowest(numbers) for place, numbers in enumerate(found.passages) if numbers.count(",") + 1 == AT_FIRST}
    left = MOST_READ
    for place in sorted(lowest, key=lambda place: lowest[place]):  # the lower they reach, the rarer is the word
        more = _newest(connection, asked[place], left + 1, lowest[place] - 1)
        found.complete[place] = (count := more.count(",") + 1 if more else 0) <= left
        found.passages[place] += f",{more}" if more else ""
        left = max(0, left - count)
    return found


def is_whole(connection: sqlite3.Connection) -> bool:
    """Do the words agree with the texts? Reads everything."""
    try:
        connection.execute("INSERT INTO passage_words (passage_words, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        return False
    return True


def _newest(connection: sqlite3.Connection, word: str, most: int, up_to: int = 2**62) -> str:
    """Numbers of passages with this word, in any form, from the highest down."""
    if not word:
        return ""
    question = """
        SELECT group_concat(number) FROM (SELECT rowid AS number FROM passage_words
        WHERE passage_words MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?)
    """
    quoted = '"' + storable(word).replace('"', '""') + '"'
    return connection.execute(question, (quoted, up_to, most)).fetchone()[0] or ""


def _lowest(numbers: str) -> int:
    return int(numbers[numbers.rfind(",") + 1 :])


def _places(
    connection: sqlite3.Connection, table: str, words: Sequence[Sequence[str]], most: int | None = None
) -> Occurrences | None:
    """Every place of every word; one of several terms stands where they follow each other."""
    question = f"""
        SELECT count(*), group_concat(doc), group_concat(offset) FROM (SELECT doc, offset FROM {table} WHERE term = ? LIMIT ?)
    """  # noqa: S608 - names are ours
    found, left = Occurrences([], [], []), most
    for position, terms in enumerate(words):
        places: list[tuple[int, int]] = []
        for after, term in enumerate(terms):
            count, passages, offsets = connection.execute(question, (term, -1 if left is None else left + 1)).fetchone()
            if left is not None:
                left -= count
                if left < 0:
                    return None
            some = list(zip(map(int, passages.split(",")), map(int, offsets.split(",")), strict=True)) if count else []
            following = {(passage, offset - after) for passage, offset in some} if after else set()
            places = [place for place in places if place in following] if after else some
        found.word.extend([position] * len(places))
        found.passage.extend(passage for passage, _offset in places)
        found.offset.extend(offset for _passage, offset in places)
    return found


def _terms(connection: sqlite3.Connection, words: Sequence[str]) -> list[list[str]]:
    """What the word index makes of each word, asked of an index of its own kind; empty where nothing is left of it."""
    for statement in SET_UP:
        connection.execute(statement)
    connection.execute("DELETE FROM temp.asked")
    rows = [(number, storable(word)) for number, word in enumerate(words)]
    connection.executemany("INSERT INTO temp.asked (rowid, word) VALUES (?, ?)", rows)
    terms: list[dict[int, str]] = [{} for _word in words]
    for number, term, offset in connection.execute("SELECT doc, term, offset FROM temp.asked_terms"):
        terms[number][offset] = term
    return [[one[offset] for offset in sorted(one)] for one in terms]
