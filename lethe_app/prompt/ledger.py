"""What a foreign template may spend on one rendering: time, text and list cells, counted wherever it can repeat itself.

Jinja has no `while`: a template repeats only by `for`, by calling macros, and inside filters. The environment charges this
ledger at each of those places and before every operation that makes something bigger than it was given, so an endless or
exploding template meets the deadline or the cap at the next step. That is why no thread has to be killed: an asynchronous
exception cannot interrupt a long step inside C either, and here no single step is long.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

MAX_TEXT = 8_000_000
"""Characters of any one string a template makes, and of its output."""
MAX_NUMBER = 2**63
_BASE_UNITS = 16_000_000
_UNITS_PER_CHARACTER = 50
_CHARACTERS_PER_UNIT = 16
_MAX_LITERAL = 20_000


class Overspent(Exception):
    """The template wanted more than it may have."""


class Ledger:
    """The account of one template; opened anew for every rendering. For one thread at a time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._units = 0
        self._deadline = 0.0
        self.open()

    def open(self, characters: int = 0) -> None:
        """Begin a rendering of a conversation of so many characters."""
        self._units = _BASE_UNITS + characters * _UNITS_PER_CHARACTER
        self._deadline = time.monotonic() + self.seconds

    def spend(self, units: int = 1) -> None:
        """Raises Overspent when nothing is left."""
        self._units -= units
        if self._units < 0:
            raise Overspent("it makes too much text")
        if time.monotonic() > self._deadline:
            raise Overspent(f"it takes longer than {self.seconds:g} seconds")

    def spend_text(self, length: int) -> None:
        """Before a string of `length` characters is made."""
        if length > MAX_TEXT:
            raise Overspent("it makes too long a text")
        self.spend(1 + length // _CHARACTERS_PER_UNIT)

    def spend_number(self, value: object) -> None:
        """Numbers stay small, so that arithmetic on them stays quick."""
        if isinstance(value, int) and abs(value) > MAX_NUMBER:
            raise Overspent("it calculates with huge numbers")
        self.spend()

    def weigh(self, value: object) -> int:
        """Characters that `value` would have as text, roughly; paid for while walking, as shared parts count each time."""
        total = 0
        waiting = [value]
        while waiting:
            item = waiting.pop()
            self.spend()
            if isinstance(item, str):
                total += len(item) + 2
            elif isinstance(item, Mapping):
                waiting.extend(item.keys())
                waiting.extend(item.values())
            elif isinstance(item, Iterable):
                waiting.extend(item)
            elif item is None or isinstance(item, bool | int | float):
                total += 24
            else:
                raise Overspent(f"it prints a {type(item).__name__}")
            if total > MAX_TEXT:
                raise Overspent("it makes too long a text")
        return total

    def count_cells(self, value: object) -> None:
        """A literal list or mapping may not hold shared lists that would grow without end when printed or compared."""
        cells = 0
        waiting = [value]
        while waiting:
            item = waiting.pop()
            cells += 1
            if cells > _MAX_LITERAL:
                raise Overspent("it nests lists too deeply")
            if isinstance(item, Mapping):
                waiting.extend(item.values())
            elif isinstance(item, list | tuple):
                waiting.extend(item)
        self.spend(cells)
