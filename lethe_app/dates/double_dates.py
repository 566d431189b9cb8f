"""Merge two time expressions of one sentence, such as “next week … on Wednesday”, into one date, so that a fact never gets
two dates.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import partial

from lethe_app.dates.ranges import month_from, weekday_in_week
from lethe_app.dates.words import ORDINALS, parse_count, weekday_number
from lethe_app.domain.clock import MONTHS
from lethe_app.language_tables import table_pattern

_FRIDAY = 4
_pattern = partial(table_pattern, "double_dates")
_DAY_OFFSETS = {"the day before yesterday": -2, "the day after tomorrow": 2, "yesterday": -1, "tomorrow": 1}
_EXACT_OF_UNIT = {"month": ("day_of_month",), "year": ("month", "season")}
"""What may be exact within a month or a year; within all other times it is a weekday."""


def reconcile_times(sentence: str, today: date) -> str | None:
    """Merge a coarse and an exact time expression into one date; return None if they contradict each other.

    Days spelled out as words are written in digits, and a weekday in front of a date is dropped, whether or not there is
    such a pair. Raises ValueError for a day that does not exist.
    """
    text = _pattern("of_month").sub(r"\g<number> \g<month>", ordinals_to_digits(sentence))
    text = _pattern("weekday_of_date").sub(lambda found: "on " if found[0].startswith("on ") else "", text)
    for wide in list(_pattern("coarse").finditer(text)):
        unit = (wide["unit"] or ("year" if wide["years_ago"] else "")).lower()
        for key in _EXACT_OF_UNIT.get(unit, ("weekday",)):
            matches = list(_pattern(key).finditer(text))
            if len(matches) != 1 or (wide.start() < matches[0].end() and matches[0].start() < wide.end()):
                continue
            replacement = _merge_times(wide.groupdict() | matches[0].groupdict(), unit, today)
            return replacement and _merge_expressions(text, wide, matches[0], replacement)
    return text


def ordinals_to_digits(text: str) -> str:
    """Return the text with spelled-out days of the month in digits: “June the fourteenth” becomes “June the 14th”."""
    return _pattern("spelled_day").sub(_ordinal_to_digits, text)


def _ordinal_to_digits(match: re.Match[str]) -> str:
    number = ORDINALS.index((match["first"] or match["other"]).lower()) + 1
    ending = "th" if number in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{match['lead'] or 'the '}{number}{ending}"


def _merge_expressions(text: str, wide: re.Match[str], exact: re.Match[str], replacement: str) -> str:
    """Return the text without the coarse expression `wide` and with `replacement` in place of the expression `exact`."""
    for found, inserted in sorted(((wide, ""), (exact, replacement)), key=lambda each: -each[0].start()):
        before, after = text[: found.start()].rstrip(" ,"), text[found.end() :]
        text = " ".join(filter(None, (before, inserted))) + after if before or inserted else after.lstrip(" ,")
    return text


def _merge_times(words: dict[str, str | None], unit: str, today: date) -> str | None:
    """Return the date that a coarse and an exact time mean together, by the groups of both; None if there is none."""
    step = {"last": -1, "next": 1}.get((words["which"] or "").lower(), 0)
    if unit == "year":
        year = today.year - parse_count(words["years_ago"]) if words["years_ago"] else today.year + step
        if season := words.get("season"):
            return f"in the {season.lower()} of {year}"
        month_day = words["month_day"] or ""
        return f"{'on' if month_day else 'in'} {month_day}{(words['month'] or '').capitalize()} {year}"
    if number := words.get("number"):
        return format_day(month_from(today, step).replace(day=int(number)))
    weekday = weekday_number(words["full"] or words["bare"] or "")
    if words["day"]:
        day = today + timedelta(_DAY_OFFSETS.get(words["day"].lower(), 0))
        is_contradiction = day.weekday() != weekday
    else:
        step = parse_count(words["weeks"]) if words["weeks"] else step
        step = -parse_count(words["weeks_ago"]) if words["weeks_ago"] else step
        day = weekday_in_week(today, weekday, step)
        is_contradiction = unit == "weekend" and weekday < _FRIDAY
    return None if is_contradiction else format_day(day, (words["part"] or words["bare_part"] or "").strip())


def format_day(day: date, part: str = "") -> str:
    """Return a date with its preposition: “on 8 May 2023”, “on the evening of 8 May 2023”."""
    return f"on {f'the {part} of ' if part else ''}{day.day} {MONTHS[day.month - 1]} {day.year}"


def format_month(day: date) -> str:
    """Return the month of a day with its preposition: “in May 2023”."""
    return f"in {MONTHS[day.month - 1]} {day.year}"
