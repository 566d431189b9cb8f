"""Format days and times: Today, Yesterday, Tuesday, 3 November 2026; 21:04."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QTime

_ENGLISH = QLocale(QLocale.Language.English)


def local_day(time: datetime) -> date:
    """Return the date of `time` in the local time zone."""
    return time.astimezone().date()


def format_day(day: date, today: date) -> str:
    """Return the label of a day, seen from `today`."""
    age = (today - day).days
    if age == 0:
        return QCoreApplication.translate("Day", "Today")
    if age == 1:
        return QCoreApplication.translate("Day", "Yesterday")
    qt_date = QDate(day.year, day.month, day.day)
    if 1 < age < 7:
        return _ENGLISH.toString(qt_date, "dddd")
    return _ENGLISH.toString(qt_date, "d MMMM" if day.year == today.year else "d MMMM yyyy")


def format_time(time: datetime) -> str:
    """Return the local time in the system's short format; 21:04 if the system has no locale."""
    local = time.astimezone()
    qt_time = QTime(local.hour, local.minute)
    system = QLocale.system()
    if system.language() == QLocale.Language.C:
        return qt_time.toString("HH:mm")
    return system.toString(qt_time, QLocale.FormatType.ShortFormat)
