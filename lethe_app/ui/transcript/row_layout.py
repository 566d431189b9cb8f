"""Decides which messages lie where in the viewport, from heights that are guessed until somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lethe_app.ui.core.palette import AVATAR, PROSE_WIDTH, SPACE_3, SPACE_6, SPACE_8


class Heights:
    """Whole pixels per row; sums and searches take O(log n)."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for at in range(1, len(self._tree)):
            above = at + (at & -at)
            if above < len(self._tree):
                self._tree[above] += self._tree[at]
        self.total = sum(self._heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, row: int) -> int:
        return self._heights[row]

    def set(self, row: int, height: int) -> None:
        change = height - self._heights[row]
        if not change:
            return
        self._heights[row] = height
        self.total += change
        at = row + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def append(self, height: int) -> None:
        at = len(self._tree)
        below = at - (at & -at)
        self._heights.append(height)
        self._tree.append(height + self.before(at - 1) - self.before(below))
        self.total += height

    def remove(self, row: int) -> None:
        """Takes O(n); messages are seldom deleted."""
        del self._heights[row]
        self.__init__(self._heights)  # type: ignore[misc]  # the tree is built anew

    def before(self, row: int) -> int:
        """The sum of the first `row` heights."""
        total, at = 0, row
        while at:
            total += self._tree[at]
            at &= at - 1
        return total

    def row_at(self, y: int) -> int:
        """The row in which `y` pixels from the top lie; the last one for anything below it."""
        row, left = 0, y
        step = 1 << max(len(self._heights).bit_length() - 1, 0)
        while step:
            ahead = row + step
            if ahead < len(self._tree) and self._tree[ahead] <= left:
                row, left = ahead, left - self._tree[ahead]
            step >>= 1
        return max(0, min(row, len(self._heights) - 1))


GUESSED, KNOWN, STALE = 0, 1, 2
TOP, BOTTOM = SPACE_6, SPACE_8
"""Room above the first and below the last message, where nothing stands below it."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row on the screen: its top edge in the viewport and its height."""

    row: int
    top: int
    height: int


