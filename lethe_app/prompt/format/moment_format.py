"""Dates and times in the formats of moment.js, which cards name in {{datetimeformat}}."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from lethe_app.domain.clock import MONTHS, WEEKDAYS

_LONG = {
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "LLL": "MMMM D, YYYY h:mm A",
    "LL": "MMMM D, YYYY",
    "L": "MM/DD/YYYY",
}
"""Formats that stand for others."""
_TOKEN = re.compile(
    r"\[([^\]]*)\]|LTS|LT|L{1,4}|l{1,4}|Mo|Do|DDDo|do|Wo|Qo|YYYY|YY|Y|M{1,4}|D{1,4}|d{1,4}|E|e|HH?|hh?|kk?|mm?|ss?|SSS|SS|S"
    r"|A|a|ZZ?|X|x|Q|WW?|GGGG"
)
"""Parts of a format; what is in square brackets is text."""
_PARTS: dict[str, Callable[[datetime], str]] = {
    "YYYY": lambda time: f"{time.year:04}",
    "YY": lambda time: f"{time.year % 100:02}",
    "Y": lambda time: str(time.year),
    "MMMM": lambda time: MONTHS[time.month - 1],
    "MMM": lambda time: MONTHS[time.month - 1][:3],
    "MM": lambda time: f"{time.month:02}",
    "M": lambda time: str(time.month),
    "Mo": lambda time: _ordinal(time.month),
    "DDDD": lambda time: f"{time.timetuple().tm_yday:03}",
    "DDD": lambda time: str(time.timetuple().tm_yday),
    "DDDo": lambda time: _ordinal(time.timetuple().tm_yday),
    "DD": lambda time: f"{time.day:02}",
    "D": lambda time: str(time.day),
    "Do": lambda time: _ordinal(time.day),
    "dddd": lambda time: WEEKDAYS[time.weekday()],
    "ddd": lambda time: WEEKDAYS[time.weekday()][:3],
    "dd": lambda time: WEEKDAYS[time.weekday()][:2],
    "d": lambda time: str(time.isoweekday() % 7),
    "do": lambda time: _ordinal(time.isoweekday() % 7),
    "e": lambda time: str(time.isoweekday() % 7),
    "E": lambda time: str(time.isoweekday()),
    "HH": lambda time: f"{time.hour:02}",
    "H": lambda time: str(time.hour),
    "hh": lambda time: f"{time.hour % 12 or 12:02}",
    "h": lambda time: str(time.hour % 12 or 12),
    "kk": lambda time: f"{time.hour or 24:02}",
    "k": lambda time: str(time.hour or 24),
    "mm": lambda time: f"{time.minute:02}",
    "m": lambda time: str(time.minute),
    "ss": lambda time: f"{time.second:02}",
    "s": lambda time: str(time.second),
    "SSS": lambda time: f"{time.microsecond // 1000:03}",
    "SS": lambda time: f"{time.microsecond // 10_000:02}",
    "S": lambda time: str(time.microsecond // 100_000),
    "A": lambda time: "PM" if time.hour >= 12 else "AM",
    "a": lambda time: "pm" if time.hour >= 12 else "am",
    "Z": lambda time: f"{time:%z}"[:3] + ":" + f"{time:%z}"[3:5],
    "ZZ": lambda time: f"{time:%z}"[:5],
    "X": lambda time: str(int(time.timestamp())),
    "x": lambda time: str(int(time.timestamp() * 1000)),
    "Q": lambda time: str((time.month + 2) // 3),
    "Qo": lambda time: _ordinal((time.month + 2) // 3),
    "GGGG": lambda time: str(time.isocalendar().year),
    "WW": lambda time: f"{time.isocalendar().week:02}",
    "W": lambda time: str(time.isocalendar().week),
    "Wo": lambda time: _ordinal(time.isocalendar().week),
}


def format_moment(time: datetime, form: str) -> str:
    """Return a time in a format such as `YYYY-MM-DD HH:mm`; letters that mean nothing stay."""

    def spell(match: re.Match[str]) -> str:
        if match[0].startswith("["):
            return match[1]
        form = _LONG.get(match[0].upper(), "")
        if match[0].islower():
            form = form.replace("MMMM", "MMM").replace("dddd", "ddd").replace("MM/DD", "M/D")
        return _PARTS[match[0]](time) if match[0] in _PARTS else format_moment(time, form)

    return _TOKEN.sub(spell, form)


def _ordinal(number: int) -> str:
    return f"{number}{'th' if 10 < number % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
