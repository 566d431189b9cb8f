"""Layout of the rows in the viewport, with estimated heights for rows that were never in view."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lethe_app.ui.core.palette import AVATAR, PROSE_WIDTH, SPACE_3, SPACE_6, SPACE_8


class Heights:
    """Row heights in pixels as a Fenwick tree: prefix sums, searches and changes take O(log n)."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for at in range(1, len(self._tree)):
            # Each node passes its sum to its parent, which builds the tree in O(n).
            above = at + (at & -at)
            if above < len(self._tree):
                self._tree[above] += self._tree[at]
        self.total = sum(self._heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, row: int) -> int:
        return self._heights[row]

    def set(self, row: int, height: int) -> None:
        """Set the height of a row."""
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
        """Add a row at the end."""
        at = len(self._tree)
        below = at - (at & -at)
        self._heights.append(height)
        self._tree.append(height + self.before(at - 1) - self.before(below))
        self.total += height

    def remove(self, row: int) -> None:
        """Remove a row in O(n), which is fast enough because messages are seldom deleted."""
        del self._heights[row]
        self.__init__(self._heights)  # type: ignore[misc]  # the tree is built anew

    def before(self, row: int) -> int:
        """Return the sum of the first `row` heights."""
        total, at = 0, row
        while at:
            total += self._tree[at]
            at &= at - 1
        return total

    def row_at(self, y: int) -> int:
        """Return the row at `y` pixels from the top; the last one for anything below it."""
        row, left = 0, y
        step = 1 << max(len(self._heights).bit_length() - 1, 0)
        while step:
            ahead = row + step
            if ahead < len(self._tree) and self._tree[ahead] <= left:
                row, left = ahead, left - self._tree[ahead]
            step >>= 1
        return max(0, min(row, len(self._heights) - 1))


GUESSED, KNOWN, STALE = 0, 1, 2
"""State of a height: estimated, measured, or measured but outdated."""
TOP, BOTTOM = SPACE_6, SPACE_8
"""Space above the first message, and below the last one if nothing follows it."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Visible row: its top edge in viewport coordinates and its height."""

    row: int
    top: int
    height: int


class ChatLayout:
    """Virtual layout of the rows. The scroll position is a row and an offset into it, so that nothing on the screen moves
    when an estimated height elsewhere is corrected. At the end the position is the end itself, and stays there while the
    last message grows.
    """

    def __init__(self, measure: Callable[[int], int | None]) -> None:
        self._measure = measure
        self._heights = Heights()
        self._known = bytearray()
        self.viewport = 0
        self.bottom = BOTTOM
        """Space below the last message."""
        self.row = 0
        """Row at the upper edge of the viewport."""
        self.offset = -TOP
        """Pixels of that row above the upper edge; negative while space above it is visible."""
        self.at_end = True
        """True while the view follows the end."""

    def reset(self, guesses: Iterable[int]) -> None:
        """Start with other rows, scrolled to the end."""
        self._heights = Heights(guesses)
        self._known = bytearray(len(self._heights))
        self.row, self.offset, self.at_end = 0, -TOP, True

    def reshape(self, guesses: Iterable[int]) -> None:
        """Replace all heights by estimates after a change of the column's width; the scroll position within its row is kept."""
        share = self.offset / max(1, self._heights[self.row]) if self.offset > 0 else 0.0
        self._heights = Heights(guesses)
        self._known = bytearray(len(self._heights))
        if share:
            self.offset = round(share * self._measure_row(self.row))

    def append(self, guess: int) -> None:
        """Add a row at the end with an estimated height."""
        self._heights.append(guess)
        self._known.append(0)

    def remove(self, row: int) -> None:
        """Remove a row; the scroll position is kept."""
        self._heights.remove(row)
        del self._known[row]
        if row == self.row:
            self.offset = min(self.offset, 0)
        if row < self.row or self.row >= len(self._heights):
            self.row = max(0, self.row - 1)

    def invalidate_rows(self, first: int, last: int) -> None:
        """Mark the heights of rows as outdated, so that they are measured again when needed."""
        for row in range(max(0, first), min(last + 1, len(self._known))):
            self._known[row] = STALE if self._known[row] else GUESSED

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def content(self) -> int:
        """Return the height of all rows, partly estimated."""
        return TOP + self._heights.total + self.bottom

    @property
    def furthest(self) -> int:
        """Return the scroll position of the end."""
        return max(0, self.content - self.viewport)

    @property
    def position(self) -> int:
        """Return the scroll position in pixels."""
        return TOP + self._heights.before(self.row) + self.offset if len(self) else 0

    def top_of(self, row: int) -> int:
        """Return the top edge of a row in viewport coordinates."""
        return TOP + self._heights.before(row) - self.position

    def height_of(self, row: int) -> int:
        """Return the height of a row, which may be an estimate."""
        return self._heights[row]

    def _measure_row(self, row: int) -> int:
        if self._known[row] != KNOWN and (height := self._measure(row)) is not None:
            self._heights.set(row, height)
            self._known[row] = KNOWN
        return self._heights[row]

    def walk(self, pixels: int) -> None:
        """Scroll by `pixels`. Rows on the way are measured, so that the screen moves by exactly this distance."""
        if not len(self):
            return
        self.at_end = False
        self.offset += pixels
        self._find_first()

    def _find_first(self) -> None:
        """Express the same position by the row that is at the upper edge."""
        while self.offset < 0 and self.row > 0:
            self.row -= 1
            self.offset += self._measure_row(self.row)
        while self.row < len(self) - 1 and self.offset >= self._measure_row(self.row):
            self.offset -= self._heights[self.row]
            self.row += 1
        self.offset = max(self.offset, -TOP)

    def jump(self, position: int) -> None:
        """Scroll to a distant position without measuring the rows between; those at the target are measured when they are
        drawn.
        """
        if len(self):
            self.at_end = position >= self.furthest
            self.row = self._heights.row_at(max(0, position - TOP))
            self.offset = position - TOP - self._heights.before(self.row)

    def reveal(self, row: int) -> None:
        """Scroll as little as needed to show a row; its top if it is taller than the viewport."""
        height = self._measure_row(row)
        top = self.top_of(row)
        if top < 0 or height > self.viewport:
            self.at_end = False
            self.row, self.offset = row, 0
            self.walk(-min(SPACE_6, max(0, self.viewport - height)))
        elif top + height > self.viewport:
            self.walk(top + height - self.viewport)

    def layout_view(self) -> list[PlacedRow]:
        """Return the visible rows, measured if their messages are loaded, after limiting the scroll position to the content."""
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
        """Keep the first visible row that was ever measured in place while estimates above it are corrected. If all are
        estimates, keep the offset as the same fraction of the measured height.
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
        # A short session begins at the top of the viewport.
        if row == 0 and bottom > TOP:
            bottom = TOP
        self.row, self.offset = row, -bottom
        placed, top = [], bottom
        for at in range(row, len(self)):
            placed.append(PlacedRow(at, top, self._heights[at]))
            top += self._heights[at]
        return placed


AVATAR_ROOM = AVATAR + SPACE_3
"""Width of the avatar and its gap, left of the text."""
WIDEST = AVATAR_ROOM + PROSE_WIDTH
"""Maximum width of the column, avatars included."""
AROUND = SPACE_6
"""Minimum margin at both sides of the column."""
NARROWEST = AVATAR_ROOM + 120


def column_in(room: int) -> tuple[int, int]:
    """Return left edge and width of the column, avatars included, centred in `room` pixels."""
    width = max(NARROWEST, min(WIDEST, room - 2 * AROUND))
    return max(AROUND, (room - width) // 2), width
