"""Times in queries (“last May”, “two weeks ago”), and how well a day fits them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from lethe_app.dates.expressions import TimeExpression, find_times
from lethe_app.dates.ranges import LAST_DAY, Range

TALKED_ABOUT_DAYS = 14
"""Days after an event during which it is still likely to be talked about."""


@dataclass(frozen=True)
class TimeReference:
    """Everything that a query says about time."""

    times: tuple[TimeExpression, ...] = ()

    def fit(self, day: date) -> tuple[float, str]:
        """Return how well a conversation on that day fits, from 0 to 1, and the words it fits."""
        fits = [(_fit_to_range(days, day), time.words) for time in self.times for days in time.ranges]
        return max(fits, default=(0.0, ""))


def parse_time(text: str, today: date) -> TimeReference:
    """Parse the time expressions of a query that is asked `today`."""
    times = find_times(text.replace("’", "'"), min(today, LAST_DAY))
    return TimeReference(tuple(times))


def _fit_to_range(days: Range, day: date) -> float:
    """Return 1 inside the range and less after it, because events are talked about for a while afterwards."""
    days_after = max(0, (day - days[1]).days)
    return 0.0 if day < days[0] else max(0.0, 1.0 - days_after / TALKED_ABOUT_DAYS)
