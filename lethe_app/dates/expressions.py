"""Find the times that a text names, such as “on May 2nd”, “last Monday” or “two weeks ago”, and the days they may mean.

Days without a year and weekdays resolve to the latest ones. Ambiguous expressions yield several ranges, the most likely first:
“05/02”, or “last Monday” written on a Wednesday. The expressions are the table `dates.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache

from lethe_app.dates.ranges import (
    YEARS_BACK,
    Range,
    end_of_month,
    last_weekday,
    monday,
    month_from,
    named_range,
    ranges_by_year,
    season_of,
    weekday_in_week,
    year_range,
)
from lethe_app.dates.words import UNIT_DAYS, VAGUE_NUMBERS, day_number, month_number, parse_count, weekday_number
from lethe_app.language_tables import alternatives, compose, load_table

TOLERANCE_DAYS = {"week": 4, "month": 15, "year": 120}
"""Tolerance in days before and after the exact day of “two weeks ago”, by unit."""
_RANGE_WORDS = frozenset({"to", "and", "until", "till", "through", "-"})
_Reader = Callable[[re.Match[str], date], Sequence[Range]]


@dataclass(frozen=True)
class TimeExpression:
    """Words that name a time, with the day ranges that they may mean, both ends included."""

    words: str
    """Text of the expression as written."""
    ranges: tuple[Range, ...]
    """Alternative readings, the most likely first."""
    is_night: bool = False
    """True if a night is meant, which ends on the morning after the day."""
    is_calendar_date: bool = False
    """True if a month, year or holiday is named, so that the meaning hardly depends on the day on which it is read."""

    @property
    def is_exact(self) -> bool:
        """Return whether every reading is a single day."""
        return all(first == last for first, last in self.ranges)


def find_times(text: str, today: date) -> list[TimeExpression]:
    """Return the times that a text with straight apostrophes names, in its order, relative to `today`. Explicit dates may lie
    in the future; one without a year is of the next year or of one of the last `YEARS_BACK`.
    """
    return _merge_spans(text, _find(text, today))


def find_past_times(text: str, today: date) -> list[TimeExpression]:
    """Return the past times in a text with straight apostrophes, relative to `today`: single days if there are any, otherwise
    all ranges.
    """
    found = [
        (start, end, replace(time, ranges=past))
        for start, end, time in _find(text, today)
        if (past := tuple(one for one in time.ranges if one[0] <= today))
    ]
    times = _merge_spans(text, found)
    return [time for time in times if time.is_exact] or times


def remove_times(text: str) -> str:
    """Return the text with every expression removed that could be a time."""
    for pattern, _read in _rules():
        text = pattern.sub(" ", text)
    return text


def _find(text: str, today: date) -> list[tuple[int, int, TimeExpression]]:
    """Return start, end and meaning of each expression, by their place. What one rule has found is masked for later ones."""
    found: list[tuple[int, int, TimeExpression]] = []
    for pattern, read in _rules():
        for match in pattern.finditer(text):
            try:
                ranges = tuple(dict.fromkeys(read(match, today)))
            except (ValueError, OverflowError):  # 31 February, or outside the calendar
                continue
            words = match[0].strip()
            is_night = words.lower().endswith("night") or "night before" in words.lower()
            if ranges:
                time = TimeExpression(words, ranges, is_night, read not in _RELATIVE_READERS)
                found.append((match.start(), match.end(), time))
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    return sorted(found, key=lambda one: one[:2])


def _merge_spans(text: str, found: Sequence[tuple[int, int, TimeExpression]]) -> list[TimeExpression]:
    """Merge “from the 2nd to the 5th” and “between Monday and Wednesday” into one range each."""
    times: list[TimeExpression] = []
    last_end = -1
    for start, end, time in found:
        between = text[last_end:start].strip() if last_end >= 0 else ""
        range_start = re.search(r"\b(?:from|between)\b[^.?!]*$", text[:last_end]) if last_end >= 0 else None
        if times and range_start and between in _RANGE_WORDS and times[-1].is_exact:
            first, last = times[-1].ranges[0][0], time.ranges[0][1]
            if first <= last:
                times[-1] = TimeExpression(f"{times[-1].words} {between} {time.words}", ((first, last),))
                last_end = end
                continue
        if times and between in {"", ",", "the", ", the"} and times[-1].is_exact and time.is_exact:
            times.pop()  # “Monday the 9th”
        times.append(time)
        last_end = end
    return times


@cache
def _rules() -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """Return patterns and readers, the more exact ones first."""
    table = load_table("dates")
    lists = {f"{{{key}}}": alternatives(table[key]) for key in ("named", "holidays")}
    rules = []
    for row in table["expressions"]:
        pattern = compose(row["find"])
        for name, names in lists.items():
            pattern = pattern.replace(name, names)
        rules.append((re.compile(pattern, re.IGNORECASE), _READERS[row["reader"]]))
    return tuple(rules)


# Readers: each maps a match and today to the day ranges that the expression may mean.


def _read_iso(match: re.Match[str], _today: date) -> list[Range]:
    day = date(int(match["year"]), int(match["number"]), int(match["day"]))
    return [(day, day)]


def _read_slashed(match: re.Match[str], today: date) -> list[Range]:
    """Return the ranges of a numeric date: with slashes month first and then day first, where valid; with dots day first
    only.
    """
    first, second = int(match["first"]), int(match["second"])
    found: list[Range] = []
    for month, day in [(second, first)] if "." in match[0] else [(first, second), (second, first)]:
        if 1 <= month <= 12 and 1 <= day <= 31:
            found += ranges_by_year(today, _year_of(match), (month, day), (month, day))
    return found


def _year_of(match: re.Match[str]) -> int | None:
    digits = match["year"]
    return None if not digits else int(digits) + (2000 if len(digits) == 2 else 0)


def _read_day_of_month(match: re.Match[str], today: date) -> list[Range]:
    month, day = month_number(match["month"]), day_number(match["day"])
    return ranges_by_year(today, _year_of(match), (month, day), (month, day))


def _read_week_of_day(match: re.Match[str], today: date) -> list[Range]:
    return [(monday(day), monday(day) + timedelta(days=6)) for day, _last in _read_day_of_month(match, today)]


def _read_day_alone(match: re.Match[str], today: date) -> list[Range]:
    """Return the range of “on the 2nd”: in the current month, or in the previous one if that day has not passed yet."""
    day, which = day_number(match["day"]), (match["which"] or "").lower()
    month = today.replace(day=1)
    if which == "last" or (not which and day >= today.day):
        month = month_from(month, -1)
    if day > end_of_month(month).day and not which:
        month = month_from(month, -1)
    found = month.replace(day=day)
    return [(found, found)]


def _read_month(match: re.Match[str], today: date) -> list[Range]:
    first, last = load_table("dates")["parts_of_month"].get((match["part"] or "").lower(), (1, 31))
    month = month_number(match["month"])
    return ranges_by_year(today, _year_of(match), (month, first), (month, last))


def _read_week_of_month(match: re.Match[str], today: date) -> list[Range]:
    first, last = load_table("dates")["weeks_of_month"][match["which"].lower()]
    month = month_number(match["month"])
    return ranges_by_year(today, _year_of(match), (month, first), (month, last))


def _read_season(match: re.Match[str], today: date) -> list[Range]:
    named_year, season = _year_of(match), match["season"].lower()
    years = [named_year] if named_year else range(today.year, today.year - YEARS_BACK, -1)
    found = [season_of(year, season) for year in years if year > 1]
    if (match["which"] or "").lower() == "last" and not named_year:
        # In the first month of a season, “last” means the one of the year before.
        return [one for one in found if one[0] + timedelta(days=31) <= today][:1]
    return found


def _read_holiday(match: re.Match[str], today: date) -> list[Range]:
    first_month, first_day, last_month, last_day = load_table("dates")["holidays"][match["holiday"].lower()]
    return ranges_by_year(today, _year_of(match), (first_month, first_day), (last_month, last_day))


def _read_year(match: re.Match[str], _today: date) -> list[Range]:
    return [year_range(int(match["year"]))]


def _read_ago(match: re.Match[str], today: date) -> list[Range]:
    word, unit = match["count"].lower(), match["unit"].lower()
    days = parse_count(word) * UNIT_DAYS[unit]
    middle = today - timedelta(days=days)
    if match["weekday"]:
        middle = weekday_in_week(middle, weekday_number(match["weekday"]))
    if match["weekday"] or match["today"]:
        return [(middle, middle)]
    tolerance = max(TOLERANCE_DAYS.get(unit, 0), days // 2 if word in VAGUE_NUMBERS else 0)
    return [(middle - timedelta(days=tolerance), min(middle + timedelta(days=tolerance), today))]


def _read_past_count(match: re.Match[str], today: date) -> list[Range]:
    """Return the range of “the last three days”, which ends today."""
    days = parse_count(match["count"] or "few") * UNIT_DAYS[match["unit"].lower()]
    return [(today - timedelta(days=days), today)]


def _read_weekday(match: re.Match[str], today: date) -> list[Range]:
    day = weekday_number(match["weekday"])
    latest = last_weekday(today, day)
    week_earlier, which = latest - timedelta(days=7), (match["which"] or "").lower()
    if "last" in (match["week"] or match["lead"] or "").lower():
        latest = weekday_in_week(today, day, -1)
        return [(latest, latest)]
    if match["back"]:
        return [(week_earlier, week_earlier)]
    is_ambiguous = which in {"last", "past"} and latest >= monday(today)
    return [(latest, latest), (week_earlier, week_earlier)] if is_ambiguous else [(latest, latest)]


def _read_named(match: re.Match[str], today: date) -> list[Range]:
    names = load_table("dates")["named"]
    name = match["what"].lower()
    return [named_range(today, *(names.get(name) or names[name.removeprefix("the ")]))]


_READERS: dict[str, _Reader] = {
    "iso": _read_iso,
    "slashed": _read_slashed,
    "week_of_day": _read_week_of_day,
    "week_of_month": _read_week_of_month,
    "day_of_month": _read_day_of_month,
    "month": _read_month,
    "holiday": _read_holiday,
    "season": _read_season,
    "year": _read_year,
    "ago": _read_ago,
    "past_count": _read_past_count,
    "weekday": _read_weekday,
    "day_alone": _read_day_alone,
    "named": _read_named,
}
_RELATIVE_READERS = frozenset((_read_ago, _read_past_count, _read_weekday, _read_day_alone, _read_named))
