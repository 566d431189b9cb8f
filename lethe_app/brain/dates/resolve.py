"""Replace relative dates such as “yesterday” or “next Friday” with absolute ones, so that a stored sentence stays true
later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from lethe_app.brain.dates.double_dates import NUMBERS, reconcile_times
from lethe_app.brain.vocabulary.verbs import PAST
from lethe_app.retrieval.query_terms import MONTHS
from lethe_app.retrieval.time_expressions import SEASONS, WEEKDAYS

_DAY = "|".join((*WEEKDAYS, "tues", "weds", "thurs", "thur", *(day[:3] for day in WEEKDAYS)))
_MONTH = "|".join(MONTHS)
_COUNT = r"(?P<count>\d{1,2}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
_PART = r"(?P<part> morning| afternoon| evening| night)?"
# The excluded verbs are ambiguous: hurt, hit and cut are also present forms, and got, split and sold also participles, which
# the pattern below accepts only without an auxiliary.
_PAST_VERBS = "|".join(sorted(PAST - {"hurt", "hit", "cut", "got", "split", "sold"}))
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
    rf"[a-z]+th|{'|'.join(SEASONS)}|{_MONTH}|{_DAY})\b",
    re.IGNORECASE,
)
"""Pre-check: a sentence without a match contains no date to resolve."""
_FUTURE = re.compile(
    r"(?:\b(?:got|have|has) (?:got )?(?:an?|my|our|his|her) (?:\w+ ){0,2}(?:interview|exam|test|appointment|meeting|scan|"
    r"check-?up|date|viva|audition|"
    r"hearing)\b|"
    r"\b(?:will|going to|wanted to|plan\w*|getting|moving)|'ll|'m \w+ing|\bam \w+ing|\bis \w+ing)\b|"
    rf"(?:\b(?:is|are)|'s)(?: (?:now|still|actually))? (?:(?:on|in) (?:the )?(?:\d|(?:{_DAY}|{_MONTH})\b)|"
    r"(?:the )?\d{1,2}(?:st|nd|rd|th)\b(?! (?:birthday|anniversary|time|of|year|grade|floor)))|"
    rf"\b\d+ (?:days?|weeks?|months?|years?) (?:clean|sober|old|married|together|in)?,? ?(?:on|this) (?:{_DAY})\b",
    re.IGNORECASE,
)

_DOUBLED = re.compile(r"\b(?P<before>by|until|till|since|from|before|after|for) on (?=\d)", re.IGNORECASE)
"""Doubled preposition after a replacement: “by tomorrow” becomes “by on 9 May 2023”."""
_UNMARKED_PAST = re.compile(
    r"\b(?:[Mm]y \w+|[Hh]e|[Ss]he|[A-Z][a-z]+) (?:put|read|set|cut|hit|hurt|let|quit|shut|cost|bet|split|spread)\b"
)
"""Verbs with identical present and past forms; after a third-person singular subject the missing “s” marks the past."""


def resolve(sentence: str, today: date, *, event: bool = False) -> str:
    """Return the sentence with relative dates spelled out, such as “on 10 March 2025” or “in February 2025”.

    With `event`, a month or day without a year gets one: the next occurrence in a future clause, the last one in a past
    clause. Vague expressions such as “recently” are kept, and a sentence whose time expressions contradict each other is
    returned unchanged.
    """
    if not _ANY_TIME.search(sentence):
        return sentence
    try:
        settled = reconcile_times(sentence, today)
    except (OverflowError, ValueError):  # the ends of the calendar, “the 31st of next month”
        settled = None
    if settled is None:
        return sentence
    sentence = settled
    for pattern, worded in _RULES:
        sentence = pattern.sub(lambda found, worded=worded: _safely(worded, found, today), sentence)  # type: ignore[misc]
    sentence = _DOUBLED.sub(r"\g<before> ", sentence)
    return _with_year(sentence, today) if event else sentence


def tells_past(sentence: str) -> bool:
    """Return whether a sentence is in the past tense and mentions nothing that is still to come."""
    return bool(_PAST.search(sentence) or _UNMARKED_PAST.search(sentence)) and not _FUTURE.search(sentence)


def spell(day: date) -> str:
    """Return a date as text, such as “8 May 2023”."""
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _is_past(found: re.Match[str]) -> bool:
    """Return whether the clause of a time expression is in the past tense; a clause without tense takes that of the whole
    sentence.
    """
    before = [end.end() for end in _CLAUSE_END.finditer(found.string, 0, found.start())]
    after = _CLAUSE_END.search(found.string, found.end())
    clause = found.string[before[-1] if before else 0 : after.start() if after else None]
    has_tense = _PAST.search(clause) or _UNMARKED_PAST.search(clause) or _FUTURE.search(clause)
    return tells_past(clause if has_tense else found.string)


def _safely(worded: Callable[[re.Match[str], date, bool], str], found: re.Match[str], today: date) -> str:
    """Return the replacement for a match, or its original text if the date is invalid or lies outside the calendar."""
    try:
        return worded(found, today, _is_past(found))
    except (OverflowError, ValueError):
        return found[0]


def _near(found: re.Match[str], today: date, _past: bool) -> str:
    what = found["what"].lower()
    days = {"yesterday": -1, "last night": -1, "the day before yesterday": -2, "the other day": 0, "tomorrow": 1,
            "the day after tomorrow": 2}.get(what, 0)  # fmt: skip
    part = (found["part"] or "").strip() or {"last night": "evening", "tonight": "evening"}.get(what, "")
    part = part or (what.removeprefix("this ") if what.startswith("this ") else "")
    return f"on {f'the {part} of ' if part else ''}{spell(today + timedelta(days))}"


def _weekday(found: re.Match[str], today: date, past: bool) -> str:
    if not found["which"] and _HABITUAL.search(found.string):
        return found[0]
    name = found["day"].lower()
    number = next(place for place, day in enumerate(WEEKDAYS) if day.startswith(name[:3]))
    which = (found["which"] or "").lower()
    if which == "last" or (past and which != "next"):
        back = (today.weekday() - number - 1) % 7 + 1
        day = today - timedelta(back)
    elif which == "next":  # Friday of the week to come
        day = today + timedelta(7 - today.weekday() + number)
    else:
        day = today + timedelta((number - today.weekday() - 1) % 7 + 1)
    part = (found["part"] or "").strip()
    return f"on {f'the {part} of ' if part else ''}{spell(day)}"


def _from_weekday(found: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “from Monday”, “until Friday” or “since Tuesday”."""
    day = _weekday(found, today, past or found["keep"].lower() == "since")
    return f"{found['keep']} {day.removeprefix('on ')}"


