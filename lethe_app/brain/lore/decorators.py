"""Decorators of World Info entries: leading lines `@@name value` of the text, by the specification of Character Card V3.

A line `@@@name value` below a decorator is its fallback, used only if the one above is not known here. Of a decorator that
occurs twice the first counts. The lines never reach the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from lethe_app.domain.chat import Role
from lethe_app.domain.worldinfo import WorldEntry

MARK, FALLBACK_MARK = "@@", "@@@"
FOREVER = 1_000_000
"""Turns that no session reaches: an entry that stays on, or that fires once."""
LAST_PRIORITY = -1_000_000
"""Priority of an entry that is dropped first when the budget is exceeded."""
MAX_DEPTH = 1000
SYSTEM_PROMPT_POSITIONS = frozenset({"before_desc", "after_desc", "personality", "scenario"})


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


@dataclass
class _Reading:
    """Values read so far."""

    changes: dict[str, object] = field(default_factory=dict)
    required: list[tuple[str, ...]] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    conditions: dict[str, int] = field(default_factory=dict)
    activation: set[str] = field(default_factory=set)


def read_decorators(entry: WorldEntry) -> EntryDecorators:
    """Return an entry with its decorators carried out."""
    if not entry.content.lstrip().startswith(MARK):
        return EntryDecorators(entry)
    lines, content = split_decorators(entry.content)
    reading = _Reading()
    unknown = [chain[0][0] for chain in _chains(lines) if not any(_read(name, value, reading) for name, value in chain)]
    if "activate" in reading.activation:
        reading.changes |= {"sticky": True, "enabled": True}
    elif "dont_activate" in reading.activation:
        reading.changes["enabled"] = False
    effective = entry.model_copy(update={**reading.changes, "content": content})
    return EntryDecorators(
        effective,
        after=reading.conditions.get("after", 0),
        every=reading.conditions.get("every", 0),
        greeting=reading.conditions.get("greeting"),
        required_keys=tuple(reading.required),
        excluded_keys=tuple(reading.excluded),
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


def _read(name: str, value: str, reading: _Reading) -> bool:
    """Carry out one decorator; return whether it is known and its value valid."""
    reader = READERS.get(name)
    return reader is not None and reader(value, reading)


def _number(value: str, low: int = 0, high: int = MAX_DEPTH) -> int | None:
    text = value.split(maxsplit=1)[0] if value else ""
    return min(max(int(text), low), high) if text.lstrip("-").isdecimal() and len(text) <= 9 else None


def _set_depth(value: str, reading: _Reading) -> bool:
    depth = _number(value)
    if depth is not None and reading.changes.get("position_index") != -1:  # a position beats a depth
        reading.changes["position_index"] = depth
    return depth is not None


def _set_position(value: str, reading: _Reading) -> bool:
    if value in SYSTEM_PROMPT_POSITIONS:
        reading.changes["position_index"] = -1
    return value in SYSTEM_PROMPT_POSITIONS


def _set_role(value: str, reading: _Reading) -> bool:
    role = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}.get(value)
    if role is not None:
        reading.changes["role"] = role
    return role is not None


def _set_scan_depth(value: str, reading: _Reading) -> bool:
    depth = _number(value)
    if depth is not None:
        reading.changes["scan_depth"] = max(0, depth - 1)  # the message being sent counts there, but not here
    return depth is not None


def _set_condition(field_name: str, value: str, reading: _Reading) -> bool:
    number = _number(value, 0, FOREVER)
    if number is not None:
        reading.conditions[field_name] = number
    return number is not None


def _set_field(field_name: str, constant: object, _value: str, reading: _Reading) -> bool:
    reading.changes[field_name] = constant
    return True


def _set_activation(name: str, _value: str, reading: _Reading) -> bool:
    reading.activation.add(name)
    return True


def _add_required(value: str, reading: _Reading) -> bool:
    reading.required.append(_keys(value))
    return True


def _add_excluded(value: str, reading: _Reading) -> bool:
    reading.excluded += _keys(value)
    return True


def _keys(value: str) -> tuple[str, ...]:
    return tuple(key for part in value.split(",") if (key := part.strip()))


REPEATABLE = frozenset({"additional_keys", "exclude_keys"})
"""Decorators that may occur several times."""
READERS: Mapping[str, Callable[[str, _Reading], bool]] = {
    "depth": _set_depth,
    "position": _set_position,
    "role": _set_role,
    "scan_depth": _set_scan_depth,
    "activate_only_after": partial(_set_condition, "after"),
    "activate_only_every": partial(_set_condition, "every"),
    "is_greeting": partial(_set_condition, "greeting"),
    "keep_activate_after_match": partial(_set_field, "duration", FOREVER),
    "dont_activate_after_match": partial(_set_field, "cooldown", FOREVER),
    "ignore_on_max_context": partial(_set_field, "priority", LAST_PRIORITY),
    "activate": partial(_set_activation, "activate"),
    "dont_activate": partial(_set_activation, "dont_activate"),
    "additional_keys": _add_required,
    "exclude_keys": _add_excluded,
}
"""Decorators that are carried out; a function returns False for a value it cannot use."""
