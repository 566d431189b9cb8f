"""Page “Facts”: the facts of a persona, their sources, what superseded them, and all edits of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QWidget

from lethe_app.domain.facts import ExtractedFact, FactKind
from lethe_app.services.memory.facts import FactService
from lethe_app.services.search.fact_lists import FactLists, FactSource
from lethe_app.services.sessions.editing import FactExtraction, NoFactsReason
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.facts import format_absence, format_kind
from lethe_app.ui.core.routes import FactsRoute, Route, SettingsRoute
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.facts.commands import FactEdits
from lethe_app.ui.pages.facts.detail import FactDetail
from lethe_app.ui.pages.facts.dialogs import MergeFactsDialog, NewFactDialog
from lethe_app.ui.pages.facts.extraction_bar import ExtractionBar
from lethe_app.ui.pages.facts.table_model import SUBJECT, build_columns, build_views
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.filters import MenuFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import create_empty_view, create_placeholder
from lethe_app.ui.widgets.labels import build_small_label

Facts = Sequence[ExtractedFact]


class FactPage(RecordPage[ExtractedFact]):
    """Page with the list of facts on the left and the selected fact with its sources on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        facts: FactService,
        fact_lists: FactLists,
        fact_extraction: FactExtraction,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("FactPage", "Facts"), persona_selector)
        self._fact_service, self._fact_lists, self._fact_extraction = facts, fact_lists, fact_extraction
        self._core_facts: set[UUID] = set()
        self.views = build_views(self._core_facts)
        self.kind_menu = MenuFilter[ExtractedFact](self.tr("Type"), FactKind, format_kind, attrgetter("kind"), self)
        self.core_label = build_small_label("")
        self.edits = FactEdits(self, context, facts, self.select_when_loaded)
        commands, detail_commands = self._build_commands()
        self.detail = FactDetail(self.build_command_buttons(*detail_commands))
        self.extraction_bar = ExtractionBar(context, facts, fact_extraction)
        self.body.addWidget(self.extraction_bar)
        self.build_list(
            RecordSpec(
                name=self.tr("Facts"),
                columns=build_columns(context.theme, self._core_facts),
                key=attrgetter("guid"),
                search_text=attrgetter("fact"),
                search_hint=self.tr("Search facts"),
                filters=[self.views, self.kind_menu],
                commands=commands,
                sorted_by=SUBJECT,
            ),
            detail=self.detail,
            empty_view=self._build_empty_view(),
            head=[self.core_label],
        )
        self.extract_button = self.button(self.extract_command.title_for(()))
        self.show_with_records(self.core_label)
        self.follow(facts.changed)
        self.extraction_bar.changed.connect(self._on_extraction_changed)
        self.detail.text_edited.connect(self._on_text_edited)
        self.detail.source_requested.connect(lambda source: context.open_session(source.session, source.message))
        self.detail.fact_requested.connect(self.select_record)

    def _build_commands(self) -> tuple[list[RecordCommand[ExtractedFact]], list[RecordCommand[ExtractedFact]]]:
        """Return the commands of the list, and those beside the fact on display."""
        tr, edits = self.tr, self.edits
        pin: RecordCommand[ExtractedFact] = single_command(
            lambda fact: tr("Unpin") if fact.pinned else tr("Pin"),
            lambda fact: edits.set_pinned(fact, pinned=not fact.pinned),
            is_shown=lambda fact: not fact.superseded,
        )
        forget = RecordCommand[ExtractedFact](tr("Forget…"), edits.ask_and_forget, (Key.DELETE,))
        restore = single_command(tr("Restore fact"), edits.restore_fact, is_shown=attrgetter("superseded"))
        replace: RecordCommand[ExtractedFact] = single_command(
            tr("Replace newer fact"),
            lambda fact: edits.restore_fact(fact, replace_successor=True),
            is_shown=lambda fact: fact.superseded and self._successor_of(fact) is not None,
        )
        tooltip = tr("Select two or more facts with the same meaning to merge them")
        merge = RecordCommand[ExtractedFact](tr("Merge facts…"), self._ask_and_merge, minimum=2, in_head=True, tooltip=tooltip)
        self.extract_command = page_command(
            tr("Extract again"),
            lambda: self.extraction_bar.start_extraction(self.persona_id, self.persona_name),
            "refresh",
            is_enabled=lambda: not self.extraction_bar.is_running,
            tooltip=tr("Extract facts again from all conversations with this persona"),
        )
        add = page_command(tr("Add fact"), self._ask_and_add, "plus", is_primary=True)
        edit: RecordCommand[ExtractedFact] = single_command(
            tr("Edit"), lambda _fact: self.focus_details(), (Key.RENAME, Key.OPEN)
        )
        return [edit, pin, merge, forget, self.extract_command, add], [pin, restore, replace, forget]

    def _build_empty_view(self) -> QWidget:
        self.reason_label = create_placeholder("")
        self.settings_button = build_button(
            self.tr("Open settings"), lambda: self._context.navigator.open(SettingsRoute("fact_retrieval"))
        )
        self.first_extract_button = build_button(
            self.tr("Extract from all conversations"), lambda: self.run_command(self.extract_command)
        )
        return create_empty_view(self.reason_label, self.settings_button, self.first_extract_button)

    def close_page(self) -> None:
        super().close_page()
        self.extraction_bar.close_bar()

    def show_route(self, route: Route) -> None:
        if isinstance(route, FactsRoute) and route.fact is not None:
            self.go_to_record(route.persona_id, route.fact, takes_focus=route.is_editing)

    # The list

    async def load_records(self) -> Facts:
        persona_id = self.persona_id
        facts = await self._fact_service.facts_of(persona_id)
        if not facts:
            absence = await self._fact_extraction.explain_absence(persona_id)
            is_off = absence.reason is NoFactsReason.LEARNING_OFF
            self.reason_label.setText(format_absence(absence))
            self.settings_button.setVisible(is_off)
            self.first_extract_button.setVisible(not is_off and absence.conversations > 0)
        core = await self._fact_lists.load_core_facts(persona_id)
        self._core_facts.clear()
        self._core_facts.update(core.facts)
        always = format_count(len(core.facts), self.tr("{n} fact is always included"), self.tr("{n} facts are always included"))
        locale = QLocale()
        text = self.tr(
            "{facts} (amber mark), using {share} % of the token budget. The others are recalled when they match."
        ).format(facts=always, share=locale.toString(round(100 * core.tokens / max(1, core.budget))))
        empty_text = self.tr("No facts are always included, because the token budget for facts in the settings is 0.")
        self.core_label.setText(text if core.budget else empty_text)
        tokens = self.tr("{tokens} of {budget} tokens")
        self.core_label.setToolTip(tokens.format(tokens=locale.toString(core.tokens), budget=locale.toString(core.budget)))
        return facts

    def after_load(self) -> None:
        self.apply_filter()  # which facts are always included may have changed, and not the facts

    def format_count(self) -> str:
        """Return the number of facts in the view."""
        text = format_count(len(self.rows.visible_rows), self.tr("{n} fact"), self.tr("{n} facts"))
        return text if self.rows.row_total else ""

    def no_match_text(self) -> str:
        return "" if self.kind_menu.selected else super().no_match_text()

    # The selected fact

    def _successor_of(self, fact: ExtractedFact) -> ExtractedFact | None:
        return next((other for other in self.rows.all_rows if other.guid == fact.superseded_by), None)

    def show_record(self, record: ExtractedFact | None) -> None:
        successor = self._successor_of(record) if record is not None and record.superseded_by else None
        unsaved = self.saver.unsaved_values((self.persona_id, record.guid)).get("fact") if record is not None else None
        is_core = record is not None and record.guid in self._core_facts
        self.detail.show_fact(record, successor, str(unsaved) if unsaved is not None else None, is_core=is_core)

    async def load_details(self, record: ExtractedFact) -> list[FactSource]:
        return await self._fact_lists.list_sources(record)

    def show_details(self, _record: ExtractedFact, details: list[FactSource]) -> None:
        self.detail.show_sources(details)

    def focus_details(self) -> None:
        self.detail.field.setFocus()

    def _on_text_edited(self, before: str, text: str) -> None:
        if self.detail.fact is not None:
            self.saver.change_field(self.tr("editing a fact"), (self.persona_id, self.detail.fact.guid), "fact", before, text)

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        if self.detail.fact is not None and key == (self.persona_id, self.detail.fact.guid):
            self.detail.set_text(str(value))
            fact = self.detail.fact
            self.rows.replace_row(fact.model_copy(update={"fact": str(value).strip() or fact.fact}))

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        assert isinstance(key, tuple)
        persona_id, guid = key
        await self.edits.store_text(persona_id, guid, str(values["fact"]))

    # Commands

    async def _ask_and_add(self) -> None:
        dialog = NewFactDialog(self._context.dialog_parent, self.persona_name)
        if await run_dialog(dialog):
            self.edits.add_fact(dialog.entered_text, pinned=dialog.pinned.isChecked())

    async def _ask_and_merge(self, facts: Facts) -> None:
        """Ask for one text and merge the facts."""
        dialog = MergeFactsDialog(self._context.dialog_parent, facts)
        if await run_dialog(dialog):
            self.edits.merge_facts(facts, dialog.entered_text)

    def _on_extraction_changed(self, is_running: bool) -> None:
        # Both buttons that start an extraction, because the bar shows only one.
        self.update_commands()
        self.first_extract_button.setEnabled(not is_running)
        if not is_running:
            self.reload()
