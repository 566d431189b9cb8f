"""Replace relative dates such as “yesterday” or “next Friday” with absolute ones, so that a stored sentence stays true
later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache, partial

from lethe_app.dates.double_dates import format_day, format_month, reconcile_times
from lethe_app.dates.ranges import last_weekday, month_from, next_weekday, weekday_in_week
from lethe_app.dates.words import MONTHS, SEASONS, parse_count, weekday_number
from lethe_app.language_tables import LazySet, compose, load_table, load_words, table_pattern

_pattern = partial(table_pattern, "resolve")
_Writer = Callable[[re.Match[str], date, bool], str]
"""Function from a match, today and whether its clause is in the past to the date that replaces it."""


ABSOLUTE_DATE = re.compile(
    r"(?:the (?:week|weekend|morning|afternoon|evening|night) of )?(?:\d{1,2} )?(?:[A-Z][a-z]+ )?\b\d{4}\b"
)
"""Date or time of day as `resolve_dates` writes it."""


def resolve_dates(sentence: str, today: date, *, event: bool = False) -> str:
    """Return the sentence with relative dates spelled out, such as “on 10 March 2025” or “in February 2025”.

    With `event`, a month or day without a year gets one: the next occurrence in a future clause, the last one in a past
    clause. Vague expressions such as “recently” are kept, and a sentence whose time expressions contradict each other is
    returned unchanged.
    """
    if not _pattern("any_time").search(sentence):
        return sentence
    try:
        reconciled = reconcile_times(sentence, today)
    except (OverflowError, ValueError):  # the ends of the calendar, “the 31st of next month”
        reconciled = None
    if reconciled is None:
        return sentence
    sentence = reconciled
    for pattern, write in _rules():
        sentence = pattern.sub(partial(_replace_safely, write, today), sentence)
    sentence = _pattern("doubled_preposition").sub(r"\g<before> ", sentence)
    return _add_years(sentence, today) if event else sentence


def is_past_tense(sentence: str) -> bool:
    """Return whether a sentence is in the past tense and mentions nothing that is still to come."""
    if _pattern("future").search(sentence):
        return False
    return bool(_past_verb().search(sentence) or _pattern("unmarked_past").search(sentence))


def format_date(day: date) -> str:
    """Return a date as text, such as “8 May 2023”."""
    return format_day(day).removeprefix("on ")


@cache
def _past_verb() -> re.Pattern[str]:
    """Return the pattern of a verb in the past: hurt, hit and cut are also present forms, and got, split and sold also
    participles, which the table accepts only without an auxiliary.
    """
    verbs = "|".join(sorted(load_words("past_forms") - {"hurt", "hit", "cut", "got", "split", "sold"}))
    return re.compile(compose(load_table("resolve")["past"]).replace("{past_verbs}", verbs), re.IGNORECASE)


_NO_PRESENT = LazySet(lambda: load_words("past_forms") | load_words("no_present_verbs"))
"""Words after a subject that do not show the present."""


def _is_past(match: re.Match[str]) -> bool:
    """Return whether the clause of a time expression is in the past tense; a clause without tense takes that of the whole
    sentence.
    """
    before = [end.end() for end in _pattern("clause_end").finditer(match.string, 0, match.start())]
    after = _pattern("clause_end").search(match.string, match.end())
    clause = match.string[before[-1] if before else 0 : after.start() if after else None]
    if _past_verb().search(clause) or _pattern("unmarked_past").search(clause) or _pattern("future").search(clause):
        return is_past_tense(clause)
    # “We bury him on Monday.” is to come, whatever the sentence before it tells.
    verbs = {one["verb"].lower() for one in _pattern("subject_verb").finditer(clause)}
    is_present = any(not verb.endswith("ed") for verb in verbs - _NO_PRESENT)
    return not is_present and is_past_tense(match.string)


def _replace_safely(write: _Writer, today: date, match: re.Match[str]) -> str:
    """Return the replacement for a match, or its original text if the date is invalid or lies outside the calendar."""
    try:
        return write(match, today, _is_past(match))
    except (OverflowError, ValueError):
        return match[0]


def _replace_day_words(match: re.Match[str], today: date, _past: bool) -> str:
    days, *parts = load_table("resolve")["day_words"][match["what"].lower()]
    return format_day(today + timedelta(days), (match["part"] or "").strip() or "".join(parts))


def _replace_weekday(match: re.Match[str], today: date, past: bool) -> str:
    if not match["which"] and _pattern("habitual").search(match.string):
        return match[0]
    number = weekday_number(match["day"])
    which = (match["which"] or "").lower()
    if which == "last" or (past and which != "next"):
        day = last_weekday(today, number)
    elif which == "next":  # Friday of the week to come
        day = weekday_in_week(today, number, 1)
    else:
        day = next_weekday(today, number)
    return format_day(day, (match["part"] or "").strip())


def _replace_weekday_bound(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “from Monday”, “until Friday” or “since Tuesday”."""
    day = _replace_weekday(match, today, past or match["keep"].lower() == "since")
    return f"{match['keep']} {day.removeprefix('on ')}"


