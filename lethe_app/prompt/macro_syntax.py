"""Syntax of macros: a text is read once into pieces and macros, so that no inserted value is ever read as one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

MAX_NESTING = 32
"""Macros inside the braces of others; deeper braces are text."""
Nodes = Sequence["str | Macro"]
_BRACES = re.compile(r"\{\{(?!\{)|\}\}")
_FLAGS = r"\s*(?P<flags>(?:(?:[!?~#>]|/(?!/)|/(?=//))\s*)*)"
_NAME = r"(?P<time>time_)(?=UTC[+-]\d+\s*$)|(?P<name>//|[a-z][\w-]*)(?P<separator>\s*::?|\s+|(?<=//)|$)"
_OPERATOR = r"(?P<operator>\+\+|--|(?:\?\?|\|\||[+\-=!<>])=|\?\?|\|\||[=<>]|$)"
_SHORT_FORM = rf"(?P<scope>[.$])\s*(?P<variable>[a-z](?:[\w-]*\w)?)\s*{_OPERATOR}"
_HEAD = re.compile(f"{_FLAGS}(?:{_NAME}|{_SHORT_FORM})", re.IGNORECASE)
_COLONS, _COMMA = re.compile("::"), re.compile(r"(?<!\\),")


@dataclass(frozen=True)
class Macro:
    """Macro as it is written: its source, what is between its braces, and its name in lower case, which is empty if it has
    none. If it has an end, the last argument is the text up to it. The short form of a variable is named after its scope, “.”
    or “$”, and its arguments are variable, operator and value.
    """

    source: str
    body: Nodes
    name: str = ""
    flags: str = ""
    arguments: Sequence[Nodes] = ()
    is_scoped: bool = False


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
    return join_scopes([node for number, (_start, nodes) in enumerate(levels) for node in (*["{{"][: number and 1], *nodes)])


def _read_macro(source: str, body: Nodes) -> Macro:
    match = _HEAD.match(str(body[0]))
    if match is None:
        return Macro(source, body)
    remainder: Nodes = [match.string[match.end() :], *body[1:]]
    arguments = split_nodes(remainder) if (match["separator"] or "").strip() == "::" else [remainder]
    if match["scope"]:
        arguments = [[match["variable"]], [match["operator"]], remainder]
    elif not "".join("x" if isinstance(node, Macro) else node for node in remainder).strip():
        arguments = []
    name = (match["scope"] or match["name"] or "time").lower()
    return Macro(source, body, name, match["flags"], [join_scopes(argument) for argument in arguments])


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
    openings: list[tuple[int, Macro]] = []
    names = Counter[str]()
    for node in nodes:
        if isinstance(node, Macro) and "/" not in node.flags and len(node.arguments) < 2 and not node.is_scoped:
            openings.append((len(joined), node))
            names[node.name] += 1
        joined.append(node)
        while isinstance(node, Macro) and "/" in node.flags and names[node.name]:
            start, opening = openings.pop()
            names[opening.name] -= 1
            if opening.name == node.name:
                content = joined[start + 1 : -1]
                joined[start:] = [replace(opening, arguments=[*opening.arguments, content], is_scoped=True)]
                break
    return joined


def walk_macros(nodes: Nodes) -> Iterator[Macro]:
    """Yield every macro, also those within others."""
    waiting = [*reversed(nodes)]
    while waiting:
        if isinstance(node := waiting.pop(), Macro):
            yield node
            parts = node.arguments if node.name else [node.body]
            waiting += [inner for part in reversed(parts) for inner in reversed(part)]
