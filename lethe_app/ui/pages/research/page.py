"""Page “Research”: a question to the web, the rounds of the running inquiry, and the reports of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, QLocale, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from lethe_app.config.settings import Settings
from lethe_app.domain.web import Inquiry, InquiryState, PageSummary, SearchRound, WebHit
from lethe_app.services.preferences import Preferences
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.web.research import ResearchService
from lethe_app.ui.core.formatting import format_count, format_token_count, suggest_file_name
from lethe_app.ui.core.labels.dates import format_duration, format_relative_date, format_time
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.routes import NetworkLogRoute, ResearchRoute, Route
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, single_command
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.transcript.painting.reply_lists import format_source
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table_model import Column

LIST_WIDTH = 360
"""Initial width of the list in pixels."""
MIN_DETAIL_WIDTH, DETAIL_WIDTH = 320, 620
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
            MIN_DETAIL_WIDTH,
            DETAIL_WIDTH,
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
        shown_findings = None if is_other or self.inquiry is None else self.inquiry.findings
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
        if inquiry.findings != shown_findings:  # new buttons would lose the focus, and a click that has begun
            fill_layout(self._source_column, map(self._build_source_row, inquiry.findings))
        if is_other:
            self._sheet.verticalScrollBar().setValue(0)

    def _build_source_row(self, finding: PageSummary) -> QWidget:
        """Build the entry of a source: a button with number and title that opens it, and the full address below."""
        row, text = QWidget(), format_source(finding.number, WebHit(finding.title, finding.address))
        elided = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, MIN_DETAIL_WIDTH * 2)
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


class ResearchPage(RecordPage[Inquiry]):
    """Page with the question at the top, the inquiries on the left and the selected one on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        research: ResearchService,
        fact_lists: FactLists,
        preferences: Preferences,
    ) -> None:
        """Create the page; `persona_selector` chooses who does the research, while all reports are listed."""
        super().__init__(context, QCoreApplication.translate("ResearchPage", "Research"))
        self._research = research
        self._fact_lists, self._preferences, self.persona_field = fact_lists, preferences, persona_selector
        self.stop_button = self.add_button(self.tr("Stop"), research.stop, "stop")
        commands = self._build_commands()
        self.detail = ResearchDetail(self.build_command_buttons(*commands))
        question_rows = self._build_question()
        self.build_list(
            RecordSpec(
                name=self.tr("Research history"),
                columns=self._build_columns(),
                key=attrgetter("id"),
                search_text=attrgetter("topic"),
                empty_text=self.tr(
                    "No research yet\n\n"
                    "Research reads several web pages about your question and writes a report with its sources, which a persona"
                    " can keep as a memory."
                ),
                commands=commands,
                selects_one=True,
                selects_first=True,
            ),
            detail=self.detail,
            top=question_rows,
        )
        self.panes.setStretchFactor(0, 0)
        self.panes.setStretchFactor(1, 1)
        self.panes.setSizes([LIST_WIDTH, 2 * LIST_WIDTH])
        self.follow(research.changed)
        self._unsubscribers += [
            research.changed.add(self._show_progress),
            preferences.changed.add(self._apply_settings),
        ]
        persona_selector.chosen.connect(lambda _persona: self._update_start_button())
        self._apply_settings(preferences.current)

    def _build_columns(self) -> list[Column[Inquiry]]:
        def state_colour(inquiry: Inquiry) -> str:
            return self.theme.palette.danger if inquiry.state is InquiryState.FAILED else self.theme.palette.muted

        tr = self.tr
        return [
            Column(tr("Question"), attrgetter("topic"), width=0, min_width=220),
            Column(tr("Status"), format_state, width=104, colour=state_colour, hides_at=2),
            Column(tr("Date"), lambda one: format_relative_date(one.began), attrgetter("began"), 92, hides_at=1),
        ]

    def _build_commands(self) -> list[RecordCommand[Inquiry]]:
        """Return the commands on a report, which is not being written any more."""
        tr = self.tr

        def has_report(inquiry: Inquiry) -> bool:
            return not inquiry.is_running and bool(inquiry.report)

        return [
            single_command(
                tr("Save to memory"),
                self._save_to_memory,
                is_shown=lambda inquiry: has_report(inquiry) and inquiry.memory is None,
                tooltip=tr("Save the report with its sources as a memory that never fades"),
            ),
            single_command(
                tr("Remove from memory"),
                self._remove_from_memory,
                is_shown=lambda inquiry: has_report(inquiry) and inquiry.memory is not None,
                tooltip=tr("Move the memory to the Trash"),
            ),
            single_command(tr("Save as Markdown…"), self._ask_and_save, is_shown=has_report),
            single_command(
                tr("Delete report"),
                self._delete_report,
                (Key.DELETE,),
                is_shown=lambda inquiry: not inquiry.is_running,
                tooltip=tr("Delete the report; a memory made from it is kept"),
            ),
        ]

    def _build_question(self) -> list[QWidget | QHBoxLayout]:
        self.topic_field = QLineEdit()
        self.topic_field.setPlaceholderText(self.tr("What would you like to know?"))
        self.topic_field.setAccessibleName(self.tr("What would you like to know?"))
        self.topic_field.setMaxLength(200)
        self.persona_field.setToolTip(self.tr("Persona that does the research and may save it to memory"))
        self.start_button = build_button(self.tr("Start research"), self.start_inquiry, primary=True)
        self.allow_button = build_button(self.tr("Allow internet…"), lambda: self._context.navigator.open(NetworkLogRoute()))
        self.hint = build_small_label("")
        self.topic_field.returnPressed.connect(self.start_inquiry)
        self.topic_field.textChanged.connect(lambda _text: self._update_start_button())
        self.examples = self._build_examples()
        return [
            build_row(self.persona_field, (self.topic_field, 1), self.start_button, spacing=SPACE_3),
            build_row((self.hint, 1), self.allow_button, spacing=SPACE_3),
            self.examples,
        ]

    def _build_examples(self) -> QWidget:
        """Create the example questions, which are offered until there is a first report."""
        line = QWidget()
        flow = FlowLayout(line, spacing=SPACE_1)
        flow.addWidget(build_small_label(self.tr("For example:")))
        for question in (
            self.tr("How did ships find their position before satellites?"),
            self.tr("Which vegetables grow in a shady garden?"),
            self.tr("What is known about the Antikythera mechanism?"),
        ):
            button = QPushButton(question)
            button.setProperty("chip", True)
            button.clicked.connect(lambda _checked=False, text=question: self._take_example(text))
            flow.addWidget(button)
        return line

    def _take_example(self, question: str) -> None:
        self.topic_field.setText(question)
        self.topic_field.setFocus()

    @property
    def persona_id(self) -> str:
        return self.persona_field.persona_id

    def choose_persona(self, persona_id: str) -> None:
        if persona_id:  # a report is shown whoever wrote it
            self.persona_field.choose_persona(persona_id)

    def first_focus_widget(self) -> QWidget:
        return self.topic_field

    def close_page(self) -> None:
        self.persona_field.close_field()
        super().close_page()

    def show_route(self, route: Route) -> None:
        if isinstance(route, ResearchRoute) and route.inquiry is not None:
            self.go_to_record("", route.inquiry)

    # The list

    async def load_records(self) -> Sequence[Inquiry]:
        return await self._research.list_inquiries()

    def after_load(self) -> None:
        self.examples.setVisible(not self.rows.row_total)

    def show_record(self, record: Inquiry | None) -> None:
        self.detail.show_inquiry(record)

    def format_count(self) -> str:
        """Return what is being researched now."""
        running = self._research.running
        return f"{running.topic} – {running.doing}" if running is not None else ""

    def _show_progress(self, inquiry: Inquiry | None) -> None:
        """Show progress of the running inquiry at once."""
        if inquiry is not None and self.detail.inquiry is not None and inquiry.id == self.detail.inquiry.id:
            self.detail.show_inquiry(inquiry)
        self._update_start_button()

    # A new inquiry

    def _update_start_button(self) -> None:
        self.stop_button.setVisible(self._research.running is not None)
        self.subtitle.set_full_text(self.format_count())
        reason = self._find_hindrance()
        self.start_button.setEnabled(not reason)
        self.start_button.setToolTip(reason)

    def _find_hindrance(self) -> str:
        """Return why research cannot be started; empty if it can."""
        if not self._preferences.current.web_allowed:
            return self.tr("Internet search is turned off")
        if self._research.running is not None:
            return self.tr("Another research is still running")
        if not self.persona_field.persona_id:
            return self.tr("There is no persona to do it")
        return "" if self.topic_field.text().strip() else self.tr("Enter a question first")

    def _apply_settings(self, settings: Settings) -> None:
        self.allow_button.setVisible(not settings.web_allowed)
        text = (
            self.tr("Your question is sent to the search engine exactly as written, so leave out anything private.")
            if settings.web_allowed
            else self.tr("Research cannot start: internet search is turned off.")
        )
        self.hint.setText(text)
        self._update_start_button()

    def start_inquiry(self) -> None:
        """Start research on the question in the field."""
        if self.start_button.isEnabled():
            self._context.tasks.start_task(self._start_and_select(self.persona_field.persona_id, self.topic_field.text()))

    async def _start_and_select(self, persona_id: str, topic: str) -> None:
        inquiry = await self._research.start_inquiry(persona_id, topic)
        self.topic_field.clear()
        self.go_to_record("", inquiry.id)

    # Commands

    def _save_to_memory(self, inquiry: Inquiry) -> None:
        save, forget = partial(self._research.save_as_memory, inquiry.id), partial(self._research.forget_memory, inquiry.id)
        self.run_undoable(self.tr("saving to memory"), save, forget)
        name = self.persona_field.itemText(self.persona_field.findData(inquiry.persona_id)) or inquiry.persona_id
        self._context.notifier.notify(self.tr("Saved to the memories of {name}.").format(name=name))

    def _remove_from_memory(self, inquiry: Inquiry) -> None:
        save, forget = partial(self._research.save_as_memory, inquiry.id), partial(self._research.forget_memory, inquiry.id)
        self.run_undoable(self.tr("removing from memory"), forget, save)

    async def _ask_and_save(self, inquiry: Inquiry) -> None:
        """Ask for a file and save the report as Markdown."""
        stem = suggest_file_name(inquiry.topic, self.tr("Report"))
        await self.ask_and_save_text(self.tr("Save report"), stem, inquiry.markdown, self._fact_lists.save_text)

    def _delete_report(self, inquiry: Inquiry) -> None:
        self.run_undoable(
            self.tr("deleting the report"),
            lambda: self._research.remove_report(inquiry.id),
            lambda: self._research.restore(inquiry),
            self.tr("The report was deleted."),
        )
