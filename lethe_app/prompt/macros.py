"""Expansion of macros such as {{user}} in persona and card texts, from given values only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache, partial
from random import Random

from lethe_app.domain.clock import WEEKDAYS, spell_date, spell_time
from lethe_app.prompt.format.moment_format import format_moment
from lethe_app.prompt.macro_syntax import Macro, Nodes, parse_macros, split_nodes, walk_macros
from lethe_app.prompt.variables import OPERATIONS, SHORT_FORMS, Operation, Variables, is_true

MAX_DEPTH = 8
"""Maximum nesting of texts that contain macros: a bio that names the scenario, which names the examples."""
MAX_TEXT = 40_000_000
"""Total characters inserted per expansion: twice the largest persona file."""
MAX_MACROS = 20_000
"""Maximum number of macros per expansion, nested ones included."""
MAX_LEVELS = 64
"""Maximum nesting of macros, over all texts."""
PARSED_TEXTS = 64
"""Number of texts that are kept as they were parsed."""
MAX_REPEATS = 100
"""Line breaks or spaces that one macro inserts."""
_TRIMMED = "\ue0f0"
"""Placeholder (a private-use character) around which line breaks are removed at the end."""
_TRIM = re.compile(rf"(?:\r?\n)*{_TRIMMED}(?:\r?\n)*")
_LITERAL = re.compile(r"<(user|bot|char|group|charifnotgroup)>|\\\{\\\{|\\\}\\\}", re.IGNORECASE)
"""Older macros, and braces that are to stay."""
_ROLL = re.compile(r"(\d{0,3})d?(\d{1,6})(?:([+-])(\d{1,6}))?")
ALIASES = {
    "bot": "char",
    "currentchar": "char",
    "mchar": "char",
    "mgroup": "group",
    "groupnotmuted": "group",
    "charifnotgroup": "group",
    "currentcharbio": "charbio",
    "mcharbio": "charbio",
    "description": "charbio",
    "chardescription": "charbio",
    "charpersonality": "personality",
    "charscenario": "scenario",
    "persona": "userbio",
    "mesexamples": "examples",
    "mesexamplesraw": "examples",
    "charjailbreak": "charinstruction",
    "charcreatornotes": "creatornotes",
    "charfirstmessage": "greeting",
    "version": "charversion",
    "char_version": "charversion",
    "systemprompt": "original",
    "defaultsystemprompt": "original",
    "instructsystem": "original",
    "instructsystemprompt": "original",
    "maxprompttokens": "maxprompt",
    "maxcontexttokens": "maxcontext",
    "maxresponsetokens": "maxresponse",
    "weekday": "day",
    "idleduration": "idle_duration",
    "comment": "//",
    "hidden_key": "//",
    "varexists": "hasvar",
    "flushvar": "deletevar",
    "globalvarexists": "hasglobalvar",
    "flushglobalvar": "deleteglobalvar",
}
"""Aliases from other programs, and group macros for sessions with one persona; a group session overrides them in
`MacroContext.texts`.
"""
TEXTS = (
    *("charbio", "userbio", "personality", "scenario", "examples", "selfedit"),
    *("original", "charprompt", "charinstruction", "chardepthprompt", "creatornotes", "charversion"),
)
"""Names of texts that may contain macros; empty where there is none."""
VALUES = (
    *("notchar", "model", "maxprompt", "maxcontext", "maxresponse", "lastgenerationtype", "input", "lastmessage"),
    *("lastmessageid", "lastusermessage", "lastcharmessage", "firstincludedmessageid", "firstdisplayedmessageid"),
    *("lastswipeid", "currentswipeid"),
)
"""Names of values in which nothing is expanded; empty where there is none."""


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
    values: dict[str, str] = field(default_factory=dict)
    """Values by macro name (`VALUES`), in which nothing is expanded; they come before texts of the same name."""
    greetings: Sequence[str] = ()
    outlets: dict[str, str] = field(default_factory=dict)
    """Texts of World Info entries by the name of their outlet, which may contain macros."""
    variables: Variables = field(default_factory=Variables)
    """Variables, which the expansion changes."""
    keeps_unknown: bool = True
    """False if unknown macros are left out, as in a greeting."""


parse = lru_cache(PARSED_TEXTS)(parse_macros)
"""Return the pieces and macros of a text; those of the texts that every prompt has are kept."""


def expand(text: str | Nodes, macro_context: MacroContext) -> str:
    """Return a text, or a part of a parsed one, with every known macro expanded. Unknown ones stay as they are, or are left
    out if the context says so. Recursion and total size are limited.
    """
    if isinstance(text, str) and "{{" not in text and "<" not in text and "\\{" not in text:
        return text
    return _TRIM.sub("", _Expansion(macro_context).expand(parse(text) if isinstance(text, str) else text))


def expand_greetings(texts: Sequence[str], macro_context: MacroContext) -> list[tuple[str, Variables]]:
    """Return each greeting with its macros expanded, without unknown ones, and the variables after it."""
    variables = [deepcopy(macro_context.variables) for _text in texts]
    return [
        (expand(text, replace(macro_context, variables=own, keeps_unknown=False)), own)
        for text, own in zip(texts, variables, strict=True)
    ]


@lru_cache(PARSED_TEXTS)
def macro_names(text: str) -> frozenset[str]:
    """Return the names of all macros in a text, also of those within others."""
    return frozenset(ALIASES.get(macro.name, macro.name) for macro in walk_macros(parse_macros(text)))


def unknown_macros(text: str) -> list[str]:
    """Return the distinct macros in `text` that `expand` does not know, without braces."""
    unknown = (macro for macro in walk_macros(parse_macros(text)) if not is_known(macro)) if "{{" in text else ()
    return list(dict.fromkeys(macro.source[2:-2].strip() for macro in unknown))


def is_known(macro: Macro) -> bool:
    """Return whether there is a macro of this name. An end that nothing begins is none."""
    name = ALIASES.get(macro.name, macro.name)
    return "/" not in macro.flags and (name in MACROS or name in TEXTS or name in VALUES)


@dataclass(frozen=True)
class MacroCall:
    """Macro in a text, as the function of its name gets it."""

    macro: Macro
    expansion: _Expansion
    context: MacroContext

    def argument(self, index: int = 0) -> str:
        """Return an argument with its macros expanded; empty if it is missing."""
        if index >= len(self.macro.arguments):
            return ""
        text = self.expansion.expand(self.macro.arguments[index])
        is_content = self.macro.is_scoped and index == len(self.macro.arguments) - 1
        return trim_content(text, self.macro) if is_content else text.strip()


@dataclass
class _Expansion:
    """State of one call of `expand`: the texts being expanded, and the numbers of macros and characters so far."""

    macro_context: MacroContext
    macro_count: int = 0
    _open_texts: list[str] = field(default_factory=list)
    _length: int = 0
    _level: int = 0

    def expand(self, nodes: Nodes) -> str:
        """Return the text of nodes, with placeholders for `{{trim}}`; empty if they are too deep."""
        self._level += 1
        texts = [_LITERAL.sub(self._replace_literal, node) if isinstance(node, str) else self._replace(node) for node in nodes]
        self._level -= 1
        return "".join(texts)

    def _replace_literal(self, match: re.Match[str]) -> str:
        name = match[1]
        return match[0].replace("\\", "") if name is None else self.resolve(Macro(match[0], (), name.lower())) or ""

    def _replace(self, macro: Macro) -> str:
        self.macro_count += 1
        if self.macro_count > MAX_MACROS or self._level > MAX_LEVELS:
            return macro.source if self.macro_context.keeps_unknown else ""
        value = self.resolve(macro) if "/" not in macro.flags else None
        if value is None:  # what it contains is expanded all the same
            start, end = (
                (f"{{{{{self.expand(macro.body)}}}}}", f"{{{{/{macro.name}}}}}")
                if self.macro_context.keeps_unknown
                else ("", "")
            )
            value = f"{start}{self.expand(macro.arguments[-1])}{end}" if macro.is_scoped else start
        self._length += len(value)
        return value if self._length <= MAX_TEXT else ""

    def resolve(self, macro: Macro) -> str | None:
        """Return the value of a macro; None if it is unknown."""
        context, name = self.macro_context, macro.name
        name = name if name in context.values or name in context.texts else ALIASES.get(name, name)
        if name in context.values:
            return context.values[name]
        if name in context.texts:
            return self.expand_text(name, context.texts[name])
        if name in MACROS:
            return MACROS[name](MacroCall(macro, self, context))
        return "" if name in TEXTS or name in VALUES else None

    def expand_text(self, name: str, text: str) -> str:
        """Return the expansion of a text that may contain macros; empty if it refers to itself, directly or not."""
        if name in self._open_texts or len(self._open_texts) >= MAX_DEPTH:
            return ""
        self._open_texts.append(name)
        try:
            return self.expand(parse(text))
        finally:
            self._open_texts.pop()


def trim_content(text: str, macro: Macro) -> str:
    """Return what stands between a macro and its end, without the indentation of its first line unless the macro has a `#`."""
    if "#" in macro.flags:
        return text
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indentation = len(first) - len(first.lstrip())
    return "\n".join(line.removeprefix(first[:indentation]) if indentation else line for line in lines).strip()


def _choose(call: MacroCall) -> str:
    """Return the part of `{{if condition}}…{{else}}…{{/if}}` that the condition selects; the other one is not expanded."""
    arguments = call.macro.arguments
    parts: list[Nodes] = [*(split_nodes(arguments[0]) if len(arguments) == 1 else arguments), (), ()]
    condition, content = parts[:2]
    first = condition[0] if condition else ""
    is_inverted = isinstance(first, str) and first.lstrip().startswith("!")
    if is_inverted:
        condition = [str(first).lstrip().removeprefix("!"), *condition[1:]]
    written = "".join(node if isinstance(node, str) else "{" for node in condition).strip()
    named = parse_macros(f"{{{{{written}}}}}")[1:2] if "{" not in written else ()
    known = [node for node in named if isinstance(node, Macro) and is_known(node)]
    value = call.expansion.resolve(known[0]) if known else call.expansion.expand(condition)
    names = [node.name if isinstance(node, Macro) else "" for node in content]
    middle = names.index("else") if "else" in names else len(content)
    chosen = content[:middle] if is_true(value or "") is not is_inverted else content[middle + 1 :]
    return trim_content(call.expansion.expand(chosen), call.macro)


def _look_up_memory(call: MacroCall) -> str | None:
    title = call.argument()
    found = call.context.memory(title) if title else None
    return None if found is None else call.expansion.expand_text(f"memory:{title.lower()}", found)


def _greet(call: MacroCall) -> str:
    number = int(index) if (index := call.argument()).isdecimal() and len(index) < MAX_DEPTH else 0
    greeting = call.context.greetings[number] if number < len(call.context.greetings) else ""
    return call.expansion.expand_text("greeting", greeting)


def _draw(call: MacroCall, *, is_fixed: bool) -> str:
    """Draw one of the options. `pick` draws the same wherever the text occurs; `random` depends on the position as well."""
    position, options = call.expansion.macro_count, list(call.macro.arguments)
    if len(options) == 1:
        options = split_nodes(options[0])
        options = options if len(options) > 1 else split_nodes(options[0], at_commas=True)
    chosen = _seeded_random(call, 0 if is_fixed else position).choice(options or [()])
    return call.expansion.expand([node.replace(r"\,", ",") if isinstance(node, str) else node for node in chosen]).strip()


def _seeded_random(call: MacroCall, position: int) -> Random:
    """Return a generator seeded by session, text and position, so that rebuilding a prompt gives the same result."""
    text = call.macro.source
    digest = hashlib.sha256(f"{call.context.seed}\0{position}\0{text}".encode(errors="surrogatepass")).digest()
    return Random(digest)  # noqa: S311 - dice of a game, no secret


def _roll_dice(call: MacroCall) -> str | None:
    """Roll dice written as “20”, “d20”, “2d6” or “2d6+3”; None if malformed."""
    position, dice = call.expansion.macro_count, call.argument().lower()
    match = _ROLL.fullmatch(dice if "d" in dice else f"1d{dice}")
    if match is None or int(match[2]) == 0:
        return None
    random = _seeded_random(call, position)
    total = sum(random.randint(1, int(match[2])) for _ in range(int(match[1] or 1)))
    return str(total + int(f"{match[3]}{match[4]}" if match[3] else 0))


_SPANS = (
    (45, "a moment", 1),
    (90, "a minute", 1),
    (2700, "{} minutes", 60),
    (5400, "an hour", 1),
    (79_200, "{} hours", 3600),
    (129_600, "a day", 1),
    (2_246_400, "{} days", 86_400),
    (3_888_000, "a month", 1),
    (27_648_000, "{} months", 2_629_746),
    (47_347_200, "a year", 1),
)
"""Seconds below which a time is spelled so, and seconds of its unit."""


def spell_duration(time: timedelta) -> str:
    """Return a time in words, such as “5 hours”, rounded as moment.js does it."""
    seconds = abs(time.total_seconds())
    words, unit = next(((words, unit) for limit, words, unit in _SPANS if seconds < limit), ("{} years", 31_556_952))
    return words.format(max(2, int(seconds / unit + 0.5)))


IDLE_MACRO = re.compile(r"\{\{\s*idle_?duration\s*\}\}", re.IGNORECASE)


def fill_idle_time(text: str, time: timedelta) -> str:
    """Return a text in which only the macro for the time since the user's last message is expanded."""
    return IDLE_MACRO.sub(lambda _match: spell_duration(time), text)


