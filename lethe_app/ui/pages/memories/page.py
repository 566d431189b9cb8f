"""Page “Memories”: the memories of a persona, searched by word or meaning, edited, added and forgotten."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QCoreApplication, QPoint, Qt, QTimer
from PySide6.QtWidgets import QStackedWidget, QWidget

from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.preferences import Preferences
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_memory_count
from lethe_app.ui.core.routes import MemoriesRoute, Route, SessionsRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.memories.commands import MemoryEdits
from lethe_app.ui.pages.memories.detail import PAGE_NAME, MemoryDetail
from lethe_app.ui.pages.memories.filters import MemoryFilterChips
from lethe_app.ui.pages.memories.labels import format_search_gap
from lethe_app.ui.pages.memories.reader import MemoryReader
from lethe_app.ui.pages.memories.table_model import (
    ADDED,
    EXPIRES,
    LAST_RECALLED,
    PRIORITY,
    RECALL_MODE,
    SIMILARITY,
    USES,
    build_memory_rows,
    filter_predicate,
)
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.widgets.buttons import build_button, build_chip
from lethe_app.ui.widgets.card_column import create_empty_view, create_placeholder
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table

SEARCH_DELAY_MS = 350
"""Pause in typing, in milliseconds, after which the distances to the sentence are computed."""
WIDTHS = {RECALL_MODE: 164, PRIORITY: 74, ADDED: 140, LAST_RECALLED: 112, USES: 66, EXPIRES: 112, SIMILARITY: 96}
HIDEABLE_COLUMNS = (ADDED, RECALL_MODE, LAST_RECALLED, EXPIRES, USES, PRIORITY)
"""Columns that a narrow table hides, the last one first."""
OPTIONAL_COLUMNS = (LAST_RECALLED, USES, EXPIRES)
MIN_NAME_WIDTH = 420


class MemoryPage(PersonaListPage):
    """Page with the search field and the list on the left and the selected memory on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        memory_service: MemoryService,
        lookup: MemoryLookup,
        memory_lists: MemoryLists,
        sessions: SessionService,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("MemoryPage", "Memories"), persona_selector)
        self._lookup, self._memory_lists, self._preferences = lookup, memory_lists, preferences
        self._distances: dict[str, float] = {}
        self._memory_to_select: UUID | None = None
        self._new_memory_guid: UUID | None = None
        self._awaits_test = False
        """True while the text that is being entered is a message for a recall test, which does not filter the list."""
        self.rows = build_memory_rows(context.theme, self._distances)
        self.edits = MemoryEdits(self, context, memory_service, memory_lists, self._show_field, self._on_memories_edited)
        self.reader = MemoryReader(self.rows, context, memory_service, memory_lists, sessions, self)
        self._build()
        self._connect()
        self.persona_selector.emit_chosen()

    def _build(self) -> None:
        rebuild_tooltip = self.tr("Read all memories and messages again for the search; use it if memories are not found")
        self.rebuild_button = self.add_button(
            self.tr("Rebuild index"), lambda: self._context.run_action("rebuild_index"), "refresh"
        )
        self.rebuild_button.setToolTip(rebuild_tooltip)
        self.rebuild_button.hide()
        self.add_button(self.tr("New memory"), self.add_memory, "plus", primary=True)
        self.search = SearchField(self.theme, self.tr("Search memories"))
        tooltip = self.tr(
            "Search for memories and summaries of conversations with a similar meaning instead of the same words; reminders "
            "are found by their words only"
        )
        self.by_meaning_chip = build_chip(self.tr("By meaning"), tooltip)
        self.recall_button = build_button(
            self.tr("Test recall"), tooltip=self.tr("Show which memories this message would recall")
        )
        self.chips = MemoryFilterChips()
        self.hint = build_small_label("")
        self.hint.hide()
        self.table: Table[MemoryLine] = Table(
            self.rows,
            self.theme,
            self.tr("Memories"),
            "",
            ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_NAME_WIDTH, OPTIONAL_COLUMNS),
        )
        self.table.setColumnHidden(SIMILARITY, True)
        self.detail = MemoryDetail(self._context, self._memory_lists, self._preferences, self.edits.is_unsaved, self)
        self.search.down_pressed.connect(self.table.setFocus)
        self._build_layout()

    def _build_layout(self) -> None:
        search_row = self._build_search_row(self.search, self.by_meaning_chip, self.recall_button)
        above = self._add_head(search_row, self.chips, self.hint)
        self.panes = ListDetailPanes(self.theme, self.table, self.detail)
        self.panes.detail_in_front.connect(above.setHidden)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.panes)
        self.stack.addWidget(self._build_empty_view())
        self.body.addWidget(self.stack, 1)

    def _build_empty_view(self) -> QWidget:
        text = self.tr(
            "No memories yet. A conversation becomes one when it ends, personas add what they note while you are away, and you "
            "can write some yourself. What you say about yourself is on the page Facts."
        )
        button = build_button(self.tr("Write a memory"), self.add_memory)
        return create_empty_view(create_placeholder(text), button)

    def _connect(self) -> None:
        spawn = self._context.tasks.start_task
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY_MS)
        self._search_timer.timeout.connect(lambda: spawn(self._load_distances(), key="memory distances"))
        self.search.textChanged.connect(lambda _text: self._start_search())
        self.search.returnPressed.connect(self._start_awaited_test)
        self.by_meaning_chip.toggled.connect(self._set_search_by_meaning)
        self.recall_button.clicked.connect(self._start_test)
        self.chips.changed.connect(self._filter)
        self._unsubscribers.append(self._preferences.changed.add(lambda _settings: self._update_rebuild_button()))
        self.persona_selector.chosen.connect(self._show_persona)
        self.reader.loaded.connect(self._on_loaded)
        self.table.current_changed.connect(self._show_current)
        self.table.opened.connect(lambda _line: self.detail.focus_first_field())
        self.table.delete_requested.connect(self.forget_memories)
        self.table.rename_requested.connect(self.detail.focus_first_field)
        self.table.menu_requested.connect(self._show_menu)
        self.detail.changed.connect(self._on_field_edited)
        self.guard_undo(self.detail)
        self.detail.recall_view.memory_requested.connect(self._select_memory)
        self.detail.recall_left.connect(self._clear_tested_message)
        self.detail.duplicate_requested.connect(self.duplicate_memory)
        self.detail.forget_requested.connect(self._forget_selected)

    def first_focus_widget(self) -> QWidget:
        return self.search

    def show_route(self, route: Route) -> None:
        if isinstance(route, MemoriesRoute) and route.memory is not None:
            self.show_memory(route.persona_id, route.memory)

    def show_memory(self, persona_id: str, guid: UUID) -> None:
        """Select a memory of the given persona as soon as its list is loaded."""
        self._memory_to_select = guid
        self.panes.show_detail()
        self.persona_selector.choose_persona(persona_id)
        if self.rows.row_total:  # else the list is about to be loaded
            self.reader.reload()

    async def confirm_leave(self) -> bool:
        await self.edits.save()
        await self.edits.forget_blank_memories()
        return True

    def close_page(self) -> None:
        super().close_page()
        self.reader.close()
        self.edits.is_open = False
        self._context.tasks.start_task(self.edits.save())

    # the list

    def _show_persona(self, persona_id: str) -> None:
        for key in ("would recall", "memory distances"):  # of the persona before
            self._context.tasks.cancel(key)
        self.chips.uncheck_all()
        self._distances.clear()
        self.reader.show_persona(persona_id)
        self._start_search()

    def _on_loaded(self) -> None:
        has_memories = bool(self.rows.row_total)
        self.stack.setCurrentIndex(0 if has_memories else 1)
        for widget in (self.chips, self.by_meaning_chip, self.recall_button):
            widget.setVisible(has_memories)
        self._update_rebuild_button()
        self.chips.show_counts(self.reader.counts, self.rows.row_total)
        self._context.tasks.start_task(self._load_categories(self.persona_selector.persona_id), key="memory categories")
        self._update_count()
        if self.by_meaning_chip.isChecked() and self.search.text():
            self._search_timer.start()  # another content lies elsewhere
        memory_to_select, self._memory_to_select = self._memory_to_select, None
        if memory_to_select is not None and not self.table.select_row(str(memory_to_select)):
            self._reset_filters()
            self.table.select_row(str(memory_to_select))
        memory, current = self.detail.memory, self.table.current_row
        if memory is None or current is None or current.guid != str(memory.guid):
            return
        if self.edits.is_unsaved(memory.guid):
            self.rows.replace_row(MemoryLine.from_memory(memory))
        else:
            self._context.tasks.start_task(self.detail.load_memory(memory.guid), key="memory detail")

    def _update_rebuild_button(self) -> None:
        """Show the button that rebuilds the index together with the advanced fields; the command palette has it always."""
        is_advanced = PAGE_NAME in self._preferences.current.advanced_pages
        self.rebuild_button.setVisible(is_advanced and bool(self.rows.row_total))

    async def _load_categories(self, persona_id: str) -> None:
        filed = await self._memory_lists.list_filings(persona_id)
        if persona_id == self.persona_selector.persona_id:
            self.chips.filed_filter.set_options(filed)
            self.detail.set_categories(self.chips.filed_filter.categories)
            if self.chips.filed_filter.selected_guids is not None:
                self._filter()

    def _update_count(self) -> None:
        total = self.rows.row_total
        self._show_count(self.rows, format_memory_count(total) if total else "")

    def _reset_filters(self) -> None:
        """Reset all filters."""
        self.chips.uncheck_all()
        self.by_meaning_chip.setChecked(False)
        self.search.clear()
        self._filter()

    def _start_search(self) -> None:
        """Search for the text that was entered, by meaning after a pause in typing."""
        if self._awaits_test and not self.search.text():
            self._awaits_test = False
            self._show_hint("")
        if self._awaits_test or (self.detail.is_recall_shown and not self.by_meaning_chip.isChecked()):
            text = self.tr("Press Enter to test which memories this message recalls.")
            self._show_hint(text if self.search.text() else "")
        elif self.by_meaning_chip.isChecked():
            self._search_timer.start()
        else:
            self._filter()

    def _filter(self) -> None:
        distances = self._distances if self.by_meaning_chip.isChecked() and self.search.text().strip() else None
        text = "" if self.by_meaning_chip.isChecked() or self.detail.is_recall_shown else self.search.text()
        self.table.no_match_text = self.tr("No matches. Try other words, or search “By meaning”.") if text.strip() else ""
        self.rows.set_filter(
            text,
            filter_predicate(
                self.chips.kind_menu.selected,
                self.chips.mode_menu.selected,
                self.chips.selected_states,
                distances,
                self.chips.filed_filter.selected_guids,
            ),
        )
        self._update_count()

    def _set_search_by_meaning(self, is_by_meaning: bool) -> None:
        """Switch between search by meaning, sorted by similarity, and search by word in the default order."""
        self.search.setPlaceholderText(self.tr("Enter a sentence") if is_by_meaning else self.tr("Search memories"))
        self.table.setColumnHidden(SIMILARITY, not is_by_meaning)
        self.table.sortByColumn(SIMILARITY if is_by_meaning else -1, Qt.SortOrder.DescendingOrder)
        self.table.fit_columns()
        self._awaits_test = False
        self._show_hint("")
        self.search.setFocus()
        if is_by_meaning:
            self._search_timer.start(0)
        else:
            self._search_timer.stop()
            self._context.tasks.cancel("memory distances")
            self._filter()

    async def _load_distances(self) -> None:
        """Compute the distances of the nearest memories to the sentence; memories without a distance are filtered out."""
        text, persona = self.search.text().strip(), self.persona_selector.persona_id
        distances = await self._memory_lists.measure_distances(persona, text) if text else {}
        self._distances.clear()
        self._distances.update(distances)
        has_gap = bool(text) and not distances
        self._show_hint(format_search_gap(await self._memory_lists.explain_no_distances()) if has_gap else "")
        self.rows.sort_appended_rows()
        self._filter()

    def _show_hint(self, text: str) -> None:
        self.hint.setText(text)
        self.hint.setVisible(bool(text))

    def _start_test(self) -> None:
        """Test the recall of the entered message; without one, wait for it until Enter is pressed."""
        if text := self.search.text().strip():
            self._awaits_test = False
            self._show_hint("")
            self._context.tasks.start_task(self._test_recall(text), key="would recall")
            return
        self._awaits_test = True
        self._show_hint(self.tr("Enter a message to test first."))
        self.search.setFocus()

    def _start_awaited_test(self) -> None:
        if self._awaits_test or self.detail.is_recall_shown:
            self._start_test()

    async def _test_recall(self, text: str) -> None:
        """Show which memories a message would recall now."""
        session = self._context.current_session()
        is_same_persona = session is not None and session.persona_id == self.persona_selector.persona_id
        session_id = session.guid if session and is_same_persona else None
        turn_memory = await self._lookup.preview_recall(self.persona_selector.persona_id, text, session_id)
        in_prompt = await self._lookup.list_in_prompt(session_id) if session_id is not None else set[UUID]()
        listed = {line.guid: line.title for line in self.rows.all_rows}
        titles = [title for guid, title in listed.items() if UUID(guid) in in_prompt]
        self.detail.recall_view.show_result(text, turn_memory, listed.__contains__, titles)
        self.detail.show_recall()
        self.panes.show_detail()
        self._filter()  # the message is no search text any more
        (self.search if self.search.isVisible() else self.detail.recall_view.close_button).setFocus()

    def _clear_tested_message(self) -> None:
        """Clear the message of a recall test whose result is no longer shown, which would filter the list."""
        self._show_hint("")
        if not self.by_meaning_chip.isChecked():
            self.search.clear()
        self._filter()

    # The selected memory.

    def _show_current(self, line: MemoryLine | None) -> None:
        if line is None:
            self.detail.clear_selection()
        elif self.detail.guid_to_show is None or str(self.detail.guid_to_show) != line.guid:
            self._context.tasks.start_task(self._load_detail(UUID(line.guid)), key="memory detail")

    async def _load_detail(self, guid: UUID) -> None:
        await self.edits.save()
        if self.table.current_row is None or self.table.current_row.guid != str(guid):
            return  # the user has moved on meanwhile
        await self.detail.load_memory(guid)
        if guid == self._new_memory_guid:
            self._new_memory_guid = None
            self.panes.show_detail()
            self.detail.focus_first_field()

    def _select_memory(self, guid: str) -> None:
        if not self.table.select_row(guid):
            self._reset_filters()
            self.table.select_row(guid)
        self.detail.show_current()
        self.table.setFocus()

    def _on_field_edited(self, name: str, value: object) -> None:
        if self.detail.memory is not None:
            self.edits.change_field(self.detail.memory, name, value)

    def _show_field(self, guid: UUID, name: str, value: object) -> None:
        """Show a changed field at once, in the detail pane and in the list."""
        if self.detail.memory is not None and self.detail.memory.guid == guid:
            self.detail.set_field(name, value)
            self.rows.replace_row(MemoryLine.from_memory(self.detail.memory))

    def _on_memories_edited(self, memory_to_select: UUID | None) -> None:
        self._memory_to_select = memory_to_select or self._memory_to_select
        self.reader.reload()

    # buttons and menu

    def add_memory(self) -> None:
        """Add an empty memory and put the focus into its name field."""
        memory = MemoryUnit(name=self.tr("New memory"))
        self._new_memory_guid = memory.guid
        self.edits.add_blank_memory(self.persona_selector.persona_id, memory)

    def duplicate_memory(self) -> None:
        if self.detail.memory is not None and self.detail.memory.category is not MemoryType.CHAT_SESSION:
            self.edits.duplicate_memory(self.persona_selector.persona_id, self.detail.memory)

    def forget_memories(self, lines: list[MemoryLine]) -> None:
        """Move memories to the trash. Conversations are skipped, as they are deleted on their own page."""
        memories = [line for line in lines if not line.is_session]
        if memories:
            self.edits.forget_memories(self.persona_selector.persona_id, memories)
        elif lines:
            self._context.notifier.notify(self.tr("Delete conversations on the Conversations page."))

    def _forget_selected(self) -> None:
        self.forget_memories(self.table.selected_rows)

    def _show_menu(self, position: QPoint) -> None:
        lines = self.table.selected_rows
        if not lines:
            return
        entries = [
            MenuEntry(self.tr("Open\tEnter"), self.detail.focus_first_field),
            MenuEntry(self.tr("Duplicate"), self.duplicate_memory, len(lines) == 1 and not lines[0].is_session),
        ]
        if all(line.is_session for line in lines):
            text = self.tr("Edit or delete in Conversations…")
            entries.append(MenuEntry(text, lambda: self._context.navigator.open(SessionsRoute())))
        else:
            entries.append(MenuEntry(self.tr("Forget\tDel"), lambda: self.forget_memories(lines)))
        popup_menu(self, position, entries)
