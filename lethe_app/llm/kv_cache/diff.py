"""Finds what of a cached prompt can stay for the next one when pieces were cut out of its middle and others put in."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

SHORTEST = 32
"""Tokens a kept stretch must have to be found for certain and to be worth a cut."""
ENOUGH_BEFORE = 1 / 3
"""Share of the text before it that a kept stretch must still have before it; with less, it means something else there."""
_GRAM = 16
"""Two equal stretches of twice this length, less one, always share a block that begins at a multiple of it."""
_MOST_PLACES = 6
"""Places looked at where a block occurs often."""
_MOST_ANCHORS = 128
"""The longest equal stretches are tried in all combinations, so they must not be too many."""


@dataclass(frozen=True)
class Run:
    """`length` tokens that stand at `cached` and are wanted at `wanted`."""

    cached: int
    wanted: int
    length: int

    @property
    def cached_end(self) -> int:
        return self.cached + self.length

    @property
    def wanted_end(self) -> int:
        return self.wanted + self.length

    def without_head(self, count: int) -> Run:
        """The same without its first `count` tokens."""
        return Run(self.cached + count, self.wanted + count, self.length - count)


def plan(cached: list[int], wanted: list[int], shortest: int = SHORTEST) -> list[Run]:
    """The stretches of `cached` to keep for `wanted`, in order; everything between and behind them is to be computed.

    The first is always the common beginning, which may be empty; where it is, there are no others, for the first token of a
    prompt carries more than its meaning and cannot be replaced under what follows. All others have at least `shortest`
    tokens, which should be `SHORTEST` or more. The last token of `wanted` is never kept. Time grows linearly with the lengths.
    """
    limit = max(len(wanted) - 1, 0)
    prefix = min(common_prefix(cached, wanted), limit)
    beginning = Run(0, 0, prefix)
    if not prefix or min(len(cached), limit) - prefix < SHORTEST:
        return [beginning]
    chain = _best_chain(_anchors(cached, wanted[:limit], prefix))
    return [beginning, *_with_context(prefix, [run for run in chain if run.length >= shortest])]


def moves(runs: Sequence[Run]) -> list[Run]:
    """Those that move down go first, from the front, then those that move up, from the back: so none meets another."""
    down = [run for run in runs if run.wanted < run.cached]
    return [*down, *(run for run in reversed(runs) if run.wanted > run.cached)]


def common_prefix(one: list[int], other: list[int]) -> int:
    """How many tokens two lists share from the start; halving keeps the comparison in C."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _anchors(cached: list[int], wanted: list[int], start: int) -> list[Run]:
    """Equal stretches behind `start`, as long as they can be; blocks of one list are looked up at every place of the other.

    In text that repeats itself the first stretch found may be the wrong one. The right one shows within the next block, so
    so much is still looked at before the search goes on behind the longest.
    """
    index = _blocks(cached, start)
    text = array("i", wanted).tobytes()
    width = array("i").itemsize
    found: dict[int, Run] = {}
    """By how far they moved: the last stretch of each."""
    result: list[Run] = []
    place, lead, look_until = start, 0, 0
    while place + _GRAM <= len(wanted):
        places = index.get(text[width * place : width * (place + _GRAM)], ())
        for each in _nearest(places, place + lead):
            known = found.get(each - place)
            if known is None or known.wanted_end <= place:
                run = found[each - place] = _stretch(cached, each, wanted, place, start)
                if run.length >= SHORTEST:
                    result.append(run)
                    look_until = look_until or place + _GRAM
        place += 1
        if look_until and place >= look_until:
            longest = max((run for run in found.values() if run.wanted_end > place), key=lambda run: run.length, default=None)
            if longest is not None:
                place, lead = longest.wanted_end, longest.cached - longest.wanted
            look_until = 0
    return sorted(result, key=lambda run: -run.length)[:_MOST_ANCHORS]


def _blocks(tokens: list[int], start: int) -> dict[bytes, list[int]]:
    """Where each block stands, ascending."""
    text = array("i", tokens).tobytes()
    width = array("i").itemsize
    index: dict[bytes, list[int]] = {}
    for place in range(start, len(tokens) - _GRAM + 1, _GRAM):
        index.setdefault(text[width * place : width * (place + _GRAM)], []).append(place)
    return index


def _nearest(places: Sequence[int], expected: int) -> Sequence[int]:
    """Some of many places, those about where the text would go on."""
    if len(places) <= _MOST_PLACES:
        return places
    middle = bisect_left(places, expected)
    first = min(max(middle - _MOST_PLACES // 2, 0), len(places) - _MOST_PLACES)
    return places[first : first + _MOST_PLACES]


def _stretch(one: list[int], at_one: int, other: list[int], at_other: int, start: int) -> Run:
    """The longest equal stretch, not before `start`, around two places."""
    ahead = _shared(one, at_one, other, at_other, min(len(one) - at_one, len(other) - at_other))
    back = 0
    most = min(at_one, at_other) - start
    while back < most and one[at_one - back - 1] == other[at_other - back - 1]:
        back += 1
    return Run(at_one - back, at_other - back, ahead + back)


def _shared(one: list[int], at_one: int, other: list[int], at_other: int, most: int) -> int:
    """How many tokens are equal from two places on, compared in pieces that grow."""
    length, step = 0, 64
    while length < most:
        size = min(step, most - length)
        left = one[at_one + length : at_one + length + size]
        right = other[at_other + length : at_other + length + size]
        if left != right:
            return length + common_prefix(left, right)
        length += size
        step *= 2
    return length


def _best_chain(anchors: list[Run]) -> list[Run]:
    """Anchors in the same order in both texts that keep the most together; where two overlap, the later one is shortened."""
    ordered = sorted(anchors, key=lambda run: (run.wanted, run.cached))
    best = [run.length for run in ordered]
    before: list[int | None] = [None] * len(ordered)
    for later, run in enumerate(ordered):
        for earlier, other in enumerate(ordered[:later]):
            rest = run.length - _overlap(other, run)
            if other.cached < run.cached and rest >= SHORTEST and best[earlier] + rest > best[later]:
                best[later], before[later] = best[earlier] + rest, earlier
    chain: list[Run] = []
    place = max(range(len(ordered)), key=best.__getitem__, default=None)
    while place is not None:
        chain.append(ordered[place])
        place = before[place]
    return _apart(chain[::-1])


def _apart(chain: list[Run]) -> list[Run]:
    """The chain without overlaps."""
    result: list[Run] = []
    for run in chain:
        result.append(run.without_head(_overlap(result[-1], run)) if result else run)
    return result


def _overlap(earlier: Run, later: Run) -> int:
    """Tokens at the head of the later run that the earlier one has already used, in either text."""
    return max(earlier.cached_end - later.cached, earlier.wanted_end - later.wanted, 0)


def _with_context(prefix: int, chain: list[Run]) -> list[Run]:
    """Those runs that have enough of their former text before them, counted from the middle of the run."""
    kept, result = prefix, []
    for run in chain:
        half = run.length / 2
        if kept + half >= ENOUGH_BEFORE * (max(run.cached, run.wanted) + half):
            result.append(run)
            kept += run.length
    return result
