"""Diff of two token lists: which stretches of a cached prompt can be reused for a new one that was edited in the middle."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

SHORTEST = 32
"""Minimum length in tokens of a reused stretch: the length from which it is found reliably and worth a seam."""
ENOUGH_BEFORE = 1 / 3
"""Minimum share of the text before a stretch that must still precede it; with less, its cached values belong to another
context.
"""
_GRAM = 16
"""Block length of the index, in tokens. Two equal stretches of at least twice this length less one share an indexed block."""
_MOST_PLACES = 6
"""Maximum number of occurrences tried for a block that occurs often."""
_MOST_ANCHORS = 128
"""Maximum number of equal stretches combined into a chain; the search over pairs is quadratic."""


@dataclass(frozen=True)
class Run:
    """`length` equal tokens at position `cached` of the cached prompt and at position `wanted` of the new one."""

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
        """Return the run without its first `count` tokens."""
        return Run(self.cached + count, self.wanted + count, self.length - count)


def plan(cached: list[int], wanted: list[int], shortest: int = SHORTEST) -> list[Run]:
    """Return the runs of `cached` to reuse for `wanted`, in order; everything between and behind them must be computed.

    The first run is the common prefix, which may be empty. If it is empty there are no others: the first token of a prompt
    serves as an attention sink and cannot be exchanged under the tokens that follow. All other runs have at least `shortest`
    tokens, which should be `SHORTEST` or more. The last token of `wanted` is never reused. Runs in time linear in the
    lengths.
    """
    limit = max(len(wanted) - 1, 0)
    prefix = min(common_prefix(cached, wanted), limit)
    beginning = Run(0, 0, prefix)
    if not prefix or min(len(cached), limit) - prefix < SHORTEST:
        return [beginning]
    chain = _best_chain(_anchors(cached, wanted[:limit], prefix))
    return [beginning, *_with_context(prefix, [run for run in chain if run.length >= shortest])]


def moves(runs: Sequence[Run]) -> list[Run]:
    """Return the runs in an order in which they can be moved without overlap: those that move down from the front, then
    those that move up from the back.
    """
    down = [run for run in runs if run.wanted < run.cached]
    return [*down, *(run for run in reversed(runs) if run.wanted > run.cached)]


def common_prefix(one: list[int], other: list[int]) -> int:
    """Return the length of the common prefix of two lists; bisection with slices keeps the comparison in C."""
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
    """Return equal stretches behind `start`, each of maximum length; the indexed blocks of `cached` are looked up at every
    position of `wanted`.

    In repetitive text the first match may be the wrong one. The right one appears within the next block, so that much is
    still scanned before the search continues behind the longest match.
    """
    index = _blocks(cached, start)
    # Blocks are compared as bytes, so that slicing and hashing stay in C.
    text = array("i", wanted).tobytes()
    width = array("i").itemsize
    found: dict[int, Run] = {}
    """Last stretch found, by its displacement."""
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
    """Index the blocks of a token list: positions of each block, ascending."""
    text = array("i", tokens).tobytes()
    width = array("i").itemsize
    index: dict[bytes, list[int]] = {}
    for place in range(start, len(tokens) - _GRAM + 1, _GRAM):
        index.setdefault(text[width * place : width * (place + _GRAM)], []).append(place)
    return index


def _nearest(places: Sequence[int], expected: int) -> Sequence[int]:
    """Return the occurrences nearest to where the text would continue, at most `_MOST_PLACES`."""
    if len(places) <= _MOST_PLACES:
        return places
    middle = bisect_left(places, expected)
    first = min(max(middle - _MOST_PLACES // 2, 0), len(places) - _MOST_PLACES)
    return places[first : first + _MOST_PLACES]


def _stretch(one: list[int], at_one: int, other: list[int], at_other: int, start: int) -> Run:
    """Return the longest equal stretch around two positions that does not begin before `start`."""
    ahead = _shared(one, at_one, other, at_other, min(len(one) - at_one, len(other) - at_other))
    back = 0
    most = min(at_one, at_other) - start
    while back < most and one[at_one - back - 1] == other[at_other - back - 1]:
        back += 1
    return Run(at_one - back, at_other - back, ahead + back)


def _shared(one: list[int], at_one: int, other: list[int], at_other: int, most: int) -> int:
    """Return how many tokens are equal from two positions on, compared in slices of growing size."""
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
    """Return the anchors that reuse the most tokens and have the same order in both texts; of two that overlap the later is
    shortened.
    """
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
    """Return the chain with overlaps removed."""
    result: list[Run] = []
    for run in chain:
        result.append(run.without_head(_overlap(result[-1], run)) if result else run)
    return result


def _overlap(earlier: Run, later: Run) -> int:
    """Return the number of tokens at the head of the later run that the earlier one covers, in either text."""
    return max(earlier.cached_end - later.cached, earlier.wanted_end - later.wanted, 0)


def _with_context(prefix: int, chain: list[Run]) -> list[Run]:
    """Return the runs that keep enough of their former context before them, measured from the middle of the run."""
    kept, result = prefix, []
    for run in chain:
        half = run.length / 2
        if kept + half >= ENOUGH_BEFORE * (max(run.cached, run.wanted) + half):
            result.append(run)
            kept += run.length
    return result
