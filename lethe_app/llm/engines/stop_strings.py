"""Detection of stop strings in streamed text."""

from __future__ import annotations


class StopStrings:
    """Filter streamed text for stop strings and hold back what may be the start of one; `is_matched` is True after a stop
    string was found.
    """

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._pending = ""
        self.is_matched = False

    def feed(self, piece: str) -> str:
        """Return the text that is certain not to belong to a stop string."""
        text = self._pending + piece
        positions = [at for at in (text.find(stop) for stop in self._stops) if at >= 0]
        if positions:
            self.is_matched, self._pending = True, ""
            return text[: min(positions)]
        # The longest suffix that is a prefix of a stop string.
        held_length = max((longest_overlap(text, stop) for stop in self._stops), default=0)
        self._pending = text[len(text) - held_length :]
        return text[: len(text) - held_length]

    def flush(self) -> str:
        """Return the text held back when the reply ended without a stop string."""
        pending, self._pending = self._pending, ""
        return pending


def longest_overlap(text: str, stop: str) -> int:
    """Return the length of the longest proper prefix of `stop` that is a suffix of `text`."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
