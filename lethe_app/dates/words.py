"""Words of dates and small numbers, and the fragments of regular expressions that match them."""

from __future__ import annotations

import re

from lethe_app.domain import clock

MONTHS = tuple(map(str.lower, clock.MONTHS))
WEEKDAYS = tuple(map(str.lower, clock.WEEKDAYS))
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season in the northern hemisphere."""
SPELLED_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
"""Number words by their value."""
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
COUNTS = SPELLED_NUMBERS[1:11]
"""Number words from one to ten, in which days, weeks, months and years are counted."""
COUNT_DIGITS = {word: str(number) for number, word in enumerate(COUNTS, 1)}
EXACT_NUMBERS = {"a": 1, "an": 1, **{word: number for number, word in enumerate(COUNTS, 1)}}
VAGUE_NUMBERS = {"couple": 2, "few": 3, "several": 4}
NUMBERS = EXACT_NUMBERS | VAGUE_NUMBERS
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
    "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
    "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh",
    "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
"""Days of a month in words, from the first to the thirty-first."""
UNIT_DAYS = {"day": 1, "night": 1, "week": 7, "month": 30, "year": 365}
"""Length of each unit in days, for counts such as “three weeks ago”."""


MONTH = "|".join(MONTHS)
WEEKDAY = "|".join(WEEKDAYS)


def parse_count(text: str) -> int:
    """Return the value of a count in digits or as one of `NUMBERS`, with or without “a … of”: “a couple of” is 2."""
    word = text.lower().removeprefix("a ").removesuffix(" of")
    return NUMBERS.get(word) or int(word)


def month_number(name: str) -> int:
    """Return the month number (1 to 12) of a month name or of one of its short forms, in any case."""
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def weekday_number(name: str) -> int:
    """Return the weekday number (0 is Monday) of a weekday name or of one of its short forms, in any case."""
    return next(number for number, day in enumerate(WEEKDAYS) if day.startswith(name[:3].lower()))


def day_number(text: str) -> int:
    """Return the day of the month written as “2nd”, “2” or “second”."""
    word = text.lower()
    return ORDINALS.index(word) + 1 if word in ORDINALS else int(re.sub(r"\D", "", word))
