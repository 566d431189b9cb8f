"""Translation of basic requests for a time from other languages into the English words that the readers of dates parse."""

from __future__ import annotations

import re
from functools import cache

from lethe_app.dates.words import MONTHS, WEEKDAYS
from lethe_app.language_tables import languages_with, load_table


def translate_to_english(sentence: str) -> str:
    """Return the time expressions of a request in one of the languages with a table in English; empty if the sentence is no
    such request.
    """
    lowered = sentence.lower()
    for language in languages_with("dates.toml"):
        if language == "en" or not _asks(language).search(lowered):
            continue
        times: list[str] = []
        for pattern, english in _expressions(language):
            times += [_in_english(match, english, language) for match in pattern.finditer(lowered)]
            # A matched time is removed, so that a later, shorter pattern does not match part of it again.
            lowered = pattern.sub("\0", lowered)
        if times:
            return ", ".join(times)
    return ""


def _in_english(match: re.Match[str], english: str, language: str) -> str:
    """Return the English form of an expression. Groups are a month with its day and year, a weekday, or numbers."""
    groups, table = match.groupdict(), load_table("dates", language)
    if month := groups.get("month"):
        day, year = groups["day"], groups["year"]
        return f"{day or 'in'} {MONTHS[table['months'].index(month)]}{f' {year}' if year else ''}"
    if weekday := groups.get("weekday"):
        return f"last {WEEKDAYS[table['weekdays'].index(weekday)]}"
    return match.expand(english)


@cache
def _asks(language: str) -> re.Pattern[str]:
    """Return the pattern of a question for what was said before, or for how the user was."""
    return re.compile("|".join(load_table("dates", language)["asks"]))


@cache
def _expressions(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    table = load_table("dates", language)
    rows = [(table["month_day"], ""), *table["expressions"], (table["weekday"], "")]
    names = {"{months}": "|".join(table["months"]), "{weekdays}": "|".join(table["weekdays"])}
    for token, pattern in names.items():
        rows = [(find.replace(token, pattern), english) for find, english in rows]
    return tuple((re.compile(find), english) for find, english in rows)
