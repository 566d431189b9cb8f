"""Reads a reply while it grows: finished blocks are kept, only the last one is read again."""

from __future__ import annotations

from lethe_app.ui.prose import Block, blocks_of, read, tidy, tokens_of, unformatted_reason


class GrowingProse:
    """The blocks of a text that only ever gets longer. Its cost follows the last block, not the text."""

    def __init__(self) -> None:
        self._text = ""
        self._settled: list[Block] = []
        self._settled_to = 0

    def read(self, text: str) -> list[Block]:
        """The blocks of the text as it is now."""
        text = tidy(text)
        if not text.startswith(self._text[: self._settled_to]):
            self._settled, self._settled_to = [], 0
        self._text = text
        if unformatted_reason(text):
            return read(text)
        tail = text[self._settled_to :]
        tokens = tokens_of(tail)
        last = max((at for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0), default=0)
        if last:
            line = (tokens[last].map or [0])[0]
            self._settled += blocks_of(tokens[:last])
            self._settled_to += _offset_of_line(tail, line)
        return self._settled + blocks_of(tokens[last:])


def _offset_of_line(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
