"""Parse the past time named in a question, such as “on May 2nd”, “last Monday” or “two weeks ago”, into day ranges.

Days without a year and weekdays resolve to the latest ones before today. Ambiguous expressions yield several ranges, the
most likely first: “05/02”, or “last Monday” written on a Wednesday.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from lethe_app.dates.ranges import (
    NAMED_RANGES,
    YEARS_BACK,
    Range,
    days_back,
    end_of_month,
    last_weekday,
    last_weekend,
    monday,
    month_from,
    ranges_by_year,
    season_of,
    this_month,
    this_year,
    week_before,
    weekday_in_week,
    weekend,
    weeks_back,
    year_range,
)
from lethe_app.dates.words import (
    ANY_MONTH,
    ORDINAL,
    SEASON,
    SHORT_WEEKDAY,
    UNIT_DAYS,
    WEEKDAY,
    YEAR,
    count_pattern,
    day_number,
    month_number,
    parse_count,
    weekday_number,
)

RECENT_DAYS = 14
"""Days covered by “lately”, “recently” and “these days”."""
TOLERANCE_DAYS = {"day": 0, "night": 0, "week": 4, "month": 15, "year": 120}
"""Tolerance in days before and after the exact day of “two weeks ago”, by unit."""


@dataclass(frozen=True)
class PastTime:
    """Past time expression with the day ranges that it may mean, both ends included."""

    words: str
    """Text of the expression as written."""
    ranges: tuple[Range, ...]
    """Alternative readings, the most likely first."""
    is_night: bool = False
    """True if a night is meant, which ends on the morning after the day."""

    @property
    def is_exact(self) -> bool:
        """Return whether every reading is a single day."""
        return all(first == last for first, last in self.ranges)


_MONTH = rf"(?P<month>{ANY_MONTH})\b\.?"
_WEEKDAY = rf"(?P<weekday>{WEEKDAY}|(?:(?<=on )|(?<=last )|(?<=this ))(?:{SHORT_WEEKDAY}))\b"
_PART = r"(?:(?:'s)? ?(?:early |late )?(?:morning|noon|afternoon|evening|night)\b)?"
_COUNT = f"(?P<count>{count_pattern(3)})"
_DAY = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{ORDINAL})\b"
_YEAR = rf"(?:,? (?:of )?(?P<year>{YEAR})\b)?"
HOLIDAYS = {
    "christmas eve": (12, 24, 12, 24),
    "boxing day": (12, 26, 12, 26),
    "christmas": (12, 24, 12, 26),
    "new year's eve": (12, 31, 12, 31),
    "new years eve": (12, 31, 12, 31),
    "new year's": (12, 31, 1, 1),
    "new years": (12, 31, 1, 1),
    "halloween": (10, 31, 10, 31),
    "valentine's day": (2, 14, 2, 14),
    "valentine's": (2, 14, 2, 14),
    "valentines day": (2, 14, 2, 14),
}


def find_past_times(text: str, today: date) -> list[PastTime]:
    """Return the past times in a lower-case text with straight apostrophes, relative to `today`: single days if there are
    any, otherwise all ranges.
    """
    found: list[tuple[int, int, PastTime]] = []
    rest = text
    for pattern, read in _RULES:
        for match in pattern.finditer(rest):
            ranges = tuple(one for one in _try_read(read, match, today) if one[0] <= today)
            if ranges:
                is_night = match[0].endswith("night") or "night before" in match[0]
                found.append((match.start(), match.end(), PastTime(match[0].strip(), ranges, is_night)))
        rest = pattern.sub(lambda match: "\0" * len(match[0]), rest)
    times = _merge_spans(text, sorted(found, key=lambda one: one[:2]))
    exact = [time for time in times if time.is_exact]
    return exact or times


def remove_past_times(text: str) -> str:
    """Return the text with every expression removed that could be a past time."""
    for pattern, _read in _RULES:
        text = pattern.sub(" ", text)
    return text


def _try_read(read: Callable[[re.Match[str], date], Sequence[Range]], match: re.Match[str], today: date) -> Sequence[Range]:
    """Return the ranges of a match, or none if the date does not exist (31 February) or lies outside the calendar."""
    try:
        return read(match, today)
    except (ValueError, OverflowError):
        return ()


def _merge_spans(text: str, found: Sequence[tuple[int, int, PastTime]]) -> list[PastTime]:
    """Merge “from the 2nd to the 5th” and “between Monday and Wednesday” into one range each."""
    times: list[PastTime] = []
    last_end = -1
    for start, end, time in found:
        between = text[last_end:start].strip() if last_end >= 0 else ""
        range_start = re.search(r"\b(?:from|between)\b[^.?!]*$", text[:last_end]) if last_end >= 0 else None
        if times and range_start and between in {"to", "and", "until", "till", "through", "-"} and times[-1].is_exact:
            first, last = times[-1].ranges[0][0], time.ranges[0][1]
            if first <= last:
                times[-1] = PastTime(f"{times[-1].words} {between} {time.words}", ((first, last),))
                last_end = end
                continue
        if times and between in {"", ",", "the", ", the"} and times[-1].is_exact and time.is_exact:
            times.pop()  # “Monday the 9th”
        times.append(time)
        last_end = end
    return times


# Readers: each maps a match and today to the day ranges that the expression may mean.


def _iso(match: re.Match[str], _today: date) -> list[Range]:
    day = date(int(match["year"]), int(match["number"]), int(match["day"]))
    return [(day, day)]


def _slashed(match: re.Match[str], today: date) -> list[Range]:
    """Return the ranges of a numeric date: with slashes month first and then day first, where valid; with dots day first
    only.
    """
    first, second = int(match["first"]), int(match["second"])
    orders = [(second, first)] if "." in match[0] else [(first, second), (second, first)]
    found: list[Range] = []
    for month, day in orders:
        if 1 <= month <= 12 and 1 <= day <= 31:
            found += ranges_by_year(today, _full_year(match["year"]), (month, day), (month, day))
    return list(dict.fromkeys(found))


def _full_year(digits: str | None) -> int | None:
    return None if not digits else int(digits) + (2000 if len(digits) == 2 else 0)


def _day_of_month(match: re.Match[str], today: date) -> list[Range]:
    month, day = month_number(match["month"]), day_number(match["day"])
    return ranges_by_year(today, _full_year(match["year"]), (month, day), (month, day))


def _week_of_day(match: re.Match[str], today: date) -> list[Range]:
    return [(monday(day), monday(day) + timedelta(days=6)) for day, _last in _day_of_month(match, today)]


def _day_alone(match: re.Match[str], today: date) -> list[Range]:
    """Return the range of “on the 2nd”: in the current month, or in the previous one if that day has not passed yet."""
    day, which = day_number(match["day"]), match["which"] or ""
    month = today.replace(day=1)
    if which == "last" or (not which and day >= today.day):
        month = month_from(month, -1)
    if day > end_of_month(month).day and not which:
        month = month_from(month, -1)
    found = month.replace(day=day)
    return [(found, found)]


def _in_month(match: re.Match[str], today: date) -> list[Range]:
    month, part = month_number(match["month"]), match["part"] or ""
    first, last = {"early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (10, 21), "middle": (10, 21),
                   "late": (20, 31), "end": (20, 31)}.get(part, (1, 31))  # fmt: skip
    return ranges_by_year(today, _full_year(match["year"]), (month, first), (month, last))


def _week_of_month(match: re.Match[str], today: date) -> list[Range]:
    month, which = month_number(match["month"]), match["which"]
    first, last = {"first": (1, 7), "second": (8, 14), "third": (15, 21), "last": (24, 31)}[which]
    return ranges_by_year(today, _full_year(match["year"]), (month, first), (month, last))


def _season(match: re.Match[str], today: date) -> list[Range]:
    named_year = _full_year(match["year"])
    years = [named_year] if named_year else range(today.year, today.year - YEARS_BACK, -1)
    return [season_of(year, match["season"]) for year in years if year > 1]


def _holiday(match: re.Match[str], today: date) -> list[Range]:
    first_month, first_day, last_month, last_day = HOLIDAYS[match["holiday"]]
    return ranges_by_year(today, _full_year(match["year"]), (first_month, first_day), (last_month, last_day))


def _year(match: re.Match[str], _today: date) -> list[Range]:
    return [year_range(int(match["year"]))]


def _ago(match: re.Match[str], today: date) -> list[Range]:
    word, unit = match["count"], match["unit"]
    count = parse_count(word)
    tolerance = max(TOLERANCE_DAYS[unit], count // 2 if word in {"few", "several"} else 1 if word == "couple" else 0)
    weekday = match["weekday"]
    if weekday:  # “two weeks ago on Monday”, “a week ago Monday”
        day = weekday_in_week(today - timedelta(days=count * UNIT_DAYS[unit]), weekday_number(weekday))
        return [(day, day)]
    middle = today - timedelta(days=count * UNIT_DAYS[unit])
    if match["today"]:
        return [(middle, middle)]
    return [(middle - timedelta(days=tolerance), min(middle + timedelta(days=tolerance), today))]


def _past_count(match: re.Match[str], today: date) -> list[Range]:
    """Return the range of “the last three days”, which ends today."""
    word = match["count"] or "few"
    days = parse_count(word) * UNIT_DAYS[match["unit"]]
    return [(today - timedelta(days=days), today)]


def _named_weekday(match: re.Match[str], today: date) -> list[Range]:
    day = weekday_number(match["weekday"])
    latest = last_weekday(today, day)
    week_earlier, which = latest - timedelta(days=7), match["which"] or ""
    week = match["week"] or match["lead"] or ""
    if "last" in week:  # “Monday last week”
        latest = weekday_in_week(today, day, -1)
        return [(latest, latest)]
    if match["back"]:  # “the Monday before last”
        return [(week_earlier, week_earlier)]
    is_this_week = latest >= monday(today)
    return (
        [(latest, latest), (week_earlier, week_earlier)] if which in {"last", "past"} and is_this_week else [(latest, latest)]
    )


def _relative(match: re.Match[str], today: date) -> list[Range]:
    return [_RELATIVE[re.sub(r"^the (?=other|past|last)|'s$", "", match["what"])](today)]


_RELATIVE: dict[str, Callable[[date], Range]] = NAMED_RANGES | {
    "the night before last": days_back(2), "day before yesterday": days_back(2), "yday": days_back(1), "yest": days_back(1),
    "earlier today": days_back(0), "this afternoon": days_back(0), "this evening": days_back(0), "earlier": days_back(0),
    "tonight": days_back(0), "other day": days_back(10, 1), "other night": days_back(10, 1), "other evening": days_back(10, 1),
    "lately": days_back(RECENT_DAYS, 0), "recently": days_back(RECENT_DAYS, 0), "these days": days_back(RECENT_DAYS, 0),
    "earlier this week": weeks_back(0), "earlier this month": this_month, "earlier this year": this_year,
    "past week": days_back(7, 0), "past month": days_back(30, 0), "past year": days_back(365, 0),
    "the week before last": weeks_back(2), "the weekend before last": lambda today: week_before(last_weekend(today)),
    "this weekend": weekend(0), "the weekend": weekend(0), "this past weekend": weekend(0),
}  # fmt: skip


def _rules() -> Iterator[tuple[str, Callable[[re.Match[str], date], Sequence[Range]]]]:
    """Yield patterns and readers, the more exact ones first: text consumed by a rule is masked for all later rules."""
    yield rf"\b(?P<year>{YEAR})-(?P<number>\d{{1,2}})-(?P<day>\d{{1,2}})\b", _iso
    yield r"(?<![\d/.])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?:/(?P<year>(?:20)?\d\d))?(?![\d/])", _slashed
    yield r"(?<![\d/.])(?P<first>\d{1,2})\.(?P<second>\d{1,2})\.(?P<year>(?:20)?\d\d)?(?!\d)", _slashed
    yield rf"\b(?:the )?week of (?:the )?{_MONTH} (?:the )?{_DAY}{_YEAR}", _week_of_day
    yield rf"\bthe (?P<which>first|second|third|last) week (?:of|in) {_MONTH}{_YEAR}", _week_of_month
    yield rf"\b(?:the )?{_DAY}(?: day)?(?: of)? {_MONTH}{_YEAR}{_PART}", _day_of_month
    yield rf"\b{_MONTH},? (?:the )?{_DAY}{_YEAR}{_PART}", _day_of_month
    yield rf"\b(?P<part>early|late|mid)[ -](?:in )?{_MONTH}{_YEAR}", _in_month
    yield rf"\bthe (?P<part>beginning|start|middle|end) of {_MONTH}{_YEAR}", _in_month
    yield (
        rf"\b(?:back in|in|during|over|throughout|all of|all|of|for|from|last|since|through)(?P<part>\b) {_MONTH}{_YEAR}",
        _in_month,
    )
    yield rf"\b(?P<part>\b){_MONTH},? (?P<year>{YEAR})\b", _in_month
    yield rf"\b(?:on |over |at |around |this past |last )?(?P<holiday>{'|'.join(HOLIDAYS)})\b(?: day)?{_YEAR}", _holiday
    yield rf"\b(?:last|this|in(?: the)?|over the|during the|the) (?P<season>{SEASON})\b{_YEAR}", _season
    yield rf"\b(?:in|during|back in) (?P<year>{YEAR})\b", _year
    ago = rf"\b(?:about |around |like |some |over )?{_COUNT}(?: of)? (?P<unit>day|night|week|month|year)s? (?:ago|back)\b"
    yield rf"{ago}(?:(?: on)? {_WEEKDAY}|(?P<today> today))?", _ago
    yield rf"\b(?:the )?(?:last|past)(?: {_COUNT}(?: of)?)? (?P<unit>day|week|month|year)s\b", _past_count
    weekday = rf"(?:on )?(?:the |this )?(?:(?P<which>last|past|previous) )?{_WEEKDAY}{_PART}"
    week = r"(?: (?P<week>(?:of )?last week))?(?P<back> before last| before that)?"
    yield rf"\b(?:(?P<lead>last week)(?:'s)? )?{weekday}{week}", _named_weekday
    alone = r"\bthe (?P<day>\d{1,2}(?:st|nd|rd|th))\b(?! (?:time|one|day|week|chat|conversation|of (?!last|this)))"
    yield rf"{alone}(?: of (?P<which>last|this) month)?", _day_alone
    names = "|".join(sorted(_RELATIVE, key=len, reverse=True)).replace("other day", "(?:the )?other day")
    yield rf"\b(?P<what>{names})(?:'s)?\b{_PART}", _relative


_RULES = tuple((re.compile(pattern, re.IGNORECASE), read) for pattern, read in _rules())
