"""Display texts of network requests, for the status line and for the log."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.web import DayOut, Outgoing, Purpose
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.pages.trash.labels import bytes_in_words

ICON_NAMES = {Purpose.SEARCH: "search", Purpose.PAGE: "globe", Purpose.ROBOTS: "info"}
MAX_QUERY_LENGTH = 60


def running_request_in_words(request: Outgoing) -> str:
    """Return a running request for the status line, such as “Searching DuckDuckGo for “lighthouses””."""
    tr = QCoreApplication.translate
    match request.purpose:
        case Purpose.SEARCH:
            query = request.what if len(request.what) <= MAX_QUERY_LENGTH else f"{request.what[: MAX_QUERY_LENGTH - 1]}…"
            return tr("Outgoing", "Searching {engine} for “{words}”").format(engine=request.to, words=query)
        case Purpose.PAGE:
            return tr("Outgoing", "Reading a page on {site}").format(site=request.host)
    return tr("Outgoing", "Checking whether {site} allows reading").format(site=request.host)


def purpose_in_words(request: Outgoing) -> str:
    """Return the display name of a request's purpose."""
    tr = QCoreApplication.translate
    match request.purpose:
        case Purpose.SEARCH:
            return tr("Outgoing", "Search")
        case Purpose.PAGE:
            return tr("Outgoing", "Web page")
    return tr("Outgoing", "Permission check")


def result_in_words(request: Outgoing) -> str:
    """Return the result of a request: the size received, or its state."""
    tr = QCoreApplication.translate
    if request.is_under_way:
        return tr("Outgoing", "in progress")
    if request.trouble:
        return tr("Outgoing", "no data")
    return bytes_in_words(request.received) if request.received else tr("Outgoing", "response")


def request_details(request: Outgoing) -> str:
    """Return all details of a request, one per line."""
    tr = QCoreApplication.translate
    lines = [request.what]
    lines.append(tr("Outgoing", "{what}: {host}").format(what=purpose_in_words(request), host=request.host))
    if request.why:
        lines.append(tr("Outgoing", "Reason: {why}").format(why=request.why))
    if request.trouble:
        lines.append(tr("Outgoing", "Error: {trouble}").format(trouble=request.trouble))
    return "\n".join(lines)


def day_in_words(day: DayOut | None) -> str:
    """Return the number of requests and the size received today."""
    tr = QCoreApplication.translate
    if day is None or not day.requests:
        return tr("Outgoing", "No requests today.")
    request_count = format_count(day.requests, tr("Outgoing", "{n} request"), tr("Outgoing", "{n} requests"))
    text = tr("Outgoing", "Today: {many} sent, {size} received.")
    return text.format(many=request_count, size=bytes_in_words(day.received))
