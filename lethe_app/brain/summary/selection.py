"""Selection of the few reports that together cover most of a session, from its beginning to its end."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence

from lethe_app.brain.summary.candidates import ENOUGH, SummaryCandidate

COVERED = 0.1
"""Remaining weight of a word that a chosen report contains already."""
CROWDED = 0.7
"""Factor per chosen report for the others of its stretch of the session."""
AGAIN = 0.7
"""Factor per chosen report for the others of its message."""
SPOKEN = 0.95
"""Factor per chosen report for the others of its speaker."""
STRETCH = 130
"""Characters of summary per stretch into which the session is divided."""
MOST_STRETCHES = 12
"""Maximum number of stretches into which the session is divided."""
ALONE = 2.0
"""Base value of a report, in word weights, because a death may be told in a word that occurs only once."""
PRICE = 0.5
"""Exponent of a report's length in its price."""
PRICE_OF_FACTS = 0.8
"""The same exponent for facts. It is higher, because there may be many of them and short ones leave room for others."""
KEPT_FREE = 0.12
"""Share of a summary that facts leave to other reports, if there are any."""
LEFT = 0.35
"""Share of a summary for other reports if there are `ENOUGH` facts."""
NEAR = 2
"""Messages after a reported one within which an unclear fact is understood by it."""
SHORTEST = 60
"""Minimum characters charged for a report, so that few words are no advantage."""


def choose(
    facts: Sequence[SummaryCandidate],
    others: Sequence[SummaryCandidate],
    weights: dict[str, float],
    room: int,
    room_of_facts: int,
) -> list[SummaryCandidate]:
    """Return the chosen candidates in session order: facts of at most `room_of_facts` characters, and others in what they
    leave of `room`.

    If there are `ENOUGH` facts, the others take at most `LEFT` of the room.
    """
    state = _State(weights, max(1, min(MOST_STRETCHES, max(room, room_of_facts) // STRETCH)))
    if others:
        room_of_facts = min(room_of_facts, int((1 - KEPT_FREE) * max(room, room_of_facts)))
    # One character more, because the last line has no line break.
    chosen = state.choose([fact for fact in facts if not fact.is_unclear], room_of_facts + 1)
    told = {report.quote.line for report in chosen}
    explained = [fact for fact in facts if fact.is_unclear and any(0 <= fact.quote.line - line <= NEAR for line in told)]
    chosen += state.choose(explained, room_of_facts + 1 - sum(report.cost for report in chosen))
    left = max(room + 1 - sum(report.cost for report in chosen), int(KEPT_FREE * room))
    if len(chosen) >= ENOUGH:
        left = min(left, max(int(LEFT * room * ENOUGH / len(chosen)), int(KEPT_FREE * room)))
    return sorted([*chosen, *state.choose(others, left)], key=lambda report: (report.place, report.sources))


class _State:
    """State of the selection: which words, stretches, messages and speakers the chosen reports cover."""

    def __init__(self, weights: dict[str, float], stretches: int) -> None:
        self._weights = weights
        self._stretches = stretches
        self._covered: set[str] = set()
        self._heard: Counter[int | str] = Counter()

    def gain(self, report: SummaryCandidate) -> float:
        weights, covered = self._weights, self._covered
        # Sorted, because set order varies between runs and the rounding of the sum could decide a tie.
        words = sum(weights.get(word, 1.0) * (COVERED if word in covered else 1.0) for word in sorted(report.words))
        heard = self._heard
        crowd: float = CROWDED ** heard[int(report.place * self._stretches)] * SPOKEN ** heard[report.speaker]
        crowd *= AGAIN ** heard[f"message {report.quote.line}"]
        price = math.pow(max(report.cost, SHORTEST), PRICE_OF_FACTS if report.is_fact else PRICE)
        return report.salience * (ALONE + words) / price * crowd

    def choose(self, candidates: Sequence[SummaryCandidate], left: int) -> list[SummaryCandidate]:
        """Return candidates of at most `left` characters together.

        Greedy, by salience x weight of the words not yet covered / length ** `PRICE` (`PRICE_OF_FACTS` for facts), reduced
        for stretches, messages and speakers already covered. The gain only falls as others are chosen, so that a stale value
        in the heap is an upper bound (Minoux 1978, accelerated greedy).
        """
        heap = [(-self.gain(report), index) for index, report in enumerate(candidates)]
        heapq.heapify(heap)
        chosen: list[SummaryCandidate] = []
        while heap and left > 0:
            _stale, index = heapq.heappop(heap)
            if candidates[index].cost > left:
                continue
            gain = self.gain(candidates[index])
            if heap and -heap[0][0] > gain + 1e-12:
                heapq.heappush(heap, (-gain, index))
                continue
            chosen.append(candidates[index])
            left -= candidates[index].cost
            self.take(candidates[index])
        return chosen

    def take(self, report: SummaryCandidate) -> None:
        self._covered |= report.words
        self._heard[int(report.place * self._stretches)] += 1
        self._heard[f"message {report.quote.line}"] += 1
        self._heard[report.speaker] += 1
