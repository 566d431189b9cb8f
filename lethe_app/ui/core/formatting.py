"""Formatting of ages, sizes, counts and lists for display, in the language and locale of the user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDate, QLocale

if TYPE_CHECKING:
    from lethe_app.domain.model import ModelFile


def age_in_words(moment: datetime, present: datetime) -> str:
    """Return the local day of `moment` relative to `present`; the year is included only if it differs."""
    day, today = moment.astimezone().date(), present.astimezone().date()
    passed = (today - day).days
    if passed <= 0:
        return QCoreApplication.translate("Age", "today")
    if passed == 1:
        return QCoreApplication.translate("Age", "yesterday")
    locale = QLocale()
    if passed < 7:
        return locale.standaloneDayName(day.isoweekday())
    date = QDate(day.year, day.month, day.day)
    return locale.toString(date, "d MMM" if day.year == today.year else "d MMM yyyy")


def counted(count: int, one: str, many: str) -> str:
    """Return `one` if `count` is 1, else `many`, with the number in place of {n}; both must be translated already."""
    return (one if count == 1 else many).format(n=QLocale().toString(count))


def joined(parts: Sequence[str]) -> str:
    """Join texts as in “a, b and c”."""
    return _joined(parts, QCoreApplication.translate("Words", "{several} and {last}"))


def one_of(parts: Sequence[str]) -> str:
    """Join texts as in “a, b or c”."""
    return _joined(parts, QCoreApplication.translate("Words", "{several} or {last}"))


def _joined(parts: Sequence[str], both: str) -> str:
    return both.format(several=", ".join(parts[:-1]), last=parts[-1]) if len(parts) > 1 else "".join(parts)


def messages_in_words(count: int) -> str:
    """Return “1 message”, “212 messages”."""
    one, many = QCoreApplication.translate("Count", "{n} message"), QCoreApplication.translate("Count", "{n} messages")
    return counted(count, one, many)


def sources_in_words(count: int) -> str:
    """Return “1 source”, “3 sources”."""
    one, many = QCoreApplication.translate("Count", "{n} source"), QCoreApplication.translate("Count", "{n} sources")
    return counted(count, one, many)


def minutes_in_words(minutes: int) -> str:
    """Return “60 minutes”, “4 hours”, “2 days”: in the largest unit in which it is a whole number of at least two."""
    units = (
        (1440, QCoreApplication.translate("Count", "{n} day"), QCoreApplication.translate("Count", "{n} days")),
        (60, QCoreApplication.translate("Count", "{n} hour"), QCoreApplication.translate("Count", "{n} hours")),
        (1, QCoreApplication.translate("Count", "{n} minute"), QCoreApplication.translate("Count", "{n} minutes")),
    )
    size, one, many = next(unit for unit in units if unit[0] == 1 or (minutes % unit[0] == 0 and minutes >= 2 * unit[0]))
    return counted(minutes // size, one, many)


def memories_in_words(count: int) -> str:
    """Return “1 memory”, “3 memories”."""
    one, many = QCoreApplication.translate("Count", "{n} memory"), QCoreApplication.translate("Count", "{n} memories")
    return counted(count, one, many)


def recalled_in_words(count: int) -> str:
    """Return “3 memories used”, for memories, facts and world entries together."""
    one, many = QCoreApplication.translate("Count", "{n} memory used"), QCoreApplication.translate("Count", "{n} memories used")
    return counted(count, one, many)


def tokens_in_words(count: int) -> str:
    """Return “1 token”, “142 tokens”."""
    one, many = QCoreApplication.translate("Count", "{n} token"), QCoreApplication.translate("Count", "{n} tokens")
    return counted(count, one, many)


def rounded(tokens: int) -> str:
    """Return a token count in short form: 3120 as “3.1k”, 512 as “512”, multiples of 1024 by their usual name: 8192 as “8k”."""
    if tokens < 1000:
        return str(tokens)
    if tokens % 1024 == 0:
        return f"{tokens // 1024}k"
    return f"{QLocale().toString(tokens / 1000, 'f', 1)}k"


def size_in_words(size: int) -> str:
    """Return a size in bytes as “4.1 GB” or “138 MB”, with decimal units as in file managers."""
    locale = QLocale()
    if size >= 1_000_000_000:
        return f"{locale.toString(size / 1e9, 'f', 1)} GB"
    return f"{locale.toString(max(1, round(size / 1e6)))} MB"


def described(model: ModelFile) -> str:
    """Return source, size and quantisation of a model."""
    return " · ".join(part for part in (model.source, size_in_words(model.size), model.quantization) if part)
