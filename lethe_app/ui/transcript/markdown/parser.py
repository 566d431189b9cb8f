"""Sets up the Markdown parser for chats: without what surprises there, and so that it leaves out nothing that was written."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

NESTING = 40
"""Depth at which the parser gives up; it would leave out what stands deeper."""
BRACKETS_LIMIT = 400
"""Opening brackets beyond which links are not looked for: each of them would be tried against the rest of the text."""


def _parser(*without: str) -> MarkdownIt:
    """CommonMark without raw HTML, references, underlined headings and code by indentation."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": NESTING})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.after("block", "keep_cells", _keep_cells)
    return parser.disable(["reference", "lheading", "code", "html_block", "html_inline", *without])


def tokens_of(text: str) -> list[Token]:
    """What the Markdown parser makes of tidy text."""
    crowded = text.count("[") > BRACKETS_LIMIT
    return (_without_links if crowded else _full).parse(text)


def spans_in(text: str) -> list[Token]:
    """What the parser makes of the words of one paragraph."""
    crowded = text.count("[") > BRACKETS_LIMIT
    return (_without_links if crowded else _full).parseInline(text)[0].children or []


def is_too_deep(tokens: list[Token]) -> bool:
    """Whether the parser may have left something out."""
    return any(token.level >= NESTING - 4 for token in tokens)


def _keep_cells(state: StateCore) -> None:
    """A table with a row longer than its head would lose cells: its lines stay a paragraph."""
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
    return cells[not cells[0].strip() : len(cells) - (not cells[-1].strip())]


def _as_lines(table: list[Token], lines: list[str]) -> list[Token]:
    opening, level = table[0], table[0].level
    first, last = opening.map or [0, 0]
    content = "\n".join(line.strip() for line in lines[first:last])
    inline = Token("inline", "", 0, map=opening.map, level=level + 1, content=content, children=[], block=True)
    start = Token("paragraph_open", "p", 1, map=opening.map, level=level, block=True)
    return [start, inline, Token("paragraph_close", "p", -1, level=level, block=True)]


_full, _without_links = _parser(), _parser("link", "image")
