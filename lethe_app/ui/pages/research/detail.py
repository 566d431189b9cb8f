"""Detail pane of an inquiry: its rounds while it is running, the report and its sources."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.web import Inquiry, PageSummary
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.pages.research.labels import format_finding, format_round, format_time_and_cost
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label

MIN_WIDTH, WIDTH = 320, 620
SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


class ResearchDetail(DetailPane):
    """Detail pane of the selected inquiry."""

    link_activated = Signal(QUrl)

    def __init__(self, buttons: QWidget, parent: QWidget | None = None) -> None:
        """Create the pane; `buttons` are those of the commands on a report."""
        super().__init__(
            self.tr("Enter a question above.\n\nLethe searches the internet in several rounds and writes a report."),
            MIN_WIDTH,
            WIDTH,
            parent,
        )
        self.inquiry: Inquiry | None = None
        self._sources_shown: list[PageSummary] = []
        self._build(buttons)

    def _build(self, buttons: QWidget) -> None:
        card, column = create_card()
        self.title_label, self.date_label, self.status_label, self.rounds_label = (
            QLabel(),
            build_small_label(""),
            QLabel(),
            build_small_label(""),
        )
        self.title_label.setProperty("section", True)
        for label in (self.title_label, self.status_label):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for widget in (self.title_label, self.date_label, self.status_label, self.rounds_label, buttons):
            column.addWidget(widget)
        self._sheet.add_widget(card)
        self._report_card, report_column = create_card(self.tr("Report"))
        self.report_label = QLabel()
        self.report_label.setWordWrap(True)
        self.report_label.setTextFormat(Qt.TextFormat.PlainText)
        self.report_label.setTextInteractionFlags(SELECTABLE)
        self.report_label.setAccessibleName(self.tr("Report"))
        report_column.addWidget(self.report_label)
        self._sheet.add_widget(self._report_card)
        text = self.tr("Numbers match the references in the report. Click a source to open it in your browser.")
        self._sources_card, sources_column = create_card(self.tr("Sources"), text)
        self._source_column = QVBoxLayout()
        self._source_column.setSpacing(SPACE_2)
        sources_column.addLayout(self._source_column)
        self._sheet.add_widget(self._sources_card)

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
        self._show_sources(inquiry.findings)
        if is_other:
            self._sheet.verticalScrollBar().setValue(0)

    def _show_sources(self, findings: list[PageSummary]) -> None:
        self._sources_card.setVisible(bool(findings))
        if findings == self._sources_shown:
            return
        self._sources_shown = findings
        while (item := self._source_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for finding in findings:
            self._source_column.addWidget(self._build_source_row(finding))

    def _build_source_row(self, finding: PageSummary) -> QWidget:
        """Build the entry of a source: a button with number and title that opens it, and the full address below."""
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        text = format_finding(finding)
        elided = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, MIN_WIDTH * 2)
        button = QPushButton(elided.replace("&", "&&"))  # else it would be taken for the sign before a key
        button.setProperty("link", True)
        button.setMinimumWidth(1)  # a long title gives way
        button.setToolTip(finding.address.replace("<", "%3C"))  # else a stranger's tag would be obeyed
        button.setAccessibleName(text)
        button.setAccessibleDescription(finding.address)
        button.clicked.connect(lambda _on=False: self._open_address(finding.address))
        address = build_small_label(finding.address.replace("/", "/\u200b"))  # so that it may be broken
        column.addWidget(button)
        column.addWidget(address)
        return row

    def _open_address(self, address: str) -> None:
        if address.lower().startswith(("http://", "https://")):
            self.link_activated.emit(QUrl(address))
