"""Page “Research”: a question to the web, the rounds of the running inquiry, and the reports of earlier ones."""

from __future__ import annotations

import re
from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from lethe_app.config.settings import Settings
from lethe_app.domain.web import Inquiry, InquiryState
from lethe_app.services.preferences import Preferences
from lethe_app.services.search.fact_lists import FactLists
from lethe_app.services.web.research import ResearchService
from lethe_app.ui.core.labels.dates import format_relative_date
from lethe_app.ui.core.palette import SPACE_1, SPACE_3
from lethe_app.ui.core.routes import ResearchRoute, Route, WebLogRoute
from lethe_app.ui.dialogs.markdown_file import ask_for_markdown_file
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.research.detail import ResearchDetail
from lethe_app.ui.pages.research.labels import format_state
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

TOPIC, STATE, DAY = range(3)
WIDTHS = {STATE: 104, DAY: 92}
HIDEABLE_COLUMNS = (STATE, DAY)
MIN_TOPIC_WIDTH = 220
LIST_WIDTH = 360
"""Initial width of the list in pixels."""


class ResearchPage(PersonaListPage):
    """Page with the question at the top, the inquiries on the left and the selected one on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        research_service: ResearchService,
        fact_lists: FactLists,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("ResearchPage", "Research"), persona_selector)
        self._research = research_service
        self._fact_lists, self._preferences = fact_lists, preferences
        self._inquiry_to_select: UUID | None = None
        """Inquiry to select once the list is loaded."""
        self.commands = CommandRunner(self.undo_stack, context.tasks, self._schedule_reload)
        self._is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""
        self.rows = self._build_rows()
        self._build()
        self._connect()
        self.persona_selector.emit_chosen()
        self._apply_settings(preferences.current)
        self._schedule_reload()

    def _build_rows(self) -> FilteredTableModel[Inquiry]:
        def state_colour(inquiry: Inquiry) -> str:
            return self.theme.palette.danger if inquiry.state is InquiryState.FAILED else self.theme.palette.muted

        columns = [
            Column[Inquiry](self.tr("Question"), attrgetter("topic"), width=0),
            Column[Inquiry](self.tr("Status"), format_state, width=WIDTHS[STATE], colour=state_colour),
            Column[Inquiry](self.tr("Date"), lambda one: format_relative_date(one.began), attrgetter("began"), WIDTHS[DAY]),
        ]
        return FilteredTableModel(columns, key=attrgetter("id"), search_text=attrgetter("topic"))

    def _build(self) -> None:
        self.topic_field = QLineEdit()
        self.topic_field.setPlaceholderText(self.tr("What would you like to know?"))
        self.topic_field.setAccessibleName(self.tr("What would you like to know?"))
        self.topic_field.setMaxLength(200)
        self.persona_selector.setToolTip(self.tr("Persona that does the research and may save it to memory"))
        self.start_button = build_button(self.tr("Start research"), primary=True)
        self.allow_button = build_button(self.tr("Allow internet…"))
        self.stop_button = self.add_button(self.tr("Stop"), self._research.stop, "stop")
        self.hint = build_small_label("")
        empty_text = self.tr(
            "No research yet\n\n"
            "Research reads several web pages about your question and writes a report with its sources, which a persona can"
            " keep as a memory."
        )
        self.table: Table[Inquiry] = Table(
            self.rows, self.theme, self.tr("Research history"), empty_text, ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_TOPIC_WIDTH)
        )
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.detail = ResearchDetail(self)
        self._build_layout()

    def _build_layout(self) -> None:
        question_row = QHBoxLayout()
        question_row.setSpacing(SPACE_3)
        question_row.addWidget(self.persona_selector)
        question_row.addWidget(self.topic_field, 1)
        question_row.addWidget(self.start_button)
        hint_row = QHBoxLayout()
        hint_row.setSpacing(SPACE_3)
        hint_row.addWidget(self.hint, 1)
        hint_row.addWidget(self.allow_button)
        self.examples = self._build_examples()
        above = self._add_head(question_row, hint_row, self.examples)
        self.panes = ListDetailPanes(self.theme, self.table, self.detail)
        self.panes.detail_in_front.connect(above.setHidden)
        self.panes.setStretchFactor(0, 0)
        self.panes.setStretchFactor(1, 1)
        self.panes.setSizes([LIST_WIDTH, 2 * LIST_WIDTH])
        self.body.addWidget(self.panes, 1)

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

    def _connect(self) -> None:
        preferences = self._preferences
        self._unsubscribers += [
            self._research.changed.add(self._show_progress),
            preferences.changed.add(self._apply_settings),
        ]
        self.topic_field.returnPressed.connect(self.start_inquiry)
        self.topic_field.textChanged.connect(lambda _text: self._update_start_button())
        self.start_button.clicked.connect(self.start_inquiry)
        self.allow_button.clicked.connect(lambda: self._context.navigator.open(WebLogRoute()))
        self.table.current_changed.connect(self.detail.show_inquiry)
        self.detail.keep_requested.connect(self.toggle_memory)
        self.detail.save_requested.connect(self.save_report)
        self.detail.forget_requested.connect(self.remove_report)
        self.detail.link_activated.connect(QDesktopServices.openUrl)

    def first_focus_widget(self) -> QWidget:
        return self.topic_field

    def close_page(self) -> None:
        super().close_page()
        self._is_open = False

    def show_route(self, route: Route) -> None:
        if isinstance(route, ResearchRoute) and route.inquiry is not None:
            self.show_inquiry(route.inquiry)

    def show_inquiry(self, inquiry_id: UUID) -> None:
        """Select an inquiry as soon as the list is loaded."""
        self._inquiry_to_select = inquiry_id
        self._schedule_reload()

    # what is there

    def _show_progress(self, inquiry: Inquiry | None) -> None:
        """Show progress of the running inquiry at once; the list is reloaded after a short delay."""
        shown_inquiry = self.detail.inquiry
        if inquiry is not None and shown_inquiry is not None and inquiry.id == shown_inquiry.id:
            self.detail.show_inquiry(inquiry)
        self._update_status()
        self._reload_timer.start()

    async def _reload(self) -> None:
        was_empty = not self.rows.row_total
        inquiries = await self._research.list_inquiries()
        self.rows.set_rows(inquiries)
        self.examples.setVisible(not inquiries)
        inquiry_to_select, self._inquiry_to_select = self._inquiry_to_select, None
        if inquiries and not (inquiry_to_select is not None and self.table.select_row(inquiry_to_select)) and was_empty:
            self.table.select_row(inquiries[0].id)
        if inquiry_to_select is not None:
            self.panes.show_detail()
        self.detail.show_inquiry(self.table.current_row)
        self._update_status()

    def _update_status(self) -> None:
        running = self._research.running
        self.stop_button.setVisible(running is not None)
        self.subtitle.set_full_text(f"{running.topic} – {running.doing}" if running is not None else "")
        self._update_start_button()

    def _update_start_button(self) -> None:
        reason = self._find_hindrance()
        self.start_button.setEnabled(not reason)
        self.start_button.setToolTip(reason)

    def _find_hindrance(self) -> str:
        """Return why research cannot be started; empty if it can."""
        if not self._preferences.current.web_allowed:
            return self.tr("Internet search is turned off")
        if self._research.running is not None:
            return self.tr("Another research is still running")
        if not self.persona_selector.persona_id:
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

    # Actions of the user.

    def start_inquiry(self) -> None:
        """Start research on the question in the field."""
        if self.start_button.isEnabled():
            self._context.tasks.start_task(self._start_and_select(self.persona_selector.persona_id, self.topic_field.text()))

    async def _start_and_select(self, persona_id: str, topic: str) -> None:
        inquiry = await self._research.start_inquiry(persona_id, topic)
        self.topic_field.clear()
        self.rows.set_rows(await self._research.list_inquiries())
        self.table.select_row(inquiry.id)
        self.panes.show_detail()
        self.detail.show_inquiry(self._research.running or self.table.current_row)

    def toggle_memory(self) -> None:
        """Save the report as a memory, or move that memory to the trash. Can be undone."""
        inquiry, service = self.detail.inquiry, self._research
        if inquiry is None:
            return
        if inquiry.memory is None:
            self.commands.run_command(
                self.tr("saving to memory"),
                lambda: service.save_as_memory(inquiry.id),
                lambda: service.forget_memory(inquiry.id),
            )
            name = self.persona_selector.itemText(self.persona_selector.findData(inquiry.persona_id)) or inquiry.persona_id
            self._context.notifier.notify(self.tr("Saved to the memories of {name}.").format(name=name))
        else:
            self.commands.run_command(
                self.tr("removing from memory"),
                lambda: service.forget_memory(inquiry.id),
                lambda: service.save_as_memory(inquiry.id),
            )

    def save_report(self) -> None:
        """Save the report as a Markdown file."""
        if self.detail.inquiry is not None:
            self._context.tasks.start_task(self._ask_and_save(self.detail.inquiry), key="research save")

    async def _ask_and_save(self, inquiry: Inquiry) -> None:
        path = await ask_for_markdown_file(self._context.dialog_parent, self.tr("Save report"), file_name(inquiry.topic))
        if path is not None:
            await self._fact_lists.save_text(path, inquiry.markdown)
            self._context.notifier.notify(self.tr("Saved as {file}.").format(file=path.name))

    def remove_report(self) -> None:
        """Delete the report. Can be undone."""
        inquiry, service = self.detail.inquiry, self._research
        if inquiry is None or inquiry.is_running:
            return
        self.commands.run_command(
            self.tr("deleting the report"), lambda: service.remove_report(inquiry.id), lambda: service.restore(inquiry)
        )
        text = self.tr("The report was deleted.")
        self.commands.notify_undoable(self._context.notifier, text, lambda: service.restore(inquiry), lambda: self._is_open)


def file_name(topic: str) -> str:
    """Return a file name without characters that file systems reject, of at most 80 characters."""
    return " ".join(re.sub(r"[^\w\s.-]", " ", topic).split())[:80].strip(" .") or "report"
