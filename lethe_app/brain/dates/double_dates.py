"""Merge two time expressions of one sentence, such as “next week … on Wednesday”, into one date, so that a fact never gets
two dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from lethe_app.dates.ranges import month_from, weekday_in_week
from lethe_app.dates.words import (
    ANY_WEEKDAY,
    EXACT_NUMBERS,
    MONTH,
    MONTHS,
    ORDINAL,
    ORDINALS,
    SEASON,
    WEEKDAY,
    WEEKDAYS,
    count_pattern,
    parse_count,
    weekday_number,
)

RELATIVE_DAY_OFFSETS = {
    "the day before yesterday": -2,
    "the day after tomorrow": 2,
    "yesterday": -1,
    "tomorrow": 1,
    "today": 0,
    "tonight": 0,
}
PairReader = Callable[[re.Match[str], re.Match[str], date], str | None]

SENTENCE_COUNT = count_pattern(2, EXACT_NUMBERS | {"a couple of": 2})
"""Exact count of a stored sentence; “a few weeks ago” is kept, because it names no day."""
_COUNT = f"(?P<count>{SENTENCE_COUNT})"
_WHICH = r"\b(?:in |on |at |of )?(?:the )?(?P<which>next|last|this)"
_PART = r"(?P<part> morning| afternoon| evening| night)?"
_DAY = re.compile(
    r"(?<!next )(?<!last )(?<!this )(?<!every )(?<!a )(?<!the )"
    r"(?<!second )(?<!third )(?<!first )(?<!other )(?<!each )(?<!any )\b(?:"
    rf"(?:on|that's|that is|which is) (?P<full>{ANY_WEEKDAY})\b(?!s|'s){_PART}|"
    rf"(?P<bare>{WEEKDAY})\b(?!'s){_PART.replace('part', 'of')}(?=$|,| (?:next|last|this|of|in) ))",
    re.IGNORECASE,
)
_DAY_OF_MONTH = re.compile(r"\b(?:on )?the (?P<number>\d{1,2})(?:st|nd|rd|th)\b(?! of (?!next|last|this))", re.IGNORECASE)
_NAMED_MONTH = re.compile(rf"\b(?:in |on (?=\d))(?P<day>\d{{1,2}} )?(?P<month>{MONTH})\b(?!,? \d)", re.IGNORECASE)
_NAMED_SEASON = re.compile(rf"\bin (?:the )?(?P<season>{SEASON})\b(?! of| \d)", re.IGNORECASE)
_WEEK = re.compile(rf"{_WHICH} week\b", re.IGNORECASE)
_WEEKEND = re.compile(rf"{_WHICH} weekend\b", re.IGNORECASE)
_WEEKS = re.compile(rf"\b(?:in {_COUNT} weeks?(?:' time| time)?|{_COUNT.replace('count', 'back')} weeks? ago)\b", re.IGNORECASE)
_RELATIVE_DAY = re.compile("|".join(rf"\b{word}\b" for word in RELATIVE_DAY_OFFSETS), re.IGNORECASE)
_RELATIVE_MONTH = re.compile(rf"{_WHICH} month\b", re.IGNORECASE)
_YEAR = re.compile(rf"{_WHICH} year\b", re.IGNORECASE)
_YEARS_AGO = re.compile(rf"\b(?:about |around )?{_COUNT} years? ago\b", re.IGNORECASE)
_NAMED_DATE = re.compile(
    rf"\bon (?:{WEEKDAY}),? (?=the \d{{1,2}}(?:st|nd|rd|th)\b)|"
    rf"\b(?:{WEEKDAY}),? (?:the )?(?=\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{MONTH}))",
    re.IGNORECASE,
)
_OF_MONTH = re.compile(rf"\bthe (?P<number>\d{{1,2}})(?:st|nd|rd|th) of (?P<month>{MONTH})\b", re.IGNORECASE)
_SPELLED = re.compile(
    rf"\bthe (?P<first>{ORDINAL})(?= of (?:{MONTH}|next month|this month)\b)|"
    rf"(?P<lead>\b(?:{MONTH}) (?:the )?|\bon the )(?P<other>{ORDINAL})(?=$|,| (?:next|this) month)",
    re.IGNORECASE,
)


def reconcile_times(sentence: str, today: date) -> str | None:
    """Merge pairs of a coarse and an exact time expression into one date; return None if they contradict each other.

    Days spelled out as words are written in digits, and a weekday in front of a date is dropped, whether or not there is
    such a pair.
    """
    text = _NAMED_DATE.sub(
        lambda found: "on " if found[0].startswith("on ") else "",
        _OF_MONTH.sub(r"\g<number> \g<month>", ordinals_to_digits(sentence)),
    )
    for coarse, fine, read in _PAIRS:
        wide, exact = _single_match(coarse, text), _single_match(fine, text)
        if wide is None or exact is None or (wide.start() < exact.end() and exact.start() < wide.end()):
            continue
        replacement = read(wide, exact, today)
        if replacement is None:
            return None
        text = _merge_expressions(text, wide, exact, replacement)
    return text


def ordinals_to_digits(text: str) -> str:
    """Return the text with spelled-out days of the month in digits: “June the fourteenth” becomes “June the 14th”."""
    return _SPELLED.sub(_ordinal_to_digits, text)


def _ordinal_to_digits(match: re.Match[str]) -> str:
    number = ORDINALS.index((match["first"] or match["other"]).lower()) + 1
    ending = "th" if number in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{match['lead'] or 'the '}{number}{ending}"


def _single_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = list(pattern.finditer(text))
    return matches[0] if len(matches) == 1 else None


def _merge_expressions(text: str, wide: re.Match[str], exact: re.Match[str], replacement: str) -> str:
    """Return the text without the coarse expression `wide` and with `replacement` in place of the expression `exact`."""
    for found, inserted in sorted(((wide, ""), (exact, replacement)), key=lambda each: -each[0].start()):
        before, after = text[: found.start()].rstrip(" ,"), text[found.end() :]
        text = " ".join(filter(None, (before, inserted))) + after if before or inserted else after.lstrip(" ,")
    return text


def _relative_step(wide: re.Match[str]) -> int:
    return {"last": -1, "next": 1}.get(wide["which"].lower(), 0)


def _weekday_number(exact: re.Match[str]) -> int:
    """Return the weekday number (0 is Monday) of the matched weekday name."""
    return weekday_number(exact["full"] or exact["bare"])


def _format_day(day: date, exact: re.Match[str]) -> str:
    groups = exact.groupdict()
    part = (groups.get("part") or groups.get("of") or "").strip()
    return f"on {f'the {part} of ' if part else ''}{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _resolve_day_in_week(wide: re.Match[str], exact: re.Match[str], today: date) -> str:
    return _format_day(weekday_in_week(today, _weekday_number(exact), _relative_step(wide)), exact)


def _resolve_day_on_weekend(wide: re.Match[str], exact: re.Match[str], today: date) -> str | None:
    return _resolve_day_in_week(wide, exact, today) if _weekday_number(exact) >= WEEKDAYS.index("friday") else None


def _resolve_day_in_weeks(wide: re.Match[str], exact: re.Match[str], today: date) -> str:
    weeks = parse_count(wide["count"] or wide["back"]) * (1 if wide["count"] else -1)
    return _format_day(weekday_in_week(today, _weekday_number(exact), weeks), exact)


def _resolve_relative_day(wide: re.Match[str], exact: re.Match[str], today: date) -> str | None:
    day = today + timedelta(RELATIVE_DAY_OFFSETS[wide[0].lower()])
    return _format_day(day, exact) if day.weekday() == _weekday_number(exact) else None


def _resolve_day_of_month(wide: re.Match[str], exact: re.Match[str], today: date) -> str | None:
    return _format_day(month_from(today, _relative_step(wide)).replace(day=int(exact["number"])), exact)


def _resolve_month(wide: re.Match[str], exact: re.Match[str], today: date) -> str:
    return f"{'on' if exact['day'] else 'in'} {exact['day'] or ''}{exact['month'].capitalize()} {_resolve_year(wide, today)}"


def _resolve_season(wide: re.Match[str], exact: re.Match[str], today: date) -> str:
    return f"in the {exact['season'].lower()} of {_resolve_year(wide, today)}"


def _resolve_year(wide: re.Match[str], today: date) -> int:
    count = wide.groupdict().get("count")
    return today.year - parse_count(count) if count else today.year + _relative_step(wide)


_PAIRS: tuple[tuple[re.Pattern[str], re.Pattern[str], PairReader], ...] = (
    (_WEEK, _DAY, _resolve_day_in_week),
    (_WEEKEND, _DAY, _resolve_day_on_weekend),
    (_WEEKS, _DAY, _resolve_day_in_weeks),
    (_RELATIVE_DAY, _DAY, _resolve_relative_day),
    (_RELATIVE_MONTH, _DAY_OF_MONTH, _resolve_day_of_month),
    (_YEAR, _NAMED_MONTH, _resolve_month),
    (_YEAR, _NAMED_SEASON, _resolve_season),
    (_YEARS_AGO, _NAMED_MONTH, _resolve_month),
    (_YEARS_AGO, _NAMED_SEASON, _resolve_season),
)
