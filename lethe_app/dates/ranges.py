"""Calendar days and day ranges relative to a day: weekdays, weeks, weekends, months, seasons and recent years."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

from lethe_app.dates.words import SEASONS

YEARS_BACK = 5
"""Number of years searched for a day or month without a year, the latest first."""
SEASON_DAYS = 91
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


def days_back(first: int, last: int | None = None) -> Callable[[date], Range]:
    """Return a function from today to the range of days between `first` and `last` days ago; `last` defaults to `first`."""
    return lambda today: (today - timedelta(days=first), today - timedelta(days=first if last is None else last))


def weeks_back(count: int) -> Callable[[date], Range]:
    """Return a function from today to the calendar week (from Monday) `count` weeks ago; the current week ends today."""
    return lambda today: (weekday_in_week(today, 0, -count), min(today, weekday_in_week(today, 6, -count)))


def weekend(weeks_ago: int) -> Callable[[date], Range]:
    """Return a function from today to the latest weekend that has begun, or to the weekend `weeks_ago` weeks before it."""

    def days(today: date) -> Range:
        saturday = today - timedelta(days=(today.weekday() - 5) % 7 + 7 * weeks_ago)
        return saturday, saturday + timedelta(days=1)

    return days


def last_weekend(today: date) -> Range:
    """Return the latest completed weekend: on a Saturday or Sunday it is the one before the current one."""
    return weekend(1 if today.weekday() >= 5 else 0)(today)


def this_month(today: date) -> Range:
    """Return the range from the beginning of the current month to today."""
    return today.replace(day=1), today


def last_month(today: date) -> Range:
    """Return the range of the calendar month before the current one."""
    first = month_from(today, -1)
    return first, end_of_month(first)


def this_year(today: date) -> Range:
    """Return the range from the beginning of the current year to today."""
    return date(today.year, 1, 1), today


def last_year(today: date) -> Range:
    """Return the range of the calendar year before the current one."""
    return year_range(today.year - 1)


def year_range(year: int) -> Range:
    """Return the range of a calendar year."""
    return date(year, 1, 1), date(year, 12, 31)


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


NAMED_RANGES: dict[str, Callable[[date], Range]] = {
    "the day before yesterday": days_back(2),
    "yesterday": days_back(1),
    "last night": days_back(1),
    "today": days_back(0),
    "this morning": days_back(0),
    "this week": weeks_back(0),
    "last week": weeks_back(1),
    "last weekend": last_weekend,
    "this month": this_month,
    "last month": last_month,
    "this year": this_year,
    "last year": last_year,
}
"""Day ranges by their names, which every reader of past times understands alike."""
