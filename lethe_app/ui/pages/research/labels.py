"""Display texts of inquiries: state, rounds, cost and sources."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.web import Inquiry, InquiryState, PageSummary, SearchRound, WebHit
from lethe_app.ui.core.formatting import format_count, format_token_count
from lethe_app.ui.core.labels.dates import format_duration, format_relative_date, format_time
from lethe_app.ui.transcript.painting.source_list import format_source


def _tr(text: str) -> str:
    return QCoreApplication.translate("ResearchPage", text)


def format_state(inquiry: Inquiry) -> str:
    """Return the state in one or two words for the list."""
    return {
        InquiryState.RUNNING: _tr("Running"),
        InquiryState.DONE: _tr("Done") if inquiry.report else _tr("Nothing found"),
        InquiryState.STOPPED: _tr("Stopped"),
        InquiryState.FAILED: _tr("Failed"),
    }[inquiry.state]


def format_time_and_cost(inquiry: Inquiry) -> str:
    """Return start, duration and tokens of an inquiry."""
    parts = [f"{format_relative_date(inquiry.began)}, {format_time(inquiry.began)}"]
    if inquiry.ended is not None:
        parts.append(format_duration(inquiry.ended - inquiry.began))
    if inquiry.tokens:
        parts.append(format_token_count(inquiry.tokens))
    return " · ".join(parts)


def format_round(number: int, research_round: SearchRound) -> str:
    """Return a round in one line: “Round 2: “lamp oil”, “keepers” – 5 pages read, 3 useful”."""
    queries = ", ".join(f"“{query}”" for query in research_round.queries)
    pages = format_count(research_round.pages, _tr("{n} page read"), _tr("{n} pages read"))
    useful = _tr("{n} useful").format(n=QLocale().toString(research_round.findings))
    outcome = f"{pages}, {useful}" if research_round.pages else _tr("no pages read yet")
    return _tr("Round {number}: {asked} – {came}").format(number=number, asked=queries, came=outcome)


def format_finding(finding: PageSummary) -> str:
    """Return title and host of a source after the number by which the report refers to it."""
    return format_source(finding.number, WebHit(finding.title, finding.address))