class ChatLayout:
    """Holds the reader's place as a row and an offset into it, so that nothing on the screen moves when a guess elsewhere
    proves wrong. At the end the place is the end itself, and stays so while the last message grows.
    """

    def __init__(self, measure: Callable[[int], int | None]) -> None:
        self._measure = measure
        self._heights = Heights()
        self._known = bytearray()
        self.viewport = 0
        self.bottom = BOTTOM
        """Room below the last message."""
        self.row = 0
        self.offset = -TOP
        self.at_end = True

    def reset(self, guesses: Iterable[int]) -> None:
        """Start over with other messages, at the end of them."""
        self._heights = Heights(guesses)
        self._known = bytearray(len(self._heights))
        self.row, self.offset, self.at_end = 0, -TOP, True

    def reshape(self, guesses: Iterable[int]) -> None:
        """The column became wider or narrower: every height is a guess again, but the reader keeps the place."""
        share = self.offset / max(1, self._heights[self.row]) if self.offset > 0 else 0.0
        self._heights = Heights(guesses)
        self._known = bytearray(len(self._heights))
        if share:
            self.offset = round(share * self._measure_row(self.row))

    def append(self, guess: int) -> None:
        self._heights.append(guess)
        self._known.append(0)

    def remove(self, row: int) -> None:
        self._heights.remove(row)
        del self._known[row]
        if row == self.row:
            self.offset = min(self.offset, 0)
        if row < self.row or self.row >= len(self._heights):
            self.row = max(0, self.row - 1)

    def invalidate_rows(self, first: int, last: int) -> None:
        """These rows may have another height now."""
        for row in range(max(0, first), min(last + 1, len(self._known))):
            self._known[row] = STALE if self._known[row] else GUESSED

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def content(self) -> int:
        """Height of everything, as far as it is known."""
        return TOP + self._heights.total + self.bottom

    @property
    def furthest(self) -> int:
        """The position of the end."""
        return max(0, self.content - self.viewport)

    @property
    def position(self) -> int:
        """Pixels above the viewport's upper edge."""
        return TOP + self._heights.before(self.row) + self.offset if len(self) else 0

    def top_of(self, row: int) -> int:
        """Where a row begins in the viewport's own pixels."""
        return TOP + self._heights.before(row) - self.position

    def height_of(self, row: int) -> int:
        return self._heights[row]

    def _measure_row(self, row: int) -> int:
        if self._known[row] != KNOWN and (height := self._measure(row)) is not None:
            self._heights.set(row, height)
            self._known[row] = KNOWN
        return self._heights[row]

    def walk(self, pixels: int) -> None:
        """Move by some pixels, measuring what comes into view on the way, so that the screen moves by exactly these."""
        if not len(self):
            return
        self.at_end = False
        self.offset += pixels
        self._find_first()

    def _find_first(self) -> None:
        """Say the same place by the row that is really at the upper edge."""
        while self.offset < 0 and self.row > 0:
            self.row -= 1
            self.offset += self._measure_row(self.row)
        while self.row < len(self) - 1 and self.offset >= self._measure_row(self.row):
            self.offset -= self._heights[self.row]
            self.row += 1
        self.offset = max(self.offset, -TOP)

    def jump(self, position: int) -> None:
        """Go to a position far away; what lies there is measured when it is drawn."""
        if len(self):
            self.at_end = position >= self.furthest
            self.row = self._heights.row_at(max(0, position - TOP))
            self.offset = position - TOP - self._heights.before(self.row)

    def reveal(self, row: int) -> None:
        """Move as little as needed to show a row; the beginning of one that is taller than the screen."""
        height = self._measure_row(row)
        top = self.top_of(row)
        if top < 0 or height > self.viewport:
            self.at_end = False
            self.row, self.offset = row, 0
            self.walk(-min(SPACE_6, max(0, self.viewport - height)))
        elif top + height > self.viewport:
            self.walk(top + height - self.viewport)

    def layout_view(self) -> list[PlacedRow]:
        """The rows in view, each measured if it is at hand, with the reader's place kept within what there is."""
        if not len(self):
            return []
        if not self.at_end:
            placed = self._from_place()
            if not self.at_end:
                return placed
        return self._from_end()

    def _from_place(self) -> list[PlacedRow]:
        placed = []
        self._hold()
        top, row = -self.offset, self.row
        while top < self.viewport and row < len(self):
            height = self._measure_row(row)
            placed.append(PlacedRow(row, top, height))
            top += height
            row += 1
        if row == len(self) and top + self.bottom <= self.viewport:
            self.at_end = True
        return placed

    def _hold(self) -> None:
        """Keep the first row on the screen that was ever measured where it is, while guesses above it come true. Where all are
        guesses, the place becomes the same share of the real height.
        """
        row, top = self.row, -self.offset
        while row < len(self) and self._known[row] == GUESSED and top < self.viewport:
            top += self._heights[row]
            row += 1
        if row < len(self) and top < self.viewport:
            self.row, self.offset = row, -top
            self._find_first()
            return
        was = self._heights[self.row]
        height = self._measure_row(self.row)
        if self.offset > 0:
            self.offset = round(self.offset * height / max(1, was))

    def _from_end(self) -> list[PlacedRow]:
        bottom, row = self.viewport - self.bottom, len(self)
        while bottom > 0 and row > 0:
            row -= 1
            bottom -= self._measure_row(row)
        if row == 0 and bottom > TOP:
            bottom = TOP
        self.row, self.offset = row, -bottom
        placed, top = [], bottom
        for at in range(row, len(self)):
            placed.append(PlacedRow(at, top, self._heights[at]))
            top += self._heights[at]
        return placed


AVATAR_ROOM = AVATAR + SPACE_3
"""What the avatar and the gap behind it take of the column, left of the prose."""
WIDEST = AVATAR_ROOM + PROSE_WIDTH
AROUND = SPACE_6
"""Room that is kept on either side."""
NARROWEST = AVATAR_ROOM + 120


def column_in(room: int) -> tuple[int, int]:
    """Left edge and width of the column, avatars included, in the middle of a place `room` pixels wide."""
    width = max(NARROWEST, min(WIDEST, room - 2 * AROUND))
    return max(AROUND, (room - width) // 2), width
