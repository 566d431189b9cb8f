"""Parse future dates: “tomorrow at 9”, “next Friday”, “in two weeks”, “24 December”, “2026-12-24 18:30”."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from lethe_app.dates.ranges import LAST_DAY, end_of_month, month_from, next_weekday
from lethe_app.dates.words import NUMBERS, SPELLED_NUMBERS, month_number, parse_count, weekday_number
from lethe_app.language_tables import load_table, table_pattern

_pattern = partial(table_pattern, "future")
_SECONDS = {"h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True)
class FutureDate:
    """Parsed future date: a day, and the time of day if one was named."""

    day: date
    hour: time | None = None
    exact: datetime | None = None
    """Exact moment, if hours or minutes were counted from now or the zone was named; takes precedence over `day` and `hour`."""

    def to_datetime(self) -> datetime | date:
        """Return the moment in the local time zone; a date if no time of day is known."""
        if self.exact is not None:
            return self.exact.astimezone()  # daylight saving time may begin or end until then
        return self.day if self.hour is None else datetime.combine(self.day, self.hour).astimezone()


def parse_future_date(words: str, now: datetime) -> FutureDate | None:
    """Parse a future date relative to `now`, in its time zone; return None if the text names no day from today on."""
    text = " ".join(words.split())
    exact = _parse_exact_moment(text, now)
    if exact is not None:
        return FutureDate(exact.date(), exact.time(), exact) if exact.date() >= now.date() else None
    day, rest = _find_day(text, now.date())
    hour = _find_time(rest)
    if day is None and hour is None:
        return None
    if day is None:
        assert hour is not None
        day = now.date() + timedelta(days=hour <= now.time())  # “at 9” is the next nine o'clock
    if hour is not None and _is_evening(hour, text, is_over=day == now.date() and hour <= now.time()):
        hour = hour.replace(hour=hour.hour + 12)
    found = FutureDate(day, hour)
    return found if day >= now.date() and day < LAST_DAY else None


def is_recurring(text: str) -> bool:
    """Return whether the text asks for a repeated date, such as “every Friday”; `parse_future_date` returns the first
    occurrence of it.
    """
    return _pattern("recurring").search(text) is not None


def _parse_exact_moment(text: str, now: datetime) -> datetime | None:
    """Return the moment of a zoned timestamp or of a duration counted from `now`; durations are added in UTC, so a
    daylight-saving change does not shift them.
    """
    if timestamp := _pattern("zoned_timestamp").search(text):
        try:
            return datetime.fromisoformat(
                timestamp[0].replace(" ", "").upper() if "T" in timestamp[0].upper() else timestamp[0]
            )
        except ValueError:
            return None
    if (duration_start := _pattern("in_duration").search(text)) is None:
        return None
    position, seconds = duration_start.end(), 0.0
    while (amount_match := _pattern("amount").match(text, position)) is not None:
        unit = _SECONDS[(amount_match[4] or "h")[0].lower()]
        count = (
            0.5
            if amount_match[1]
            else float(NUMBERS.get(amount_match[2].lower()) or amount_match[2]) + 0.5 * bool(amount_match[3] or amount_match[5])
        )
        position, seconds = amount_match.end(), seconds + count * unit
    return (now.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(now.tzinfo)


def _is_evening(hour: time, text: str, *, is_over: bool) -> bool:
    """Return whether an hour without am/pm means the evening: “tonight at 9”, or “today at 8” written after 8 a.m.
    (`is_over`).
    """
    if hour.hour >= 12 or _pattern("morning").search(text):
        return False
    return is_over or (hour.hour > 0 and _pattern("evening").search(text) is not None)


def _find_day(text: str, today: date) -> tuple[date | None, str]:
    """Return the day named in the text, and the text without the words that name it."""
    rules: list[tuple[str, Callable[[re.Match[str]], date | None]]] = [
        ("iso", lambda found: _date_or_none(int(found[1]), int(found[2]), int(found[3]))),
        ("dotted", lambda found: _next_occurrence(int(found[2]), int(found[1]), int(found[3] or 0), today)),
        ("day_of_month", lambda found: _date_of_month_name(found, today)),
        ("month_and_day", lambda found: _date_of_month_name(found, today)),
        ("in_units", lambda found: _add_units(today, parse_count(found[1]), found[2].lower())),
        ("relative", lambda found: _parse_relative_day(found[1].lower(), today)),
        ("weekday", lambda found: next_weekday(today, weekday_number(found[1]))),
    ]
    for key, to_date in rules:
        found = _pattern(key).search(text)
        if found and (day := to_date(found)) is not None:
            # “tonight” and “this evening” name the hour as well.
            kept_words = found[0] if found[0].lower().startswith(("tonight", "this")) else ""
            return day, f"{text[: found.start()]} {kept_words} {text[found.end() :]}"
    return None, text


def _find_time(text: str) -> time | None:
    if found := _pattern("clock").search(text):
        hour, minute = int(found[1] or found[4] or found[6]), int(found[2] or 0)
        meridiem = (found[3] or found[5] or "").lower()
        hour = hour % 12 + 12 * (meridiem == "pm") if meridiem else hour
        return time(hour, minute) if hour < 24 and minute < 60 else None
    table = load_table("future")
    if found := _pattern("oclock").search(text):
        word = found["past"] or found["full"] or found["at"]
        hour = int(word) if word.isdigit() else SPELLED_NUMBERS.index(word.lower())
        minutes = table["minutes"].get((found["fraction"] or "").lower(), 0)
        return time((60 * hour + minutes) // 60 % 24, minutes % 60) if hour < 24 else None
    named = _pattern("named_hour").search(text)
    return time(table["hours"][named[1].lower()]) if named else None


def _date_of_month_name(match: re.Match[str], today: date) -> date | None:
    return _next_occurrence(month_number(match["month"]), int(match["day"]), int(match["year"] or 0), today)


def _next_occurrence(month: int, day: int, year: int, today: date) -> date | None:
    """Return the date, without a year (0) its next occurrence; nine years are tried because 29 February can be eight years
    ahead.
    """
    if year:
        return _date_or_none(year, month, day)
    years = (_date_or_none(today.year + more, month, day) for more in range(9))
    return next((candidate for candidate in years if candidate is not None and candidate >= today), None)


def _parse_relative_day(words: str, today: date) -> date | None:
    if words.startswith("next "):
        return _add_units(today, 1, words.removeprefix("next "))
    return today + timedelta(days={"tomorrow": 1, "day after tomorrow": 2}.get(words, 0))


def _add_units(today: date, count: int, unit: str) -> date | None:
    if unit in {"day", "week"}:
        return today + timedelta(days=count * (7 if unit == "week" else 1))
    try:
        month = month_from(today, count * (12 if unit == "year" else 1))
    except ValueError:  # after the end of the calendar
        return None
    return month.replace(day=min(today.day, end_of_month(month).day))


def _date_or_none(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
