"""Finds stop strings in text that arrives in pieces, and holds back what may still become one."""

from __future__ import annotations


class StopStrings:
    """Feed pieces, get what may be shown; `hit` says that a stop string came and everything after it is gone."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.hit = False

    def feed(self, piece: str) -> str:
        """The text that is certain not to belong to a stop string."""
        text = self._held + piece
        found = [at for at in (text.find(stop) for stop in self._stops) if at >= 0]
        if found:
            self.hit, self._held = True, ""
            return text[: min(found)]
        keep = self._possible_start(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def rest(self) -> str:
        """What was held back when the reply ended without a stop string."""
        held, self._held = self._held, ""
        return held

    def _possible_start(self, text: str) -> int:
        """Length of the longest end of `text` with which a stop string begins."""
        return max((longest_overlap(text, stop) for stop in self._stops), default=0)


def longest_overlap(text: str, stop: str) -> int:
    """Length of the longest proper prefix of `stop` that ends `text`."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
