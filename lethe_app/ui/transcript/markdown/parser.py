"""Parse the Markdown of chat messages: without surprising constructs, without loss of text, and with an *action* closed that is
open at the end of an unfinished text, so that it is shown as an action while it is generated.
"""

from __future__ import annotations

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

from lethe_app.searchable_text import HANGUL, SPACELESS

MAX_NESTING = 40
"""Nesting depth at which the parser stops; deeper content would be missing from its output."""
BRACKETS_LIMIT = 400
"""Number of opening brackets above which links are not parsed, because each bracket is tried against the rest of the text."""
_ACTION_START = re.compile(r"(?:^|\s)\*(?![\s*])")
_CJK = re.compile(rf"{SPACELESS.pattern}|{HANGUL.pattern}|[\u3000-\u303f\uff00-\uffef]")
"""Letters and punctuation of scripts that put no spaces around emphasis."""
_SENTENCE_ENDS = frozenset(".!?…,;:~—–-\"'”’»)")
_FORMULA = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\](?!\()", re.DOTALL)
"""Formula in TeX, shown as it is written."""
_CLOSERS = ("*", "**", "***")
"""Missing closing marks to try: that of the action, alone or together with that of bold text inside it."""


class _InlineState(StateInline):
    """State of the inline parser in which emphasis works where CommonMark sees no edge of a word."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N803 - signature of the library
        """Let marks open and close beside scripts without spaces, and close an action after the end of its sentence."""
        scanned = super().scanDelims(start, canSplitWord)
        before, after = self.src[start - 1 : start] or " ", self.src[start + scanned.length :][:1] or " "
        if self.src[start] == "_":
            return scanned
        is_cjk = bool(_CJK.match(before) or _CJK.match(after))
        closes = is_cjk or (before in _SENTENCE_ENDS and self._follows_action_start(start))
        return Scanned(
            scanned.can_open or (is_cjk and not after.isspace()),
            scanned.can_close or (closes and not before.isspace()),
            scanned.length,
        )

    def _follows_action_start(self, end: int) -> bool:
        """Return whether the last marks before `end` are those of an action: after a space or at the start."""
        marks = self.src[: self.src.rfind("*", 0, end) + 1]
        before = marks.rstrip("*")[-1:] or " "
        return len(marks) > 0 and before.isspace() and not self.src[len(marks)].isspace()


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:  # noqa: ANN401 - as the library
        state = _InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _keep_formula(state: StateInline, silent: bool) -> bool:
    formula = _FORMULA.match(state.src, state.pos, state.posMax)
    if formula is None:
        return False
    if not silent:
        state.pending += formula[0]
    state.pos = formula.end()
    return True


def _create_parser(*disabled_rules: str) -> MarkdownIt:
    """Create a CommonMark parser without raw HTML, reference links, setext headings and indented code."""
    parser = MarkdownIt("commonmark")
    parser.inline = _InlineParser()
    parser.inline.ruler.before("escape", "formula", _keep_formula)
    parser.configure("commonmark", {"html": False, "breaks": True, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough", "formula"])
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


def close_open_action(tokens: list[Token]) -> list[Token]:
    """Return the tokens of an unfinished text with an action that is open in its last paragraph closed."""
    index = _find_last_paragraph(tokens)
    if index is None:
        return tokens
    paragraph = tokens[index]
    children = _parse_closed(paragraph.content.rstrip()) if _has_stray_mark(paragraph) else None
    return tokens if children is None else [*tokens[:index], paragraph.copy(children=children), *tokens[index + 1 :]]


def _find_last_paragraph(tokens: list[Token]) -> int | None:
    """Return the index of the inline token of the paragraph at the end of the text; None if the text ends with something
    else.
    """
    index = len(tokens) - 1
    while index > 0 and tokens[index].nesting < 0:
        index -= 1
    return index if index > 0 and tokens[index].type == "inline" and tokens[index - 1].type == "paragraph_open" else None


def _has_stray_mark(paragraph: Token) -> bool:
    has_stray_asterisk = any(child.type == "text" and "*" in child.content for child in paragraph.children or [])
    return has_stray_asterisk and _ACTION_START.search(paragraph.content) is not None


def _parse_closed(content: str) -> list[Token] | None:
    for closer in _CLOSERS:
        children = [child for child in parse_inline(content + closer) if child.type != "text" or child.content]
        if _ends_in_action(children):
            return children
    return None


def _ends_in_action(children: list[Token]) -> bool:
    """Return whether the last element is an action that was opened by `*` at the start or after white space.

    An action inside it would mean that the first mark was a slip, and that the text after the inner one is no action.
    """
    if not children or children[-1].type != "em_close" or children[-1].markup != "*":
        return False
    level = children[-1].level
    start = next(at for at in range(len(children) - 2, -1, -1) if (children[at].type, children[at].level) == ("em_open", level))
    if any(child.type == "em_open" and child.markup == "*" for child in children[start + 1 :]):
        return False
    previous_token = children[start - 1] if start else None
    return previous_token is None or previous_token.type in {"softbreak", "hardbreak"} or previous_token.content[-1:].isspace()


_full_parser, _parser_without_links = _create_parser(), _create_parser("link", "image")
