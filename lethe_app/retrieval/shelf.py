"""What must be known of every passage of one persona while a question is weighed, in columns, without the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lethe_app.domain.passage import PassageKind
from lethe_app.storage.passages import Card

Rows = NDArray[np.int64]

LINES, FACTS, SUMMARIES = 0, 1, 2
"""Groups of kinds that are compared with one another: what was said, what is known, what it came to."""
GROUP = {
    PassageKind.MESSAGE: LINES,
    PassageKind.FACT: FACTS,
    PassageKind.MEMORY: FACTS,
    PassageKind.WORLD: FACTS,
    PassageKind.SUMMARY: SUMMARIES,
    PassageKind.SENTENCE: SUMMARIES,
}


@dataclass(frozen=True)
class Columns:
    """One entry per passage, by rising number."""

    number: Rows
    group: Rows
    source: Rows
    """Position in `sources`."""
    day: Rows
    """Ordinal of the day, as `date.toordinal` counts."""
    length: Rows
    sources: tuple[str, ...]

    @property
    def last(self) -> int:
        """The highest number, 0 where there is none."""
        return int(self.number[-1]) if len(self.number) else 0

    def rows_of(self, numbers: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Where these numbers are, and which of them are there at all."""
        if len(self.number) == 0:
            return np.zeros(len(numbers), np.int64), np.zeros(len(numbers), bool)
        rows = np.minimum(np.searchsorted(self.number, numbers), len(self.number) - 1)
        return rows, self.number[rows] == numbers


class Shelf:
    """The cards of one persona. What is new is put at the end of the columns; after any other change they are made anew."""

    def __init__(self, cards: Sequence[Card] = ()) -> None:
        self._cards: dict[int, Card] = {}
        self._columns = NO_COLUMNS
        self._places: dict[str, int] = {}
        self._waiting: list[Card] | None = []
        """Cards that are not in the columns yet; None when the columns are of no use any more."""
        self.put(cards)

    def __len__(self) -> int:
        return len(self._cards)

    def __contains__(self, number: int) -> bool:
        return number in self._cards

    def put(self, cards: Sequence[Card]) -> None:
        """Add, or replace where the number is known. The vector is the index's affair and is not kept here."""
        for card in cards:
            newest = self._waiting[-1].number if self._waiting else self._columns.last
            if self._waiting is None or card.number <= newest:
                self._waiting = None
            else:
                self._waiting.append(card)
            self._cards[card.number] = replace(card, vector=b"")

    def take(self, numbers: Sequence[int]) -> None:
        """Remove; numbers that are not there are passed over."""
        for number in numbers:
            if self._cards.pop(number, None) is not None:
                self._waiting = None

    def columns(self) -> Columns:
        if self._waiting is None:
            self._columns, self._places = NO_COLUMNS, {}
            self._waiting = [self._cards[number] for number in sorted(self._cards)]
        if self._waiting:
            self._columns = self._longer(self._waiting)
            self._waiting = []
        return self._columns

    def _longer(self, cards: Sequence[Card]) -> Columns:
        """The columns with these cards at their end."""
        old = self._columns
        for card in cards:
            self._places.setdefault(card.source, len(self._places))
        return Columns(
            number=_joined(old.number, [card.number for card in cards]),
            group=_joined(old.group, [GROUP[PassageKind(card.kind)] for card in cards]),
            source=_joined(old.source, [self._places[card.source] for card in cards]),
            day=_joined(old.day, [card.time.toordinal() for card in cards]),
            length=_joined(old.length, [card.length for card in cards]),
            sources=(*old.sources, *islice(self._places, len(old.sources), None)),
        )


def _joined(column: Rows, values: Sequence[int]) -> Rows:
    return np.concatenate([column, np.array(values, np.int64)])


NOTHING = np.zeros(0, np.int64)
NO_COLUMNS = Columns(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, ())
