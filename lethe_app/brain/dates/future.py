"""Parse future dates: “tomorrow at 9”, “next Friday”, “in two weeks”, “24 December”, “2026-12-24 18:30”."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from lethe_app.dates.ranges import LAST_DAY, end_of_month, month_from, next_weekday
from lethe_app.dates.words import (
    ANY_WEEKDAY,
    DAY_AND_MONTH,
    NUMBERS,
    SPELLED_NUMBERS,
    alternatives,
    count_pattern,
    month_number,
    parse_count,
    weekday_number,
)

_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:T(?=\d)|(?!\d))", re.IGNORECASE)
_ZONED_TIMESTAMP = re.compile(
    r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:Z|[+-]\d{2}:?\d{2})", re.IGNORECASE
)
"""ISO 8601 timestamp with a zone, as programs write it; its zone is kept regardless of the local one."""
_DOTTED = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?")
_CLOCK = re.compile(
    r"\b(?:at )?(?:(\d{1,2})[:.h](\d{2})\s?(am|pm)?|(\d{1,2})\s?(am|pm)|(?<=at )(\d{1,2}))\b(?!\.\d)", re.IGNORECASE
)
_HOURS = {"noon": 12, "midday": 12, "midnight": 0, "morning": 9, "afternoon": 15, "evening": 19, "tonight": 20, "night": 21}
_HOUR = re.compile(rf"\b({'|'.join(_HOURS)})\b", re.IGNORECASE)
_COUNT = f"({count_pattern(4)})(?: of)?"
_IN = re.compile(rf"\bin (?:a )?{_COUNT} (day|week|month|year)s?\b", re.IGNORECASE)
_AMOUNT = re.compile(
    rf"(?:(half an hour)|(?:a )?(\d{{1,4}}(?:\.\d+)?|{alternatives(NUMBERS)})(?: of)?( and a half)? ?"
    r"(hours?|hrs?|h|minutes?|mins?|seconds?|secs?)\b( and a half)?)(?:,? and |,? )?",
    re.IGNORECASE,
)  # fmt: skip
_IN_DURATION = re.compile(rf"\bin (?={_AMOUNT.pattern})", re.IGNORECASE)
_HOUR_WORDS = alternatives(SPELLED_NUMBERS[1:13])
_OCLOCK = re.compile(
    rf"\b(?:(half past|quarter past|quarter to) (\d{{1,2}}|{_HOUR_WORDS})|(\d{{1,2}}|{_HOUR_WORDS}) ?o['’]?clock"
    rf"|at ({_HOUR_WORDS}))\b",
    re.IGNORECASE,
)
_RECURRING = re.compile(r"\b(?:every|each|daily|weekly|monthly|yearly)\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(next |this |on )?({ANY_WEEKDAY})\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(day after tomorrow|tomorrow|today|tonight|this (?:morning|afternoon|evening)|next (?:week|month|year))\b",
    re.IGNORECASE,
)


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
    return _RECURRING.search(text) is not None


def _parse_exact_moment(text: str, now: datetime) -> datetime | None:
    """Return the moment of a zoned timestamp or of a duration counted from `now`; durations are added in UTC, so a
    daylight-saving change does not shift them.
    """
    if timestamp := _ZONED_TIMESTAMP.search(text):
        try:
            return datetime.fromisoformat(
                timestamp[0].replace(" ", "").upper() if "T" in timestamp[0].upper() else timestamp[0]
            )
        except ValueError:
            return None
    if (duration_start := _IN_DURATION.search(text)) is None:
        return None
    position, seconds = duration_start.end(), 0.0
    while (amount_match := _AMOUNT.match(text, position)) is not None:
        unit = {"h": 3600, "m": 60, "s": 1}[(amount_match[4] or "h")[0].lower()]
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
    if hour.hour >= 12 or re.search(r"\b(?:am|morning|0\d:\d\d)\b|\d ?am\b|-\d\d", text, re.IGNORECASE):
        return False
    late = re.search(r"\b(?:tonight|evening|afternoon)\b", text, re.IGNORECASE)
    return is_over or (late is not None and hour.hour > 0)


def _find_day(text: str, today: date) -> tuple[date | None, str]:
    """Return the day named in the text, and the text without the words that name it."""
    rules: list[tuple[re.Pattern[str], Callable[[re.Match[str]], date | None]]] = [
        (_ISO, lambda found: _date_or_none(int(found[1]), int(found[2]), int(found[3]))),
        (_DOTTED, lambda found: _next_occurrence(int(found[2]), int(found[1]), int(found[3] or 0), today)),
        *((spelled, lambda found: _date_of_month_name(found, today)) for spelled in DAY_AND_MONTH),
        (_IN, lambda found: _add_units(today, parse_count(found[1]), found[2].lower())),
        (_RELATIVE, lambda found: _parse_relative_day(found[1].lower(), today)),
        (_WEEKDAY, lambda found: next_weekday(today, weekday_number(found[2]))),
    ]
    for pattern, to_date in rules:
        found = pattern.search(text)
        if found and (day := to_date(found)) is not None:
            kept_words = (
                found[0] if found[0].lower().startswith(("tonight", "this")) else ""
            )  # these words name the hour as well
            return day, f"{text[: found.start()]} {kept_words} {text[found.end() :]}"
    return None, text


def _find_time(text: str) -> time | None:
    found = _CLOCK.search(text)
    if found:
        hour, minute = int(found[1] or found[4] or found[6]), int(found[2] or 0)
        meridiem = (found[3] or found[5] or "").lower()
        hour = hour % 12 + 12 * (meridiem == "pm") if meridiem else hour
        return time(hour, minute) if hour < 24 and minute < 60 else None
    if clock_match := _OCLOCK.search(text):
        word = clock_match[2] or clock_match[3] or clock_match[4]
        hour = int(word) if word.isdigit() else SPELLED_NUMBERS.index(word.lower())
        minutes = {"half past": 30, "quarter past": 15, "quarter to": -15}.get((clock_match[1] or "").lower(), 0)
        return time((60 * hour + minutes) // 60 % 24, minutes % 60) if hour < 24 else None
    named = _HOUR.search(text)
    return time(_HOURS[named[1].lower()]) if named else None


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
