"""Keywords written as `/pattern/flags` in the JavaScript dialect of other programs' lorebooks, with a complexity check."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LENGTH = 2000
"""Maximum characters of a regular expression."""
MAX_EXPANDED_SIZE = 20_000
"""Maximum size of an expression with all counted repeats expanded. Regex engines expand them, so a dozen characters could
allocate gigabytes before any text is searched.
"""
_SLASHED = re.compile(r"/((?:\\.|[^/\\])+)/([dgimsuvy]*)", re.DOTALL)
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\s*(\d*)\s*(?:,\s*(\d*)\s*)?\}|.", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:k<(\w+)>|u\{([0-9a-fA-F]{1,6})\}|.)", re.DOTALL)
_FORBIDDEN_SYNTAX = re.compile(r"\(\?(?:#|[a-zA-Z0-9]*x)")
"""Comments and verbose mode, which could hide repeats from the complexity check; the JavaScript dialect has neither."""


class KeywordRegex(NamedTuple):
    """Regular expression with its flags, of which `i`, `m` and `s` are used."""

    pattern: str
    flags: str


def parse_expression(keyword: str) -> KeywordRegex | None:
    """Return the expression of a keyword; None for plain words, paths and dates with slashes."""
    match = _SLASHED.fullmatch(keyword)
    return KeywordRegex(_ESCAPE.sub(_translate_escape, match[1]), match[2]) if match else None


def find_problem(pattern: str) -> str:
    """Return why a pattern must not be compiled; empty if it may."""
    if len(pattern) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH} characters"
    if any(_FORBIDDEN_SYNTAX.match(pattern, match.start()) for match in _PIECE.finditer(pattern)):
        return "has a comment or asks for verbose mode, which keywords do not know"
    if _expanded_size(pattern) > MAX_EXPANDED_SIZE:
        return "repeats too much"
    return ""


def _translate_escape(match: re.Match[str]) -> str:
    """Translate a JavaScript escape into its Python spelling."""
    if match[1]:
        return f"(?P={match[1]})"
    if match[2]:
        return f"\\U{int(match[2], 16):08x}"
    return match[0]


def _expanded_size(pattern: str) -> int:
    """Return the size of a pattern with every counted repeat expanded."""
    groups: list[list[int]] = [[0]]  # for each open group the weights of its items
    for match in _PIECE.finditer(pattern):
        piece, items = match[0], groups[-1]
        if piece == "(":
            groups.append([0])
        elif piece == ")" and len(groups) > 1:
            inner = sum(groups.pop())
            groups[-1].append(inner + 1)
        elif match[1] or match[2]:
            items[-1] *= max(1, *(int(count[:9]) for count in match.groups() if count))
        else:
            items.append(1)
    return sum(sum(items) for items in groups)
