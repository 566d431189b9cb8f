"""Page “Facts”: the facts of a persona, their sources, what superseded them, and all edits of them."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale, QPoint, Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.memory.facts import FactService
from lethe_app.services.search.fact_lists import FactLists, FactSource
from lethe_app.services.sessions.fact_extraction import FactExtraction
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.routes import FactsRoute, Route, SettingsRoute
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.facts.commands import FactEdits
from lethe_app.ui.pages.facts.detail import FactDetail
from lethe_app.ui.pages.facts.dialogs import MergeFactsDialog, NewFactDialog
from lethe_app.ui.pages.facts.empty_state import FactsPlaceholder
from lethe_app.ui.pages.facts.extraction_bar import ExtractionBar
from lethe_app.ui.pages.facts.filters import FactFilters
from lethe_app.ui.pages.facts.table_model import (
    KIND,
    LAST_SEEN,
    MENTIONS,
    SUBJECT,
    FactListView,
    build_fact_rows,
    format_empty_view,
    view_predicate,
)
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table

WIDTHS = {SUBJECT: 128, KIND: 128, LAST_SEEN: 112, MENTIONS: 84}
HIDEABLE_COLUMNS = (SUBJECT, LAST_SEEN, KIND, MENTIONS)
MIN_FACT_WIDTH = 480
"""Width in pixels of the fact column that the other columns give way to: many facts are long quotations."""


class FactPage(PersonaListPage):
    """Page with the list of facts on the left and the selected fact with its sources on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        fact_service: FactService,
        fact_lists: FactLists,
        fact_extraction: FactExtraction,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("FactPage", "Facts"), persona_selector)
        self._fact_service, self._fact_lists, self._fact_extraction = fact_service, fact_lists, fact_extraction
        self._core_facts: set[UUID] = set()
        self._facts_by_guid: dict[UUID, ExtractedFact] = {}
        self._listed_persona_id = ""
        """Persona whose facts are listed, to whom what is typed belongs while another one is chosen."""
        self._fact_to_select: UUID | None = None
        self._is_field_wanted = False
        """True if the text of the fact to select is to be changed."""
        self.rows = build_fact_rows(context.theme, self._core_facts)
        self.edits = FactEdits(self, context, fact_service, self._on_edited)
        self._build()
        self._connect()
        self._filter()
        self.persona_selector.emit_chosen()

    def _build(self) -> None:
        self.merge_button = self.add_button(self.tr("Merge facts…"), self.merge_selected)
        self.merge_button.setToolTip(self.tr("Select two or more facts with the same meaning to merge them"))
        self.extract_button = self.add_button(self.tr("Extract again"), self.extract_again, "refresh")
        self.extract_button.setToolTip(self.tr("Extract facts again from all conversations with this persona"))
        self.add_button(self.tr("Add fact"), self.add_fact, "plus", primary=True)
        self.search = SearchField(self.theme, self.tr("Search facts"))
        self.filters = FactFilters()
        self.core_label = build_small_label("")
        self.table: Table[ExtractedFact] = Table(
            self.rows, self.theme, self.tr("Facts"), "", ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_FACT_WIDTH, (KIND,))
        )
        self.table.sortByColumn(SUBJECT, Qt.SortOrder.AscendingOrder)  # what is known of one person stands together
        self.detail = FactDetail()
        self.empty_state = FactsPlaceholder()
        self.extraction_bar = ExtractionBar(self._context, self._fact_service, self._fact_extraction)
        self.search.down_pressed.connect(self.table.setFocus)
        self._build_layout()

    def _build_layout(self) -> None:
        above = self._add_head(self._build_search_row(self.search), self.filters, self.core_label)
        self.stack = QStackedWidget()
        self.panes = ListDetailPanes(self.theme, self.table, self.detail)
        self.panes.detail_in_front.connect(above.setHidden)
        self.stack.addWidget(self.panes)
        self.stack.addWidget(self.empty_state)
        self.body.addWidget(self.extraction_bar)
        self.body.addWidget(self.stack, 1)

    def _connect(self) -> None:
        self._unsubscribers.append(self._fact_service.changed.add(self._reload_if_chosen))
        self.persona_selector.chosen.connect(self._show_persona)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.filters.changed.connect(self._filter)
        self.empty_state.settings_requested.connect(lambda: self._context.navigator.open(SettingsRoute("fact_retrieval")))
        self.empty_state.extraction_requested.connect(self.extract_again)
        self.extraction_bar.ended.connect(self._on_extraction_ended)
        self.table.current_changed.connect(self._show_fact)
        self.table.opened.connect(lambda _fact: self.detail.field.setFocus())
        self.table.delete_requested.connect(self.forget_facts)
        self.table.rename_requested.connect(self.detail.field.setFocus)
        self.table.menu_requested.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._update_merge_button())
        self.detail.text_edited.connect(lambda fact, text: self.edits.edit_text(self._listed_persona_id, fact, text))
        self.detail.pin_requested.connect(
            lambda fact, on: self.edits.set_pinned(self.persona_selector.persona_id, fact, pinned=on)
        )
        self.detail.forget_requested.connect(lambda fact: self.forget_facts([fact]))
        self.detail.restore_requested.connect(self._restore)
        self.detail.source_requested.connect(self._go_to_source)
        self.detail.fact_requested.connect(self.select_fact)

    @property
    def view(self) -> FactListView:
        """The view on display, which decides which facts are listed."""
        return self.filters.selected_view

    def show_view(self, view: FactListView) -> None:
        """Switch to another view, without a restriction to kinds."""
        self.filters.select_view(view)
        self.filters.kind_menu.uncheck_all()
        self._filter()

    def first_focus_widget(self) -> QWidget:
        return self.search

    async def confirm_leave(self) -> bool:
        self.detail.apply_text()
        return True

    def close_page(self) -> None:
        super().close_page()
        self.extraction_bar.close_bar()
        self.edits.is_open = False

    # the list

    def _show_persona(self, persona_id: str) -> None:
        self._facts_by_guid.clear()
        self._core_facts.clear()
        self.rows.set_rows([])  # saves what was typed into the fact on display
        self._listed_persona_id = persona_id
        self._schedule_reload()

    async def _reload(self) -> None:
        persona_id = self.persona_selector.persona_id
        facts = await self._fact_service.facts_of(persona_id)
        self._facts_by_guid = {fact.guid: fact for fact in facts}
        self.rows.set_rows(facts)
        self.filters.show_kinds(fact.kind for fact in facts)
        if not facts:
            self.empty_state.show_reason(await self._fact_extraction.explain_absence(persona_id))
        self.stack.setCurrentIndex(0 if facts else 1)
        for widget in (self.filters, self.core_label, self.merge_button, self.extract_button):
            widget.setVisible(bool(facts))
        await self._load_core_facts(persona_id)
        self._filter()
        fact_to_select, self._fact_to_select = self._fact_to_select, None
        if fact_to_select is not None:
            self.select_fact(fact_to_select)
        self._show_fact(self.table.current_row)
        if fact_to_select is not None and self._is_field_wanted:
            self._is_field_wanted = False
            self.detail.field.setFocus()

    async def _load_core_facts(self, persona_id: str) -> None:
        core = await self._fact_lists.load_core_facts(persona_id)
        self._core_facts.clear()
        self._core_facts.update(core.facts)
        facts = format_count(len(core.facts), self.tr("{n} fact is always included"), self.tr("{n} facts are always included"))
        locale = QLocale()
        text = self.tr(
            "{facts} (amber mark), using {share} % of the token budget. The others are recalled when they match."
        ).format(facts=facts, share=locale.toString(round(100 * core.tokens / max(1, core.budget))))
        empty_text = self.tr("No facts are always included, because the token budget for facts in the settings is 0.")
        self.core_label.setText(text if core.budget else empty_text)
        tokens = self.tr("{tokens} of {budget} tokens").format(
            tokens=locale.toString(core.tokens), budget=locale.toString(core.budget)
        )
        self.core_label.setToolTip(tokens)

    def _filter(self) -> None:
        is_in_view, kinds = view_predicate(self.view, self._core_facts), self.filters.selected_kinds
        self.table.no_match_text = "" if self.search.text() or kinds else format_empty_view(self.view)
        self.rows.set_filter(self.search.text(), lambda fact: is_in_view(fact) and (not kinds or fact.kind in kinds))
        count_text = format_count(len(self.rows.visible_rows), self.tr("{n} fact"), self.tr("{n} facts"))
        self.subtitle.set_full_text(count_text if self.rows.row_total else "")
        self._update_merge_button()

    def _update_merge_button(self) -> None:
        self.merge_button.setEnabled(len(self.table.selected_rows) > 1)

    def show_route(self, route: Route) -> None:
        if isinstance(route, FactsRoute) and route.fact is not None:
            self._is_field_wanted = route.is_editing
            self.show_fact(route.persona_id, route.fact)

    def show_fact(self, persona_id: str, guid: UUID) -> None:
        """Select a fact of the given persona as soon as its facts are loaded."""
        self._fact_to_select = guid
        self.panes.show_detail()
        self.persona_selector.choose_persona(persona_id)
        self._schedule_reload()

    def select_fact(self, guid: UUID) -> None:
        """Select a fact; if the filters hide it, switch to a view that lists it."""
        if not self.table.select_row(guid) and (fact := self._facts_by_guid.get(guid)) is not None:
            self.search.clear()
            self.show_view(
                FactListView.REPLACED if fact.superseded else FactListView.STORY if fact.in_story else FactListView.KNOWN
            )
            self.table.select_row(guid)

    # one fact

    def _show_fact(self, fact: ExtractedFact | None) -> None:
        if self.detail.fact is not None and (fact is None or fact.guid != self.detail.fact.guid):
            self.detail.apply_text()
        successor = self._facts_by_guid.get(fact.superseded_by) if fact is not None and fact.superseded_by else None
        self.detail.show_fact(fact, successor, is_core=fact is not None and fact.guid in self._core_facts)
        if fact is not None:
            self._context.tasks.start_task(self._show_sources(fact), key="fact sources")

    async def _show_sources(self, fact: ExtractedFact) -> None:
        sources = await self._fact_lists.list_sources(fact)
        if self.detail.fact is not None and self.detail.fact.guid == fact.guid:
            self.detail.show_sources(sources)

    def _go_to_source(self, source: FactSource) -> None:
        self._context.open_session(source.session, source.message)

    def _on_edited(self, fact_to_select: UUID | None) -> None:
        self._fact_to_select = fact_to_select or self._fact_to_select
        self._schedule_reload()

    def _restore(self, fact: ExtractedFact, replace_successor: bool) -> None:
        self.edits.restore_fact(self.persona_selector.persona_id, fact, replace_successor=replace_successor)

    # what the buttons do

    def extract_again(self) -> None:
        """Extract facts from all sessions of the persona again, one session after the other."""
        self._enable_extraction(is_enabled=False)
        self._context.tasks.start_task(
            self.extraction_bar.run_extraction(self.persona_selector.persona_id, self.persona_selector.persona_name)
        )

    def _on_extraction_ended(self) -> None:
        self._enable_extraction(is_enabled=True)
        self._schedule_reload()

    def _enable_extraction(self, *, is_enabled: bool) -> None:
        """Enable both buttons that start an extraction, or disable them, because the bar shows only one."""
        for button in (self.extract_button, self.empty_state.extract_button):
            button.setEnabled(is_enabled)

    def add_fact(self) -> None:
        """Ask for the text of a new fact and add it."""
        self._context.tasks.start_task(self._ask_and_add(), key="fact dialog")

    async def _ask_and_add(self) -> None:
        dialog = NewFactDialog(self._context.dialog_parent, self.persona_selector.persona_name)
        if await run_dialog(dialog):
            self.edits.add_fact(self.persona_selector.persona_id, dialog.entered_text, pinned=dialog.pinned.isChecked())

    def merge_selected(self) -> None:
        """Ask for one text and merge the selected facts."""
        facts = self.table.selected_rows
        if len(facts) > 1:
            self._context.tasks.start_task(self._ask_and_merge(facts), key="fact dialog")

    async def _ask_and_merge(self, facts: list[ExtractedFact]) -> None:
        dialog = MergeFactsDialog(self._context.dialog_parent, facts)
        if await run_dialog(dialog):
            self.edits.merge_facts(self.persona_selector.persona_id, facts, dialog.entered_text)

    def forget_facts(self, facts: list[ExtractedFact]) -> None:
        """Forget facts after confirmation."""
        self.edits.ask_to_forget(self.persona_selector.persona_id, self.persona_selector.persona_name, facts)

    def _show_menu(self, position: QPoint) -> None:
        facts = self.table.selected_rows
        if not facts:
            return
        persona_id, first = self.persona_selector.persona_id, facts[0]
        pin = self.tr("Unpin") if first.pinned else self.tr("Pin")
        entries = [
            MenuEntry(self.tr("Edit\tF2"), self.detail.field.setFocus, len(facts) == 1),
            MenuEntry(pin, lambda: self.edits.set_pinned(persona_id, first, pinned=not first.pinned), len(facts) == 1),
            MenuEntry(self.tr("Merge facts…"), self.merge_selected, len(facts) > 1),
            MenuEntry(self.tr("Forget…\tDel"), lambda: self.forget_facts(facts)),
        ]
        popup_menu(self, position, entries)
