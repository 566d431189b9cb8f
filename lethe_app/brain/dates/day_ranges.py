"""Ranges of days in the calendar: weeks, weekends and months before a day, and the years in which a month or day was last."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

from lethe_app.brain.dates.double_dates import ORDINALS
from lethe_app.retrieval.query_terms import MONTHS
from lethe_app.retrieval.time_expressions import WEEKDAYS

YEARS_BACK = 5
"""Years in which a day or month without a year is looked for, the latest first."""

Range = tuple[date, date]
"""The first and the last day, both included."""


def days_back(first: int, last: int | None = None) -> Callable[[date], Range]:
    """So many days before today, or from one to another."""
    return lambda today: (today - timedelta(days=first), today - timedelta(days=first if last is None else last))


def weeks_back(count: int) -> Callable[[date], Range]:
    """The week so many weeks before this one, from its Monday on; this week up to today."""
    return lambda today: (
        monday(today) - timedelta(days=7 * count), min(today, monday(today) - timedelta(days=7 * count - 6))
    )  # fmt: skip


def weekend(back: int) -> Callable[[date], Range]:
    """The latest that has begun, or an earlier one."""

    def days(today: date) -> Range:
        saturday = today - timedelta(days=(today.weekday() - 5) % 7 + 7 * back)
        return saturday, saturday + timedelta(days=1)

    return days


def last_weekend(today: date) -> Range:
    """On a weekend the one before it."""
    return weekend(1 if today.weekday() >= 5 else 0)(today)


def last_month(today: date) -> Range:
    """The month before this one."""
    last = today.replace(day=1) - timedelta(days=1)
    return last.replace(day=1), last


def last_year(today: date) -> Range:
    """The year before this one."""
    return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


def week_before(days: Range) -> Range:
    """The same days a week earlier."""
    return days[0] - timedelta(days=7), days[1] - timedelta(days=7)


def yearly(today: date, year: int | None, first: tuple[int, int], last: tuple[int, int]) -> list[Range]:
    """The days in that year, or in each of the last years in which they have begun."""
    years = [year] if year else range(today.year, max(1, today.year - YEARS_BACK), -1)
    found: list[Range] = []
    for each in years:
        ends = each + (last < first)
        length = monthrange(ends, last[0])[1]
        if first == last and first[1] > monthrange(each, first[0])[1]:
            continue
        begin = date(each, first[0], first[1])
        if begin <= today:
            found.append((begin, date(ends, last[0], min(last[1], length))))
    return found


def month_number(name: str) -> int:
    """1 to 12, by a name or its first three letters."""
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3]))


def weekday_number(name: str) -> int:
    """0 is Monday; by a name or its first three letters."""
    return next(number for number, day in enumerate(WEEKDAYS) if day.startswith(name[:3]))


def day_number(written: str) -> int:
    """Of “2nd” or “second”."""
    return ORDINALS.index(written) + 1 if written in ORDINALS else int(re.sub(r"\D", "", written))


def monday(day: date) -> date:
    """The Monday of its week."""
    return day - timedelta(days=day.weekday())
