"""Detail pane of an inquiry: its rounds while it is running, the report and its sources."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from lethe_app.domain.web import Inquiry, PageSummary
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.pages.research.labels import round_in_words, source_in_words, when_in_words
from lethe_app.ui.widgets.card_column import Sheet, invitation, made_card
from lethe_app.ui.widgets.flow_layout import Flow

LEAST_WIDTH, WIDTH = 320, 620
SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard


class ResearchDetail(QStackedWidget):
    """Detail pane of the selected inquiry. It only emits signals; the page carries out the actions."""

    keep_wanted = Signal()
    save_wanted = Signal()
    forget_wanted = Signal()
    link_activated = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.inquiry: Inquiry | None = None
        self._sources_shown: list[PageSummary] = []
        self.setMinimumWidth(LEAST_WIDTH)
        nothing = invitation(
            self.tr("Enter a question above.\n\nLethe searches the internet in several rounds and writes a report.")
        )
        self.sheet = Sheet()
        self.sheet.column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        self._build()
        self.addWidget(nothing)
        self.addWidget(self.sheet)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _build(self) -> None:
        card, column = made_card()
        self.title, self.when, self.doing, self.rounds = QLabel(), explanation(""), QLabel(), explanation("")
        self.title.setProperty("section", True)
        for label in (self.title, self.doing):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for widget in (self.title, self.when, self.doing, self.rounds):
            column.addWidget(widget)
        self._buttons = self._made_buttons()
        column.addWidget(self._buttons)
        self.sheet.add(card)
        self._report_card, report_column = made_card(self.tr("Report"))
        self.report = QLabel()
        self.report.setWordWrap(True)
        self.report.setTextFormat(Qt.TextFormat.PlainText)
        self.report.setTextInteractionFlags(SELECTABLE)
        self.report.setAccessibleName(self.tr("Report"))
        report_column.addWidget(self.report)
        self.sheet.add(self._report_card)
        words = self.tr("Numbers match the references in the report. Click a source to open it in your browser.")
        self._sources_card, sources_column = made_card(self.tr("Sources"), words)
        self._sources = QVBoxLayout()
        self._sources.setSpacing(SPACE_2)
        sources_column.addLayout(self._sources)
        self.sheet.add(self._sources_card)

    def _made_buttons(self) -> QWidget:
        line = QWidget()
        flow = Flow(line, spacing=SPACE_2)
        self.keep_button = self._button(self.keep_wanted.emit)
        self.save_button = self._button(self.save_wanted.emit, self.tr("Save as Markdown…"))
        self.forget_button = self._button(self.forget_wanted.emit, self.tr("Delete report"))
        self.forget_button.setToolTip(self.tr("Delete the report; a memory made from it is kept"))
        for button in (self.keep_button, self.save_button, self.forget_button):
            flow.addWidget(button)
        return line

    def _button(self, act: Callable[[], object], title: str = "") -> QPushButton:
        button = QPushButton(title)
        button.setProperty("filled", True)
        button.clicked.connect(lambda _on=False: act())
        return button

    def show_inquiry(self, inquiry: Inquiry | None) -> None:
        """Show an inquiry, or a hint if it is None; the scroll position is kept while it is the same inquiry."""
        is_same = inquiry is not None and self.inquiry == inquiry
        is_another = inquiry is None or self.inquiry is None or self.inquiry.id != inquiry.id
        self.inquiry = inquiry
        self.setCurrentIndex(0 if inquiry is None else 1)
        if inquiry is None or is_same:
            return
        self.title.setText(inquiry.topic)
        self.when.setText(when_in_words(inquiry))
        self.doing.setText(f"{inquiry.doing}…" if inquiry.is_running else inquiry.doing)
        self.doing.setVisible(bool(inquiry.doing))
        self.rounds.setText("\n".join(round_in_words(number, one) for number, one in enumerate(inquiry.rounds, 1)))
        self.rounds.setVisible(bool(inquiry.rounds))
        self.report.setText(inquiry.report)
        self._report_card.setVisible(bool(inquiry.report))
        self._offer(inquiry)
        self._show_sources(inquiry.findings)
        if is_another:
            self.sheet.verticalScrollBar().setValue(0)

    def _offer(self, inquiry: Inquiry) -> None:
        is_kept = inquiry.memory is not None
        self.keep_button.setText(self.tr("Remove from memory") if is_kept else self.tr("Save to memory"))
        tip = (
            self.tr("Move the memory to the Trash")
            if is_kept
            else self.tr("Save the report with its sources as a memory that never fades")
        )
        self.keep_button.setToolTip(tip)
        for button in (self.keep_button, self.save_button):
            button.setVisible(not inquiry.is_running and bool(inquiry.report))
        self._buttons.setVisible(not inquiry.is_running)

    def _show_sources(self, findings: list[PageSummary]) -> None:
        self._sources_card.setVisible(bool(findings))
        if findings == self._sources_shown:
            return
        self._sources_shown = findings
        while (item := self._sources.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for finding in findings:
            self._sources.addWidget(self._source(finding))

    def _source(self, finding: PageSummary) -> QWidget:
        """Build the entry of a source: a button with number and title that opens it, and the full address below."""
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        words = source_in_words(finding)
        short = self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideMiddle, LEAST_WIDTH * 2)
        button = QPushButton(short.replace("&", "&&"))  # else it would be taken for the sign before a key
        button.setProperty("link", True)
        button.setMinimumWidth(1)  # a long title gives way
        button.setToolTip(finding.address.replace("<", "%3C"))  # else a stranger's tag would be obeyed
        button.setAccessibleName(words)
        button.setAccessibleDescription(finding.address)
        button.clicked.connect(lambda _on=False: self._open(finding.address))
        address = explanation(finding.address.replace("/", "/\u200b"))  # so that it may be broken
        column.addWidget(button)
        column.addWidget(address)
        return whole

    def _open(self, address: str) -> None:
        if address.lower().startswith(("http://", "https://")):
            self.link_activated.emit(QUrl(address))
