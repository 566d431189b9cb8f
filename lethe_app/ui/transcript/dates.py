"""Says days and times in the words a reader uses: Today, Yesterday, Tuesday, 3 November 2026; 21:04."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QTime

_ENGLISH = QLocale(QLocale.Language.English)


def local_day(time: datetime) -> date:
    """The day on the reader's own calendar."""
    return time.astimezone().date()


def day_words(day: date, today: date) -> str:
    """How a day is called when it is `today`."""
    age = (today - day).days
    if age == 0:
        return QCoreApplication.translate("Day", "Today")
    if age == 1:
        return QCoreApplication.translate("Day", "Yesterday")
    told = QDate(day.year, day.month, day.day)
    if 1 < age < 7:
        return _ENGLISH.toString(told, "dddd")
    return _ENGLISH.toString(told, "d MMMM" if day.year == today.year else "d MMMM yyyy")


def clock_words(time: datetime) -> str:
    """The time of day as the reader's system writes it, 21:04 where it does not say."""
    local = time.astimezone()
    told = QTime(local.hour, local.minute)
    system = QLocale.system()
    if system.language() == QLocale.Language.C:
        return told.toString("HH:mm")
    return system.toString(told, QLocale.FormatType.ShortFormat)