def _compare_times(call: MacroCall) -> str:
    """Return the time between two others, as “in 3 hours” if the first one is later."""
    try:
        first, second = (datetime.fromisoformat(call.argument(index)).replace(tzinfo=None) for index in (0, 1))
    except ValueError:
        return ""
    words = spell_duration(first - second)
    return f"in {words}" if first >= second else f"{words} ago"


def _tell_time(call: MacroCall) -> str:
    offset = re.fullmatch(r"UTC([+-]\d{1,2})", call.argument(), re.IGNORECASE)
    hours = max(-23, min(23, int(offset[1]))) if offset else 0
    moment = call.context.moment
    return spell_time(moment.astimezone(timezone(timedelta(hours=hours))) if offset else moment)


def _repeat(call: MacroCall, text: str) -> str:
    count = call.argument()
    return text * (min(int(count), MAX_REPEATS) if count.isdecimal() and len(count) < MAX_DEPTH else 1)


def _use_variable(call: MacroCall, operation: Operation, *, is_shared: bool) -> str:
    values = call.context.variables.shared if is_shared else call.context.variables.local
    return operation(values, call.argument(), partial(call.argument, 1))


MACROS: dict[str, Callable[[MacroCall], str | None]] = {
    "user": lambda call: call.context.user,
    "char": lambda call: call.context.char,
    "group": lambda call: call.context.char,
    "date": lambda call: spell_date(call.context.moment),
    "time": _tell_time,
    "day": lambda call: WEEKDAYS[call.context.moment.weekday()],
    "isodate": lambda call: call.context.moment.strftime("%Y-%m-%d"),
    "isotime": lambda call: call.context.moment.strftime("%H:%M"),
    "datetimeformat": lambda call: format_moment(call.context.moment, call.argument()),
    "timediff": _compare_times,
    "idle_duration": lambda call: spell_duration(call.context.idle),
    "newline": partial(_repeat, text="\n"),
    "space": partial(_repeat, text=" "),
    "noop": lambda _call: "",
    "trim": lambda call: call.argument() if call.macro.is_scoped else _TRIMMED,
    "//": lambda _call: "",
    "if": _choose,
    "else": lambda _call: "",
    "memory": _look_up_memory,
    "greeting": _greet,
    "outlet": lambda call: call.expansion.expand_text(
        f"outlet:{call.argument()}", call.context.outlets.get(call.argument(), "")
    ),
    "banned": lambda _call: "",
    "reverse": lambda call: call.argument()[::-1],
    "random": partial(_draw, is_fixed=False),
    "pick": partial(_draw, is_fixed=True),
    "roll": _roll_dice,
    "ismobile": lambda _call: "false",
    "hasextension": lambda _call: "false",
    ".": lambda call: SHORT_FORMS[call.argument(1)](call.context.variables.local, call.argument(), partial(call.argument, 2)),
    "$": lambda call: SHORT_FORMS[call.argument(1)](call.context.variables.shared, call.argument(), partial(call.argument, 2)),
    **{
        f"{verb}{scope}var": partial(_use_variable, operation=operation, is_shared=bool(scope))
        for verb, operation in OPERATIONS.items()
        for scope in ("", "global")
    },
}
"""Function by name; one that returns None leaves the macro as it is."""
