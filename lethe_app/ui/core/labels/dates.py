"""Dates, times of day and durations in the language and locale of the user."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale, Qt, QTime

from lethe_app.domain.clock import now
from lethe_app.domain.list_items import NEVER
from lethe_app.ui.core.formatting import format_age

NOTEBOOK_DATE = re.compile(r"\((\d{4}-\d\d-\d\d)\)(?=[ \t]*$)", re.MULTILINE)
_ENGLISH = QLocale(QLocale.Language.English)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ActivityPage", text)


def format_date(moment: float) -> str:
    """Return a date such as “3 Nov 2026” from a Unix timestamp; an empty string for NEVER."""
    if moment == NEVER:
        return ""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(moment)).date(), "d MMM yyyy")


def format_date_time(moment: datetime) -> str:
    """Return local date and time."""
    local = moment.astimezone()
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(local.timestamp())), "d MMM yyyy, HH:mm")


def format_relative_date(moment: datetime) -> str:
    """Return a date relative to now, such as “today” or “yesterday”."""
    return format_age(moment, now())


def spell_out_dates(text: str) -> str:
    """Return the text of a notebook with the ISO dates at the ends of its lines as “27 Nov 2026”."""
    return NOTEBOOK_DATE.sub(lambda found: f"({_format_iso_date(found[1])})", text)


def _format_iso_date(text: str) -> str:
    day = QDate.fromString(text, Qt.DateFormat.ISODate)
    # The spaces do not break, so that a date stays on one line.
    return QLocale().toString(day, "d MMM yyyy").replace(" ", "\N{NO-BREAK SPACE}") if day.isValid() else text


def format_time(moment: datetime) -> str:
    """Return the local time of day in the system's short format; 21:04 if the system has no locale."""
    local = moment.astimezone()
    time, system = QTime(local.hour, local.minute), QLocale.system()
    is_nameless = system.language() == QLocale.Language.C
    return time.toString("HH:mm") if is_nameless else system.toString(time, QLocale.FormatType.ShortFormat)


def local_day(moment: datetime) -> date:
    """Return the date in the local time zone."""
    return moment.astimezone().date()


def format_day(day: date, today: date) -> str:
    """Return the label of a day, seen from `today`: Today, Yesterday, Tuesday, 3 November, 3 November 2025."""
    age = (today - day).days
    if age in {0, 1}:
        return QCoreApplication.translate("Day", "Yesterday") if age else QCoreApplication.translate("Day", "Today")
    pattern = "dddd" if 1 < age < 7 else "d MMMM" if day.year == today.year else "d MMMM yyyy"
    return _ENGLISH.toString(QDate(day.year, day.month, day.day), pattern)


def format_duration(duration: timedelta) -> str:
    """Return a duration in seconds below one minute, otherwise in minutes: “40 s”, “3 min”."""
    seconds = round(duration.total_seconds())
    if seconds < 60:
        return _tr("{n} s").format(n=seconds)
    return _tr("{n} min").format(n=round(seconds / 60))
