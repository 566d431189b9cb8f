"""Time expressions in queries (“last May”, “two weeks ago”, “when we first met”): the days they mean and how well a day
fits.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta

from lethe_app.dates.ranges import (
    LAST_DAY,
    NAMED_RANGES,
    Range,
    end_of_month,
    last_weekday,
    season_of,
    year_range,
)
from lethe_app.dates.words import (
    ANY_MONTH,
    DAY_AND_MONTH,
    SEASON,
    SEASONS,
    UNIT_DAYS,
    VAGUE_NUMBERS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    count_pattern,
    month_number,
    parse_count,
    weekday_number,
)

TALKED_ABOUT_DAYS = 14
"""Days after an event during which it is still likely to be talked about."""

_MONTH = f"(?P<month>{ANY_MONTH})"
_YEAR = f"(?P<year>{YEAR})"
_DATES = (
    *DAY_AND_MONTH,
    *(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"\b{_MONTH}\b\.?,? (?:of )?{_YEAR}",
            rf"\b(?:in|during|since|of|last|this|early|late|mid)[ -]{_MONTH}\b",
            rf"\b{_YEAR}\b",
        )
    ),
)
_SEASON_OF_YEAR = re.compile(rf"\b(?P<season>{SEASON})(?: of|,)? {_YEAR}\b", re.IGNORECASE)
_AGO = re.compile(rf"\b(?P<count>{count_pattern(3)})(?: of)? (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE)
_LAST = re.compile(rf"\b(?:last|past) (?P<what>night|week(?:end)?|month|year|{SEASON}|{WEEKDAY})\b", re.IGNORECASE)
_NEAR = re.compile(r"\b(?P<what>the day before yesterday|yesterday|today|this (?:morning|week|month|year))\b", re.IGNORECASE)
_TALK = "met|talked|spoke|conversation|chat|time we"
_FIRST_MET = re.compile(rf"\b(?:first (?:{_TALK})|(?:met|talked|spoke) for the first time)\b", re.IGNORECASE)
_LAST_MET = re.compile(rf"\b(?:last (?:{_TALK})|recently|lately|the other day)\b", re.IGNORECASE)


@dataclass(frozen=True)
class DaySpan:
    """Days from `first` to `last`, both included, and the words that mean them."""

    first: date
    last: date
    words: str
    any_year: bool = False
    """True for a month or day without a year: any year fits, and the years of `first` and `last` are meaningless."""


@dataclass(frozen=True)
class TimeReference:
    """Everything that a query says about time."""

    spans: tuple[DaySpan, ...] = ()
    is_beginning: bool = False
    """True if it asks for the first meetings."""
    is_recent: bool = False
    """True if it asks for the latest meetings."""

    def fit(self, day: date) -> tuple[float, str]:
        """Return how well a conversation on that day fits, from 0 to 1, and the words it fits."""
        fits = [(_span_fit(span, day), span.words) for span in self.spans]
        return max(fits, default=(0.0, ""))


def parse_time(text: str, today: date) -> TimeReference:
    """Parse the time expressions of a query that is asked `today`."""
    today = min(today, LAST_DAY)
    spans = [
        DaySpan(*season_of(int(match["year"]), match["season"].lower()), match[0]) for match in _SEASON_OF_YEAR.finditer(text)
    ]
    remaining = _SEASON_OF_YEAR.sub(" ", text)
    for pattern in _DATES:
        # Each match is removed from the text, so that the looser patterns below do not find its month or year again.
        spans.extend(filter(None, map(_explicit_span, pattern.finditer(remaining))))
        remaining = pattern.sub(" ", remaining)
    spans += _relative_spans(remaining, today)
    return TimeReference(tuple(spans), bool(_FIRST_MET.search(text)), bool(_LAST_MET.search(text)))


def _explicit_span(match: re.Match[str]) -> DaySpan | None:
    """Return the days of an explicit date, which may lack the day, month or year; None for an impossible date."""
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else 0
    if not parts.get("month"):
        return DaySpan(*year_range(year), match[0])
    month = month_number(parts["month"])
    used_year = year or 2000  # a leap year, so that 29 February exists
    try:
        first = date(used_year, month, int(parts.get("day") or 1))
    except ValueError:
        return None
    last = first if parts.get("day") else end_of_month(first)
    return DaySpan(first, last, match[0], any_year=not year)


def _relative_spans(text: str, today: date) -> list[DaySpan]:
    """Return spans that depend on the day of the query."""
    spans: list[DaySpan] = []
    for match in _AGO.finditer(text):
        unit = UNIT_DAYS[match["unit"].lower()]
        days = parse_count(match["count"]) * unit
        tolerance = (days if match["count"].lower() in VAGUE_NUMBERS else unit) // 2
        spans.append(DaySpan(_days_before(today, days + tolerance), _days_before(today, max(0, days - tolerance)), match[0]))
    for match in (*_LAST.finditer(text), *_NEAR.finditer(text)):
        with suppress(OverflowError, ValueError):  # the first days of the calendar
            spans.append(DaySpan(*_resolve_days(match, today), match[0]))
    return spans


def _resolve_days(match: re.Match[str], today: date) -> Range:
    """Return the days of a name such as “yesterday”, or of the last weekday, season, week, month or year of this name."""
    name = match["what"].lower()
    if name in WEEKDAYS:
        day = last_weekday(today, weekday_number(name))
        return day, day
    if name in SEASONS:
        # In the first month of a season, “last” means the one of the year before.
        has_begun = date(today.year, SEASONS[name], 1) + timedelta(days=31) <= today
        return season_of(today.year - (not has_begun), name)
    return NAMED_RANGES[name if match.re is _NEAR else f"last {name}"](today)


def _span_fit(span: DaySpan, day: date) -> float:
    """Return 1 inside the span and less after it, because events are talked about for a while afterwards."""
    if not span.any_year:
        return _fit_between(span.first, span.last, day)
    length = span.last - span.first
    firsts = [_in_year(span.first, year) for year in (day.year - 1, day.year) if year > 0]
    return max(_fit_between(first, first + length, day) for first in firsts)


def _fit_between(first: date, last: date, day: date) -> float:
    if day < first:
        return 0.0
    days_after = max(0, (day - last).days)
    return max(0.0, 1.0 - days_after / TALKED_ABOUT_DAYS) if days_after else 1.0


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:
        return date(year, 3, 1)


def _days_before(day: date, days: int) -> date:
    """Return the day `days` earlier, but not before the first day of the calendar."""
    return day - timedelta(days=min(days, day.toordinal() - 1))
