"""Convert the Markdown of a message into plain blocks and spans, so that no text of a message is ever interpreted as markup
by Qt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum

from markdown_it.token import Token

from lethe_app.ui.transcript.markdown.highlighting import CodeKind, highlight_lines
from lethe_app.ui.transcript.markdown.parser import close_open_action, is_too_deep, parse_blocks
from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextSpan, convert_tokens, create_plain_spans
from lethe_app.ui.transcript.markdown.speech import QuotationEnd, find_quote_end, mark_speech, unmark_speech

FORMATTED_LIMIT = 40_000
"""Maximum number of characters of a message parsed as Markdown; a longer one is shown as plain text."""
LINES_LIMIT = 2_000
"""Maximum number of lines of a message parsed as Markdown."""
MAX_SHOWN_CHARACTERS, MAX_SHOWN_LINES = 300_000, 6_000
"""Maximum number of characters and lines shown at all; copying the message copies everything."""
MARKS_LIMIT = 6_000
"""Maximum number of Markdown special characters in a message; one with more is shown as plain text."""
MAX_INDENT_DEPTH = 12
"""Maximum depth to which quotes and lists are indented."""
PLAIN_BLOCK_CHARACTERS, PLAIN_BLOCK_LINES = 4_000, 40
"""Characters and lines per paragraph of plain text."""

MAX_TABLE_COLUMNS, MAX_TABLE_CELLS = 16, 400
"""Maximum number of columns and of cells of a table; a larger one is shown row by row."""

NOTE_LONG = "Shown as plain text because it is very long."
NOTE_DENSE = "Shown as plain text because it contains too many formatting marks."
NOTE_CUT = "Only the beginning is shown here; copying the message copies all of it."

_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")
_BLANK = " \n\t\xa0\u2028\u200b\u200c\u200d\u2060\ufeff\xad"
"""White space and invisible characters; a block of nothing else is not visible."""
_UNDISPLAYABLE = re.compile("[\0\ud800-\udfff\ufdd0-\ufdef\ufffc]")
"""Characters without a glyph, or with a meaning inside a QTextDocument, such as U+FDD0 and U+FFFC."""
_MARKS = re.compile(r"[*_~`\[\]<&\\|]")


class BlockKind(Enum):
    """Kind of a block, which decides how it is painted."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CODE = "code"
    RULE = "rule"
    TABLE = "table"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class TableCell:
    """Cell of a table; `align` is "", "left", "center" or "right", as in the Markdown."""

    spans: tuple[TextSpan, ...]
    align: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Paragraph, heading, line of code, rule, table or note."""

    kind: BlockKind
    spans: tuple[TextSpan, ...] = ()
    quote: int = 0
    """Number of block quotes around the block."""
    indent: int = 0
    """Number of lists around the block."""
    marker: str = ""
    """Bullet or number of a list item; empty for its further blocks."""
    tight: bool = False
    """True if the next block follows closely, as in the items of a list."""
    level: int = 0
    """Level of a heading, 1 to 6; for a line of code 1 if it is the title with the language."""
    edges: tuple[bool, bool] = (False, False)
    """For a line of code, whether it is the first and the last one of its box."""
    code: str = ""
    """For the last line of a code block, the whole code as it was written, with its tabs; empty if it is blank."""
    rows: tuple[tuple[TableCell, ...], ...] = ()
    """Rows of a table, the header first."""
    opens: str = ""
    """Marks that would close the quotation left open at the end of the block; empty if none is."""


def normalize_text(text: str) -> str:
    r"""Return the text with line ends normalised to `\n`, and with characters replaced that have no glyph or control a
    QTextDocument.
    """
    return _UNDISPLAYABLE.sub("\ufffd", _LINE_ENDS.sub("\n", text))


def plain_text_note(text: str) -> str:
    """Return the note why a text is shown as plain text; empty if it is parsed as Markdown."""
    if len(text) > FORMATTED_LIMIT or text.count("\n") > LINES_LIMIT:
        return NOTE_LONG
    if len(text) > MARKS_LIMIT and len(_MARKS.findall(text)) > MARKS_LIMIT:
        return NOTE_DENSE
    return ""


def parse_message(text: str, *, is_incomplete: bool = False) -> list[Block]:
    """Parse a message into blocks, in time linear in its length. If it `is_incomplete`, an action left open at the end is
    closed.
    """
    text = normalize_text(text)
    if reason := plain_text_note(text):
        return split_plain_text(text, reason)
    tokens = close_open_action(parse_blocks(text)) if is_incomplete else parse_blocks(text)
    return split_plain_text(text, NOTE_DENSE) if is_too_deep(tokens) else complete_blocks(build_blocks(tokens), text)


def complete_blocks(blocks: list[Block], text: str) -> list[Block]:
    """Complete the blocks of a message: mark speech that spans several paragraphs. If no block is visible, return the plain
    text.
    """
    if not any(_is_visible(block) for block in blocks):
        return split_plain_text(text) if text.strip() else []
    index = 0
    while index < len(blocks):
        index = _mark_continued_speech(blocks, index) if blocks[index].opens else index + 1
    return blocks


def _is_visible(block: Block) -> bool:
    spans = [*block.spans, *(span for row in block.rows for cell in row for span in cell.spans)]
    return bool(
        block.kind in {BlockKind.CODE, BlockKind.RULE} or block.marker or any(span.text.strip(_BLANK) for span in spans)
    )


def _mark_continued_speech(blocks: list[Block], first: int) -> int:
    """Mark speech that is closed in a later paragraph, in all paragraphs up to there; return the index to continue at."""
    closers, shape = blocks[first].opens, (BlockKind.PARAGRAPH, blocks[first].quote, blocks[first].indent, "")
    end, last = QuotationEnd.OPEN, first
    while end is QuotationEnd.OPEN and last + 1 < len(blocks):
        block = blocks[last + 1]
        if (block.kind, block.quote, block.indent, block.marker) != shape:
            break
        end = find_quote_end(closers, unmark_speech(block.spans))
        last += 1
    if end is not QuotationEnd.LATER_LINE:
        return first + 1
    for index in range(first, last + 1):
        spans, opens = mark_speech(
            unmark_speech(blocks[index].spans), closers if index > first else "", continues_later=index == first
        )
        blocks[index] = replace(blocks[index], spans=spans, opens=opens if index == last else "")
    return last


def split_plain_text(text: str, note: str = "") -> list[Block]:
    """Split a text into blocks without parsing it, followed by `note` and, if it was cut, by a note about that."""
    lines = text[:MAX_SHOWN_CHARACTERS].split("\n", MAX_SHOWN_LINES)
    is_cut = len(text) > MAX_SHOWN_CHARACTERS or len(lines) > MAX_SHOWN_LINES
    lines = lines[:MAX_SHOWN_LINES]
    pieces = ["\n".join(lines[start : start + PLAIN_BLOCK_LINES]) for start in range(0, len(lines), PLAIN_BLOCK_LINES)]
    blocks = [
        Block(BlockKind.PARAGRAPH, create_plain_spans(piece[start : start + PLAIN_BLOCK_CHARACTERS]), tight=True)
        for piece in pieces
        for start in range(0, max(len(piece), 1), PLAIN_BLOCK_CHARACTERS)
    ]
    notes = [*([note] if note else []), *([NOTE_CUT] if is_cut else [])]
    return blocks + [Block(BlockKind.NOTE, create_plain_spans(words)) for words in notes]


@dataclass
class _List:
    """State of an open list while its items are parsed."""

    ordered: bool
    number: int
    marker: str = ""

    def next_marker(self) -> str:
        self.marker = f"{self.number}." if self.ordered else "•"
        self.number += 1
        return self.marker


@dataclass
class _BlockBuilder:
    """Builder of the flat list of blocks, with the quotes and lists that are open."""

    blocks: list[Block] = field(default_factory=list)
    quote: int = 0
    lists: list[_List] = field(default_factory=list)
    level: int = 0
    tight: bool = False
    quote_starts: list[int] = field(default_factory=list)
    """Number of blocks at the start of each open quote, to detect empty ones."""

    def add_block(self, kind: BlockKind, spans: tuple[TextSpan, ...] = (), **block_fields: object) -> None:
        block = Block(
            kind, spans, min(self.quote, MAX_INDENT_DEPTH), min(len(self.lists), MAX_INDENT_DEPTH), self._take_marker()
        )
        self.blocks.append(replace(block, **block_fields) if block_fields else block)  # type: ignore[arg-type]

    def _take_marker(self) -> str:
        if not self.lists:
            return ""
        marker, self.lists[-1].marker = self.lists[-1].marker, ""
        return marker


def build_blocks(tokens: list[Token]) -> list[Block]:
    """Convert parser tokens to a flat list of blocks."""
    builder = _BlockBuilder()
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.type == "table_open":
            end = next(at for at in range(position, len(tokens)) if tokens[at].type == "table_close")
            _read_table(builder, _parse_table_rows(tokens[position:end]))
            position = end
        else:
            _read_token(builder, token)
        position += 1
    return builder.blocks


def _read_token(builder: _BlockBuilder, token: Token) -> None:
    match token.type:
        case "inline" if builder.level:
            spans, _ = mark_speech(convert_tokens(token.children or []))
            builder.add_block(BlockKind.HEADING, spans or create_plain_spans("#" * builder.level), level=builder.level)
        case "inline":
            spans, opens = mark_speech(convert_tokens(token.children or []))
            builder.add_block(BlockKind.PARAGRAPH, spans, tight=builder.tight, opens=opens)
        case "paragraph_open":
            builder.tight = token.hidden
        case "heading_open":
            builder.level = int(token.tag[1])
        case "heading_close":
            builder.level = 0
        case "fence" | "code_block":
            _read_code(builder, token.content, token.info.strip())
        case "hr":
            builder.add_block(BlockKind.RULE)
        case _:
            _read_container(builder, token)


def _read_container(builder: _BlockBuilder, token: Token) -> None:
    match token.type:
        case "blockquote_open":
            builder.quote += 1
            builder.quote_starts.append(len(builder.blocks))
        case "blockquote_close":
            builder.quote -= 1
            if builder.quote_starts.pop() == len(builder.blocks):
                builder.add_block(BlockKind.PARAGRAPH, create_plain_spans(">"))
        case "bullet_list_open":
            builder.lists.append(_List(ordered=False, number=1))
        case "ordered_list_open":
            builder.lists.append(_List(ordered=True, number=int(token.attrs.get("start", 1))))
        case "list_item_open":
            builder.lists[-1].next_marker()
        case "list_item_close":
            _end_item(builder)
        case "bullet_list_close" | "ordered_list_close":
            builder.lists.pop()
            if builder.blocks and not builder.lists:
                builder.blocks[-1] = replace(builder.blocks[-1], tight=False)


def _end_item(builder: _BlockBuilder) -> None:
    """Add an empty paragraph for a list item without text, so that its bullet is shown."""
    if builder.lists[-1].marker:
        builder.add_block(BlockKind.PARAGRAPH, tight=True)


def _read_code(builder: _BlockBuilder, content: str, title: str) -> None:
    """Add the lines of a code block, with its info string as title."""
    code = content.removesuffix("\n")
    lines: list[tuple[TextSpan, ...]] = [(TextSpan(title.expandtabs(4), code=True),)] if title else []
    if content or not title:
        lines += [_expand_tabs(line) for line in highlight_lines(content, title)][: -1 if content.endswith("\n") else None]
    for number, spans in enumerate(lines):
        is_last = number == len(lines) - 1
        builder.add_block(
            BlockKind.CODE,
            spans,
            edges=(number == 0, is_last),
            level=1 if title and number == 0 else 0,
            code=code if is_last and code.strip() else "",
        )


def _expand_tabs(pieces: list[tuple[str, CodeKind]]) -> tuple[TextSpan, ...]:
    """Convert the pieces of a line of code to spans, with spaces up to the next tab stop in place of tabs."""
    spans, line = [], ""
    for text, kind in pieces:
        start, line = len(line.expandtabs(4)), line + text
        spans.append(TextSpan(line.expandtabs(4)[start:], code=True, code_kind=kind))
    return tuple(spans)


def _read_table(builder: _BlockBuilder, rows: tuple[tuple[TableCell, ...], ...]) -> None:
    """Add a table; one above the limits is added as one paragraph per row."""
    if len(rows[0]) <= MAX_TABLE_COLUMNS and sum(map(len, rows)) <= MAX_TABLE_CELLS:
        builder.add_block(BlockKind.TABLE, rows=rows)
        return
    for row in rows:
        row_text = " | ".join("".join(span.text for span in cell.spans) for cell in row)
        builder.add_block(BlockKind.PARAGRAPH, create_plain_spans(row_text[:PLAIN_BLOCK_CHARACTERS]), tight=True)


def _parse_table_rows(tokens: list[Token]) -> tuple[tuple[TableCell, ...], ...]:
    rows: list[list[TableCell]] = []
    align = ""
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in {"th_open", "td_open"}:
            align = str(token.attrs.get("style", "")).removeprefix("text-align:")
        elif token.type == "inline":
            rows[-1].append(TableCell(mark_speech(convert_tokens(token.children or []))[0], align))
    return tuple(tuple(row) for row in rows)


def strip_formatting(text: str) -> str:
    """Return the text of a message without formatting, for screen readers and for copying whole messages of a selection."""
    lines = []
    for block in parse_message(text):
        lines.append(f"{block.marker} " if block.marker else "")
        lines[-1] += "".join(span.text for span in block.spans)
        lines += ["\t".join("".join(span.text for span in cell.spans) for cell in row) for row in block.rows]
    return "\n".join(lines).replace(LINE_BREAK, "\n").strip()
