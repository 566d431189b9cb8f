"""Configure the Markdown parser for chat messages: without surprising constructs, and without loss of text."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

MAX_NESTING = 40
"""Nesting depth at which the parser stops; deeper content would be missing from its output."""
BRACKETS_LIMIT = 400
"""Number of opening brackets above which links are not parsed, because each bracket is tried against the rest of the text."""


def _create_parser(*disabled_rules: str) -> MarkdownIt:
    """Create a CommonMark parser without raw HTML, reference links, setext headings and indented code."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    # Before the inline rules, so that the text of a restored paragraph is parsed as well.
    parser.core.ruler.after("block", "keep_cells", _restore_ragged_tables)
    return parser.disable(["reference", "lheading", "code", "html_block", "html_inline", *disabled_rules])


def parse_blocks(text: str) -> list[Token]:
    """Parse a text from `normalize_text`."""
    has_many_brackets = text.count("[") > BRACKETS_LIMIT
    return (_parser_without_links if has_many_brackets else _full_parser).parse(text)


def parse_inline(text: str) -> list[Token]:
    """Parse the text of one paragraph into inline tokens."""
    has_many_brackets = text.count("[") > BRACKETS_LIMIT
    return (_parser_without_links if has_many_brackets else _full_parser).parseInline(text)[0].children or []


def is_too_deep(tokens: list[Token]) -> bool:
    """Return whether the nesting is so deep that the parser may have dropped content."""
    return any(token.level >= MAX_NESTING - 4 for token in tokens)


def _restore_ragged_tables(state: StateCore) -> None:
    """Turn a table that has a row longer than its header back into a paragraph, because the parser drops the extra cells."""
    if not any(token.type == "table_open" for token in state.tokens):
        return
    lines = state.src.split("\n")
    kept_tokens: list[Token] = []
    table_tokens: list[Token] = []
    for token in state.tokens:
        if token.type == "table_open" or table_tokens:
            table_tokens.append(token)
        else:
            kept_tokens.append(token)
        if token.type == "table_close":
            kept_tokens += _build_paragraph(table_tokens, lines) if _is_ragged(table_tokens, lines) else table_tokens
            table_tokens = []
    state.tokens = kept_tokens


def _is_ragged(table: list[Token], lines: list[str]) -> bool:
    columns = sum(token.type == "th_open" for token in table)
    rows = [token.map[0] for token in table if token.type == "tr_open" and token.map]
    return any(len(_split_cells(lines[row])) > columns for row in rows)


def _split_cells(line: str) -> list[str]:
    cells = escapedSplit(line.strip())
    # Pipes at the start and end of the line produce empty cells, which do not count.
    return cells[not cells[0].strip() : len(cells) - (not cells[-1].strip())]


def _build_paragraph(table: list[Token], lines: list[str]) -> list[Token]:
    opening, level = table[0], table[0].level
    first, last = opening.map or [0, 0]
    content = "\n".join(line.strip() for line in lines[first:last])
    inline = Token("inline", "", 0, map=opening.map, level=level + 1, content=content, children=[], block=True)
    start = Token("paragraph_open", "p", 1, map=opening.map, level=level, block=True)
    return [start, inline, Token("paragraph_close", "p", -1, level=level, block=True)]


_full_parser, _parser_without_links = _create_parser(), _create_parser("link", "image")
