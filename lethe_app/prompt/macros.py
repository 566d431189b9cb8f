"""Expansion of macros such as {{user}} in persona and card texts, from given values only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from lethe_app.domain.clock import WEEKDAYS, spell_date, spell_time

MAX_DEPTH = 8
"""Maximum nesting of texts that contain macros: a bio that names the scenario, which names the examples."""
MAX_TEXT = 40_000_000
"""Total characters inserted per expansion: twice the largest persona file."""
MAX_MACROS = 20_000
"""Maximum number of macros per expansion, nested ones included."""
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"
"""Placeholders (private-use characters) for braces of unknown macros and of inserted values, so that these are not expanded
again. They are replaced by braces at the end.
"""
_MACRO = re.compile(r"\{\{([^{}]*)\}\}")
_COMMENT = re.compile(r"\{\{\s*(?://|comment:|hidden_key:)(?:[^}]|\}(?!\}))*\}\}", re.IGNORECASE)
_TRIM = re.compile(r"\s*\{\{\s*trim\s*\}\}\s*", re.IGNORECASE)
_TAG = re.compile(r"<(user|bot|char)>", re.IGNORECASE)
_ROLL = re.compile(r"(\d{0,3})d?(\d{1,6})(?:([+-])(\d{1,6}))?")
ALIASES = {
    "bot": "char",
    "currentchar": "char",
    "mchar": "char",
    "group": "char",
    "mgroup": "char",
    "charifnotgroup": "char",
    "currentcharbio": "charbio",
    "mcharbio": "charbio",
    "description": "charbio",
    "persona": "userbio",
    "mesexamples": "examples",
    "weekday": "day",
}
"""Aliases from other programs, and group macros for sessions with one persona; a group session overrides them in
`MacroContext.texts`.
"""


def _no_memory(_title: str) -> str | None:
    return None


@dataclass(frozen=True)
class MacroContext:
    """Values of the macros. Moment and seed are constant for a session, so that the start of the prompt stays the same for
    the KV cache.
    """

    user: str
    char: str
    moment: datetime
    seed: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    """Longer texts by macro name (`charbio`, `userbio`, `scenario`, `examples`, `selfedit` …), which may contain macros."""
    idle: timedelta = timedelta()
    """Time since the user's last message."""
    memory: Callable[[str], str | None] = _no_memory
    """Function that returns the text of the memory whose title contains the argument, or None."""


def expand(text: str, macro_context: MacroContext) -> str:
    """Return `text` with every known macro expanded; unknown ones stay as they are. Recursion and total size are limited."""
    if "{{" not in text and "<" not in text:
        return text
    return _Expansion(macro_context).expand(text).replace(_OPEN, "{").replace(_CLOSE, "}")


def unknown_macros(text: str) -> list[str]:
    """Return the distinct macros in `text` that `expand` would leave as they are, without braces."""
    moment = datetime.fromtimestamp(0).astimezone()
    expansion = _Expansion(MacroContext("", "", moment, texts=dict.fromkeys(_TEXTS, ""), memory=lambda _: ""))
    expansion.expand(text)
    return list(dict.fromkeys(expansion.unknown))


_TEXTS = ("charbio", "userbio", "scenario", "examples", "selfedit", "original")


