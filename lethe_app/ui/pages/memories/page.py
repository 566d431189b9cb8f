"""Page “Memories”: the memories of a persona, searched by word or meaning, edited, added and forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from uuid import UUID, uuid4

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtWidgets import QWidget

from lethe_app.domain.clock import now
from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.preferences import Preferences
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_memory_count, truncate_text
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.labels.memories import format_kind
from lethe_app.ui.core.routes import MemoriesRoute, Route, SessionsRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.detail import PAGE_NAME, MemoryDetail
from lethe_app.ui.pages.memories.labels import format_insertion, format_search_gap
from lethe_app.ui.pages.memories.table_model import SIMILARITY, FilingFilter, build_columns, build_state_filter, memory_title
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.filters import MenuFilter, RecordFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.buttons import build_button, build_chip
from lethe_app.ui.widgets.card_column import create_empty_view, create_placeholder
from lethe_app.ui.widgets.labels import build_small_label

SEARCH_DELAY_MS = 350
"""Pause in typing, in milliseconds, after which the distances to the sentence are computed."""
Lines = Sequence[MemoryLine]


class MemoryPage(RecordPage[MemoryLine]):
    """Page with the search field and the list on the left and the selected memory on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        memory: MemoryService,
        memory_lookup: MemoryLookup,
        memory_lists: MemoryLists,
        sessions: SessionService,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("MemoryPage", "Memories"), persona_selector)
        self._memory_service, self._lookup, self._memory_lists = memory, memory_lookup, memory_lists
        self._preferences = preferences
        self._distances: dict[str, float] = {}
        self._blank_memories: dict[UUID, tuple[str, MemoryUnit]] = {}
        """Added memories in which nothing was entered yet, with the id of their persona; they are not stored."""
        self._awaits_test = False
        """True while the text that is being entered is a message for a recall test, which does not filter the list."""
        commands, detail_commands = self._build_commands()
        self.detail = MemoryDetail(context, preferences, self.build_command_buttons(*detail_commands))
        self._build_search()
        self.build_list(
            RecordSpec(
                name=self.tr("Memories"),
                columns=build_columns(context.theme, self._distances),
                key=attrgetter("guid"),
                search_text=attrgetter("searched"),
                search_hint=self.tr("Search memories"),
                is_folded=True,
                filters=self._build_filters(),
                commands=commands,
                format_total=format_memory_count,
            ),
            detail=self.detail,
            empty_view=self._build_empty_view(),
            search_row=[self.by_meaning_chip, self.recall_button],
            head=[self.hint],
        )
        self.rebuild_button = self.button(self.tr("Rebuild index"))
        self.table.setColumnHidden(SIMILARITY, True)
        self.show_with_records(self.by_meaning_chip, self.recall_button)
        self.follow(memory.changed, sessions.changed)
        self._unsubscribers.append(preferences.changed.add(lambda _settings: self.update_commands()))
        self.search.returnPressed.connect(self._start_awaited_test)
        self.detail.changed.connect(self._on_field_edited)
        self.detail.recall_view.memory_requested.connect(self._select_memory)
        self.detail.recall_left.connect(self._clear_tested_message)

    def _build_search(self) -> None:
        tooltip = self.tr(
            "Search for memories and summaries of conversations with a similar meaning instead of the same words; reminders "
            "are found by their words only"
        )
        self.by_meaning_chip = build_chip(self.tr("By meaning"), tooltip)
        self.by_meaning_chip.toggled.connect(self._set_search_by_meaning)
        tooltip = self.tr("Show which memories this message would recall")
        self.recall_button = build_button(self.tr("Test recall"), self._start_test, tooltip=tooltip)
        self.hint = build_small_label("")
        self.hint.hide()
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_DELAY_MS)
        start_task = self._context.tasks.start_task
        self._search_timer.timeout.connect(lambda: start_task(self._load_distances(), key="memory distances"))

    def _build_filters(self) -> list[RecordFilter]:
        self.kind_menu = MenuFilter[MemoryLine](self.tr("Type"), MemoryType, format_kind, attrgetter("category"), self)
        self.mode_menu = MenuFilter[MemoryLine](
            self.tr("Recall mode"),
            MemoryInsertion,
            format_insertion,
            attrgetter("insertion"),
            self,
            is_counted=lambda line: not line.is_session,
        )
        self.filed_filter = FilingFilter()
        return [build_state_filter(), self.kind_menu, self.mode_menu, self.filed_filter]

    def _build_commands(self) -> tuple[list[RecordCommand[MemoryLine]], list[RecordCommand[MemoryLine]]]:
        """Return the commands of the list, and those beside the memory on display."""
        tr = self.tr

        def are_sessions(lines: Lines) -> bool:
            return all(line.is_session for line in lines)

        duplicate: RecordCommand[MemoryLine] = single_command(
            tr("Duplicate"),
            lambda _line: self._duplicate_memory(),
            is_enabled=lambda line: not line.is_session and UUID(line.guid) not in self._blank_memories,
        )
        forget = RecordCommand[MemoryLine](
            tr("Forget"), self._forget_memories, (Key.DELETE,), is_shown=lambda lines: not are_sessions(lines)
        )
        self.add_command = page_command(tr("New memory"), self.add_memory, "plus", is_primary=True)
        rebuild = page_command(
            tr("Rebuild index"),
            lambda: self._context.run_action("rebuild_index"),
            "refresh",
            is_shown=lambda: PAGE_NAME in self._preferences.current.advanced_pages,
            tooltip=tr("Read all memories and messages again for the search; use it if memories are not found"),
        )
        return [
            RecordCommand(tr("Open"), lambda _lines: self.focus_details(), (Key.OPEN, Key.RENAME)),
            duplicate,
            RecordCommand(
                tr("Edit or delete in Conversations…"),
                lambda _lines: self._context.navigator.open(SessionsRoute()),
                is_shown=are_sessions,
            ),
            RecordCommand("", self._refuse_deletion, (Key.DELETE,), is_shown=are_sessions, in_menu=False),
            forget,
            rebuild,
            self.add_command,
        ], [duplicate, forget]

    def _build_empty_view(self) -> QWidget:
        text = self.tr(
            "No memories yet. A conversation becomes one when it ends, personas add what they note while you are away, and you "
            "can write some yourself. What you say about yourself is on the page Facts."
        )
        return create_empty_view(create_placeholder(text), build_button(self.tr("Write a memory"), self.add_memory))

    def show_route(self, route: Route) -> None:
        if isinstance(route, MemoriesRoute) and route.memory is not None:
            self.go_to_record(route.persona_id, str(route.memory))

    # The list

    async def load_batches(self) -> AsyncIterator[Lines]:
        persona_id = self.persona_id
        blank = [self._with_unsaved(memory) for owner, memory in self._blank_memories.values() if owner == persona_id]
        if blank:
            yield [MemoryLine.from_memory(memory) for memory in reversed(blank)]
        listed = {str(memory.guid) for memory in blank}
        async for lines in self._memory_lists.list_memories(persona_id):
            yield [line for line in lines if line.guid not in listed]  # one may be being stored now

    def _with_unsaved(self, memory: MemoryUnit) -> MemoryUnit:
        return memory.model_copy(update=self.saver.unsaved_values(memory.guid))

    def on_persona_chosen(self) -> None:
        for key in ("would recall", "memory distances"):  # of the persona before
            self._context.tasks.cancel(key)
        self.filters.reset()
        self._distances.clear()
        self.on_search_changed()

    def after_load(self) -> None:
        self._context.tasks.start_task(self._load_categories(self.persona_id), key="memory categories")
        if self.by_meaning_chip.isChecked() and self.search.text():
            self._search_timer.start()  # another content lies elsewhere

    async def _load_categories(self, persona_id: str) -> None:
        filed = await self._memory_lists.list_filings(persona_id)
        if persona_id == self.persona_id:
            self.filed_filter.set_options(filed)
            self.detail.set_categories(self.filed_filter.categories)
            if self.filed_filter.build_test() is not None:
                self.apply_filter()

    def reveal_record(self, record: MemoryLine) -> None:
        self.by_meaning_chip.setChecked(False)
        super().reveal_record(record)

    # The search

    @property
    def search_words(self) -> str:
        is_no_search = self.by_meaning_chip.isChecked() or self.detail.is_recall_shown or self._awaits_test
        return "" if is_no_search else self.search.text()

    def build_row_filter(self) -> Callable[[MemoryLine], bool] | None:
        is_listed, distances = super().build_row_filter(), self._distances
        if not self.by_meaning_chip.isChecked() or not self.search.text().strip():
            return is_listed
        return lambda line: line.guid in distances and (is_listed is None or is_listed(line))

    def no_match_text(self) -> str:
        text = self.tr("No matches. Try other words, or search “By meaning”.")
        return text if self.search_words.strip() else ""

    def on_search_changed(self) -> None:
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
            self.apply_filter()

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
            self.apply_filter()

    async def _load_distances(self) -> None:
        """Compute the distances of the nearest memories to the sentence; memories without a distance are filtered out."""
        text, persona = self.search.text().strip(), self.persona_id
        distances = await self._memory_lists.measure_distances(persona, text) if text else {}
        self._distances.clear()
        self._distances.update(distances)
        has_gap = bool(text) and not distances
        self._show_hint(format_search_gap(await self._memory_lists.explain_no_distances()) if has_gap else "")
        self.rows.sort_appended_rows()
        self.apply_filter()

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
        is_same_persona = session is not None and session.persona_id == self.persona_id
        session_id = session.guid if session and is_same_persona else None
        turn_memory = await self._lookup.preview_recall(self.persona_id, text, session_id)
        in_prompt = await self._lookup.list_in_prompt(session_id) if session_id is not None else set[UUID]()
        listed = {line.guid: line.title for line in self.rows.all_rows}
        titles = [title for guid, title in listed.items() if UUID(guid) in in_prompt]
        self.detail.recall_view.show_result(text, turn_memory, listed.__contains__, titles)
        self.detail.show_recall()
        self.panes.show_detail()
        self.apply_filter()  # the message is no search text any more
        (self.search if self.search.isVisible() else self.detail.recall_view.close_button).setFocus()

    def _clear_tested_message(self) -> None:
        """Clear the message of a recall test whose result is no longer shown, which would filter the list."""
        self._show_hint("")
        if not self.by_meaning_chip.isChecked():
            self.search.clear()
        self.apply_filter()

    # The selected memory

    def show_record(self, record: MemoryLine | None) -> None:
        if record is None:
            self.detail.clear_selection()

    async def load_details(self, record: MemoryLine) -> tuple[MemoryUnit, str]:
        guid = UUID(record.guid)
        if guid in self._blank_memories:
            return self._blank_memories[guid][1], record.title
        memory = await self._memory_lists.load_memory(guid)
        return memory, await self._memory_lists.title_of(memory)

    def show_details(self, _record: MemoryLine, details: tuple[MemoryUnit, str]) -> None:
        stored, title = details
        memory = self._with_unsaved(stored)  # somebody typed on while it was read
        self.detail.show_memory(memory, title)
        if memory != stored:
            self.rows.replace_row(MemoryLine.from_memory(memory))

    def focus_details(self) -> None:
        memory = self.detail.memory
        is_blank = memory is not None and memory.guid in self._blank_memories  # without a content it is never recalled
        self.detail.focus_first_field("content" if is_blank else "name")

    def _select_memory(self, guid: str) -> None:
        self.select_record(guid)
        self.detail.show_current()
        self.table.setFocus()

    def _on_field_edited(self, name: str, value: object) -> None:
        memory = self.detail.memory
        if memory is not None:
            self.saver.change_field(field_title(MemoryUnit, name), memory.guid, name, getattr(memory, name), value)

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        """Show a changed field at once, beside the list and in it."""
        if self.detail.memory is not None and self.detail.memory.guid == key:
            self.detail.set_field(name, value)
            self.rows.replace_row(MemoryLine.from_memory(self.detail.memory))

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        """Store the changed fields only, because other fields may have been changed by others meanwhile."""
        assert isinstance(key, UUID)
        if key not in self._blank_memories:
            memory = await self._memory_lists.load_memory(key)
            await self._memory_service.edit(memory.model_copy(update=dict(values)))
            return
        persona_id, blank = self._blank_memories[key]
        memory = blank.model_copy(update=dict(values))
        if memory != blank:
            await self._memory_service.memorize(persona_id, memory, check=False)
            del self._blank_memories[key]

    # Commands

    def add_memory(self) -> None:
        """Add an empty memory and put the focus into its content; it is stored once something is entered."""
        memory, persona_id = MemoryUnit(), self.persona_id

        async def redo_step() -> None:
            self._blank_memories[memory.guid] = (persona_id, memory)
            self.select_when_loaded(str(memory.guid), takes_focus=True)

        async def undo_step() -> None:
            if self._blank_memories.pop(memory.guid, None) is None:
                await self._memory_service.forget_memory(memory.guid)

        self.run_undoable(self.tr("adding a memory"), redo_step, undo_step)

    def _duplicate_memory(self) -> None:
        """Add a copy of the memory on display, with its recall count reset."""
        memory = self.detail.memory
        if memory is not None and memory.category is not MemoryType.CHAT_SESSION:
            copy = memory.model_copy(update={"guid": uuid4(), "trigger_count": 0, "last_trigger": now()})
            persona_id, service = self.persona_id, self._memory_service

            async def redo_step() -> None:
                await service.memorize(persona_id, copy, check=False)
                self.select_when_loaded(str(copy.guid))

            title = self.tr("duplicating “{name}”").format(name=memory.name)
            self.run_undoable(title, redo_step, lambda: service.forget_memory(copy.guid))

    def _forget_memories(self, lines: Lines) -> None:
        """Move memories to the trash. Conversations are skipped, as they are deleted on their own page."""
        memories = [line for line in lines if not line.is_session]
        persona_id, guids, lists = self.persona_id, [UUID(line.guid) for line in memories], self._memory_lists
        is_one = len(memories) == 1
        name = (
            f"“{truncate_text(memory_title(memories[0]), 60)}”" if is_one else self.tr("{n} memories").format(n=len(memories))
        )

        blank = dict[UUID, tuple[str, MemoryUnit]]()

        async def redo_step() -> None:
            blank.update({guid: self._blank_memories.pop(guid) for guid in guids if guid in self._blank_memories})
            await lists.forget_memories(persona_id, [guid for guid in guids if guid not in blank])

        async def undo_step() -> None:
            self._blank_memories.update(blank)
            await lists.restore_memories(persona_id, guids)
            self.select_when_loaded(memories[0].guid)

        notice = self.tr("{name} was forgotten.") if is_one else self.tr("{name} were forgotten.")
        self.run_undoable(
            self.tr("forgetting {name}").format(name=name),
            redo_step,
            undo_step,
            notice.format(name=name),
        )

    def _refuse_deletion(self, _sessions: Lines) -> None:
        self._context.notifier.notify(self.tr("Delete conversations on the Conversations page."))
