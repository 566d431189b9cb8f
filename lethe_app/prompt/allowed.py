"""What a model's chat template may call: everything such templates use, and nothing that can grow without limit."""

from __future__ import annotations

from collections.abc import Mapping

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
"""Methods of plain values; what is not listed is refused."""
FILTERS = frozenset(
    {"abs", "bool", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "forceescape"}
    | {"groupby", "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr"}
    | {"replace", "reverse", "round", "safe", "select", "selectattr", "sort", "string", "title", "trim", "unique", "upper"}
    | {"wordcount"}
)
WEIGHED_FILTERS = frozenset({"dictsort", "groupby", "join", "max", "min", "sort", "string", "unique"})
"""Those that look at everything inside a list."""
