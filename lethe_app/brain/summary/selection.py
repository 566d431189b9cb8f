"""Selection of the few reports that together cover most of a session, from its beginning to its end."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence

from lethe_app.brain.summary.candidates import SummaryCandidate
from lethe_app.brain.summary.sentence_weights import ENOUGH_FACTS

COVERED_WORD_WEIGHT = 0.1
"""Remaining weight of a word that a chosen report contains already."""
SECTION_FACTOR = 0.7
"""Factor per chosen report for the others of its section of the session."""
MESSAGE_FACTOR = 0.7
"""Factor per chosen report for the others of its message."""
SPEAKER_FACTOR = 0.95
"""Factor per chosen report for the others of its speaker."""
SECTION_LENGTH = 130
"""Characters of summary per section into which the session is divided."""
MAX_SECTIONS = 12
"""Maximum number of sections into which the session is divided."""
BASE_VALUE = 2.0
"""Base value of a report, in word weights, because a death may be told in a word that occurs only once."""
LENGTH_EXPONENT = 0.5
"""Exponent of a report's length in its price."""
FACT_LENGTH_EXPONENT = 0.8
"""The same exponent for facts. It is higher, because there may be many of them and short ones leave room for others."""
RESERVED_SHARE = 0.12
"""Share of a summary that facts leave to other reports, if there are any."""
OTHERS_SHARE = 0.35
"""Share of a summary for other reports if there are `ENOUGH_FACTS`."""
MAX_EXPLAINING_DISTANCE = 2
"""Messages after a reported one within which an unclear fact is understood by it."""
MIN_CHARGED_LENGTH = 60
"""Minimum characters charged for a report, so that few words are no advantage."""


def choose_reports(
    facts: Sequence[SummaryCandidate],
    others: Sequence[SummaryCandidate],
    weights: dict[str, float],
    max_length: int,
    max_facts_length: int,
) -> list[SummaryCandidate]:
    """Return the chosen candidates in session order: facts of at most `max_facts_length` characters, and others in what they
    leave of `max_length`.

    If there are `ENOUGH_FACTS`, the others take at most `OTHERS_SHARE` of the room.
    """
    state = _Selection(weights, max(1, min(MAX_SECTIONS, max(max_length, max_facts_length) // SECTION_LENGTH)))
    if others:
        max_facts_length = min(max_facts_length, int((1 - RESERVED_SHARE) * max(max_length, max_facts_length)))
    # One character more, because the last line has no line break.
    chosen = state.choose([fact for fact in facts if not fact.is_unclear], max_facts_length + 1)
    reported_lines = {report.quote.line for report in chosen}
    explained = [
        fact
        for fact in facts
        if fact.is_unclear and any(0 <= fact.quote.line - line <= MAX_EXPLAINING_DISTANCE for line in reported_lines)
    ]
    chosen += state.choose(explained, max_facts_length + 1 - sum(report.cost for report in chosen))
    remaining = max(max_length + 1 - sum(report.cost for report in chosen), int(RESERVED_SHARE * max_length))
    if len(chosen) >= ENOUGH_FACTS:
        remaining = min(
            remaining, max(int(OTHERS_SHARE * max_length * ENOUGH_FACTS / len(chosen)), int(RESERVED_SHARE * max_length))
        )
    return sorted([*chosen, *state.choose(others, remaining)], key=lambda report: (report.position, report.sources))


class _Selection:
    """State of the selection: which words, sections, messages and speakers the chosen reports cover."""

    def __init__(self, weights: dict[str, float], sections: int) -> None:
        self._weights = weights
        self._sections = sections
        self._covered: set[str] = set()
        self._counts: Counter[int | str] = Counter()

    def compute_gain(self, report: SummaryCandidate) -> float:
        weights, covered = self._weights, self._covered
        # Sorted, because set order varies between runs and the rounding of the sum could decide a tie.
        words = sum(weights.get(word, 1.0) * (COVERED_WORD_WEIGHT if word in covered else 1.0) for word in sorted(report.words))
        counts = self._counts
        penalty: float = (
            SECTION_FACTOR ** counts[int(report.position * self._sections)] * SPEAKER_FACTOR ** counts[report.speaker]
        )
        penalty *= MESSAGE_FACTOR ** counts[f"message {report.quote.line}"]
        price = math.pow(max(report.cost, MIN_CHARGED_LENGTH), FACT_LENGTH_EXPONENT if report.is_fact else LENGTH_EXPONENT)
        return report.salience * (BASE_VALUE + words) / price * penalty

    def choose(self, candidates: Sequence[SummaryCandidate], remaining: int) -> list[SummaryCandidate]:
        """Return candidates of at most `remaining` characters together.

        Greedy, by salience x weight of the words not yet covered / length ** `LENGTH_EXPONENT` (`FACT_LENGTH_EXPONENT` for
        facts), reduced for sections, messages and speakers already covered. The gain only falls as others are chosen, so that
        a stale value in the heap is an upper bound (Minoux 1978, accelerated greedy).
        """
        heap = [(-self.compute_gain(report), index) for index, report in enumerate(candidates)]
        heapq.heapify(heap)
        chosen: list[SummaryCandidate] = []
        while heap and remaining > 0:
            _stale, index = heapq.heappop(heap)
            if candidates[index].cost > remaining:
                continue
            gain = self.compute_gain(candidates[index])
            if heap and -heap[0][0] > gain + 1e-12:
                heapq.heappush(heap, (-gain, index))
                continue
            chosen.append(candidates[index])
            remaining -= candidates[index].cost
            self.mark_chosen(candidates[index])
        return chosen

    def mark_chosen(self, report: SummaryCandidate) -> None:
        self._covered |= report.words
        self._counts[int(report.position * self._sections)] += 1
        self._counts[f"message {report.quote.line}"] += 1
        self._counts[report.speaker] += 1
