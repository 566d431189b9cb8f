"""Diff of two token lists: which runs of a cached prompt can be reused for a new one that was edited in the middle."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

MIN_RUN_LENGTH = 32
"""Minimum length in tokens of a reused run: the length from which it is found reliably and worth a seam."""
MIN_CONTEXT_SHARE = 1 / 3
"""Minimum share of the text before a run that must still precede it; with less, its cached values belong to another
context.
"""
_BLOCK_LENGTH = 16
"""Block length of the index, in tokens. Two equal runs of at least twice this length less one share an indexed block."""
_MAX_OCCURRENCES = 6
"""Maximum number of occurrences tried for a block that occurs often."""
_MAX_ANCHORS = 128
"""Maximum number of equal runs combined into a chain; the search over pairs is quadratic."""


@dataclass(frozen=True)
class TokenRun:
    """`length` equal tokens at position `cached_start` of the cached prompt and at `target_start` of the new one."""

    cached_start: int
    target_start: int
    length: int

    @property
    def cached_end(self) -> int:
        return self.cached_start + self.length

    @property
    def target_end(self) -> int:
        return self.target_start + self.length

    def without_head(self, count: int) -> TokenRun:
        """Return the run without its first `count` tokens."""
        return TokenRun(self.cached_start + count, self.target_start + count, self.length - count)


def plan_reuse(cached: list[int], target: list[int], min_length: int = MIN_RUN_LENGTH) -> list[TokenRun]:
    """Return the runs of `cached` to reuse for `target`, in order; everything between and after them must be computed.

    The first run is the common prefix, which may be empty. If it is empty there are no others: the first token of a prompt
    serves as an attention sink and cannot be exchanged under the tokens that follow. All other runs have at least `min_length`
    tokens, which should be `MIN_RUN_LENGTH` or more. The last token of `target` is never reused. Runs in time linear in the
    lengths.
    """
    limit = max(len(target) - 1, 0)
    prefix = min(common_prefix_length(cached, target), limit)
    beginning = TokenRun(0, 0, prefix)
    if not prefix or min(len(cached), limit) - prefix < MIN_RUN_LENGTH:
        return [beginning]
    chain = _best_chain(_find_anchors(cached, target[:limit], prefix))
    return [beginning, *_filter_by_context(prefix, [run for run in chain if run.length >= min_length])]


def order_moves(runs: Sequence[TokenRun]) -> list[TokenRun]:
    """Return the runs in an order in which they can be moved without overlap: those that move down from the front, then
    those that move up from the back.
    """
    down = [run for run in runs if run.target_start < run.cached_start]
    return [*down, *(run for run in reversed(runs) if run.target_start > run.cached_start)]


def common_prefix_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the length of the common prefix of two lists or texts; bisection with slices keeps the comparison in C."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _find_anchors(cached: list[int], target: list[int], start: int) -> list[TokenRun]:
    """Return equal runs after `start`, each of maximum length; the indexed blocks of `cached` are looked up at every
    position of `target`.

    In repetitive text the first match may be the wrong one. The right one appears within the next block, so that much is
    still scanned before the search continues after the longest match.
    """
    index = _index_blocks(cached, start)
    # Blocks are compared as bytes, so that slicing and hashing stay in C.
    text = array("i", target).tobytes()
    width = array("i").itemsize
    runs_by_offset: dict[int, TokenRun] = {}
    """Last run found, by its displacement."""
    result: list[TokenRun] = []
    position, offset, scan_end = start, 0, 0
    while position + _BLOCK_LENGTH <= len(target):
        occurrences = index.get(text[width * position : width * (position + _BLOCK_LENGTH)], ())
        for occurrence in _nearest_occurrences(occurrences, position + offset):
            previous_run = runs_by_offset.get(occurrence - position)
            if previous_run is None or previous_run.target_end <= position:
                run = runs_by_offset[occurrence - position] = _extend_match(cached, occurrence, target, position, start)
                if run.length >= MIN_RUN_LENGTH:
                    result.append(run)
                    scan_end = scan_end or position + _BLOCK_LENGTH
        position += 1
        if scan_end and position >= scan_end:
            longest = max(
                (run for run in runs_by_offset.values() if run.target_end > position), key=lambda run: run.length, default=None
            )
            if longest is not None:
                position, offset = longest.target_end, longest.cached_start - longest.target_start
            scan_end = 0
    return sorted(result, key=lambda run: -run.length)[:_MAX_ANCHORS]


def _index_blocks(tokens: list[int], start: int) -> dict[bytes, list[int]]:
    """Index the blocks of a token list: positions of each block, ascending."""
    text = array("i", tokens).tobytes()
    width = array("i").itemsize
    index: dict[bytes, list[int]] = {}
    for position in range(start, len(tokens) - _BLOCK_LENGTH + 1, _BLOCK_LENGTH):
        index.setdefault(text[width * position : width * (position + _BLOCK_LENGTH)], []).append(position)
    return index


def _nearest_occurrences(occurrences: Sequence[int], expected: int) -> Sequence[int]:
    """Return the occurrences nearest to where the text would continue, at most `_MAX_OCCURRENCES`."""
    if len(occurrences) <= _MAX_OCCURRENCES:
        return occurrences
    middle = bisect_left(occurrences, expected)
    first = min(max(middle - _MAX_OCCURRENCES // 2, 0), len(occurrences) - _MAX_OCCURRENCES)
    return occurrences[first : first + _MAX_OCCURRENCES]


def _extend_match(first: list[int], first_start: int, second: list[int], second_start: int, start: int) -> TokenRun:
    """Return the longest equal run around two positions that does not begin before `start`."""
    ahead = _match_length(first, first_start, second, second_start, min(len(first) - first_start, len(second) - second_start))
    back = 0
    limit = min(first_start, second_start) - start
    while back < limit and first[first_start - back - 1] == second[second_start - back - 1]:
        back += 1
    return TokenRun(first_start - back, second_start - back, ahead + back)


def _match_length(first: list[int], first_start: int, second: list[int], second_start: int, limit: int) -> int:
    """Return how many tokens are equal from two positions on, compared in slices of growing size."""
    length, step = 0, 64
    while length < limit:
        size = min(step, limit - length)
        left = first[first_start + length : first_start + length + size]
        right = second[second_start + length : second_start + length + size]
        if left != right:
            return length + common_prefix_length(left, right)
        length += size
        step *= 2
    return length


def _best_chain(anchors: list[TokenRun]) -> list[TokenRun]:
    """Return the anchors that reuse the most tokens and have the same order in both texts; of two that overlap the later is
    shortened.
    """
    # Longest chain by dynamic programming: `best` is the number of tokens of the best chain that ends with each anchor.
    ordered = sorted(anchors, key=lambda run: (run.target_start, run.cached_start))
    best = [run.length for run in ordered]
    previous: list[int | None] = [None] * len(ordered)
    for later, run in enumerate(ordered):
        for earlier, other in enumerate(ordered[:later]):
            gained = run.length - _overlap(other, run)
            if other.cached_start < run.cached_start and gained >= MIN_RUN_LENGTH and best[earlier] + gained > best[later]:
                best[later], previous[later] = best[earlier] + gained, earlier
    chain: list[TokenRun] = []
    index = max(range(len(ordered)), key=best.__getitem__, default=None)
    while index is not None:
        chain.append(ordered[index])
        index = previous[index]
    return _remove_overlaps(chain[::-1])


def _remove_overlaps(chain: list[TokenRun]) -> list[TokenRun]:
    """Return the chain with overlaps removed."""
    result: list[TokenRun] = []
    for run in chain:
        result.append(run.without_head(_overlap(result[-1], run)) if result else run)
    return result


def _overlap(earlier: TokenRun, later: TokenRun) -> int:
    """Return the number of tokens at the head of the later run that the earlier one covers, in either text."""
    return max(earlier.cached_end - later.cached_start, earlier.target_end - later.target_start, 0)


def _filter_by_context(prefix: int, chain: list[TokenRun]) -> list[TokenRun]:
    """Return the runs that keep enough of their former context before them, measured from the middle of the run."""
    # Values depend on all text before them. A run that lost most of it would have the model attend to a context that is gone.
    kept_tokens, result = prefix, []
    for run in chain:
        half = run.length / 2
        if kept_tokens + half >= MIN_CONTEXT_SHARE * (max(run.cached_start, run.target_start) + half):
            result.append(run)
            kept_tokens += run.length
    return result