def _replace_weekday_week(match: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “Friday week”, a week after the coming Friday."""
    return format_day(next_weekday(today, weekday_number(match["day"])) + timedelta(days=7))


def _replace_period(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for a period, without its preposition if one precedes it: “from this month” is “from November
    2026”.
    """
    text = _format_period(match, today, past)
    return text.split(" ", 1)[1] if _BEFORE_PERIOD.search(match.string, 0, match.start()) else text


def _format_period(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for a week, weekend, month, year or season; “this spring” is the next one unless the clause is
    past.
    """
    which, what = match["which"].lower(), match["what"].lower()
    step = {"last": -1, "next": 1}.get(which, 0)
    if what == "week":
        return f"in the week of {format_date(weekday_in_week(today, 0, step))}"
    if what == "weekend":
        return f"on the weekend of {format_date(weekday_in_week(today, 5, step))}"
    if what == "year":
        return f"in {today.year + step}"
    if what == "month":
        return format_month(month_from(today, step))
    if what in SEASONS:
        has_begun, is_over = today.month >= SEASONS[what], today.month > SEASONS[what] + 2
        is_next = step > 0 or (step == 0 and is_over and not past)
        return f"in the {what} of {today.year + (is_next and has_begun) - (step < 0 and not is_over)}"
    return f"in {what.capitalize()} {_year_of(MONTHS.index(what) + 1, today, step < 0 or (past and step == 0))}"


def _replace_offset(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “three weeks ago” or “in two days”; “in a week” in a past clause is a duration and is kept."""
    number, unit = parse_count(match["count"]), match["unit"].lower()
    sign = -1 if match[0].lower().endswith("ago") else 1
    if sign > 0 and past:
        return match[0]
    if unit == "year":
        return f"in {today.year + sign * number}"
    if unit == "month":
        return format_month(month_from(today, sign * number))
    day = today + timedelta(sign * number * (7 if unit == "week" else 1))
    return f"around {format_date(day)}" if unit == "week" else format_day(day)


def _replace_day_of_month(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “on the 12th”: in this month, the next one or the last one, by the tense."""
    number = int(match["day"])
    step = -1 if past and number > today.day else 1 if not past and number < today.day else 0
    return format_day(month_from(today, step).replace(day=number))


def _replace_years_ago_in(match: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “four years ago last March”."""
    what, year = match["what"].lower(), today.year - parse_count(match["count"])
    return f"in the {what} of {year}" if what in SEASONS else f"in {what.capitalize()} {year}"


def _replace_vague_offset(match: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “a few weeks ago”, counted back from today's date or year."""
    when = str(today.year) if match["unit"].lower() == "year" else format_date(today)
    count = match["count"].lower()
    count = f"a {count}" if count.startswith(("few", "couple")) else count
    return f"{count} {match['unit'].lower()}s before {when}"


_BEFORE_PERIOD = re.compile(r"\b(?:from|until|till|since|by|of|for) \Z", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:19|20)\d\d,? (?:on )?(?:the )?\Z")
"""Year before the date, as in “1989, the second of May”."""


def _add_years(sentence: str, today: date) -> str:
    """Return the sentence with years added to months and seasons: “in May” becomes “in May 2025”."""

    def add_year_to_month(match: re.Match[str]) -> str:
        month = match["month"]
        if not (match["lead"] or match["day"]) or _YEAR_BEFORE.search(match.string, 0, match.start()):
            return match[0]
        is_before = _is_past(match) or (match["lead"] or "").lower().startswith("since")
        year = _year_of(MONTHS.index(month.lower()) + 1, today, is_before)
        return f"{match['lead'] or ''}{match['day'] or ''}{month.capitalize()} {year}"

    def add_year_to_season(match: re.Match[str]) -> str:
        what = match["what"].lower()
        return f"in the {what} of {_year_of(SEASONS[what], today, _is_past(match))}"

    return _pattern("season").sub(add_year_to_season, _pattern("month_without_year").sub(add_year_to_month, sentence))


def _year_of(month: int, today: date, past: bool) -> int:
    """Return the year of the last or next month with that number; the current month counts as both."""
    if past:
        return today.year if month <= today.month else today.year - 1
    return today.year if month >= today.month else today.year + 1


RELATIVE_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|the other day|ago|just now|a while back|(?:last|next|this) (?:week|weekend|month|"
    r"year|time|one|night|morning)|earlier)\b",
    re.IGNORECASE,
)
"""Time expressions whose meaning depends on the day on which they are read."""
_WRITERS: dict[str, _Writer] = {
    "years_ago_in": _replace_years_ago_in,
    "weekday_week": _replace_weekday_week,
    "day_words": _replace_day_words,
    "weekday": _replace_weekday,
    "period": _replace_period,
    "weekday_bound": _replace_weekday_bound,
    "offset": _replace_offset,
    "day_of_month": _replace_day_of_month,
    "vague_offset": _replace_vague_offset,
}


@cache
def _rules() -> tuple[tuple[re.Pattern[str], _Writer], ...]:
    """Return patterns of relative times and what writes them as dates."""
    rows = load_table("resolve")["relative"]
    return tuple((re.compile(compose(row["find"]), re.IGNORECASE), _WRITERS[row["writer"]]) for row in rows)
