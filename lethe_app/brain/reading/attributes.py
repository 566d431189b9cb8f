"""Attribute and kind of a statement. The attribute (“home”, “partner name”) is the key under which a newer statement
supersedes it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from lethe_app.brain.reading.durability import find_occupation
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, is_past
from lethe_app.domain.facts import FactKind
from lethe_app.language_tables import compose, load_table, table_pattern, table_words, word_class

_RELATIVE_STATEMENT = re.compile(
    rf"my (?P<who>(?:(?!own\b|late\b|ex\b)[\w-]+ ){{0,2}}?{word_class('RELATION')}),? (?P<rest>.+)"
)
_NAMED_RELATIVE = re.compile(r"[Mm]y (?:[\w'-]+ ){1,3}?(?P<name>(?!I\b)[A-Z][\w-]+),? ")
_UNIQUE_RELATION = re.compile(r"(?:partner|mother|father)\Z")
_TIMED = re.compile(word_class("TIME"))
_KINDS_WITH_EVENTS = frozenset((FactKind.PEOPLE, FactKind.TASTE, FactKind.OTHER))
"""Kinds whose statements in the past tense with a time are events."""
_LASTING_IN_PAST = frozenset(("home", "job", "employer"))
"""Attributes that a statement about the distant past does not tell."""


class _Row(NamedTuple):
    pattern: re.Pattern[str]
    key: str
    kind: FactKind


def find_attribute_key(clause: str, text: str) -> str:
    """Return the attribute of a first-person clause; empty if it has none. `text` is the clause as returned by
    `durability.normalize_clause`.
    """
    for row in _rows():
        if not (match := row.pattern.match(text)):
            continue
        if row.key in _LASTING_IN_PAST and table_words("attributes", "long_past").search(text):
            return ""
        place = match.groupdict().get("place", "")
        if place in BASE_VERBS or (place and place.title() not in clause and not clause[1:].islower()):
            continue  # “I'm going to chat”
        return _unify(row.key.format(**{name: value for name, value in match.groupdict().items() if value}))
    if text.startswith("i am ") and (noun := find_occupation(text)):
        return "" if table_pattern("durable", "traits").search(noun) else "job"
    return _find_relative_key(clause, text) or _find_plan_key(text)


def find_kind(text: str, key: str, likely_kind: FactKind) -> FactKind:
    """Return the kind of a statement: that of its attribute, health where a word is only used for it, else `likely_kind`."""
    if table_pattern("attributes", "health").search(text):
        return FactKind.HEALTH
    if key.startswith("plan "):
        return FactKind.PLAN
    kinds = (row.kind for row in _rows() if row.key == key or ("{" in row.key and key.startswith(row.key.split("{")[0])))
    kind = next(kinds, FactKind.OTHER) if key else FactKind.OTHER
    if kind is FactKind.OTHER:
        kind = FactKind.PEOPLE if _RELATIVE_STATEMENT.match(text) else likely_kind
    if kind in _KINDS_WITH_EVENTS and any(map(is_past, text.split()[1:4])) and _TIMED.search(text):
        return FactKind.EVENT
    return kind


@cache
def _rows() -> tuple[_Row, ...]:
    return tuple(
        _Row(re.compile(compose(pattern)), row["key"], FactKind(row.get("kind", "other")))
        for row in load_table("attributes")["attribute"]
        for pattern in row["patterns"]
    )


@cache
def _synonyms() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(rf"(?<![\w-])(?:{words.replace(' ', '|')})(?!\w)"), word)
        for word, words in load_table("attributes")["unify"].items()
    )


def _unify(key: str) -> str:
    """Return the key with synonyms unified: “girlfriend name” and “wife name” are both “partner name”."""
    for pattern, word in _synonyms():
        key = pattern.sub(word, key)
    return re.sub(r"^(?:new|current) ", "", key)


def _find_relative_key(clause: str, text: str) -> str:
    """Return a key such as “sister home”, or “ana home” if she is named, because the name distinguishes two sisters."""
    name_match = _NAMED_RELATIVE.match(clause)
    name = name_match["name"].lower() if name_match else ""
    match = _RELATIVE_STATEMENT.match(re.sub(rf",? {re.escape(name)}\b,?", "", text, count=1) if name else text)
    if not match:
        return ""
    relation = _unify(match["who"])
    for attribute, pattern in load_table("attributes")["relative"].items():
        if re.match(compose(pattern), match["rest"]):
            return f"{name if name and not _UNIQUE_RELATION.search(relation) else relation} {attribute}"
    return ""


def _find_plan_key(text: str) -> str:
    """Return a key such as “plan dentist appointment”, so that a new date for it replaces the former one."""
    match = table_pattern("attributes", "occasion").match(text) or table_pattern("attributes", "planned_occasion").match(text)
    if not match or text.startswith(("i had", "i have had")):
        return ""
    what = re.sub(r"^(?:an?|the|my) ", "", match["what"])
    return f"plan {what}" if not what.endswith("dentist") else f"plan {what} appointment"
