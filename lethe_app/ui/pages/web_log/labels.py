"""Display texts of network requests, for the status line and for the log."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.web import DayOut, Outgoing, Purpose
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.pages.trash.labels import bytes_in_words

DRAWINGS = {Purpose.SEARCH: "search", Purpose.PAGE: "globe", Purpose.ROBOTS: "info"}
LONGEST = 60


def happening_in_words(one: Outgoing) -> str:
    """Return a running request for the status line, such as “Searching DuckDuckGo for “lighthouses””."""
    tr = QCoreApplication.translate
    match one.purpose:
        case Purpose.SEARCH:
            what = one.what if len(one.what) <= LONGEST else f"{one.what[: LONGEST - 1]}…"
            return tr("Outgoing", "Searching {engine} for “{words}”").format(engine=one.to, words=what)
        case Purpose.PAGE:
            return tr("Outgoing", "Reading a page on {site}").format(site=one.host)
    return tr("Outgoing", "Checking whether {site} allows reading").format(site=one.host)


def purpose_in_words(one: Outgoing) -> str:
    """Return the display name of a request's purpose."""
    tr = QCoreApplication.translate
    match one.purpose:
        case Purpose.SEARCH:
            return tr("Outgoing", "Search")
        case Purpose.PAGE:
            return tr("Outgoing", "Web page")
    return tr("Outgoing", "Permission check")


def result_in_words(one: Outgoing) -> str:
    """Return the result of a request: the size received, or its state."""
    tr = QCoreApplication.translate
    if one.is_under_way:
        return tr("Outgoing", "in progress")
    if one.trouble:
        return tr("Outgoing", "no data")
    return bytes_in_words(one.received) if one.received else tr("Outgoing", "response")


def told_in_full(one: Outgoing) -> str:
    """Return all details of a request, one per line."""
    tr = QCoreApplication.translate
    lines = [one.what]
    lines.append(tr("Outgoing", "{what}: {host}").format(what=purpose_in_words(one), host=one.host))
    if one.why:
        lines.append(tr("Outgoing", "Reason: {why}").format(why=one.why))
    if one.trouble:
        lines.append(tr("Outgoing", "Error: {trouble}").format(trouble=one.trouble))
    return "\n".join(lines)


def day_in_words(day: DayOut | None) -> str:
    """Return the number of requests and the size received today."""
    tr = QCoreApplication.translate
    if day is None or not day.requests:
        return tr("Outgoing", "No requests today.")
    many = counted(day.requests, tr("Outgoing", "{n} request"), tr("Outgoing", "{n} requests"))
    words = tr("Outgoing", "Today: {many} sent, {size} received.")
    return words.format(many=many, size=bytes_in_words(day.received))
