"""Correction of chat spelling: apostrophes, capitals and short forms (“im”, “ill be”, “my moms a nurse”)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from lethe_app.brain.vocabulary.kin_words import standardize_relations
from lethe_app.language_tables import compose, load_table, table_pattern

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "…": "... "})
_ACUTE = re.compile(r"(?<=[a-zA-Z])[´`](?=[a-zA-Z])")
_LETTERS = re.compile(r"[a-z]+")
_SMALL_I = re.compile(r"(?<![\w'.-])i(?=$|[\s,!.]|'(?:m|ve|d|ll)\b)")
_IS = re.compile(r"(?<=\bname)'s\b|(?<=\bbirthday)'s\b|'s(?= (?:called|named)\b)")


@lru_cache(maxsize=1024)  # every reader of a message begins with it
def correct_spelling(text: str) -> str:
    """Normalise apostrophes and quotation marks and correct chat spelling: “im” → “I'm”, “i” → “I”."""
    corrected = _ACUTE.sub("'", text).translate(_PLAIN)
    words = load_table("spelling")["words"]
    if words.keys() & set(_LETTERS.findall(corrected.lower())):  # far quicker than a pattern of all of them
        corrected = _misspelled_word().sub(lambda found: words[found[0].lower()], corrected)
    for pattern, replacement in _corrections():
        corrected = pattern.sub(replacement, corrected)
    # Only in a message without capitals may a lowercase word be a name.
    if text.islower():
        small_name = table_pattern("spelling", "small_name")
        corrected = small_name.sub(lambda found: found["before"] + found["name"].capitalize(), corrected)
    return _IS.sub(" is", _SMALL_I.sub("I", standardize_relations(corrected)))


@cache
def _misspelled_word() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(load_table('spelling')['words'])})\b(?!')", re.IGNORECASE)


@cache
def _corrections() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of the table with what replaces them."""
    rows = load_table("spelling")["corrections"]
    return tuple((re.compile(compose(row["find"]), re.IGNORECASE), row["replace"]) for row in rows)
