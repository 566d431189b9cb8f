"""The time of day as every record carries it: with a zone, so that a memory survives a journey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime

Clock = Callable[[], datetime]


def by_the_system() -> datetime:
    """This moment in the local zone."""
    return datetime.now().astimezone()


_reading: list[Clock] = [by_the_system]
"""The clocks on the wall; the last one is read."""


def now() -> datetime:
    """This moment, with its zone."""
    return _reading[-1]()


@contextmanager
def told_by(clock: Clock) -> Iterator[None]:
    """While this lasts, every moment is the one `clock` tells: for simulations of days, and for tests."""
    _reading.append(clock)
    try:
        yield
    finally:
        _reading.remove(clock)


MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def spell_date(day: date) -> str:
    """Such as “March 3rd, 2026”."""
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{MONTHS[day.month - 1]} {day.day}{ending}, {day.year}"


def spell_day(day: date) -> str:
    """Such as “Tuesday, March 3rd, 2026”."""
    return f"{WEEKDAYS[day.weekday()]}, {spell_date(day)}"


def spell_time(moment: datetime) -> str:
    """Such as “09:04 PM”: the system's own AM and PM depend on its language."""
    return f"{moment.hour % 12 or 12:02}:{moment.minute:02} {'AM' if moment.hour < 12 else 'PM'}"


def spell_span(first: date, last: date) -> str:
    """One day with its name, or from one day to another."""
    return spell_day(first) if last <= first else f"from {spell_date(first)} to {spell_date(last)}"
