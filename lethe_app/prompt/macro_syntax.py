"""Syntax of macros: a text is read once into pieces and macros, so that no inserted value is ever read as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

MAX_NESTING = 32
"""Macros inside each other; deeper braces are text."""
Nodes = Sequence["str | Macro"]
_BRACES = re.compile(r"\{\{(?!\{)|\}\}")
_HEAD = re.compile(
    r"\s*(?P<flags>(?:(?:[!?~#>]|/(?!/)|/(?=//))\s*)*)(?:"
    r"(?P<time>time_)(?=UTC[+-]\d+\s*$)|(?P<name>//|[a-z][\w-]*)(?P<separator>\s*::?|\s+|(?<=//)|$)"
    r"|(?P<scope>[.$])\s*(?P<variable>[a-z](?:[\w-]*\w)?)\s*(?P<operator>\+\+|--|(?:\?\?|\|\||[+\-=!<>])=|\?\?|\|\||[=<>]|$))",
    re.IGNORECASE,
)
_COLONS, _COMMA = re.compile("::"), re.compile(r"(?<!\\),")


@dataclass(frozen=True)
class Macro:
    """Macro as it is written."""

    source: str
    body: Nodes
    """What is between its braces."""
    name: str = ""
    """Name in lower case; empty if it has none. The short form of a variable is named after its scope, “.” or “$”."""
    flags: str = ""
    arguments: Sequence[Nodes] = ()
    """Its arguments, and last the text up to its end if there is one; of a short form, the variable, operator and value."""
    is_scoped: bool = False
    """True if the last argument stands between this macro and its end."""
    depth: int = 1
    """Levels of macros within each other."""


def parse_macros(text: str) -> Nodes:
    """Return the pieces and macros of a text. Braces without a partner are text."""
    levels: list[tuple[int, list[str | Macro]]] = [(0, [])]
    end = 0
    for match in _BRACES.finditer(text):
        if len(levels) == 1 if match[0] == "}}" else len(levels) > MAX_NESTING:
            continue
        levels[-1][1].append(text[end : match.start()])
        end = match.end()
        if match[0] == "{{":
            levels.append((match.start(), []))
        else:
            start, body = levels.pop()
            levels[-1][1].append(_read_macro(text[start:end], body))
    levels[-1][1].append(text[end:])
    while len(levels) > 1:
        _start, body = levels.pop()
        levels[-1][1].extend(["{{", *body])
    return join_scopes(levels[0][1])


def _read_macro(source: str, body: Nodes) -> Macro:
    first, *rest = body
    depth = 1 + _depth_of(body)
    match = _HEAD.match(first) if isinstance(first, str) and depth < 2 * MAX_NESTING else None
    if match is None or (match["name"] and not match["separator"] and match["name"] != "//" and len(body) > 1):
        return Macro(source, body if depth < 2 * MAX_NESTING else [source[2:-2]])
    remainder: Nodes = [match.string[match.end() :], *rest]
    flags, arguments = match["flags"], [remainder]
    if match["scope"]:
        arguments = [[match["variable"]], [match["operator"]], remainder]
    elif (match["separator"] or "").strip() == "::":
        arguments = split_nodes(remainder)
    elif all(isinstance(node, str) and not node.strip() for node in remainder):
        arguments = []
    name = (match["scope"] or match["name"] or "time").lower()
    return Macro(source, body, name, flags, [join_scopes(argument) for argument in arguments], depth=depth)


def _depth_of(nodes: Nodes) -> int:
    return max((node.depth for node in nodes if isinstance(node, Macro)), default=0)


def split_nodes(nodes: Nodes, *, at_commas: bool = False) -> list[Nodes]:
    """Split what is written at double colons, or at commas that are not escaped, but nothing that a macro inserts."""
    parts: list[list[str | Macro]] = [[]]
    for node in nodes:
        first, *others = (_COMMA if at_commas else _COLONS).split(node) if isinstance(node, str) else [node]
        parts[-1].append(first)
        parts += [[other] for other in others]
    return list(parts)


def join_scopes(nodes: Nodes) -> Nodes:
    """Return nodes in which what stands between a macro and its end, such as `{{/if}}`, is its last argument."""
    joined: list[str | Macro] = []
    openings: dict[str, list[int]] = {}
    for node in nodes:
        if isinstance(node, Macro) and "/" in node.flags and (start := _find_opening(joined, openings.get(node.name, []))) >= 0:
            opening, content = joined[start], joined[start + 1 :]
            assert isinstance(opening, Macro)
            if (depth := max(opening.depth, 1 + _depth_of(content))) <= MAX_NESTING:
                source = "".join(one if isinstance(one, str) else one.source for one in (*joined[start:], node))
                arguments = [*opening.arguments, content]
                joined[start:] = [replace(opening, source=source, arguments=arguments, is_scoped=True, depth=depth)]
                continue
        if isinstance(node, Macro) and len(node.arguments) < 2:
            openings.setdefault(node.name, []).append(len(joined))
        joined.append(node)
    return joined


def _find_opening(joined: Nodes, indices: list[int]) -> int:
    """Return the index of the newest macro that can have an end, and -1 if there is none; what is within another is skipped."""
    while indices:
        index = indices.pop()
        node = joined[index] if index < len(joined) else ""
        if isinstance(node, Macro) and not node.is_scoped and "/" not in node.flags and len(node.arguments) < 2:
            return index
    return -1


def walk_macros(nodes: Nodes) -> Iterator[Macro]:
    """Yield every macro, also those within others."""
    for node in nodes:
        if isinstance(node, Macro):
            yield node
            for part in node.arguments if node.name else [node.body]:
                yield from walk_macros(part)
