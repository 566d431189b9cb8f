"""Days and hours as people count them: right over midnight, over the changes of the clock and over journeys."""

from __future__ import annotations

from datetime import date, datetime, timedelta


def elapsed(since: datetime, until: datetime) -> timedelta:
    """True time between two moments with zones; negative if `until` is the earlier one.

    Python subtracts moments of one and the same zone by the hands of the clock, an hour wrong over a change to summer time.
    """
    hands = until.replace(tzinfo=None) - since.replace(tzinfo=None)
    return hands - (_offset(until) - _offset(since))


def days_since(since: datetime, until: datetime) -> float:
    """The same in days of 24 hours."""
    return elapsed(since, until) / timedelta(days=1)


def nights_between(since: datetime, until: datetime) -> int:
    """How many days on the calendar lie between them, each read by the clock it carries; negative if `until` is earlier.

    A moment kept in UTC says nothing of where it was and is read by the other's clock.
    """
    return (until.date() - _by_the_clock_of(until, since)).days


def local_date(moment: datetime) -> date:
    """The day by the clock that a moment carries; a moment in UTC is read by the clock of this place."""
    return moment.date() if _offset(moment) else moment.astimezone().date()


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()


def _by_the_clock_of(here: datetime, moment: datetime) -> date:
    if _offset(moment):
        return moment.date()
    try:
        return moment.astimezone(here.tzinfo).date()
    except OverflowError:  # the first or the last day there is
        return moment.date()
