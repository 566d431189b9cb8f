"""Sandbox for chat templates, which are untrusted programs: every repetition and enlargement is charged to a budget.

Templates come with model files from anywhere. They run in Jinja's immutable sandbox with only the filters, methods and
functions that chat templates use. Every place where a template can repeat or enlarge something charges a `RenderBudget`, so
that endless loops and memory bombs end by themselves; a thread that runs Python code could not be killed.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

STRING_METHODS = frozenset(
    {"capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit"}
    | {"islower", "isnumeric", "isspace", "istitle", "isupper", "join", "lower", "lstrip", "partition", "removeprefix"}
    | {"removesuffix", "replace", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith"}
    | {"strip", "swapcase", "title", "upper"}
)
METHODS: tuple[tuple[type | tuple[type, ...], frozenset[str]], ...] = (
    (str, STRING_METHODS),
    (Mapping, frozenset({"get", "items", "keys", "values"})),
    ((list, tuple), frozenset({"count", "index"})),
    ((int, float, bytes, range), frozenset()),
)
"""Allowed methods of plain values; all others are refused."""
FILTERS = frozenset(
    {"abs", "bool", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "forceescape"}
    | {"groupby", "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr"}
    | {"replace", "reverse", "round", "safe", "select", "selectattr", "sort", "string", "title", "trim", "unique", "upper"}
    | {"wordcount"}
)
COLLECTION_FILTERS = frozenset({"dictsort", "groupby", "join", "max", "min", "sort", "string", "unique"})
"""Filters that inspect everything inside a list."""


MAX_TEXT = 8_000_000
"""Maximum characters of any string a template creates, and of its output."""
MAX_NUMBER = 2**63
"""Maximum absolute value of an integer, because powers of larger ones take unbounded time and memory."""
_BASE_UNITS = 16_000_000
_UNITS_PER_CHARACTER = 50
_CHARACTERS_PER_UNIT = 16
_MAX_LITERAL = 20_000


class RenderBudgetExceeded(Exception):
    """Error of a template that exceeds its budget."""


class RenderBudget:
    """Budget of units and time for one template, reset for every rendering. Not thread-safe."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._units = 0
        self._deadline = 0.0
        self.reset()

    def reset(self, characters: int = 0) -> None:
        """Reset the budget for rendering a conversation of `characters` characters."""
        self._units = _BASE_UNITS + characters * _UNITS_PER_CHARACTER
        self._deadline = time.monotonic() + self.seconds

    def spend(self, units: int = 1) -> None:
        """Charge units. Raise RenderBudgetExceeded if the units or the time are used up."""
        self._units -= units
        if self._units < 0:
            raise RenderBudgetExceeded("it produces too much text")
        if time.monotonic() > self._deadline:
            raise RenderBudgetExceeded(f"it takes longer than {self.seconds:g} seconds")

    def spend_text(self, length: int) -> None:
        """Charge a string of `length` characters; call it before the string is created."""
        if length > MAX_TEXT:
            raise RenderBudgetExceeded("it produces too much text")
        self.spend(1 + length // _CHARACTERS_PER_UNIT)

    def spend_number(self, value: object) -> None:
        """Charge a number. Raise RenderBudgetExceeded if it is so large that arithmetic with it would become slow."""
        if isinstance(value, int) and abs(value) > MAX_NUMBER:
            raise RenderBudgetExceeded("it calculates with huge numbers")
        self.spend()

    def measure_text(self, value: object) -> int:
        """Return the approximate length of `value` as text. The walk itself is charged, because shared parts count each
        time.
        """
        total = 0
        stack = [value]
        while stack:
            item = stack.pop()
            self.spend()
            if isinstance(item, str):
                total += len(item) + 2
            elif isinstance(item, Mapping):
                stack.extend(item.keys())
                stack.extend(item.values())
            elif isinstance(item, Iterable):
                stack.extend(item)
            elif item is None or isinstance(item, bool | int | float):
                total += 24
            else:
                raise RenderBudgetExceeded(f"it prints a {type(item).__name__}")
            if total > MAX_TEXT:
                raise RenderBudgetExceeded("it produces too much text")
        return total

    def spend_literal(self, value: object) -> None:
        """Charge a literal list or mapping. Raise RenderBudgetExceeded if it nests shared lists, whose text would grow
        exponentially.
        """
        cells = 0
        stack = [value]
        while stack:
            item = stack.pop()
            cells += 1
            if cells > _MAX_LITERAL:
                raise RenderBudgetExceeded("it nests lists too deeply")
            if isinstance(item, Mapping):
                stack.extend(item.values())
            elif isinstance(item, list | tuple):
                stack.extend(item)
        self.spend(cells)


MAX_RANGE = 10_000
"""Maximum length of a `range` in a template."""
_LOADERS: tuple[type[nodes.Node], ...] = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_DATE_FORMAT = re.compile(r"(?:[^%]|%[-#]?[A-Za-z%])*")


def _raise_template_error(message: object) -> str:
    raise TemplateError(str(message)[:500])


def _refuse_filter(*_: object, **__: object) -> str:
    """Stand in for filters that no chat template needs for a conversation; branches that never run may name them."""
    raise SecurityError("it uses a filter that is not allowed")


class _Generation(Extension):
    """Extension for `{% generation %}`, which marks training targets; only its content is rendered."""

    tags = {"generation"}  # noqa: RUF012 - jinja's own declaration

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Metering(NodeTransformer):
    """AST transformer that charges every loop and macro call, and turns `~` and literals into calls that can be charged."""

    def _call(self, name: str, *args: nodes.Expr) -> nodes.Call:
        return nodes.Call(nodes.EnvironmentAttribute(name), list(args), [], None, None)

    def _tick(self, body: Iterable[nodes.Node]) -> nodes.Call:
        constant = sum(len(data.data) for part in body for data in part.find_all(nodes.TemplateData))
        return self._call("tick", nodes.Const(constant))

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - named after the node
        tick = self._tick(node.body)
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(tick))
        if node.test is not None:
            node.test = nodes.And(self._call("tick", nodes.Const(0)), node.test)
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802 - named after the node
        tick = self._tick(node.body)
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(tick))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - named after the node
        self.generic_visit(node)
        return self._call("concatenate", *node.nodes)

    def _literal(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)
        return node if getattr(node, "ctx", "load") == "store" else self._call("literal", node)

    visit_List = visit_Tuple = visit_Dict = _literal  # noqa: N815 - named after the nodes


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """Jinja environment as chat templates expect it, charging all work to a budget."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, budget: RenderBudget, moment: datetime) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,
            extensions=[loopcontrols, _Generation],
            finalize=self._to_text,
        )
        self._budget = budget
        filters: dict[str, Any] = {**self.filters, "safe": str}
        self.filters = {
            name: self._charge_filter(name, filters[name]) if name in FILTERS else _refuse_filter for name in filters
        }
        self.filters["tojson"] = self._to_json
        tests: dict[str, Any] = {**self.tests}
        self.tests = {name: self._charge_filter(name, tests[name]) for name in tests}
        self.globals = {
            "range": self._limited_range,
            "namespace": Namespace,
            "raise_exception": _raise_template_error,
            # Not the current time: the moment is frozen, so that the start of the prompt stays the same for the KV cache.
            "strftime_now": functools.partial(_spell_date, moment),
        }

    def _generate(self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False) -> str:
        if any(source.find(loader) for loader in _LOADERS):
            raise SecurityError("it tries to load other files")
        _Metering().visit(source)
        return super()._generate(source, name, filename, defer_init)

    def tick(self, constant: int) -> bool:
        self._budget.spend_text(constant)
        return True

    def literal(self, value: object) -> object:
        self._budget.spend_literal(value)
        return value

    def concatenate(self, *parts: object) -> str:
        return self._join("", [self._to_text(part) for part in parts])

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ANN401 - jinja's own type
        for kind, allowed in METHODS:
            if isinstance(obj, kind):
                return attr in allowed
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:  # noqa: ANN401 - jinja's own type
        """Disable Jinja's handling of `str.format`, which pads without limit; `is_safe_attribute` then refuses the method."""
        return None

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401 - jinja's own type
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            self._budget.spend_text(len(left) + len(right))
        elif operator == "+" and isinstance(left, list | tuple) and isinstance(right, list | tuple):
            self._budget.spend(len(left) + len(right))
        elif operator == "*" and isinstance(left, str) and isinstance(right, int):
            self._budget.spend_text(len(left) * max(right, 0))
        # Everything else is refused: `%` on text pads without limit, as `str.format` does, and `*` repeats lists.
        elif not all(isinstance(value, int | float | Undefined) for value in (left, right)):
            raise SecurityError(f"it uses {operator} on text or lists")
        elif operator == "**" and (abs(left) > 1000 or abs(right) > 16):
            raise RenderBudgetExceeded("it calculates with huge numbers")
        result = super().call_binop(context, operator, left, right)
        self._budget.spend_number(result)
        return result

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, N805 - jinja's own signature
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            words = {name: value for name, value in kwargs.items() if not name.startswith("_")}  # jinja adds its own
            return __self._call_on_text(owner, __obj.__name__, *args, **words)
        return super().call(__context, __obj, *args, **kwargs)

    def _call_on_text(self, owner: str, name: str, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - any method of text
        if name == "join":
            return self._join(owner, [self._to_text(item) for item in args[0]])
        grown = owner.count(str(args[0])) * len(str(args[1])) if name == "replace" and len(args) > 1 else 0
        self._budget.spend_text(len(owner) + grown)
        result: object = getattr(owner, name)(*args, **kwargs)
        self._budget.spend(len(result) if isinstance(result, list) else 1)
        return result

    def _join(self, separator: str, parts: Sequence[str]) -> str:
        self._budget.spend_text(sum(map(len, parts)) + len(separator) * len(parts))
        return separator.join(parts)

    def _limited_range(self, *bounds: int) -> range:
        numbers = range(*bounds)
        if len(numbers) > MAX_RANGE:
            raise RenderBudgetExceeded(f"it counts to more than {MAX_RANGE}")
        return numbers

    def _to_text(self, value: object) -> str:
        """Charge and return a value as text; called for every value that is printed."""
        if not isinstance(value, str | int | Undefined):
            self._budget.measure_text(value)
        text = str(value)
        self._budget.spend_text(len(text))
        return text

    def _to_json(self, value: object, indent: int | None = None, **_: object) -> str:
        """Return JSON with readable characters instead of the HTML-safe escapes of Jinja's `tojson`."""
        self._budget.measure_text(value)
        return json.dumps(value, ensure_ascii=False, indent=min(indent, 8) if indent else None)

    def _charge_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a filter or test so that the text and lists it takes and returns are charged."""

        @functools.wraps(function)
        def charged(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the filter takes and gives
            # An iterator can be walked only once, and charging it walks it.
            args = tuple(list(value) if isinstance(value, Iterator) else value for value in args)
            for value in args:
                if isinstance(value, str):
                    self._budget.spend_text(len(value))
                elif name in COLLECTION_FILTERS and isinstance(value, Iterable):
                    self._budget.measure_text(value)
            if name == "replace" and len(args) > 3:
                self._budget.spend_text(len(str(args[1])) + str(args[1]).count(str(args[2])) * len(str(args[3])))
            if name == "join" and len(args) > 2:
                self._budget.spend_text(len(args[1]) * len(str(args[2])))
            result = function(*args, **kwargs)
            self._budget.spend(len(result) if isinstance(result, list | tuple) else 1)
            return result

        return charged


def _spell_date(moment: datetime, pattern: str) -> str:
    """Return the frozen date in the template's format. Raise SecurityError for an unusual format string."""
    if len(pattern) > 100 or _DATE_FORMAT.fullmatch(pattern) is None:
        raise SecurityError("it uses an unsupported date format")
    return moment.strftime(pattern)
