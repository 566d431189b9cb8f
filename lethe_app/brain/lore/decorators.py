"""Decorators of World Info entries: leading lines `@@name value` of the text, by the specification of Character Card V3.

A line `@@@name value` below a decorator is its fallback, used only if the one above is not known here. Of a decorator that
occurs twice the first counts. The lines never reach the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from lethe_app.domain.chat import Role
from lethe_app.domain.worldinfo import WorldEntry

MARK, FALLBACK_MARK = "@@", "@@@"
FOREVER = 1_000_000
"""Turns that no session reaches: an entry that stays on, or that fires once."""
LAST_PRIORITY = -1_000_000
"""Priority of an entry that is dropped first when the budget is exceeded."""
MAX_DEPTH = 1000
SYSTEM_PROMPT = -1
"""`position_index` of all places in the system prompt."""


@dataclass(frozen=True)
class EntryDecorators:
    """Entry without its decorators, with what they change, and their conditions that an entry cannot express."""

    entry: WorldEntry
    after: int = 0
    """Replies that the session must have."""
    every: int = 0
    """Number of which the count of replies must be a multiple; 0 is no condition."""
    greeting: int | None = None
    """Number of the greeting, from 0, with which alone the entry is activated."""
    required_keys: tuple[tuple[str, ...], ...] = ()
    """Lists of keys; of each at least one must be present."""
    excluded_keys: tuple[str, ...] = ()
    """Keys none of which may be present."""
    unknown: tuple[str, ...] = ()
    """Names of decorators without effect here."""


def read_decorators(entry: WorldEntry) -> EntryDecorators:
    """Return an entry with its decorators carried out."""
    if not entry.content.lstrip().startswith(MARK):
        return EntryDecorators(entry)
    lines, content = split_decorators(entry.content)
    found: dict[str, list[Any]] = {}
    unknown: list[str] = []
    for alternatives in _chains(lines):
        readable = ((name, DECORATORS[name][1](text)) for name, text in alternatives if name in DECORATORS)
        name, value = next((pair for pair in readable if pair[1] is not None), ("", None))
        if name:
            found.setdefault(name, []).append(value)
        else:
            unknown.append(alternatives[0][0])
    # In the order of the table, so that a position beats a depth, and activation what prevents it.
    values = {field: found[name][0] for name, (field, _parse) in DECORATORS.items() if name in found}
    changes = {field: value for field, value in values.items() if field in WorldEntry.model_fields}
    if "activate" in found:
        changes["sticky"] = True
    conditions = {field: values[field] for field in ("after", "every", "greeting") if field in values}
    return EntryDecorators(
        entry.model_copy(update={**changes, "content": content}),
        **conditions,
        required_keys=tuple(found.get("additional_keys", ())),
        excluded_keys=tuple(chain.from_iterable(found.get("exclude_keys", ()))),
        unknown=tuple(unknown),
    )


def split_decorators(content: str) -> tuple[list[str], str]:
    """Return the decorator lines at the beginning of a text, and the text after them."""
    lines = content.lstrip().splitlines()
    count = 0
    while count < len(lines) and (lines[count].startswith(MARK) or (count and not lines[count].strip())):
        count += 1
    return [line for line in lines[:count] if line.strip()], "\n".join(lines[count:])


def _chains(lines: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Yield each decorator with its fallbacks, as name and value; duplicates are left out."""
    seen: set[str] = set()
    chain: list[tuple[str, str]] = []
    for line in [*lines, f"{MARK}end"]:
        name, _, value = line.lstrip("@").strip().partition(" ")
        if line.startswith(FALLBACK_MARK) and chain:
            chain.append((name.lower(), value.strip()))
            continue
        if chain and (chain[0][0] not in seen or chain[0][0] in REPEATABLE):
            seen.add(chain[0][0])
            yield chain
        chain = [(name.lower(), value.strip())]


def _number(value: str, low: int = 0, high: int = MAX_DEPTH) -> int | None:
    text = value.split(maxsplit=1)[0] if value else ""
    return min(max(int(text), low), high) if text.lstrip("-").isdecimal() and len(text) <= 9 else None


def _messages_before(value: str) -> int | None:
    """Return a scan depth without the message being sent, which counts there, but not here."""
    depth = _number(value)
    return None if depth is None else max(0, depth - 1)


def _count(value: str) -> int | None:
    return _number(value, 0, FOREVER)


def _keys(value: str) -> tuple[str, ...]:
    return tuple(key for part in value.split(",") if (key := part.strip()))


REPEATABLE = frozenset({"additional_keys", "exclude_keys"})
"""Decorators that may occur several times."""
DECORATORS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "depth": ("position_index", _number),
    "position": ("position_index", dict.fromkeys(("before_desc", "after_desc", "personality", "scenario"), SYSTEM_PROMPT).get),
    "role": ("role", {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}.get),
    "scan_depth": ("scan_depth", _messages_before),
    "activate_only_after": ("after", _count),
    "activate_only_every": ("every", _count),
    "is_greeting": ("greeting", _count),
    "keep_activate_after_match": ("duration", lambda _value: FOREVER),
    "dont_activate_after_match": ("cooldown", lambda _value: FOREVER),
    "ignore_on_max_context": ("priority", lambda _value: LAST_PRIORITY),
    "dont_activate": ("enabled", lambda _value: False),
    "activate": ("enabled", lambda _value: True),
    "additional_keys": ("required_keys", _keys),
    "exclude_keys": ("excluded_keys", _keys),
}
"""Decorators that are carried out: the field that each sets, and the reader of its value, which returns None for one that it
cannot use.
"""
