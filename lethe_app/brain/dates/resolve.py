"""Replace relative dates such as “yesterday” or “next Friday” with absolute ones, so that a stored sentence stays true
later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from lethe_app.brain.dates.double_dates import reconcile_times
from lethe_app.brain.vocabulary.verbs import PAST_FORMS
from lethe_app.dates.ranges import last_weekday, month_from, next_weekday, weekday_in_week
from lethe_app.dates.words import ANY_WEEKDAY, MONTH, MONTHS, SEASON, SEASONS, parse_count, weekday_number
from lethe_app.language_tables import word_class

_COUNT = f"(?P<count>{word_class('EXACT_COUNT')})"
_PART = r"(?P<part> morning| afternoon| evening| night)?"
# The excluded verbs are ambiguous: hurt, hit and cut are also present forms, and got, split and sold also participles, which
# the pattern below accepts only without an auxiliary.
_PAST_VERBS = "|".join(sorted(PAST_FORMS - {"hurt", "hit", "cut", "got", "split", "sold"}))
_PAST = re.compile(
    rf"\b(?:(?:{_PAST_VERBS})|did|was|had|died|(?<!'ve )(?<!have )(?<!has )(?<!'s )(?:got|split|sold|quit|fell|"
    r"flew|signed up|registered|enrolled|decided|promised|agreed|arranged|hired)|began|"
    r"(?!scheduled|booked|supposed|planned|invited|allowed|married|retired(?! (?:from|in|last|this|at|after|early|when))|need|"
    r"feed|wicked|signed up|registered|enrolled|"
    r"decided|"
    r"promised|agreed|arranged|hired)[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.;:!?…]|,? (?:and|but|so|because|since|though|although|while)(?= (?:I|I'm|I've|I'll|we|we're|my|our|he|she|they|it|it's|"
    r"the|now)\b)|, (?=(?:I|I'm|I've|I'll|we|we're|my|our|he|she|they|it|it's)\b)",
    re.IGNORECASE,
)
_ANY_TIME = re.compile(
    rf"\d|\b(?:yesterday|today|tonight|tomorrow|ago|days?|weeks?|weekend|months?|years?|night|morning|afternoon|evening|"
    rf"first|second|third|"
    rf"[a-z]+th|{SEASON}|{MONTH}|{ANY_WEEKDAY})\b",
    re.IGNORECASE,
)
"""Pre-check: a sentence without a match contains no date to resolve."""
_FUTURE = re.compile(
    r"(?:\b(?:got|have|has) (?:got )?(?:an?|my|our|his|her) (?:\w+ ){0,2}(?:interview|exam|test|appointment|meeting|scan|"
    r"check-?up|date|viva|audition|"
    r"hearing)\b|"
    r"\b(?:will|going to|wanted to|plan\w*|getting|moving)|'ll|'m \w+ing|\bam \w+ing|\bis \w+ing)\b|"
    rf"(?:\b(?:is|are)|'s)(?: (?:now|still|actually))? (?:(?:on|in) (?:the )?(?:\d|(?:{ANY_WEEKDAY}|{MONTH})\b)|"
    r"(?:the )?\d{1,2}(?:st|nd|rd|th)\b(?! (?:birthday|anniversary|time|of|year|grade|floor)))|"
    rf"\b\d+ (?:days?|weeks?|months?|years?) (?:clean|sober|old|married|together|in)?,? ?(?:on|this) (?:{ANY_WEEKDAY})\b",
    re.IGNORECASE,
)

_DOUBLED_PREPOSITION = re.compile(r"\b(?P<before>by|until|till|since|from|before|after|for) on (?=\d)", re.IGNORECASE)
"""Doubled preposition after a replacement: “by tomorrow” becomes “by on 9 May 2023”."""
_UNMARKED_PAST = re.compile(
    r"\b(?:[Mm]y \w+|[Hh]e|[Ss]he|[A-Z][a-z]+) (?:put|read|set|cut|hit|hurt|let|quit|shut|cost|bet|split|spread)\b"
)
"""Verbs with identical present and past forms; after a third-person singular subject the missing “s” marks the past."""


def resolve_dates(sentence: str, today: date, *, event: bool = False) -> str:
    """Return the sentence with relative dates spelled out, such as “on 10 March 2025” or “in February 2025”.

    With `event`, a month or day without a year gets one: the next occurrence in a future clause, the last one in a past
    clause. Vague expressions such as “recently” are kept, and a sentence whose time expressions contradict each other is
    returned unchanged.
    """
    if not _ANY_TIME.search(sentence):
        return sentence
    try:
        reconciled = reconcile_times(sentence, today)
    except (OverflowError, ValueError):  # the ends of the calendar, “the 31st of next month”
        reconciled = None
    if reconciled is None:
        return sentence
    sentence = reconciled
    for pattern, worded in _RULES:
        sentence = pattern.sub(lambda found, worded=worded: _replace_safely(worded, found, today), sentence)  # type: ignore[misc]
    sentence = _DOUBLED_PREPOSITION.sub(r"\g<before> ", sentence)
    return _add_years(sentence, today) if event else sentence


def is_past_tense(sentence: str) -> bool:
    """Return whether a sentence is in the past tense and mentions nothing that is still to come."""
    return bool(_PAST.search(sentence) or _UNMARKED_PAST.search(sentence)) and not _FUTURE.search(sentence)


def format_date(day: date) -> str:
    """Return a date as text, such as “8 May 2023”."""
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _format_month(first: date) -> str:
    return f"in {MONTHS[first.month - 1].capitalize()} {first.year}"


_SUBJECT_VERB = re.compile(r"\b(?:I|we|they)(?: (?:also|then|only|just|all|both))? (?P<verb>[a-z]+)\b", re.IGNORECASE)
_SAME_IN_PAST = frozenset("put cut read set hit let shut hurt cost quit split bet burst spread beat cast fit".split())  # noqa: SIM905
_NO_VERBS = frozenset("and or but on in at the with for to of not never really".split())  # noqa: SIM905
_NO_PRESENT = PAST_FORMS | _SAME_IN_PAST | _NO_VERBS
"""Words after a subject that do not show the present: verbs whose past is spelled alike, and what is no verb."""


def _is_past(match: re.Match[str]) -> bool:
    """Return whether the clause of a time expression is in the past tense; a clause without tense takes that of the whole
    sentence.
    """
    before = [end.end() for end in _CLAUSE_END.finditer(match.string, 0, match.start())]
    after = _CLAUSE_END.search(match.string, match.end())
    clause = match.string[before[-1] if before else 0 : after.start() if after else None]
    if _PAST.search(clause) or _UNMARKED_PAST.search(clause) or _FUTURE.search(clause):
        return is_past_tense(clause)
    # “We bury him on Monday.” is to come, whatever the sentence before it tells.
    verbs = {one["verb"].lower() for one in _SUBJECT_VERB.finditer(clause)}
    is_present = any(not verb.endswith("ed") for verb in verbs - _NO_PRESENT)
    return not is_present and is_past_tense(match.string)


def _replace_safely(render: Callable[[re.Match[str], date, bool], str], match: re.Match[str], today: date) -> str:
    """Return the replacement for a match, or its original text if the date is invalid or lies outside the calendar."""
    try:
        return render(match, today, _is_past(match))
    except (OverflowError, ValueError):
        return match[0]


def _replace_day_words(match: re.Match[str], today: date, _past: bool) -> str:
    what = match["what"].lower()
    days = {"yesterday": -1, "last night": -1, "the day before yesterday": -2, "the other day": 0, "tomorrow": 1,
            "the day after tomorrow": 2}.get(what, 0)  # fmt: skip
    part = (match["part"] or "").strip() or {"last night": "evening", "tonight": "evening"}.get(what, "")
    part = part or (what.removeprefix("this ") if what.startswith("this ") else "")
    return f"on {f'the {part} of ' if part else ''}{format_date(today + timedelta(days))}"


def _replace_weekday(match: re.Match[str], today: date, past: bool) -> str:
    if not match["which"] and _HABITUAL.search(match.string):
        return match[0]
    number = weekday_number(match["day"])
    which = (match["which"] or "").lower()
    if which == "last" or (past and which != "next"):
        day = last_weekday(today, number)
    elif which == "next":  # Friday of the week to come
        day = weekday_in_week(today, number, 1)
    else:
        day = next_weekday(today, number)
    part = (match["part"] or "").strip()
    return f"on {f'the {part} of ' if part else ''}{format_date(day)}"


def _replace_weekday_bound(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “from Monday”, “until Friday” or “since Tuesday”."""
    day = _replace_weekday(match, today, past or match["keep"].lower() == "since")
    return f"{match['keep']} {day.removeprefix('on ')}"


