"""Patterns made of the tables of a language and of classes of words, such as relatives and occupations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from lethe_app.brain.vocabulary import entities, phrases
from lethe_app.dates.words import MONTH, WEEKDAY
from lethe_app.language_tables import load_table

_CLASSES = {
    "ANIMAL": entities.ANIMALS,
    "CONDITION": entities.CONDITIONS,
    "EVENT": entities.EVENTS,
    "JOB": entities.JOBS,
    "LIFE_EVENT": entities.LIFE_EVENT_VERBS,
    "POSSESSION": entities.POSSESSIONS,
    "RELATIVE": entities.RELATIVES,
    "SKILL": entities.SKILLS,
    "STATE": entities.STATES,
    "RELATION": phrases.RELATIVE_OR_ANIMAL,
    "AGE": phrases.AGE,
    "DURATION": phrases.DURATION,
    "FREQUENCY": phrases.FREQUENCY,
    "TIME": phrases.TIME,
    "DETERMINER": phrases.DETERMINER,
    "LIKED_OBJECT_GUARD": phrases.LIKED_OBJECT_GUARD,
    "LIKED_THE_GUARD": phrases.LIKED_THE_GUARD,
    "MY_RELATION": phrases.MY_RELATION,
    "MY_EXTENDED_RELATION": phrases.MY_EXTENDED_RELATION,
    "OPTIONAL_NAME": phrases.OPTIONAL_NAME,
    "MONTH": MONTH,
    "WEEKDAY": WEEKDAY,
}
_CLASS = re.compile(r"<([A-Z_]+)>")

Entry = str | Sequence[Any] | Mapping[str, Any]
"""A pattern, alternatives, or `any` of some alternatives between what stands `before` and `after` them."""


@cache
def table_words(table: str, key: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """Return the entries under a key of an English table as one pattern for whole words."""
    return re.compile(rf"\b{compose(load_table(table)[key])}\b", flags)


@cache
def table_pattern(table: str, key: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """Return the entries under a key of an English table as one pattern."""
    return re.compile(compose(load_table(table)[key]), flags)


def compose(entry: Entry) -> str:
    """Return an entry of a table as a regular expression, with every class such as `<RELATIVE>` spelt out."""
    if isinstance(entry, str):
        return _CLASS.sub(lambda match: _CLASSES[match[1]], entry)
    if isinstance(entry, Mapping):
        return compose(entry.get("before", "")) + compose(entry["any"]) + compose(entry.get("after", ""))
    return f"(?:{'|'.join(map(compose, entry))})"
