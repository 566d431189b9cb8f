"""Time expressions in queries (“last May”, “two weeks ago”, “when we first met”): the days they mean and how well a day
fits.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from lethe_app.retrieval.query_terms import MONTHS

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season in the northern hemisphere."""
SEASON_DAYS = 91
COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
VAGUE_COUNTS = {"couple": 2, "few": 3, "several": 4}
NUMBERS = {"a": 1, "an": 1, **VAGUE_COUNTS, **{word: number for number, word in enumerate(COUNTS, 1)}}
DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
TALKED_ABOUT_DAYS = 14
"""Days after an event during which it is still likely to be talked about."""

LAST_DAY = date(9990, 1, 1)
"""Latest reference day. Queries asked later are read as if asked on it, so that no date arithmetic overflows."""

# The three-letter form of “may” is “may” itself, so it is listed only once.
MONTH = "|".join(f"{month}|{month[:3]}" for month in MONTHS if month != "may") + "|may"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{DAY}(?: of)? (?P<month>{MONTH})\b\.?(?:,? {YEAR})?",
        rf"\b(?P<month>{MONTH})\b\.? {DAY}\b(?:,? {YEAR})?",
        rf"\b(?P<month>{MONTH})\b\.?,? (?:of )?{YEAR}",
        rf"\b(?:in|during|since|of|last|this|early|late|mid)[ -](?P<month>{MONTH})\b",
        rf"\b{YEAR}\b",
    )
)
SEASON = re.compile(rf"\b(?P<season>{'|'.join(SEASONS)})(?: of|,)? {YEAR}\b", re.IGNORECASE)
AGO = re.compile(
    r"\b(?P<count>\d{1,3}|" + "|".join(NUMBERS) + r")(?: of)? (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE
)
LAST = re.compile(
    r"\b(?:last|past) (?P<what>night|week(?:end)?|month|year|" + "|".join((*SEASONS, *WEEKDAYS)) + r")\b", re.IGNORECASE
)
NEAR = re.compile(r"\b(?P<what>the day before yesterday|yesterday|today|this (?:morning|week|month|year))\b", re.IGNORECASE)
TALK = "met|talked|spoke|conversation|chat|time we"
FIRST_MET = re.compile(rf"\b(?:first (?:{TALK})|(?:met|talked|spoke) for the first time)\b", re.IGNORECASE)
LAST_MET = re.compile(rf"\b(?:last (?:{TALK})|recently|lately|the other day)\b", re.IGNORECASE)


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
    spans: list[DaySpan] = []
    today = min(today, LAST_DAY)
    for match in SEASON.finditer(text):
        first = date(int(match["year"]), SEASONS[match["season"].lower()], 1)
        spans.append(DaySpan(first, first + timedelta(days=SEASON_DAYS), match[0]))
    remaining = SEASON.sub(" ", text)
    for pattern in DATES:
        # Each match is removed from the text, so that the looser patterns below do not find its month or year again.
        spans.extend(filter(None, map(_explicit_span, pattern.finditer(remaining))))
        remaining = pattern.sub(" ", remaining)
    spans += _relative_spans(remaining, today)
    return TimeReference(tuple(spans), bool(FIRST_MET.search(text)), bool(LAST_MET.search(text)))


def _explicit_span(match: re.Match[str]) -> DaySpan | None:
    """Return the days of an explicit date, which may lack the day, month or year; None for an impossible date."""
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else 0
    if not parts.get("month"):
        return DaySpan(date(year, 1, 1), date(year, 12, 31), match[0])
    month = next(number for number, name in enumerate(MONTHS, 1) if name.startswith(parts["month"].lower()))
    used_year = year or 2000  # a leap year, so that 29 February exists
    try:
        first = date(used_year, month, int(parts.get("day") or 1))
    except ValueError:
        return None
    last = first if parts.get("day") else _end_of_month(first)
    return DaySpan(first, last, match[0], any_year=not year)


def _relative_spans(text: str, today: date) -> Iterator[DaySpan]:
    """Yield spans that depend on the day of the query."""
    for match in AGO.finditer(text):
        count = match["count"].lower()
        unit = DAYS[match["unit"].lower()]
        days = (NUMBERS.get(count) or int(count)) * unit
        slack = (days if count in VAGUE_COUNTS else unit) // 2
        yield DaySpan(_days_before(today, days + slack), _days_before(today, max(0, days - slack)), match[0])
    for match in (*LAST.finditer(text), *NEAR.finditer(text)):
        yield DaySpan(*_resolve_days(match["what"].lower(), today), match[0])


def _resolve_days(expression: str, today: date) -> tuple[date, date]:
    monday = _days_before(today, today.weekday())
    this_month = today.replace(day=1)
    if expression in SEASONS:
        first = date(today.year, SEASONS[expression], 1)
        # In the first month of a season, “last” means the one of the year before.
        first = first if first + timedelta(days=31) <= today else first.replace(year=max(1, today.year - 1))
        return first, first + timedelta(days=SEASON_DAYS)
    if expression in WEEKDAYS:
        day = _days_before(today, (today.weekday() - WEEKDAYS.index(expression) - 1) % 7 + 1)
        return day, day
    return {
        "today": (today, today),
        "this morning": (today, today),
        "yesterday": (_days_before(today, 1), _days_before(today, 1)),
        "night": (_days_before(today, 1), _days_before(today, 1)),
        "the day before yesterday": (_days_before(today, 2), _days_before(today, 2)),
        "weekend": (_days_before(monday, 2), _days_before(monday, 1)),
        "week": (_days_before(monday, 7), _days_before(monday, 1)),
        "this week": (monday, today),
        "month": (_days_before(this_month, 1).replace(day=1), _days_before(this_month, 1)),
        "this month": (this_month, today),
        "year": (date(max(1, today.year - 1), 1, 1), date(max(1, today.year - 1), 12, 31)),
        "this year": (date(today.year, 1, 1), today),
    }[expression]


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


def _end_of_month(first: date) -> date:
    return first.replace(day=monthrange(first.year, first.month)[1])
