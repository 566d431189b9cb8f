"""What leaves for the internet, in words: while it happens, and afterwards in the list."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.web import DayOut, Outgoing, Purpose
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.pages.trash.labels import bytes_in_words

DRAWINGS = {Purpose.SEARCH: "search", Purpose.PAGE: "globe", Purpose.ROBOTS: "info"}
LONGEST = 60


def happening_in_words(one: Outgoing) -> str:
    """For the status line: “Searching DuckDuckGo for lighthouses…”."""
    tr = QCoreApplication.translate
    match one.purpose:
        case Purpose.SEARCH:
            what = one.what if len(one.what) <= LONGEST else f"{one.what[: LONGEST - 1]}…"
            return tr("Outgoing", "Searching {engine} for “{words}”").format(engine=one.to, words=what)
        case Purpose.PAGE:
            return tr("Outgoing", "Reading a page of {site}").format(site=one.host)
    return tr("Outgoing", "Asking {site} whether it may be read").format(site=one.host)


def purpose_in_words(one: Outgoing) -> str:
    """What kind of request it was."""
    tr = QCoreApplication.translate
    match one.purpose:
        case Purpose.SEARCH:
            return tr("Outgoing", "Searched")
        case Purpose.PAGE:
            return tr("Outgoing", "Read")
    return tr("Outgoing", "Asked first")


def result_in_words(one: Outgoing) -> str:
    """What came of it."""
    tr = QCoreApplication.translate
    if one.is_under_way:
        return tr("Outgoing", "under way")
    if one.trouble:
        return tr("Outgoing", "nothing")
    return bytes_in_words(one.received) if one.received else tr("Outgoing", "an answer")


def told_in_full(one: Outgoing) -> str:
    """Everything that is known of it, line by line."""
    tr = QCoreApplication.translate
    lines = [one.what]
    lines.append(tr("Outgoing", "{what} at {host}").format(what=purpose_in_words(one), host=one.host))
    if one.why:
        lines.append(tr("Outgoing", "Why: {why}").format(why=one.why))
    if one.trouble:
        lines.append(tr("Outgoing", "What went wrong: {trouble}").format(trouble=one.trouble))
    return "\n".join(lines)


def day_in_words(day: DayOut | None) -> str:
    """How much it was today."""
    tr = QCoreApplication.translate
    if day is None or not day.requests:
        return tr("Outgoing", "Nothing left this computer today.")
    many = counted(day.requests, tr("Outgoing", "{n} request"), tr("Outgoing", "{n} requests"))
    words = tr("Outgoing", "Today {many} left this computer, and {size} came back.")
    return words.format(many=many, size=bytes_in_words(day.received))
