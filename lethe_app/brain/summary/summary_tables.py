"""Words and patterns of the tables `summary.toml`, in the form in which titles, summaries and plans look them up."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

from lethe_app.language_tables import languages_with, load_table
from lethe_app.searchable_text import SPACELESS

TABLE = "summary"
ENGLISH = ("en",)


@cache
def all_languages() -> tuple[str, ...]:
    """Return the codes of the languages that have the table."""
    return languages_with(f"{TABLE}.toml")


def entries(key: str, languages: tuple[str, ...] | None = None) -> list[str]:
    """Return the entries under a key in the languages, by default in all of them."""
    return [*chain(*(load_table(TABLE, code).get(key, ()) for code in languages or all_languages()))]


@cache
def words(key: str, languages: tuple[str, ...] | None = None) -> frozenset[str]:
    """Return the entries under a key as a set."""
    return frozenset(entries(key, languages))


@cache
def pattern(key: str, languages: tuple[str, ...] | None = None) -> re.Pattern[str]:
    """Return the entries under a key as one pattern for whole words, or for any characters of a script without spaces."""
    parts = [entry if SPACELESS.search(entry) else rf"(?<!\w){entry}(?!\w)" for entry in entries(key, languages)]
    return re.compile("|".join(parts) or "(?!)", re.IGNORECASE)


@cache
def beginning(key: str, languages: tuple[str, ...] | None = None) -> re.Pattern[str]:
    """Return the same pattern for the beginning of a text, after interjections such as “oh” and “well”."""
    opener = "|".join(entries("opener"))
    return re.compile(rf"\W*(?:(?:{opener})\b[,!. ]+)*(?:{pattern(key, languages).pattern})", re.IGNORECASE)
