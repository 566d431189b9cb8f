"""Page “Deep research”: a question to the web, the rounds of the running inquiry, and the reports of earlier ones."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from lethe_app.config.settings import Settings
from lethe_app.domain.web import Inquiry, InquiryState
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import answered
from lethe_app.ui.pages.activity.labels import day_in_words
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.research.detail import ResearchDetail
from lethe_app.ui.pages.research.labels import state_in_words
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

TOPIC, STATE, DAY = range(3)
WIDTHS = {STATE: 104, DAY: 92}
DISPENSABLE = (STATE, DAY)
LEAST = 140
LIST = 360
"""Initial width of the list in pixels."""
CHANGED_MS = 100


class ResearchPage(Page):
    """Page with the question at the top, the inquiries on the left and the selected one on the right."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("ResearchPage", "Deep research"))
        self._place, self._researching = place, place.services.researching
        self._wanted: UUID | None = None
        """Inquiry to select once the list is loaded."""
        self.deeds = CommandRunner(self.undo, place.bridge, self._read_soon)
        self.rows = self._made_rows()
        self._build()
        self._connect()
        self.whose.announce_first()
        self._follow_settings(place.services.preferences.current)
        self._read_soon()

    def _made_rows(self) -> FilteredTableModel[Inquiry]:
        def ink(one: Inquiry) -> str:
            return self.theme.palette.danger if one.state is InquiryState.FAILED else self.theme.palette.muted

        columns = [
            Column[Inquiry](self.tr("Question"), attrgetter("topic"), width=0),
            Column[Inquiry](self.tr("Status"), state_in_words, width=WIDTHS[STATE], colour=ink),
            Column[Inquiry](self.tr("Date"), lambda one: day_in_words(one.began), attrgetter("began"), WIDTHS[DAY]),
        ]
        return FilteredTableModel(columns, key=attrgetter("id"), searched=attrgetter("topic"))

    def _build(self) -> None:
        self.topic = QLineEdit()
        self.topic.setPlaceholderText(self.tr("What would you like to know?"))
        self.topic.setAccessibleName(self.tr("What would you like to know?"))
        self.topic.setMaxLength(200)
        self.whose = Whose(self._place)
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.setToolTip(self.tr("Persona that does the research and may save it to memory"))
        self.begin_button = QPushButton(self.tr("Start research"))
        self.begin_button.setProperty("primary", True)
        self.allow_button = QPushButton(self.tr("Allow internet…"))
        self.allow_button.setProperty("filled", True)
        self.stop_button = self.add_button(self.tr("Stop"), self._researching.stop, "stop")
        self.hint = explanation("")
        nothing = self.tr("No research yet.")
        self.table: Table[Inquiry] = Table(self.rows, self.theme, self.tr("Research history"), nothing)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.detail = ResearchDetail(self)
        self._lay_out()

    def _lay_out(self) -> None:
        line, above = QWidget(), QWidget()
        flow = Flow(line, spacing=SPACE_3)
        for widget in (self.whose, self.allow_button):
            flow.addWidget(widget)
        asking = QHBoxLayout()
        asking.setSpacing(SPACE_3)
        asking.addWidget(self.topic, 1)
        asking.addWidget(self.begin_button)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addLayout(asking)
        head.addWidget(self.hint)
        head.addWidget(line)
        split = side_by_side(self.table, self.detail, grows=1)
        split.setSizes([LIST, 2 * LIST])
        self.body.addWidget(above)
        self.body.addWidget(split, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        preferences = self._place.services.preferences
        self._stop = [
            self._researching.changed.add(self._follow),
            preferences.changed.add(self._follow_settings),
        ]
        self.topic.returnPressed.connect(self.start_inquiry)
        self.topic.textChanged.connect(lambda _text: self._dress_begin())
        self.begin_button.clicked.connect(self.start_inquiry)
        self.allow_button.clicked.connect(self._place.window.actions_["outgoing"].trigger)
        self.table.current_changed.connect(self.detail.show_inquiry)
        self.table.viewport().installEventFilter(self)
        self.detail.keep_wanted.connect(self.toggle_memory)
        self.detail.save_wanted.connect(self.save)
        self.detail.forget_wanted.connect(self.remove_report)
        self.detail.link_activated.connect(QDesktopServices.openUrl)

    def first_focus(self) -> QWidget:
        return self.topic

    def show_inquiry(self, inquiry_id: UUID) -> None:
        """Select an inquiry as soon as the list is loaded."""
        self._wanted = inquiry_id
        self._read_soon()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, LEAST)
        return False

    def close_page(self) -> None:
        self.whose.close_field()
        self._soon.stop()
        self._place.bridge.cancel("research list")
        for stop in self._stop:
            stop()

    # what is there

    def _follow(self, inquiry: Inquiry | None) -> None:
        """Show progress of the running inquiry at once; the list is reloaded after a short delay."""
        shown = self.detail.inquiry
        if inquiry is not None and shown is not None and inquiry.id == shown.id:
            self.detail.show_inquiry(inquiry)
        self._tell_now()
        self._soon.start()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(), lane="research list")

    async def _read(self) -> None:
        was_empty = not self.rows.total
        found = await self._researching.all()
        self.rows.fill(found)
        wanted, self._wanted = self._wanted, None
        if found and not (wanted is not None and self.table.go_to(wanted)) and was_empty:
            self.table.go_to(found[0].id)
        self.detail.show_inquiry(self.table.current)
        self._tell_now()

    def _tell_now(self) -> None:
        running = self._researching.running
        self.stop_button.setVisible(running is not None)
        self.subtitle.set_full(f"{running.topic} – {running.doing}" if running is not None else "")
        self._dress_begin()

    def _dress_begin(self) -> None:
        allowed = self._place.services.preferences.current.web_allowed
        is_free = self._researching.running is None
        self.begin_button.setEnabled(allowed and is_free and bool(self.topic.text().strip()) and bool(self.whose.persona))

    def _follow_settings(self, settings: Settings) -> None:
        self.allow_button.setVisible(not settings.web_allowed)
        words = (
            self.tr("Your question is sent to the search engine exactly as written, so leave out anything private.")
            if settings.web_allowed
            else self.tr("Internet search is turned off. Allow it to start research.")
        )
        self.hint.setText(words)
        self._dress_begin()

    # Actions of the user.

    def start_inquiry(self) -> None:
        """Start research on the question in the field."""
        if self.begin_button.isEnabled():
            self._place.bridge.spawn(self._begin(self.whose.persona, self.topic.text()))

    async def _begin(self, persona: str, topic: str) -> None:
        inquiry = await self._researching.start_inquiry(persona, topic)
        self.topic.clear()
        self.rows.fill(await self._researching.all())
        self.table.go_to(inquiry.id)
        self.detail.show_inquiry(self._researching.running or self.table.current)

    def toggle_memory(self) -> None:
        """Save the report as a memory, or move that memory to the trash. Can be undone."""
        inquiry, service = self.detail.inquiry, self._researching
        if inquiry is None:
            return
        if inquiry.memory is None:
            self.deeds.do(
                self.tr("saving to memory"), lambda: service.save_as_memory(inquiry.id), lambda: service.let_go(inquiry.id)
            )
            name = self.whose.itemText(self.whose.findData(inquiry.persona_id)) or inquiry.persona_id
            self._place.window.notifier.tell(self.tr("Saved to the memories of {name}.").format(name=name))
        else:
            self.deeds.do(
                self.tr("removing from memory"), lambda: service.let_go(inquiry.id), lambda: service.save_as_memory(inquiry.id)
            )

    def save(self) -> None:
        """Save the report as a Markdown file."""
        if self.detail.inquiry is not None:
            self._place.bridge.spawn(self._save(self.detail.inquiry), lane="research save")

    async def _save(self, inquiry: Inquiry) -> None:
        dialog = QFileDialog(self._place.window, self.tr("Save report"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Markdown (*.md)"))
        dialog.setDefaultSuffix("md")
        dialog.selectFile(f"{file_name(inquiry.topic)}.md")
        if await answered(dialog):
            path = Path(dialog.selectedFiles()[0])
            await self._place.services.browsing.save_text(path, inquiry.markdown)
            self._place.window.notifier.tell(self.tr("Saved as {file}.").format(file=path.name))

    def remove_report(self) -> None:
        """Delete the report. Can be undone."""
        inquiry, service = self.detail.inquiry, self._researching
        if inquiry is None or inquiry.is_running:
            return
        self.deeds.do(
            self.tr("deleting the report"), lambda: service.remove_report(inquiry.id), lambda: service.restore(inquiry)
        )
        self._place.window.notifier.tell(self.tr("The report was deleted."), button=self.tr("Undo"), action=self.undo.undo)


def file_name(topic: str) -> str:
    """Return a file name without characters that file systems reject, of at most 80 characters."""
    return " ".join(re.sub(r"[^\w\s.-]", " ", topic).split())[:80].strip(" .") or "report"
