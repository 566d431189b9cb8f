"""Calendar days and day ranges relative to a day: weekdays, weeks, weekends, months, seasons and recent years."""

from __future__ import annotations

from calendar import monthrange
from datetime import MAXYEAR, date, timedelta

from lethe_app.dates.words import SEASONS

YEARS_BACK = 5
"""Number of years searched for a day or month without a year, the latest first."""
SEASON_DAYS = 91
SATURDAY = 5
LAST_DAY = date(9990, 1, 1)
"""Latest reference day. Texts read later are read as if on it, so that no date arithmetic overflows."""

Range = tuple[date, date]
"""First and last day of a range, both included."""


def monday(day: date) -> date:
    """Return the Monday of the week of a day."""
    return day - timedelta(days=day.weekday())


def weekday_in_week(today: date, weekday: int, weeks: int = 0) -> date:
    """Return a weekday (0 is Monday) of the week that lies `weeks` after the current one."""
    return monday(today) + timedelta(days=7 * weeks + weekday)


def last_weekday(today: date, weekday: int) -> date:
    """Return the latest date before today with this weekday (0 is Monday)."""
    return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)


def next_weekday(today: date, weekday: int) -> date:
    """Return the first date after today with this weekday (0 is Monday)."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def month_from(today: date, months: int) -> date:
    """Return the first day of the month that lies `months` after the current one. Raise ValueError outside the calendar."""
    number = today.year * 12 + today.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


def end_of_month(day: date) -> date:
    """Return the last day of the month of a day."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def season_of(year: int, name: str) -> Range:
    """Return the range of the season that begins in `year`."""
    first = date(year, SEASONS[name], 1)
    return first, first + timedelta(days=SEASON_DAYS)


def named_range(today: date, unit: str, before: int, until: int | None = None) -> Range:
    """Return the range of days from `before` to `until` (default `before`) days ago, or of the week (from Monday), weekend,
    month or year that lies `before` ones before the current one, which ends today. A “past weekend” is over, a “weekend”
    may have just begun. Raise ValueError or OverflowError outside the calendar.
    """
    if unit == "days":
        return today - timedelta(days=before), today - timedelta(days=before if until is None else until)
    if unit == "week":
        return weekday_in_week(today, 0, -before), min(today, weekday_in_week(today, 6, -before))
    if unit == "month":
        first = month_from(today, -before)
        return first, min(today, end_of_month(first))
    if unit == "year":
        return date(today.year - before, 1, 1), min(today, date(today.year - before, 12, 31))
    weeks = before + (unit == "past weekend" and today.weekday() >= SATURDAY)
    saturday = today - timedelta(days=(today.weekday() - SATURDAY) % 7 + 7 * weeks)
    return saturday, saturday + timedelta(days=1)


def year_range(year: int) -> Range:
    """Return the range of a calendar year."""
    return date(year, 1, 1), date(year, 12, 31)


def ranges_by_year(today: date, year: int | None, first: tuple[int, int], last: tuple[int, int]) -> list[Range]:
    """Return the range in `year`, or without a year in each year from the next one back to `YEARS_BACK` years ago.

    `first` and `last` are (month, day) pairs; a range whose `last` is before `first` ends in the following year.
    """
    years = [year] if year else range(min(today.year + 1, MAXYEAR - 1), max(0, today.year - YEARS_BACK), -1)
    found: list[Range] = []
    for start_year in years:
        end_year = start_year + (last < first)
        end_month_length = monthrange(end_year, last[0])[1]
        if first == last and first[1] > monthrange(start_year, first[0])[1]:
            continue
        found.append((date(start_year, *first), date(end_year, last[0], min(last[1], end_month_length))))
    return found
