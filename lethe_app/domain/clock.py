"""Clock and date formats of the application. Every moment has a time zone, so that records stay right when the user travels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the present moment of the system clock in the local time zone."""
    return datetime.now().astimezone()


_clocks: list[Clock] = []
"""Stack of clocks in place of the system's; the last one is used. Tests and simulations push their own."""


def now() -> datetime:
    """Return the present moment of the current clock, with its time zone."""
    return _clocks[-1]() if _clocks else datetime.now().astimezone()


@contextmanager
def use_clock(clock: Clock) -> Iterator[None]:
    """Replace the clock while the context is open; for tests and for simulations of several days."""
    _clocks.append(clock)
    try:
        yield
    finally:
        _clocks.remove(clock)


MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def spell_date(day: date) -> str:
    """Return a date such as “March 3rd, 2026”."""
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{MONTHS[day.month - 1]} {day.day}{ending}, {day.year}"


def spell_day(day: date) -> str:
    """Return a date with its weekday, such as “Tuesday, March 3rd, 2026”."""
    return f"{WEEKDAYS[day.weekday()]}, {spell_date(day)}"


def spell_time(moment: datetime) -> str:
    """Return a time of day such as “09:04 PM”. `datetime.strftime` is not used because its AM and PM depend on the system's
    locale.
    """
    return f"{moment.hour % 12 or 12:02}:{moment.minute:02} {'AM' if moment.hour < 12 else 'PM'}"


def spell_span(first: date, last: date) -> str:
    """Return one day with its weekday, or “from … to …” for several days."""
    return spell_day(first) if last <= first else f"from {spell_date(first)} to {spell_date(last)}"
