"""Page “Irrelevant memories”: which memory was marked as irrelevant to which message, and how to withdraw that."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from lethe_app.services.background.feedback import FeedbackService
from lethe_app.services.memory.objections import ObjectionDetails, ObjectionService
from lethe_app.ui.chat.memory_labels import strip_headings
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.feedback.replies import DislikedReplies
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

MEMORY, MESSAGE, DATE = range(3)
WIDTHS = {MESSAGE: 340, DATE: 116}
HIDEABLE_COLUMNS = (DATE, MESSAGE)
MIN_MEMORY_WIDTH = 220


def tr(text: str) -> str:
    """Translate a text in the context of this page; usable before a page exists."""
    return QCoreApplication.translate("FeedbackPage", text)


class FeedbackPage(PersonaListPage):
    """Page with the memories marked as irrelevant and, below them, the disliked replies."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        objection_service: ObjectionService,
        feedback: FeedbackService,
    ) -> None:
        super().__init__(context, tr("Irrelevant memories"), persona_selector)
        self._service, self._feedback = objection_service, feedback
        self._commands = CommandRunner(self.undo_stack, context.tasks)
        self.rows = self._build_rows()
        self._build()
        self._unsubscribers += [self._service.changed.add(self._on_objections_changed)]
        self.persona_selector.chosen.connect(lambda _persona: self._schedule_reload())
        self.persona_selector.emit_chosen()

    def _build_rows(self) -> FilteredTableModel[ObjectionDetails]:
        def row_icon(_one: ObjectionDetails) -> Any:  # noqa: ANN401 - Qt's own type
            return load_icon("lower", self.theme.palette.amber)

        columns = [
            Column[ObjectionDetails](tr("Memory"), format_memory, width=0, icon=row_icon),
            Column[ObjectionDetails](tr("Irrelevant to"), format_message, width=WIDTHS[MESSAGE]),
            Column[ObjectionDetails](tr("Date"), _format_date, sort_key=attrgetter("objection.moment"), width=WIDTHS[DATE]),
        ]
        return FilteredTableModel(
            columns,
            key=lambda one: (one.objection.memory, one.objection.message),
            search_text=lambda one: f"{one.title} {one.text} {one.said}",
        )

    def _build(self) -> None:
        self.mark_relevant_button = self.add_button(tr("Mark as relevant"), self.withdraw_selected, "undo", primary=True)
        self.open_message_button = self.add_button(tr("Go to message"), self.open_message, "forward")
        self.search = SearchField(self.theme, tr("Search irrelevant memories"))
        empty_text = tr(
            "No irrelevant memories\n\n"
            "When a reply uses a memory that does not fit your message, choose “Mark as irrelevant” on its card in the memory"
            " panel.\n\nExample: you write “I'll take the stairs” and get the story of the lighthouse stairs. Marked as"
            " irrelevant, it is recalled less easily by such messages, and as before by “Tell me about the lighthouse”."
        )
        self.table: Table[ObjectionDetails] = Table(
            self.rows, self.theme, tr("Irrelevant memories"), empty_text, ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_MEMORY_WIDTH)
        )
        self.search.down_pressed.connect(self.table.setFocus)
        self.search.textChanged.connect(self.rows.set_filter)
        self.table.opened.connect(lambda _one: self.open_message())
        self.table.delete_requested.connect(lambda _ones: self.withdraw_selected())
        self.table.menu_requested.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._update_buttons())
        hint = tr("Irrelevant memories are recalled less easily by similar messages; the effect fades over time.")
        self._add_head(self._build_search_row(self.search), build_small_label(hint))
        self.disliked_replies = DislikedReplies(
            self._context, self._feedback, self._commands, lambda: self.persona_selector.persona_id
        )
        self.search.textChanged.connect(self.disliked_replies.rows.set_filter)
        for rows in (self.rows, self.disliked_replies.rows):
            rows.modelReset.connect(self._update_search)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.disliked_replies, 1)
        self._update_buttons()
        self._update_search()

    def first_focus_widget(self) -> QWidget:
        return self.table

    def close_page(self) -> None:
        self.disliked_replies.close_list()
        super().close_page()

    # reading

    def _on_objections_changed(self, persona_id: str) -> None:
        if persona_id == self.persona_selector.persona_id:
            self._schedule_reload()

    def _schedule_reload(self) -> None:
        super()._schedule_reload()
        self.disliked_replies.schedule_reload()

    async def _reload(self) -> None:
        self.rows.set_rows(await self._service.describe_objections(self.persona_selector.persona_id))
        count = self.rows.row_total
        text = format_count(count, tr("{n} irrelevant memory"), tr("{n} irrelevant memories"))
        self.subtitle.set_full_text(text if count else "")
        if not self.table.selected_rows and self.rows.visible_rows:
            self.table.select_row(self.rows.key_of(self.rows.visible_rows[0]))
        self._update_buttons()

    def _update_search(self) -> None:
        """Hide the search field while there is nothing to search."""
        self.search.setVisible(bool(self.rows.row_total or self.disliked_replies.rows.row_total))

    def _update_buttons(self) -> None:
        selected = self.table.selected_rows
        for button in (self.mark_relevant_button, self.open_message_button):
            button.setVisible(bool(self.rows.row_total))
        self.mark_relevant_button.setEnabled(bool(selected))
        self.open_message_button.setEnabled(len(selected) == 1 and selected[0].session is not None)

    # Actions of the user.

    def withdraw_selected(self) -> None:
        """Withdraw the objection to each selected memory. Can be undone."""
        persona = self.persona_selector.persona_id
        for objected in self.table.selected_rows:
            objection = objected.objection
            withdraw = partial(self._service.withdraw_objection, persona, objection.memory, objection.message)
            self._commands.run_command(
                tr("marking as relevant"), withdraw, partial(self._service.save_objection, persona, objection)
            )

    def open_message(self) -> None:
        """Open the conversation at the message that the selected memory was marked as irrelevant to."""
        selected = self.table.selected_rows
        if len(selected) == 1 and selected[0].session is not None:
            self._context.open_session(selected[0].session, selected[0].objection.message)

    def _show_menu(self, position: QPoint) -> None:
        if self.table.selected_rows:
            menu, colour = QMenu(self), self.theme.palette.muted
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(load_icon("undo", colour), self.mark_relevant_button.text(), self.withdraw_selected)
            menu.addAction(load_icon("forward", colour), self.open_message_button.text(), self.open_message).setEnabled(
                self.open_message_button.isEnabled()
            )
            menu.popup(position)


def format_memory(objected: ObjectionDetails) -> str:
    """Return title and text of the memory in one line."""
    text = " ".join(strip_headings(objected.text).removeprefix("- ").split())
    return ": ".join(part for part in (objected.title, text) if part) or tr("Deleted memory")


def format_message(objected: ObjectionDetails) -> str:
    """Return the message that the memory was irrelevant to, quoted and in one line."""
    return f"“{' '.join(objected.said.split())}”" if objected.said.strip() else tr("deleted message")


def _format_date(objected: ObjectionDetails) -> str:
    return format_date(objected.objection.moment.timestamp())
