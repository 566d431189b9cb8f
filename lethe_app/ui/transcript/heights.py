"""Adds up the heights of ten thousand messages, and changes one of them, in a handful of steps (a Fenwick tree)."""

from __future__ import annotations

from collections.abc import Iterable


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
