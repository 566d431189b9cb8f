"""Parse a reply while it is generated: finished blocks are kept, only the last one is parsed again."""

from __future__ import annotations

from markdown_it.token import Token

from lethe_app.ui.transcript.markdown.blocks import Block, blocks_of, finished, read, tidy, unformatted_reason
from lethe_app.ui.transcript.markdown.open_actions import open_ended
from lethe_app.ui.transcript.markdown.parser import is_too_deep, tokens_of


class GrowingProse:
    """Incremental parser of a text that only gets longer. A call costs as much as the last block, not as the text."""

    def __init__(self) -> None:
        self._text = ""
        self._settled: list[Block] = []
        self.settled_to = 0
        """Number of characters that are not parsed again."""
        self._lines_to = 0

    def read(self, text: str, *, breaks_off: bool = True) -> list[Block]:
        """Return the blocks of the text; `breaks_off` is False for the complete text. A text that does not continue the last
        one is parsed from the start.
        """
        text = tidy(text)
        if not text.startswith(self._text[: self.settled_to]):
            self._settled, self.settled_to, self._lines_to = [], 0, 0
        self._text = text
        if unformatted_reason(text):
            return read(text)
        self._settle(text)
        tokens = tokens_of(text[self.settled_to :])
        if breaks_off:
            tokens = open_ended(tokens)
        return read(text) if is_too_deep(tokens) else finished(self._settled + blocks_of(tokens), text)

    def _settle(self, text: str) -> None:
        """Keep every block but the last of the complete lines. The last one, and an unfinished line, may still change the
        block above.
        """
        lines_to = text.rfind("\n") + 1
        if lines_to <= self._lines_to:
            return
        self._lines_to = lines_to
        lines = text[self.settled_to : lines_to]
        tokens = tokens_of(lines)
        last, line = _last_block(tokens)
        if last and not is_too_deep(tokens):
            self._settled += blocks_of(tokens[:last])
            self.settled_to += _offset_of_line(lines, line)


def _last_block(tokens: list[Token]) -> tuple[int, int]:
    """Return the token index and the line at which the last block starts."""
    starts = [(at, token.map[0]) for at, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0 and token.map]
    return max(starts, default=(0, 0))


def _offset_of_line(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
