"""Classify the code of a message by its language for syntax colours; Pygments is imported when a block first names one."""

from __future__ import annotations

import time
from enum import Enum
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

HIGHLIGHTED_LIMIT, HIGHLIGHTED_LINE_LIMIT = 16_000, 1_000
"""Maximum number of characters of a code block, and of one of its lines, that are classified; longer code has one colour."""
HIGHLIGHT_SECONDS = 0.25
"""Time after which the rest of a block keeps one colour."""


class CodeKind(Enum):
    """Kind of a piece of code, which decides its colour."""

    PLAIN = ""
    COMMENT = "comment"
    KEYWORD = "keyword"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    INSERTED = "inserted"
    DELETED = "deleted"


_KINDS = {
    "Comment": CodeKind.COMMENT,
    "Keyword": CodeKind.KEYWORD,
    "Operator.Word": CodeKind.KEYWORD,
    "Name.Tag": CodeKind.KEYWORD,
    "Name.Function": CodeKind.NAME,
    "Name.Class": CodeKind.NAME,
    "Name.Builtin": CodeKind.NAME,
    "Name.Decorator": CodeKind.NAME,
    "Name.Attribute": CodeKind.NAME,
    "Generic.Heading": CodeKind.NAME,
    "Generic.Subheading": CodeKind.NAME,
    "Literal.String": CodeKind.STRING,
    "Literal.Number": CodeKind.NUMBER,
    "Generic.Inserted": CodeKind.INSERTED,
    "Generic.Deleted": CodeKind.DELETED,
}
"""Type of token of Pygments → kind, valid for its subtypes too."""


def highlight_lines(code: str, info: str) -> list[list[tuple[str, CodeKind]]]:
    """Split code into lines of classified pieces; `info` is the info string of the fence, whose first word is the language.

    The last line is classified by itself while it has no end, so that the lines above are not classified again for each word
    of a growing reply.
    """
    end = code.rfind("\n") + 1
    lines: list[list[tuple[str, CodeKind]]] = [[]]
    for text, kind in (*_classify_code(code[:end], info), *_classify_code(code[end:], info)):
        for number, piece in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append((piece, kind))
    return lines


@lru_cache(maxsize=64)
def _classify_code(code: str, info: str) -> tuple[tuple[str, CodeKind], ...]:
    """Return the code as consecutive classified pieces; one plain piece if its language is unknown or it is too long."""
    lexer = _find_lexer(info.strip("{}. ").lower().split(maxsplit=1)[0]) if code.strip() and info.strip("{}. ") else None
    if lexer is None or len(code) > HIGHLIGHTED_LIMIT or max(map(len, code.split("\n"))) > HIGHLIGHTED_LINE_LIMIT:
        return ((code, CodeKind.PLAIN),)
    pieces, deadline = [], time.monotonic() + HIGHLIGHT_SECONDS
    for token_type, text in lexer.get_tokens(f"{code}\n"):  # some lexers end a comment by its line end only
        pieces.append((text, _kind_of(str(token_type).removeprefix("Token."))))
        if time.monotonic() > deadline:
            break
    merged = [("".join(text for text, _ in group), kind) for kind, group in groupby(pieces, itemgetter(1))]
    shown = "".join(text for text, _ in merged)
    if not f"{code}\n".startswith(shown):  # a lexer may drop or change characters; what is shown is what was written
        return ((code, CodeKind.PLAIN),)
    if len(shown) > len(code):
        merged[-1] = (merged[-1][0][:-1], merged[-1][1])
    return (*merged, (code[len(shown) :], CodeKind.PLAIN))


def _kind_of(token_name: str) -> CodeKind:
    """Return the kind of a type of token of Pygments, such as “Literal.String.Doc”: that of the nearest supertype with one."""
    while token_name and token_name not in _KINDS:
        token_name = token_name.rpartition(".")[0]
    return _KINDS.get(token_name, CodeKind.PLAIN)


@lru_cache(maxsize=64)
def _find_lexer(language: str) -> Lexer | None:
    """Return the lexer of a language by its name or alias; None if it is unknown. Plug-ins of other packages are left alone."""
    from pygments.lexers import get_all_lexers, get_lexer_by_name  # noqa: PLC0415 - most conversations have no code

    is_known = any(language in aliases for _, aliases, _, _ in get_all_lexers(plugins=False))
    return get_lexer_by_name(language, stripnl=False, ensurenl=False) if is_known else None
