"""Detail pane of an inquiry: its rounds while it is running, the report and its sources; and the display texts of these."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.web import Inquiry, InquiryState, PageSummary, SearchRound, WebHit
from lethe_app.ui.core.formatting import format_count, format_token_count
from lethe_app.ui.core.labels.dates import format_duration, format_relative_date, format_time
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.transcript.painting.reply_lists import format_source
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column

MIN_WIDTH, WIDTH = 320, 620
SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


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


class ResearchDetail(DetailPane):
    """Detail pane of the selected inquiry."""

    def __init__(self, buttons: QWidget, parent: QWidget | None = None) -> None:
        """Create the pane; `buttons` are those of the commands on a report."""
        super().__init__(
            self.tr("Enter a question above.\n\nLethe searches the internet in several rounds and writes a report."),
            MIN_WIDTH,
            WIDTH,
            parent,
        )
        self.inquiry: Inquiry | None = None
        self.title_label, self.date_label = create_text_label("", "section"), build_small_label("")
        self.status_label, self.rounds_label = create_text_label(""), build_small_label("")
        self.add_card(self.title_label, self.date_label, self.status_label, self.rounds_label, buttons)
        self.report_label = create_text_label("")
        self.report_label.setTextInteractionFlags(SELECTABLE)
        self.report_label.setAccessibleName(self.tr("Report"))
        self._report_card, _column = self.add_card(self.report_label, title=self.tr("Report"))
        text = self.tr("Numbers match the references in the report. Click a source to open it in your browser.")
        self._source_column = build_column(spacing=SPACE_2)
        self._sources_card, column = self.add_card(title=self.tr("Sources"), help_text=text)
        column.addLayout(self._source_column)

    def show_inquiry(self, inquiry: Inquiry | None) -> None:
        """Show an inquiry, or a hint if it is None; the scroll position is kept while it is the same inquiry."""
        is_same = inquiry is not None and self.inquiry == inquiry
        is_other = inquiry is None or self.inquiry is None or self.inquiry.id != inquiry.id
        self.inquiry = inquiry
        self.setCurrentIndex(0 if inquiry is None else 1)
        if inquiry is None or is_same:
            return
        self.title_label.setText(inquiry.topic)
        self.date_label.setText(format_time_and_cost(inquiry))
        self.status_label.setText(f"{inquiry.doing}…" if inquiry.is_running else inquiry.doing)
        self.status_label.setVisible(bool(inquiry.doing))
        self.rounds_label.setText(
            "\n".join(format_round(number, research_round) for number, research_round in enumerate(inquiry.rounds, 1))
        )
        self.rounds_label.setVisible(bool(inquiry.rounds))
        self.report_label.setText(inquiry.report)
        self._report_card.setVisible(bool(inquiry.report))
        self._sources_card.setVisible(bool(inquiry.findings))
        fill_layout(self._source_column, map(self._build_source_row, inquiry.findings))
        if is_other:
            self._sheet.verticalScrollBar().setValue(0)

    def _build_source_row(self, finding: PageSummary) -> QWidget:
        """Build the entry of a source: a button with number and title that opens it, and the full address below."""
        row, text = QWidget(), format_source(finding.number, WebHit(finding.title, finding.address))
        elided = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, MIN_WIDTH * 2)
        button = QPushButton(elided.replace("&", "&&"))  # else it would be taken for the sign before a key
        button.setProperty("link", True)
        button.setMinimumWidth(1)  # a long title gives way
        button.setToolTip(finding.address.replace("<", "%3C"))  # else a stranger's tag would be obeyed
        button.setAccessibleName(text)
        button.setAccessibleDescription(finding.address)
        if finding.address.lower().startswith(("http://", "https://")):
            button.clicked.connect(lambda _on=False: QDesktopServices.openUrl(QUrl(finding.address)))
        address = build_small_label(finding.address.replace("/", "/\u200b"))  # so that it may be broken
        build_column(button, address, spacing=SPACE_1, parent=row)
        return row
