"""Configure the Markdown parser for chat messages: without surprising constructs, and without loss of text."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

NESTING = 40
"""Nesting depth at which the parser stops; deeper content would be missing from its output."""
BRACKETS_LIMIT = 400
"""Number of opening brackets above which links are not parsed, because each bracket is tried against the rest of the text."""


def _parser(*without: str) -> MarkdownIt:
    """Create a CommonMark parser without raw HTML, reference links, setext headings and indented code."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": NESTING})
    parser.enable(["table", "strikethrough"])
    # Before the inline rules, so that the text of a restored paragraph is parsed as well.
    parser.core.ruler.after("block", "keep_cells", _keep_cells)
    return parser.disable(["reference", "lheading", "code", "html_block", "html_inline", *without])


def tokens_of(text: str) -> list[Token]:
    """Parse a text that was cleaned by `tidy`."""
    crowded = text.count("[") > BRACKETS_LIMIT
    return (_without_links if crowded else _full).parse(text)


def spans_in(text: str) -> list[Token]:
    """Parse the text of one paragraph into inline tokens."""
    crowded = text.count("[") > BRACKETS_LIMIT
    return (_without_links if crowded else _full).parseInline(text)[0].children or []


def is_too_deep(tokens: list[Token]) -> bool:
    """Return whether the nesting is so deep that the parser may have dropped content."""
    return any(token.level >= NESTING - 4 for token in tokens)


def _keep_cells(state: StateCore) -> None:
    """Turn a table that has a row longer than its header back into a paragraph, because the parser drops the extra cells."""
    if not any(token.type == "table_open" for token in state.tokens):
        return
    lines = state.src.split("\n")
    kept: list[Token] = []
    table: list[Token] = []
    for token in state.tokens:
        if token.type == "table_open" or table:
            table.append(token)
        else:
            kept.append(token)
        if token.type == "table_close":
            kept += _as_lines(table, lines) if _is_ragged(table, lines) else table
            table = []
    state.tokens = kept


def _is_ragged(table: list[Token], lines: list[str]) -> bool:
    columns = sum(token.type == "th_open" for token in table)
    rows = [token.map[0] for token in table if token.type == "tr_open" and token.map]
    return any(len(_cells(lines[row])) > columns for row in rows)


def _cells(line: str) -> list[str]:
    cells = escapedSplit(line.strip())
    # Pipes at the start and end of the line produce empty cells, which do not count.
    return cells[not cells[0].strip() : len(cells) - (not cells[-1].strip())]


def _as_lines(table: list[Token], lines: list[str]) -> list[Token]:
    opening, level = table[0], table[0].level
    first, last = opening.map or [0, 0]
    content = "\n".join(line.strip() for line in lines[first:last])
    inline = Token("inline", "", 0, map=opening.map, level=level + 1, content=content, children=[], block=True)
    start = Token("paragraph_open", "p", 1, map=opening.map, level=level, block=True)
    return [start, inline, Token("paragraph_close", "p", -1, level=level, block=True)]


_full, _without_links = _parser(), _parser("link", "image")