def _replace_weekday_week(match: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “Friday week”, a week after the coming Friday."""
    return f"on {format_date(next_weekday(today, weekday_number(match['day'])) + timedelta(days=7))}"


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
        return _format_month(month_from(today, step))
    if what in SEASONS:
        has_begun = today.month >= SEASONS[what]
        if step == 0 and not past and today.month > SEASONS[what] + 2:
            step = 1
        year = today.year + {-1: 0 if has_begun and today.month > SEASONS[what] + 2 else -1, 1: 1 if has_begun else 0}.get(
            step, 0
        )
        return f"in the {what} of {year}"
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
        return _format_month(month_from(today, sign * number))
    day = today + timedelta(sign * number * (7 if unit == "week" else 1))
    return f"{'around' if unit == 'week' else 'on'} {format_date(day)}"


def _replace_day_of_month(match: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “on the 12th”: in this month, the next one or the last one, by the tense."""
    number = int(match["day"])
    step = -1 if past and number > today.day else 1 if not past and number < today.day else 0
    return f"on {format_date(month_from(today, step).replace(day=number))}"


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


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date, bool], str]], ...] = (
    (
        re.compile(
            rf"\b{_COUNT} years ago (?:in |this |last |next |come )?(?:the )?(?P<what>{SEASON}|{MONTH})\b",
            re.IGNORECASE,
        ),
        _replace_years_ago_in,
    ),
    (re.compile(rf"\b(?:on )?(?P<day>{ANY_WEEKDAY}) week\b", re.IGNORECASE), _replace_weekday_week),
    (
        re.compile(
            r"\b(?P<what>the day before yesterday|the day after tomorrow|yesterday|last night|tonight|tomorrow|today|"
            rf"this (?:morning|afternoon|evening))\b{_PART}",
            re.IGNORECASE,
        ),
        _replace_day_words,
    ),
    (
        re.compile(
            rf"\b(?:(?:on )?(?P<which>next|last|this(?: coming)?) |on )(?P<day>{ANY_WEEKDAY})\b"
            rf"(?!s| and \w+day| \d| (?:of|in) (?:the|every|each) | (?:morning|afternoon|evening|night)s){_PART}",
            re.IGNORECASE,
        ),
        _replace_weekday,
    ),
    (
        re.compile(
            rf"\b(?:in |on |at )?(?:the )?(?P<which>last|next|this) (?P<what>weekend|week|month|year|{SEASON}|"
            rf"{MONTH})\b",
            re.IGNORECASE,
        ),
        _replace_period,
    ),
    (
        re.compile(
            rf"\b(?P<keep>from|by|until|till|starting|since) (?P<which>next |last )?"
            rf"(?P<day>{ANY_WEEKDAY})\b(?!s| to| and| \d){_PART}"
        ),
        _replace_weekday_bound,
    ),
    (re.compile(rf"\b(?:about |around )?{_COUNT} (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE), _replace_offset),
    (re.compile(r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of| [A-Z])"), _replace_day_of_month),
    (
        re.compile(
            r"\b(?P<count>a few|few|a couple(?: of)?|couple(?: of)?|several|some|many) (?P<unit>day|week|month|year)s "
            r"ago\b",
            re.IGNORECASE,
        ),
        _replace_vague_offset,
    ),
    (
        re.compile(
            rf"(?<!time )(?<!once )(?<!twice )\bin (?:about |around )?{_COUNT} (?P<unit>day|week|month|"
            rf"year)s?(?: time)?\b(?!')",
            re.IGNORECASE,
        ),
        _replace_offset,
    ),
)

_MONTH_WITHOUT_YEAR = re.compile(
    rf"\b(?P<lead>(?:in|on|by|until|from|since|at the end of|early|late|to) (?:the )?)?(?P<day>\d{{1,2}}(?:st|nd|rd|"
    rf"th)? (?:of )?)?(?P<month>{MONTH})\b(?! \d|,? (?:19|20)\d\d)",
    re.IGNORECASE,
)

_BEFORE_PERIOD = re.compile(r"\b(?:from|until|till|since|by|of|for) \Z", re.IGNORECASE)
_HABITUAL = re.compile(r"\b(?:usually|always|normally|mostly|hobby|most weeks|as a rule)\b", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:19|20)\d\d,? (?:on )?(?:the )?\Z")
"""Year before the date, as in “1989, the second of May”."""
_SEASON = re.compile(rf"\bin (?:the )?(?P<what>{SEASON})\b(?! of| \d)", re.IGNORECASE)


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

    return _SEASON.sub(add_year_to_season, _MONTH_WITHOUT_YEAR.sub(add_year_to_month, sentence))


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
