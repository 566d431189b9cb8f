"""Display texts of network requests, for the status line and for the log."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.web import DailyTraffic, OutgoingRequest, RequestPurpose
from lethe_app.ui.core.formatting import format_bytes, format_count

ICON_NAMES = {RequestPurpose.SEARCH: "search", RequestPurpose.PAGE: "globe", RequestPurpose.ROBOTS: "info"}
MAX_QUERY_LENGTH = 60


def format_running_request(request: OutgoingRequest) -> str:
    """Return a running request for the status line, such as “Searching DuckDuckGo for “lighthouses””."""
    tr = QCoreApplication.translate
    match request.purpose:
        case RequestPurpose.SEARCH:
            query = request.what if len(request.what) <= MAX_QUERY_LENGTH else f"{request.what[: MAX_QUERY_LENGTH - 1]}…"
            return tr("OutgoingRequest", "Searching {engine} for “{words}”").format(engine=request.to, words=query)
        case RequestPurpose.PAGE:
            return tr("OutgoingRequest", "Reading a page on {site}").format(site=request.host)
    return tr("OutgoingRequest", "Checking whether {site} allows reading").format(site=request.host)


def format_purpose(request: OutgoingRequest) -> str:
    """Return the display name of a request's purpose."""
    tr = QCoreApplication.translate
    match request.purpose:
        case RequestPurpose.SEARCH:
            return tr("OutgoingRequest", "Search")
        case RequestPurpose.PAGE:
            return tr("OutgoingRequest", "Web page")
    return tr("OutgoingRequest", "Permission check")


def format_result(request: OutgoingRequest) -> str:
    """Return the result of a request: the size received, or its state."""
    tr = QCoreApplication.translate
    if request.is_under_way:
        return tr("OutgoingRequest", "in progress")
    if request.trouble:
        return tr("OutgoingRequest", "no data")
    return format_bytes(request.received) if request.received else tr("OutgoingRequest", "response")


def request_details(request: OutgoingRequest) -> str:
    """Return all details of a request, one per line."""
    tr = QCoreApplication.translate
    lines = [request.what]
    lines.append(tr("OutgoingRequest", "{what}: {host}").format(what=format_purpose(request), host=request.host))
    if request.why:
        lines.append(tr("OutgoingRequest", "Reason: {why}").format(why=request.why))
    if request.trouble:
        lines.append(tr("OutgoingRequest", "Error: {trouble}").format(trouble=request.trouble))
    return "\n".join(lines)


def format_daily_traffic(day: DailyTraffic | None) -> str:
    """Return the number of requests and the size received today."""
    tr = QCoreApplication.translate
    if day is None or not day.requests:
        return tr("OutgoingRequest", "No requests today.")
    request_count = format_count(day.requests, tr("OutgoingRequest", "{n} request"), tr("OutgoingRequest", "{n} requests"))
    text = tr("OutgoingRequest", "Today: {many} sent, {size} received.")
    return text.format(many=request_count, size=format_bytes(day.received))
