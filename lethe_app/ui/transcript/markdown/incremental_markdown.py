"""Parse a reply while it is generated: finished blocks are kept, only the last one is parsed again."""

from __future__ import annotations

from markdown_it.token import Token

from lethe_app.ui.transcript.markdown.blocks import (
    Block,
    build_blocks,
    complete_blocks,
    normalize_text,
    parse_message,
    plain_text_note,
)
from lethe_app.ui.transcript.markdown.parser import close_open_action, is_too_deep, parse_blocks


class IncrementalMarkdown:
    """Incremental parser of a text that only gets longer. A call costs as much as the last block, not as the text."""

    def __init__(self) -> None:
        self._text = ""
        self._final_blocks: list[Block] = []
        self.final_length = 0
        """Number of characters that are not parsed again."""
        self._complete_lines_length = 0

    def parse_text(self, text: str, *, is_incomplete: bool = True) -> list[Block]:
        """Return the blocks of the text; `is_incomplete` is False for the complete text. A text that does not continue the last
        one is parsed from the start.
        """
        text = normalize_text(text)
        if not text.startswith(self._text[: self.final_length]):
            self._final_blocks, self.final_length, self._complete_lines_length = [], 0, 0
        self._text = text
        if plain_text_note(text):
            return parse_message(text)
        self._finalize_blocks(text)
        tokens = parse_blocks(text[self.final_length :])
        if is_incomplete:
            tokens = close_open_action(tokens)
        return parse_message(text) if is_too_deep(tokens) else complete_blocks(self._final_blocks + build_blocks(tokens), text)

    def _finalize_blocks(self, text: str) -> None:
        """Keep every block but the last of the complete lines. The last one, and an unfinished line, may still change the
        block above.
        """
        lines_length = text.rfind("\n") + 1
        if lines_length <= self._complete_lines_length:
            return
        self._complete_lines_length = lines_length
        lines = text[self.final_length : lines_length]
        tokens = parse_blocks(lines)
        last_token, line = _find_last_block(tokens)
        if last_token and not is_too_deep(tokens):
            self._final_blocks += build_blocks(tokens[:last_token])
            self.final_length += sum(len(one) + 1 for one in lines.split("\n")[:line])


def _find_last_block(tokens: list[Token]) -> tuple[int, int]:
    """Return the token index and the line at which the last block starts."""
    starts = [(at, token.map[0]) for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0 and token.map]
    return max(starts, default=(0, 0))
