"""Variables of macros: those of a conversation and those that all conversations share, and what is done with them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_VALUE, MAX_VARIABLES = 20_000, 1000
"""Characters of a value that are kept, and variables of one scope."""
Values = dict[str, str]
_NUMBER = re.compile(r"\s*(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?)?\s*", re.IGNORECASE)
ANSWERS = ("false", "true")
FALSE = frozenset({"", "false", "off", "0", "no"})
"""Values in lower case that are not true in a condition."""


@dataclass
class Variables:
    """Values by name, which the expansion of a text changes."""

    local: Values = field(default_factory=dict)
    shared: Values = field(default_factory=dict)


def is_true(value: str) -> bool:
    """Return whether a condition with this value is met."""
    return value.strip().lower() not in FALSE


def to_number(value: str) -> float | None:
    """Return the number that a value spells, 0 for an empty one, and None if it spells none."""
    number = float(value.strip() or 0) if _NUMBER.fullmatch(value) else math.nan
    return number if math.isfinite(number) else None


def _set(values: Values, name: str, value: str) -> str:
    if name and (name in values or len(values) < MAX_VARIABLES):
        values[name] = value[:MAX_VALUE]
    return values.get(name, "")


def _add(values: Values, name: str, value: str) -> str:
    """Add to a number, append to a text or to a list in JSON, and return the new value."""
    present = values.get(name, "")
    one, other = to_number(present), to_number(value)
    if one is not None and other is not None:
        return _set(values, name, repr(one + other).removesuffix(".0"))
    try:
        items = json.loads(present) if present.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        items = None
    return _set(values, name, present + value if items is None else json.dumps([*items, value], ensure_ascii=False))


def _compare(values: Values, name: str, value: str, compare: Callable[[float, float], bool]) -> str:
    one, other = to_number(values.get(name, "")), to_number(value)
    return ANSWERS[one is not None and other is not None and compare(one, other)]


Operation = Callable[[Values, str, Callable[[], str]], str]
"""Function of a variable; the value is expanded only if it is needed."""
OPERATIONS: dict[str, Operation] = {
    "get": lambda values, name, _value: values.get(name, ""),
    "set": lambda values, name, value: _set(values, name, value()) and "",
    "add": lambda values, name, value: _add(values, name, value()) and "",
    "inc": lambda values, name, _value: _add(values, name, "1"),
    "dec": lambda values, name, _value: _add(values, name, "-1"),
    "has": lambda values, name, _value: ANSWERS[name in values],
    "delete": lambda values, name, _value: values.pop(name, "") and "",
}
"""By the beginning of the macro's name."""
SHORT_FORMS: dict[str, Operation] = {
    "": OPERATIONS["get"],
    "=": OPERATIONS["set"],
    "+=": OPERATIONS["add"],
    "++": OPERATIONS["inc"],
    "--": OPERATIONS["dec"],
    "-=": lambda values, name, value: (
        "" if (number := to_number(value())) is None else _add(values, name, repr(-number)) and ""
    ),
    "||": lambda values, name, value: present if is_true(present := values.get(name, "")) else value(),
    "??": lambda values, name, value: values[name] if name in values else value(),
    "||=": lambda values, name, value: present if is_true(present := values.get(name, "")) else _set(values, name, value()),
    "??=": lambda values, name, value: values[name] if name in values else _set(values, name, value()),
    "==": lambda values, name, value: ANSWERS[values.get(name, "") == value()],
    "!=": lambda values, name, value: ANSWERS[values.get(name, "") != value()],
    ">": lambda values, name, value: _compare(values, name, value(), lambda one, other: one > other),
    ">=": lambda values, name, value: _compare(values, name, value(), lambda one, other: one >= other),
    "<": lambda values, name, value: _compare(values, name, value(), lambda one, other: one < other),
    "<=": lambda values, name, value: _compare(values, name, value(), lambda one, other: one <= other),
}
"""By the operator."""
