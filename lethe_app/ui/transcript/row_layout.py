"""Layout of the rows in the viewport, with estimated heights for rows that were never in view."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lethe_app.ui.core.palette import AVATAR, PROSE_WIDTH, SPACE_3, SPACE_6, SPACE_8


class RowHeights:
    """Row heights in pixels as a Fenwick tree: prefix sums, searches and changes take O(log n).

    The scroll position is a sum of all heights above, and a height changes whenever a row is measured or a reply grows. With a
    plain list one of the two would visit every row, for each token and each step of the wheel.
    """

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

    def set_height(self, row: int, height: int) -> None:
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
        self._tree.append(height + self.sum_before(at - 1) - self.sum_before(below))
        self.total += height

    def remove(self, row: int) -> None:
        """Remove a row in O(n), which is fast enough because messages are seldom deleted."""
        del self._heights[row]
        self.__init__(self._heights)  # type: ignore[misc]  # the tree is built anew

    def sum_before(self, row: int) -> int:
        """Return the sum of the first `row` heights."""
        total, at = 0, row
        while at:
            total += self._tree[at]
            at &= at - 1
        return total

    def row_at(self, y: int) -> int:
        """Return the row at `y` pixels from the top; the last one for anything below it."""
        row, remaining = 0, y
        step = 1 << max(len(self._heights).bit_length() - 1, 0)
        while step:
            candidate = row + step
            if candidate < len(self._tree) and self._tree[candidate] <= remaining:
                row, remaining = candidate, remaining - self._tree[candidate]
            step >>= 1
        return max(0, min(row, len(self._heights) - 1))


ESTIMATED, MEASURED, OUTDATED = 0, 1, 2
"""State of a height: estimated, measured, or measured but outdated."""
TOP_SPACE, BOTTOM_SPACE = SPACE_6, SPACE_8
"""Space above the first message, and below the last one, if nothing else is there."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """Visible row: its top edge in viewport coordinates and its height."""

    row: int
    top: int
    height: int


class RowLayout:
    """Virtual layout of the rows. The scroll position is a row and an offset into it, so that nothing on the screen moves
    when an estimated height elsewhere is corrected. At the end the position is the end itself, and stays there while the
    last message grows.
    """

    def __init__(self, measure: Callable[[int], int | None]) -> None:
        self._measure = measure
        self._heights = RowHeights()
        self._height_states = bytearray()
        self.viewport_height = 0
        self.top_space = TOP_SPACE
        """Space above the first message."""
        self.bottom_space = BOTTOM_SPACE
        """Space below the last message."""
        self.first_row = 0
        """Row at the upper edge of the viewport."""
        self.offset = -TOP_SPACE
        """Pixels of that row above the upper edge; negative while space above it is visible."""
        self.is_at_end = True
        """True while the view follows the end."""

    def reset(self, estimates: Iterable[int]) -> None:
        """Start with other rows, scrolled to the end."""
        self._heights = RowHeights(estimates)
        self._height_states = bytearray(len(self._heights))
        self.first_row, self.offset, self.is_at_end = 0, -self.top_space, True

    def reset_heights(self, estimates: Iterable[int]) -> None:
        """Replace all heights by estimates after a change of the column's width; the scroll position within its row is kept."""
        share = self.offset / max(1, self._heights[self.first_row]) if self.offset > 0 else 0.0
        self._heights = RowHeights(estimates)
        self._height_states = bytearray(len(self._heights))
        if share:
            self.offset = round(share * self._measure_row(self.first_row))

    def set_top_space(self, pixels: int) -> None:
        """Set the space above the first message; what is in view stays where it is, unless that space is."""
        if self.offset <= -self.top_space and self.first_row == 0:
            self.offset = -pixels
        self.top_space = pixels

    def append_row(self, estimate: int) -> None:
        """Add a row at the end with an estimated height."""
        self._heights.append(estimate)
        self._height_states.append(ESTIMATED)

    def remove_row(self, row: int) -> None:
        """Remove a row; the scroll position is kept."""
        self._heights.remove(row)
        del self._height_states[row]
        if row == self.first_row:
            self.offset = min(self.offset, 0)
        if row < self.first_row or self.first_row >= len(self._heights):
            self.first_row = max(0, self.first_row - 1)

    def invalidate_rows(self, first: int, last: int) -> None:
        """Mark the heights of rows as outdated, so that they are measured again when needed."""
        for row in range(max(0, first), min(last + 1, len(self._height_states))):
            self._height_states[row] = OUTDATED if self._height_states[row] else ESTIMATED

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def content_height(self) -> int:
        """Return the height of all rows, partly estimated."""
        return self.top_space + self._heights.total + self.bottom_space

    @property
    def max_position(self) -> int:
        """Return the scroll position of the end."""
        return max(0, self.content_height - self.viewport_height)

    @property
    def position(self) -> int:
        """Return the scroll position in pixels."""
        return self.top_space + self._heights.sum_before(self.first_row) + self.offset if len(self) else 0

    def top_of(self, row: int) -> int:
        """Return the top edge of a row in viewport coordinates."""
        return self.top_space + self._heights.sum_before(row) - self.position

    def height_of(self, row: int) -> int:
        """Return the height of a row, which may be an estimate."""
        return self._heights[row]

    def _measure_row(self, row: int) -> int:
        if self._height_states[row] != MEASURED and (height := self._measure(row)) is not None:
            self._heights.set_height(row, height)
            self._height_states[row] = MEASURED
        return self._heights[row]

    def scroll_by(self, pixels: int) -> None:
        """Scroll by `pixels`. Rows on the way are measured, so that the screen moves by exactly this distance."""
        if not len(self):
            return
        self.is_at_end = False
        self.offset += pixels
        self._normalize_position()

    def _normalize_position(self) -> None:
        """Express the same position by the row that is at the upper edge."""
        while self.offset < 0 and self.first_row > 0:
            self.first_row -= 1
            self.offset += self._measure_row(self.first_row)
        while self.first_row < len(self) - 1 and self.offset >= self._measure_row(self.first_row):
            self.offset -= self._heights[self.first_row]
            self.first_row += 1
        self.offset = max(self.offset, -self.top_space)

    def jump_to(self, position: int) -> None:
        """Scroll to a distant position without measuring the rows between; those at the target are measured when they are
        drawn.
        """
        if len(self):
            self.is_at_end = position >= self.max_position
            self.first_row = self._heights.row_at(max(0, position - self.top_space))
            self.offset = position - self.top_space - self._heights.sum_before(self.first_row)

    def scroll_to_row(self, row: int) -> None:
        """Scroll as little as needed to show a row; its top if it is taller than the viewport."""
        height = self._measure_row(row)
        top = self.top_of(row)
        if top < 0 or height > self.viewport_height:
            self.is_at_end = False
            self.first_row, self.offset = row, 0
            self.scroll_by(-min(SPACE_6, max(0, self.viewport_height - height)))
        elif top + height > self.viewport_height:
            self.scroll_by(top + height - self.viewport_height)

    def layout_view(self) -> list[PlacedRow]:
        """Return the visible rows, measured if their messages are loaded, after limiting the scroll position to the content."""
        if not len(self):
            return []
        if not self.is_at_end:
            placed_rows = self._layout_from_position()
            if not self.is_at_end:
                return placed_rows
        return self._layout_from_end()

    def _layout_from_position(self) -> list[PlacedRow]:
        placed_rows = []
        self._keep_position()
        top, row = -self.offset, self.first_row
        while top < self.viewport_height and row < len(self):
            height = self._measure_row(row)
            placed_rows.append(PlacedRow(row, top, height))
            top += height
            row += 1
        if row == len(self) and top + self.bottom_space <= self.viewport_height:
            self.is_at_end = True
        return placed_rows

    def _keep_position(self) -> None:
        """Keep the first visible row that was ever measured in place while estimates above it are corrected. If all are
        estimates, keep the offset as the same fraction of the measured height.
        """
        row, top = self.first_row, -self.offset
        while row < len(self) and self._height_states[row] == ESTIMATED and top < self.viewport_height:
            top += self._heights[row]
            row += 1
        if row < len(self) and top < self.viewport_height:
            self.first_row, self.offset = row, -top
            self._normalize_position()
            return
        old_height = self._heights[self.first_row]
        height = self._measure_row(self.first_row)
        if self.offset > 0:
            self.offset = round(self.offset * height / max(1, old_height))

    def _layout_from_end(self) -> list[PlacedRow]:
        bottom, row = self.viewport_height - self.bottom_space, len(self)
        while bottom > 0 and row > 0:
            row -= 1
            bottom -= self._measure_row(row)
        # A short session begins at the top of the viewport.
        if row == 0 and bottom > self.top_space:
            bottom = self.top_space
        self.first_row, self.offset = row, -bottom
        placed_rows, top = [], bottom
        for at in range(row, len(self)):
            placed_rows.append(PlacedRow(at, top, self._heights[at]))
            top += self._heights[at]
        return placed_rows


AVATAR_COLUMN_WIDTH = AVATAR + SPACE_3
"""Width of the avatar and its gap, left of the text."""
MAX_COLUMN_WIDTH = AVATAR_COLUMN_WIDTH + PROSE_WIDTH
"""Maximum width of the column, avatars included."""
COLUMN_MARGIN = SPACE_6
"""Minimum margin at both sides of the column."""
MIN_COLUMN_WIDTH = AVATAR_COLUMN_WIDTH + 120


def column_geometry(available_width: int) -> tuple[int, int]:
    """Return left edge and width of the column, avatars included, centred in `available_width` pixels."""
    width = max(MIN_COLUMN_WIDTH, min(MAX_COLUMN_WIDTH, available_width - 2 * COLUMN_MARGIN))
    return max(COLUMN_MARGIN, (available_width - width) // 2), width
