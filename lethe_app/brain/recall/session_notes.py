"""Session notes: a few key-value pairs learnt in this session (name, home, mood, events), for prompts too small for more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from lethe_app.brain.reading.dialogue_acts import read_parts
from lethe_app.brain.reading.durability import find_durability
from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.language_tables import compose, load_table, table_pattern, table_words

MAX_VALUES = 24
"""Maximum number of values; the oldest one is dropped for a new one."""
MAX_VALUE_LENGTH = 60
"""Maximum characters of a value."""
QUEST = "current_quest"
"""Key of the quest, the only value that is also taken from a played scene."""
_SEEKING = re.compile(r"(?:looking|searching) for|hunting", re.IGNORECASE)
_POSSIBLE_VALUE = re.compile(r"\b(?:i|im|my|we|our|(?:the|your) (?:quest|mission|task|goal)|calls? me)\b", re.IGNORECASE)
"""Matches every message that can have a value. Most have none, and need not be classified sentence by sentence."""


def update_notes(lines: Sequence[Utterance], known: Mapping[str, str]) -> dict[str, str]:
    """Return `known` updated with what these lines state: key → value, newer values replace older ones, the newest key last.

    English only. Only what the user states as themselves counts, and a quest the user names in a played scene. Questions,
    hedges and quotations are ignored. `known` is not changed.
    """
    values = dict(known)
    if not any(line.role is Role.USER and _POSSIBLE_VALUE.search(line.text) for line in lines):
        return values
    for line, parts in zip(lines, read_parts(lines), strict=True):
        if line.role is not Role.USER:
            continue
        for key, value in (
            *_extract_values(parts.plain),
            *(pair for pair in _extract_values(parts.in_character) if pair[0] == QUEST),
        ):
            # A repeated mood counts as new and moves to the end; other repeated values keep their place.
            if key != "mood" and values.get(key) == value:
                continue
            values.pop(key, None)
            values[key] = value
    return _newest_values(values)


def set_note(known: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    """Return `known` with a value set by hand, the newest last; an empty value removes the key."""
    name, cleaned = clean_value(key), clean_value(value)
    values = {known_key: known_value for known_key, known_value in known.items() if known_key != name}
    return _newest_values({**values, name: cleaned} if name and cleaned else values)


def _newest_values(values: Mapping[str, str]) -> dict[str, str]:
    return dict(list(values.items())[-MAX_VALUES:])


def build_notes_block(values: Mapping[str, str]) -> str:
    """Return the prompt block “Known facts about this session: home=Porto, mood=tired.”, or an empty string if there are no
    values.
    """
    pairs = ", ".join(f"{key}={value}" for key, value in values.items() if value)
    return f"Known facts about this session: {pairs}." if pairs else ""


def _extract_values(text: str) -> Iterator[tuple[str, str]]:
    for sentence in extract_sentences(text[:4000]):
        if not (sentence.endswith("?") or re.match(r"(?:if|when|imagine|suppose|pretend)\b", sentence, re.IGNORECASE)):
            for clause in extract_clauses(sentence):
                yield from _values_of_clause(clause)


def _values_of_clause(clause: str) -> Iterator[tuple[str, str]]:
    """Yield keys and values of one clause."""
    quest = table_pattern("session_notes", "quest").match(clause)
    if quest and not table_words("session_notes", "empty_value").search(quest["value"]):
        verb = "find " if _SEEKING.search(quest[0][: quest.start("value")]) else ""
        yield QUEST, clean_value(verb + quest["value"])
    if mood := table_pattern("session_notes", "mood").match(clause):
        yield "mood", mood["value"].lower()
    for key, value in _values_by_rows("event", clause):
        if table_pattern("session_notes", "time").search(value):
            yield key, value
    if find_durability(clause):
        yield from _values_by_rows("lasting", clause)


def _values_by_rows(kind: str, clause: str) -> Iterator[tuple[str, str]]:
    """Yield keys and values by the rows of one kind; of several with the same key the first."""
    values: dict[str, str] = {}
    for pattern, key in _rows(kind):
        if match := pattern.fullmatch(clause):
            groups = {name: value for name, value in match.groupdict().items() if value}
            what = groups.get("what", "").lower().replace("’", "'")
            values.setdefault(key.format(what=what), clean_value(groups.get("value") or groups["other"]))
    yield from values.items()


@cache
def _rows(kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = load_table("session_notes")[kind]
    return tuple((re.compile(compose(row["pattern"]), re.IGNORECASE), row["key"]) for row in rows)


def clean_value(value: str) -> str:
    """Return the value on one line, without the characters that delimit values in the block."""
    return re.sub(r"[=,\s]+", " ", value).strip(" .!;:'\"")[:MAX_VALUE_LENGTH]