@dataclass
class _Expansion:
    """State of one call of `expand`: the texts being expanded, and the numbers of macros and characters so far."""

    macro_context: MacroContext
    unknown: list[str] = field(default_factory=list)
    _open_texts: list[str] = field(default_factory=list)
    _macro_count: int = 0
    _length: int = 0

    def expand(self, text: str) -> str:
        """Return the expansion with placeholders for braces that are no macros."""
        text = _COMMENT.sub("", text)
        for _ in range(MAX_DEPTH):
            if "{{" not in text:
                break
            text = _MACRO.sub(self._replace, _TRIM.sub("", text))
        return _TAG.sub(lambda match: self.macro_context.user if match[1].lower() == "user" else self.macro_context.char, text)

    def _replace(self, match: re.Match[str]) -> str:
        self._macro_count += 1
        value = None if self._macro_count > MAX_MACROS else self._resolve(match[1].strip())
        if value is None or self._length + len(value) > MAX_TEXT:
            self.unknown.append(match[1].strip())
            value = match[0]
        self._length += len(value)
        return value.replace("{", _OPEN).replace("}", _CLOSE)

    def _resolve(self, macro: str) -> str | None:
        name = macro.lower()
        name = name if name in self.macro_context.texts else ALIASES.get(name, name)
        if name in self.macro_context.texts:
            return self._expand_text(name, self.macro_context.texts[name])
        if name in _SIMPLE_MACROS:
            return _SIMPLE_MACROS[name](self.macro_context)
        function_name, separator, argument = _split_macro(macro)
        if function_name == "memory" and separator:
            found = self.macro_context.memory(argument.strip())
            return None if found is None else self._expand_text(f"memory:{argument.lower()}", found)
        return self._expand_random(function_name, separator, argument)

    def _expand_text(self, name: str, text: str) -> str:
        """Return the expansion of a text that may contain macros; empty if it refers to itself, directly or not."""
        if name in self._open_texts or len(self._open_texts) >= MAX_DEPTH:
            return ""
        self._open_texts.append(name)
        try:
            return self.expand(text)
        finally:
            self._open_texts.pop()

    def _expand_random(self, function_name: str, separator: str, argument: str) -> str | None:
        if function_name == "reverse" and separator:
            return argument[::-1]
        if function_name == "roll" and separator:
            return _roll_dice(argument, self._seeded_random(argument, self._macro_count))
        if function_name in {"random", "pick"} and separator:
            options = _split_options(separator, argument)
            # `pick` chooses the same option wherever the text occurs; `random` depends on the position as well.
            return self._seeded_random(argument, self._macro_count if function_name == "random" else 0).choice(options)
        return None

    def _seeded_random(self, text: str, position: int) -> Random:
        """Return a generator seeded by session, text and position, so that rebuilding a prompt gives the same result."""
        digest = hashlib.sha256(f"{self.macro_context.seed}\0{position}\0{text}".encode()).digest()
        return Random(digest)  # noqa: S311 - dice of a game, no secret


def _split_macro(macro: str) -> tuple[str, str, str]:
    """Split a macro into name, separator and argument: `random::a::b` → random, ::, a::b; `roll d6` → roll, blank, d6."""
    match = re.match(r"(\w+)\s*(::|:|\s)\s*(.*)", macro, re.DOTALL)
    return (match[1].lower(), match[2], match[3]) if match else (macro.lower(), "", "")


def _split_options(separator: str, argument: str) -> list[str]:
    if separator == "::":
        return [option.strip() for option in argument.split("::")]
    return [option.replace(r"\,", ",").strip() for option in re.split(r"(?<!\\),", argument)]


def _roll_dice(dice: str, random: Random) -> str | None:
    """Roll dice written as “20”, “d20”, “2d6” or “2d6+3”; None if malformed."""
    dice = dice.strip().lower()
    match = _ROLL.fullmatch(dice if "d" in dice else f"1d{dice}")
    if match is None or int(match[2]) == 0:
        return None
    total = sum(random.randint(1, int(match[2])) for _ in range(int(match[1] or 1)))
    return str(total + int(f"{match[3]}{match[4]}" if match[3] else 0))


def _format_idle(macro_context: MacroContext) -> str:
    minutes = int(macro_context.idle.total_seconds() // 60)
    for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "a moment"


_SIMPLE_MACROS: dict[str, Callable[[MacroContext], str]] = {
    "user": lambda macro_context: macro_context.user,
    "char": lambda macro_context: macro_context.char,
    "date": lambda macro_context: spell_date(macro_context.moment),
    "time": lambda macro_context: spell_time(macro_context.moment),
    "day": lambda macro_context: WEEKDAYS[macro_context.moment.weekday()],
    "isodate": lambda macro_context: macro_context.moment.strftime("%Y-%m-%d"),
    "isotime": lambda macro_context: macro_context.moment.strftime("%H:%M"),
    "idle_duration": _format_idle,
    "newline": lambda _: "\n",
    "noop": lambda _: "",
}
