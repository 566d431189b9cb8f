"""Clock and date formats of the application. Every moment has a time zone, so that records stay right when the user travels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

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


MAX_GAP = timedelta(days=30)
"""Time between two looks at the clock beyond which it may have been set wrong."""
MAX_CORRECTION = timedelta(days=1)
"""Time by which a clock goes back without having been wrong, such as by a journey."""
TRUST_DAYS = 7
"""Days of use on which a clock must go on as it should before it is trusted again."""


def is_later(one: datetime, other: datetime) -> bool:
    """Return whether a stored time is later than another; one after now, from a clock that was wrong, is later than none."""
    return other < one <= now()


def order_times(times: Iterable[datetime]) -> list[datetime]:
    """Return the times of things whose order is known, such as the messages of a conversation: none is days after now, and
    none before the one above it.
    """
    present, ordered = now(), list[datetime]()
    for time in times:
        ordered.append(max([present if time > present + MAX_CORRECTION else time, *ordered[-1:]]))
    return ordered


@dataclass(frozen=True)
class ClockHistory:
    """When the clock was looked at last, and on how many days of use it must go on before its age of things is trusted."""

    last: datetime
    days_left: int = 0

    @classmethod
    def parse(cls, stored: object, moment: datetime) -> ClockHistory:
        """Return a stored history; one that begins at a moment if there is none."""
        if not isinstance(stored, dict):
            return cls(moment)
        return cls(datetime.fromisoformat(stored["last"]), stored["days_left"])

    def follow(self, moment: datetime) -> ClockHistory:
        """Return the history after another look. A leap, ahead or back, costs the trust; each day of use brings it nearer."""
        gap = moment - self.last
        if gap > MAX_GAP or gap < -MAX_CORRECTION:
            return ClockHistory(moment, TRUST_DAYS)
        is_other_day = moment.astimezone(UTC).date() > self.last.astimezone(UTC).date()
        return ClockHistory(moment, max(0, self.days_left - is_other_day))


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
