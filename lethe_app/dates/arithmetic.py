"""Time and calendar differences between zoned datetimes, correct across midnight, daylight-saving changes and time zones."""

from __future__ import annotations

from datetime import date, datetime, timedelta


def elapsed(since: datetime, until: datetime) -> timedelta:
    """Return the true time between two zoned datetimes; negative if `until` is earlier.

    Python subtracts datetimes that share a tzinfo by their wall-clock values, which is an hour wrong across a
    daylight-saving change.
    """
    wall_clock_difference = until.replace(tzinfo=None) - since.replace(tzinfo=None)
    return wall_clock_difference - (_offset(until) - _offset(since))


def days_since(since: datetime, until: datetime) -> float:
    """Return the true time between two zoned datetimes in days of 24 hours; negative if `until` is earlier."""
    return elapsed(since, until) / timedelta(days=1)


def calendar_days_between(since: datetime, until: datetime) -> int:
    """Return the number of calendar days between two datetimes, each in its own UTC offset; negative if `until` is earlier.

    A `since` stored in UTC carries no local offset and is therefore converted to the zone of `until` first.
    """
    return (until.date() - _date_in_zone_of(until, since)).days


def local_date(moment: datetime) -> date:
    """Return the calendar date of a datetime in its own offset; a datetime in UTC is converted to the system's time zone."""
    return moment.date() if _offset(moment) else moment.astimezone().date()


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()


def _date_in_zone_of(reference: datetime, moment: datetime) -> date:
    if _offset(moment):
        return moment.date()
    try:
        return moment.astimezone(reference.tzinfo).date()
    except OverflowError:  # the first or last day of the calendar
        return moment.date()