def _weekday_after_next(found: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “Friday week”, a week after the coming Friday."""
    number = next(place for place, day in enumerate(WEEKDAYS) if day.startswith(found["day"].lower()[:3]))
    return f"on {spell(today + timedelta((number - today.weekday() - 1) % 7 + 8))}"


def _period(found: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for a period, without its preposition if one precedes it: “from this month” is “from November
    2026”.
    """
    told = _whole_period(found, today, past)
    return told.split(" ", 1)[1] if _BEFORE_PERIOD.search(found.string, 0, found.start()) else told


def _whole_period(found: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for a week, weekend, month, year or season; “this spring” is the next one unless the clause is
    past.
    """
    which, what = found["which"].lower(), found["what"].lower()
    step = {"last": -1, "next": 1}.get(which, 0)
    monday = today - timedelta(today.weekday())
    if what == "week":
        return f"in the week of {spell(monday + timedelta(7 * step))}"
    if what == "weekend":
        return f"on the weekend of {spell(monday + timedelta(7 * step + 5))}"
    if what == "year":
        return f"in {today.year + step}"
    if what == "month":
        number = today.year * 12 + today.month - 1 + step
        return f"in {MONTHS[number % 12].capitalize()} {number // 12}"
    if what in SEASONS:
        begun = today.month >= SEASONS[what]
        if step == 0 and not past and today.month > SEASONS[what] + 2:
            step = 1
        year = today.year + {-1: 0 if begun and today.month > SEASONS[what] + 2 else -1, 1: 1 if begun else 0}.get(step, 0)
        return f"in the {what} of {year}"
    return f"in {what.capitalize()} {_year_of(MONTHS.index(what) + 1, today, step < 0 or (past and step == 0))}"


def _away(found: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “three weeks ago” or “in two days”; “in a week” in a past clause is a duration and is kept."""
    count, unit = found["count"].lower(), found["unit"].lower()
    number = NUMBERS.get(count) or int(count)
    sign = -1 if found[0].lower().endswith("ago") else 1
    if sign > 0 and past:
        return found[0]
    if unit == "year":
        return f"in {today.year + sign * number}"
    if unit == "month":
        months = today.year * 12 + today.month - 1 + sign * number
        return f"in {MONTHS[months % 12].capitalize()} {months // 12}"
    day = today + timedelta(sign * number * (7 if unit == "week" else 1))
    return f"{'around' if unit == 'week' else 'on'} {spell(day)}"


def _day_of_month(found: re.Match[str], today: date, past: bool) -> str:
    """Return the replacement for “on the 12th”: in this month, the next one or the last one, by the tense."""
    number = int(found["day"])
    months = today.year * 12 + today.month - 1
    months += -1 if past and number > today.day else 1 if not past and number < today.day else 0
    return f"on {spell(date(months // 12, months % 12 + 1, number))}"


def _ago_in(found: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “four years ago last March”."""
    count, what = found["count"].lower(), found["what"].lower()
    year = today.year - (NUMBERS.get(count) or int(count))
    return f"in the {what} of {year}" if what in SEASONS else f"in {what.capitalize()} {year}"


def _vaguely(found: re.Match[str], today: date, _past: bool) -> str:
    """Return the replacement for “a few weeks ago”, counted back from today's date or year."""
    when = str(today.year) if found["unit"].lower() == "year" else spell(today)
    count = found["count"].lower()
    count = f"a {count}" if count.startswith(("few", "couple")) else count
    return f"{count} {found['unit'].lower()}s before {when}"


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date, bool], str]], ...] = (
    (
        re.compile(
            rf"\b{_COUNT} years ago (?:in |this |last |next |come )?(?:the )?(?P<what>{'|'.join(SEASONS)}|{_MONTH})\b",
            re.IGNORECASE,
        ),
        _ago_in,
    ),
    (re.compile(rf"\b(?:on )?(?P<day>{_DAY}) week\b", re.IGNORECASE), _weekday_after_next),
    (
        re.compile(
            r"\b(?P<what>the day before yesterday|the day after tomorrow|yesterday|last night|tonight|tomorrow|today|"
            rf"this (?:morning|afternoon|evening))\b{_PART}",
            re.IGNORECASE,
        ),
        _near,
    ),
    (
        re.compile(
            rf"\b(?:(?:on )?(?P<which>next|last|this(?: coming)?) |on )(?P<day>{_DAY})\b"
            rf"(?!s| and \w+day| \d| (?:of|in) (?:the|every|each) | (?:morning|afternoon|evening|night)s){_PART}",
            re.IGNORECASE,
        ),
        _weekday,
    ),
    (
        re.compile(
            rf"\b(?:in |on |at )?(?:the )?(?P<which>last|next|this) (?P<what>weekend|week|month|year|{'|'.join(SEASONS)}|"
            rf"{_MONTH})\b",
            re.IGNORECASE,
        ),
        _period,
    ),
    (
        re.compile(
            rf"\b(?P<keep>from|by|until|till|starting|since) (?P<which>next |last )?(?P<day>{_DAY})\b(?!s| to| and| \d){_PART}"
        ),
        _from_weekday,
    ),
    (re.compile(rf"\b(?:about |around )?{_COUNT} (?P<unit>day|week|month|year)s? ago\b", re.IGNORECASE), _away),
    (re.compile(r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of| [A-Z])"), _day_of_month),
    (
        re.compile(
            r"\b(?P<count>a few|few|a couple(?: of)?|couple(?: of)?|several|some|many) (?P<unit>day|week|month|year)s "
            r"ago\b",
            re.IGNORECASE,
        ),
        _vaguely,
    ),
    (
        re.compile(
            rf"(?<!time )(?<!once )(?<!twice )\bin (?:about |around )?{_COUNT} (?P<unit>day|week|month|"
            rf"year)s?(?: time)?\b(?!')",
            re.IGNORECASE,
        ),
        _away,
    ),
)

_BARE = re.compile(
    rf"\b(?P<lead>(?:in|on|by|until|from|since|at the end of|early|late|to) (?:the )?)?(?P<day>\d{{1,2}}(?:st|nd|rd|"
    rf"th)? (?:of )?)?(?P<month>{_MONTH})\b(?! \d|,? (?:19|20)\d\d)",
    re.IGNORECASE,
)

_BEFORE_PERIOD = re.compile(r"\b(?:from|until|till|since|by|of|for) \Z", re.IGNORECASE)
_HABITUAL = re.compile(r"\b(?:usually|always|normally|mostly|hobby|most weeks|as a rule)\b", re.IGNORECASE)
_YEAR_BEFORE = re.compile(r"\b(?:19|20)\d\d,? (?:on )?(?:the )?\Z")
"""Year before the date, as in “1989, the second of May”."""
_SEASON = re.compile(rf"\bin (?:the )?(?P<what>{'|'.join(SEASONS)})\b(?! of| \d)", re.IGNORECASE)


def _with_year(sentence: str, today: date) -> str:
    """Return the sentence with years added to months and seasons: “in May” becomes “in May 2025”."""

    def one(found: re.Match[str]) -> str:
        month = found["month"]
        if not (found["lead"] or found["day"]) or _YEAR_BEFORE.search(found.string, 0, found.start()):
            return found[0]
        before = _is_past(found) or (found["lead"] or "").lower().startswith("since")
        year = _year_of(MONTHS.index(month.lower()) + 1, today, before)
        return f"{found['lead'] or ''}{found['day'] or ''}{month.capitalize()} {year}"

    def season(found: re.Match[str]) -> str:
        what = found["what"].lower()
        return f"in the {what} of {_year_of(SEASONS[what], today, _is_past(found))}"

    return _SEASON.sub(season, _BARE.sub(one, sentence))


def _year_of(month: int, today: date, past: bool) -> int:
    """Return the year of the last or next month with that number; the current month counts as both."""
    if past:
        return today.year if month <= today.month else today.year - 1
    return today.year if month >= today.month else today.year + 1


MOVING = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|the other day|ago|just now|a while back|(?:last|next|this) (?:week|weekend|month|"
    r"year|time|one|night|morning)|earlier)\b",
    re.IGNORECASE,
)
"""Time expressions whose meaning depends on the day on which they are read."""
