"""Dates as chat programs write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from pydantic import JsonValue

_MONTHS = {
    month: number
    for number, month in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_LONG = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4}),?(?: at)? (\d{1,2}):(\d{2})(?::(\d{2}))? ?([ap]m)?", re.IGNORECASE)
"""`June 19, 2023 4:13pm`."""
_AT = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?")
"""`2024-9-28 @01h 02m 36s 885ms`."""
_NUMBER = re.compile(r"\d{9,16}(?:\.\d{1,9})?")
_MILLISECONDS_FROM, _MICROSECONDS_FROM = 1e11, 1e14
"""Numbers from which an epoch time is in milliseconds, and in microseconds, not in seconds: the years 5138 and 1973."""
_NOON = 12
FIRST_YEAR, LAST_YEAR = 1970, 9999


def parse_date(value: JsonValue) -> datetime | None:
    """Return the time that a number (epoch) or text states, or None if it is not understood or outside the years 1970 to
    9998. A time without a zone is taken for one of this computer's.
    """
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = _from_text(value.strip()[:100]) if isinstance(value, str) else None
        if isinstance(value, int | float):
            found = _from_epoch(float(value))
    except (ValueError, OverflowError, OSError):
        return None
    return found if found is not None and FIRST_YEAR <= found.year < LAST_YEAR else None


def _from_epoch(number: float) -> datetime:
    scale = 1e6 if number >= _MICROSECONDS_FROM else 1e3 if number >= _MILLISECONDS_FROM else 1.0
    return datetime.fromtimestamp(number / scale, UTC)


def _from_text(text: str) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return _from_epoch(float(text))
    if found := _AT.search(text):
        year, month, day, hour, minute, second, milliseconds = (int(part or 0) for part in found.groups())
        return datetime(year, month, day, hour, minute, second, milliseconds * 1000).astimezone()
    if found := _LONG.search(text):
        month = _MONTHS.get(found[1][:3].lower(), 0)
        hour = int(found[4])
        if found[7]:
            hour = hour % _NOON + (_NOON if found[7].lower() == "pm" else 0)
        return datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), int(found[6] or 0)).astimezone()
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo is not None else parsed.astimezone()
