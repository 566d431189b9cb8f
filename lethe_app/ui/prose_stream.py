"""Reads a reply while it grows: finished blocks are kept, only the last one is read again."""

from __future__ import annotations

from markdown_it.token import Token

from lethe_app.ui.prose import Block, blocks_of, is_too_deep, read, tidy, tokens_of, unformatted_reason


class GrowingProse:
    """The blocks of a text that only ever gets longer. Its cost follows the last block, not the text."""

    def __init__(self) -> None:
        self._text = ""
        self._settled: list[Block] = []
        self.settled_to = 0

    def read(self, text: str) -> list[Block]:
        """The blocks of the text as it is now."""
        text = tidy(text)
        if not text.startswith(self._text[: self.settled_to]):
            self._settled, self.settled_to = [], 0
        self._text = text
        if unformatted_reason(text):
            return read(text)
        tail = text[self.settled_to :]
        tokens = tokens_of(tail)
        if is_too_deep(tokens):
            return read(text)
        last, line = _last_sure(tokens, tail.count("\n"))
        if last:
            self._settled += blocks_of(tokens[:last])
            self.settled_to += _offset_of_line(tail, line)
        return self._settled + blocks_of(tokens[last:])


def _last_sure(tokens: list[Token], lines: int) -> tuple[int, int]:
    """Token and line of the last block that begins on a line which is complete: what stands before it cannot change any more,
    whereas a line without its end may still turn out to be something else.
    """
    starts = [(at, token.map[0]) for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0 and token.map]
    return max(((at, line) for at, line in starts if line < lines), default=(0, 0))


def _offset_of_line(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
