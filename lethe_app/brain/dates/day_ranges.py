"""Calendar day ranges relative to a day: weeks, weekends, months, and the recent years in which a month or day occurred."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

from lethe_app.brain.dates.double_dates import ORDINALS
from lethe_app.retrieval.query_terms import MONTHS
from lethe_app.retrieval.time_expressions import WEEKDAYS

YEARS_BACK = 5
"""Number of years searched for a day or month without a year, the latest first."""

Range = tuple[date, date]
"""First and last day of a range, both included."""


def days_back(first: int, last: int | None = None) -> Callable[[date], Range]:
    """Return a function from today to the range of days between `first` and `last` days ago; `last` defaults to `first`."""
    return lambda today: (today - timedelta(days=first), today - timedelta(days=first if last is None else last))


def weeks_back(count: int) -> Callable[[date], Range]:
    """Return a function from today to the calendar week (from Monday) `count` weeks ago; the current week ends today."""
    return lambda today: (
        monday(today) - timedelta(days=7 * count), min(today, monday(today) - timedelta(days=7 * count - 6))
    )  # fmt: skip


def weekend(weeks_ago: int) -> Callable[[date], Range]:
    """Return a function from today to the latest weekend that has begun, or to the weekend `weeks_ago` weeks before it."""

    def days(today: date) -> Range:
        saturday = today - timedelta(days=(today.weekday() - 5) % 7 + 7 * weeks_ago)
        return saturday, saturday + timedelta(days=1)

    return days


def last_weekend(today: date) -> Range:
    """Return the latest completed weekend: on a Saturday or Sunday it is the one before the current one."""
    return weekend(1 if today.weekday() >= 5 else 0)(today)


def last_month(today: date) -> Range:
    """Return the range of the calendar month before the current one."""
    last = today.replace(day=1) - timedelta(days=1)
    return last.replace(day=1), last


def last_year(today: date) -> Range:
    """Return the range of the calendar year before the current one."""
    return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


def week_before(days: Range) -> Range:
    """Return the range shifted back by seven days."""
    return days[0] - timedelta(days=7), days[1] - timedelta(days=7)


def ranges_by_year(today: date, year: int | None, first: tuple[int, int], last: tuple[int, int]) -> list[Range]:
    """Return the range in `year`, or without a year in each of the last `YEARS_BACK` years in which it has begun, latest
    first.

    `first` and `last` are (month, day) pairs; a range whose `last` is before `first` ends in the following year.
    """
    years = [year] if year else range(today.year, max(1, today.year - YEARS_BACK), -1)
    found: list[Range] = []
    for start_year in years:
        end_year = start_year + (last < first)
        end_month_length = monthrange(end_year, last[0])[1]
        if first == last and first[1] > monthrange(start_year, first[0])[1]:
            continue
        start = date(start_year, first[0], first[1])
        if start <= today:
            found.append((start, date(end_year, last[0], min(last[1], end_month_length))))
    return found


def month_number(name: str) -> int:
    """Return the month number (1 to 12) of a month name or of its first three letters."""
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3]))


def weekday_number(name: str) -> int:
    """Return the weekday number (0 is Monday) of a weekday name or of its first three letters."""
    return next(number for number, day in enumerate(WEEKDAYS) if day.startswith(name[:3]))


def day_number(text: str) -> int:
    """Return the day of the month written as “2nd”, “2” or “second”."""
    return ORDINALS.index(text) + 1 if text in ORDINALS else int(re.sub(r"\D", "", text))


def monday(day: date) -> date:
    """Return the Monday of the week of a day."""
    return day - timedelta(days=day.weekday())
