"""What kinds of memories, ways of coming to mind and moments are called in the window, in words that need no manual."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from lethe_app.domain.list_items import NEVER, MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType, WordLink
from lethe_app.domain.recall import RecallWay, Recollection
from lethe_app.ui.core.phrases import REASONS

DRAWINGS = {
    MemoryType.GENERAL: "memory",
    MemoryType.WORLD_INFO: "book",
    MemoryType.WEB_SEARCH: "globe",
    MemoryType.CHAT_SESSION: "thought",
    MemoryType.JOURNAL: "edit",
    MemoryType.IMAGE: "eye",
    MemoryType.FILE: "folder",
    MemoryType.LOCATION: "pin",
    MemoryType.EVENT: "clock",
    MemoryType.PERSON: "user",
    MemoryType.GOAL: "check",
    MemoryType.REMINDER: "info",
}
"""The icon of each kind."""


def kind_in_words(kind: MemoryType) -> str:
    """“Person”, “Event”."""
    tr = QCoreApplication.translate
    return {
        MemoryType.GENERAL: tr("Memory", "General"),
        MemoryType.WORLD_INFO: tr("Memory", "Of a world"),
        MemoryType.WEB_SEARCH: tr("Memory", "Looked up"),
        MemoryType.CHAT_SESSION: tr("Memory", "Conversation"),
        MemoryType.JOURNAL: tr("Memory", "Journal"),
        MemoryType.IMAGE: tr("Memory", "Picture"),
        MemoryType.FILE: tr("Memory", "File"),
        MemoryType.LOCATION: tr("Memory", "Place"),
        MemoryType.EVENT: tr("Memory", "Event"),
        MemoryType.PERSON: tr("Memory", "Person"),
        MemoryType.GOAL: tr("Memory", "Goal"),
        MemoryType.REMINDER: tr("Memory", "Reminder"),
    }[kind]


def insertion_in_words(way: MemoryInsertion) -> str:
    """When it comes to mind, in a few words for a table."""
    tr = QCoreApplication.translate
    return {
        MemoryInsertion.TRIGGER: tr("Memory", "when it fits"),
        MemoryInsertion.NATURAL: tr("Memory", "once, at its moment"),
        MemoryInsertion.NATURAL_FORCED: tr("Memory", "once, in time"),
        MemoryInsertion.USER_RETURN: tr("Memory", "when you return"),
        MemoryInsertion.NONE: tr("Memory", "never by itself"),
    }[way]


def insertion_as_sentence(way: MemoryInsertion) -> str:
    """The same for someone who has to choose."""
    tr = QCoreApplication.translate
    return {
        MemoryInsertion.TRIGGER: tr("Memory", "Whenever it fits, by its meaning or a keyword"),
        MemoryInsertion.NATURAL: tr("Memory", "Once, when the talk comes near it"),
        MemoryInsertion.NATURAL_FORCED: tr("Memory", "Once, near it or after a while"),
        MemoryInsertion.USER_RETURN: tr("Memory", "Once, when you return after hours away"),
        MemoryInsertion.NONE: tr("Memory", "Never by itself; it is only kept"),
    }[way]


def link_as_sentence(link: WordLink) -> str:
    """How main and secondary keywords work together."""
    tr = QCoreApplication.translate
    return {
        WordLink.AND: tr("Memory", "One of the keywords and one of these"),
        WordLink.AND_ALL: tr("Memory", "One of the keywords and all of these"),
        WordLink.OR: tr("Memory", "A keyword of either list"),
        WordLink.NOT: tr("Memory", "One of the keywords and none of these"),
        WordLink.NOT_ALL: tr("Memory", "One of the keywords, unless all of these are there"),
    }[link]


def way_in_words(way: RecallWay) -> str:
    """How a memory came to mind."""
    tr = QCoreApplication.translate
    return {
        RecallWay.MEANING: tr("Memory", "by its meaning"),
        RecallWay.FACT: tr("Memory", "by a fact"),
        RecallWay.KEYWORD: tr("Memory", "by a keyword"),
        RecallWay.TITLE: tr("Memory", "by its name"),
        RecallWay.CONSTANT: tr("Memory", "always there"),
        RecallWay.ACTIVE: tr("Memory", "still in mind"),
        RecallWay.WOKEN: tr("Memory", "by another entry"),
        RecallWay.NATURAL: tr("Memory", "its moment has come"),
        RecallWay.FORCED: tr("Memory", "it waited long enough"),
        RecallWay.NEWS: tr("Memory", "you asked for news"),
        RecallWay.RETURN: tr("Memory", "it waited for you"),
        RecallWay.TIME: tr("Memory", "you asked about its time"),
        RecallWay.OPENING: tr("Memory", "a new conversation begins"),
    }[way]


def reasons_in_words(recollection: Recollection) -> str:
    """Why it came, the strongest reason first, with what was measured."""
    reasons = [(REASONS.in_words(why.what), why.value) for why in recollection.because]
    told = [f"{words} ({number(value)})" if value else words for words, value in reasons]
    return " · ".join([way_in_words(recollection.way), *told])


def number(value: float) -> str:
    """With two decimals, as this country writes them."""
    return QLocale().toString(float(value), "f", 2)


def day_of(moment: float) -> str:
    """“3 Nov 2026”; empty for never."""
    if moment == NEVER:
        return ""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(moment)).date(), "d MMM yyyy")


def moment_in_words(moment: datetime) -> str:
    """Day and time by the clock here."""
    local = moment.astimezone()
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(local.timestamp())), "d MMM yyyy, HH:mm")


def last_in_words(line: MemoryLine) -> str:
    """When it was last brought up; nothing if it never was."""
    return day_of(line.last) if line.times else ""
