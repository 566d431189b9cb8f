"""Page that lists records, as declared by a `RecordSpec`.

A page of records subclasses `RecordPage`, calls `build_list` with what it declares, and says in `load_records` where the
records come from. What every list does, it has from here: the table and its columns, the search, the filters, the number of
records, the text of an empty list, the commands with their buttons, menu and keys, the record that is selected and its details,
storing what is typed, undo, loading again after changes, and closing.

    class NotesPage(RecordPage[Note]):
        def __init__(self, context: PageContext, persona_selector: PersonaSelector, notes: NoteService) -> None:
            super().__init__(context, tr("Notes"), persona_selector)
            self.detail = NoteDetail()
            self.build_list(RecordSpec(name=tr("Notes"), columns=[…], key=attrgetter("guid"), …), detail=self.detail)

        async def load_records(self) -> Sequence[Note]:
            return await self._notes.notes_of(self.persona_id)

        def show_record(self, record: Note | None) -> None:
            self.detail.show_note(record)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtWidgets import QLayout, QPushButton, QStackedWidget, QWidget

from lethe_app.errors import RecordMissing
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.pages.record_page.commands import CommandButtons, Key, RecordCommand
from lethe_app.ui.pages.record_page.filters import FilterRow, RecordFilter
from lethe_app.ui.pages.record_page.loader import RecordLoader
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

Row = TypeVar("Row")


@dataclass(frozen=True)
class RecordSpec(Generic[Row]):
    """What a page of records declares about its list."""

    name: str
    """Accessible name of the table."""
    columns: Sequence[Column[Row]]
    key: Callable[[Row], Hashable]
    """Identifies a record when the list is read again."""
    search_text: Callable[[Row], str]
    search_hint: str = ""
    """Placeholder of the search field; without one there is none."""
    is_folded: bool = False
    """Whether `search_text` is folded already."""
    empty_text: str = ""
    """Text in place of the rows while there are no records."""
    filters: Sequence[RecordFilter] = ()
    commands: Sequence[RecordCommand[Row]] = ()
    format_total: Callable[[int], str] = str
    """Returns the number of all records in words."""
    selects_one: bool = False
    """Whether only one record can be selected at a time."""
    selects_first: bool = False
    """Whether the first record is selected while none is."""
    sorted_by: int | None = None
    """Index of the column by which the list is sorted at first."""


class RecordPage(ReloadingPage, Generic[Row]):
    """Page with filters above a list of records, and the details of the selected one beside it."""

    rows: FilteredTableModel[Row]
    table: Table[Row]
    search: SearchField
    """Field for the words that the records contain; hidden if the page declares no hint for it."""
    filters: FilterRow
    panes: ListDetailPanes
    hides_head = True
    """Whether search and filters give way to the details in a narrow window."""

    def __init__(self, context: PageContext, title: str, persona_selector: PersonaSelector | None = None) -> None:
        """Create the frame; with a persona selector, the list is about one persona."""
        super().__init__(context, title, persona_selector)
        self._task_keys += [f"details {id(self)}", f"dialog {id(self)}"]
        self._with_records: list[QWidget] = []
        self._head_buttons_by_title: dict[str, tuple[RecordCommand[Row], QPushButton]] = {}
        self._detail_buttons: list[CommandButtons] = []
        self._wanted_key: Hashable = None
        self._wants_focus = False
        self._shown_key: Hashable = None

    # Building

    def build_list(
        self,
        spec: RecordSpec[Row],
        *,
        detail: QStackedWidget | None = None,
        empty_view: QWidget | None = None,
        top: Sequence[QWidget | QLayout] = (),
        search_row: Sequence[QWidget] = (),
        head: Sequence[QWidget | QLayout] = (),
    ) -> None:
        """Create what the page declares, and begin to load it.

        `detail` shows the selected record, with a placeholder at index 0. `empty_view` takes the place of list and details
        while there are no records. `top` are rows above that of the search field, `search_row` widgets at its end, and `head`
        rows below it and the filters.
        """
        self.spec = spec
        self.rows = FilteredTableModel(spec.columns, spec.key, spec.search_text, is_folded=spec.is_folded)
        self.table = Table(self.rows, self.theme, spec.name, spec.empty_text)
        if spec.selects_one:
            self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        if spec.sorted_by is not None:
            self.table.sortByColumn(spec.sorted_by, Qt.SortOrder.AscendingOrder)
        self.search, self.filters = SearchField(self.theme, spec.search_hint, self), FilterRow(spec.filters, self)
        self.search.setVisible(bool(spec.search_hint))
        self.filters.setVisible(bool(spec.filters))
        self.loader = RecordLoader(
            self.rows, self._context.tasks, self.load_batches, self.filters.count_records, self._on_loaded
        )
        for command in spec.commands:
            if command.in_head:
                self._add_head_button(command)
        self._build_head_rows(top, search_row, head)
        self._build_panes(detail, empty_view)
        self._connect_list()
        self.update_commands()
        if self.persona_selector is not None:
            self.persona_selector.chosen.connect(self._on_persona_chosen)
            self.persona_selector.emit_chosen()
        else:
            self.reload()

    def _add_head_button(self, command: RecordCommand[Row]) -> None:
        title = command.title_for(())
        button = self.add_button(title, lambda: self.run_command(command), command.icon, primary=command.is_primary)
        button.setToolTip(command.tooltip)
        self._head_buttons_by_title[title] = (command, button)

    def button(self, title: str) -> QPushButton:
        """Return the button of a command in the head."""
        return self._head_buttons_by_title[title][1]

    def build_command_buttons(self, *commands: RecordCommand[Row]) -> CommandButtons:
        """Create the buttons of commands on the record on display, for its details."""
        buttons = CommandButtons(commands, self.run_command)
        self._detail_buttons.append(buttons)
        return buttons

    def show_with_records(self, *widgets: QWidget) -> None:
        """Hide these widgets while the list has no records."""
        self._with_records += widgets

    def _build_head_rows(
        self, top: Sequence[QWidget | QLayout], search_row: Sequence[QWidget], head: Sequence[QWidget | QLayout]
    ) -> None:
        line = self.build_search_row(self.search if self.spec.search_hint else None, search_row)
        has_line = line.count() > 1  # besides the stretch at its end
        if has_line and not self.spec.search_hint:
            line.insertWidget(line.count() - 1 - len(search_row), self.filters, 1, Qt.AlignmentFlag.AlignVCenter)
        is_filter_row = self.spec.filters and line.indexOf(self.filters) < 0
        self.head = self.add_head(*top, *([line] if has_line else []), *([self.filters] if is_filter_row else []), *head)
        if self.spec.filters:
            self.show_with_records(self.filters)

    def _build_panes(self, detail: QStackedWidget | None, empty_view: QWidget | None) -> None:
        self.stack = QStackedWidget()
        if detail is not None:
            self.panes = ListDetailPanes(self.theme, self.table, detail)
            if self.hides_head:
                self.panes.detail_in_front.connect(self.head.setHidden)
            self.guard_undo(detail)
        self.stack.addWidget(self.table if detail is None else self.panes)
        if empty_view is not None:
            self.stack.addWidget(empty_view)
        self.body.addWidget(self.stack, 1)

    def _connect_list(self) -> None:
        self.search.down_pressed.connect(self.table.setFocus)
        self.search.textChanged.connect(lambda _text: self.on_search_changed())
        self.filters.changed.connect(self.apply_filter)
        self.rows.modelReset.connect(self._on_filtered)
        self.table.current_changed.connect(self._on_current_changed)
        self.table.opened.connect(lambda record: self._run_key(Key.OPEN, [record]))
        self.table.rename_requested.connect(lambda: self._run_key(Key.RENAME, self.selected_records))
        self.table.delete_requested.connect(lambda records: self._run_key(Key.DELETE, records))
        self.table.menu_requested.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(lambda *_both: self.update_commands())

    # For subclasses

    async def load_records(self) -> Sequence[Row]:
        """Return the records of the list."""
        raise NotImplementedError

    async def load_batches(self) -> AsyncIterator[Sequence[Row]]:
        """Yield the records in batches, each of which is listed at once; by default all of `load_records`."""
        yield await self.load_records()

    def show_record(self, record: Row | None) -> None:
        """Show the selected record, or that none is selected."""

    async def load_details(self, record: Row) -> Any:  # noqa: ANN401 - as `show_details` takes it
        """Return what `show_details` needs about the record, if it takes a while to be loaded."""

    def show_details(self, record: Row, details: Any) -> None:  # noqa: ANN401 - as `load_details` returns it
        """Show what was loaded about the record, which is still the selected one."""

    def focus_details(self) -> None:
        """Move the focus to the details, because the record was opened."""

    def after_load(self) -> None:
        """Do what is to be done when the list was read and before its record is shown."""

    def on_persona_chosen(self) -> None:
        """Do what is to be done when another persona was chosen, before its records are loaded."""

    def on_search_changed(self) -> None:
        """Apply what was typed into the search field."""
        self.apply_filter()

    def build_row_filter(self) -> Callable[[Row], bool] | None:
        """Return the predicate of the listed records; by default that of the filters."""
        return self.filters.build_test()

    @property
    def search_words(self) -> str:
        """Return the words that the listed records contain; by default what the search field says."""
        return self.search.text()

    def format_count(self) -> str:
        """Return the number of records, for the head of the page; empty if there are none."""
        shown, total = len(self.rows.visible_rows), self.rows.row_total
        if shown == total:
            return self.spec.format_total(total) if total else ""
        text = self.tr("{shown} of {all}")
        return text.format(shown=QLocale().toString(shown), all=self.spec.format_total(total))

    def no_match_text(self) -> str:
        """Return why no record is listed although there are some; empty for the usual text about the search."""
        return "" if self.search_words else self.filters.empty_text

    # The list

    def first_focus_widget(self) -> QWidget:
        return self.search if self.spec.search_hint else self.table

    def reload(self) -> None:
        """Read the list again now."""
        self._reload_timer.stop()
        if self.persona_selector is None or self.persona_id:
            self.loader.reload()

    def _on_persona_chosen(self, _persona_id: str) -> None:
        self.on_persona_chosen()
        self.loader.start_over()
        self.apply_filter()

    def _on_loaded(self, is_changed: bool) -> None:
        has_records = bool(self.rows.row_total)
        self.stack.setCurrentIndex(0 if has_records else self.stack.count() - 1)
        for widget in self._with_records:
            widget.setVisible(has_records)
        self.filters.show_counts(self.rows.row_total)
        self.after_load()
        if is_changed:
            self.apply_filter()
        if self._wanted_key is not None and self.select_record(self._wanted_key):
            self._wanted_key = None
        elif self.spec.selects_first and self.table.current_row is None and self.rows.visible_rows:
            self.table.select_row(self.spec.key(self.rows.visible_rows[0]))
        self._show_current()

    def apply_filter(self) -> None:
        """List the records that the search field and the filters let pass."""
        self.table.no_match_text = self.no_match_text()
        self.rows.set_filter(self.search_words, self.build_row_filter())
        self._on_filtered()

    def _on_filtered(self) -> None:
        self.subtitle.set_full_text(self.format_count())
        self.update_commands()

    def reveal_record(self, record: Row) -> None:
        """Change the search and the filters so that they list a record."""
        self.search.clear()
        self.filters.reveal(record)
        self.apply_filter()

    # The selected record

    @property
    def selected_records(self) -> list[Row]:
        """Return the selected records; without a selection the one on display."""
        current = self.table.current_row
        return self.table.selected_rows or ([current] if current is not None else [])

    def is_current(self, record: Row) -> bool:
        """Return whether a record is still the current one."""
        current = self.table.current_row
        return current is not None and self.spec.key(current) == self.spec.key(record)

    def select_record(self, key: Hashable) -> bool:
        """Select a record, and list it if the filters hide it; return False if there is no such record."""
        if self.table.select_row(key):
            return True
        hidden = next((record for record in self.rows.all_rows if self.spec.key(record) == key), None)
        if hidden is not None:
            self.reveal_record(hidden)
        return hidden is not None and self.table.select_row(key)

    def select_when_loaded(self, key: Hashable, *, takes_focus: bool = False) -> None:
        """Select a record once the list contains it, unless the user moves to another one first."""
        self._wanted_key, self._wants_focus = key, takes_focus

    def go_to_record(self, persona_id: str, key: Hashable, *, takes_focus: bool = False) -> None:
        """Choose a persona and show one of its records, as soon as it is loaded."""
        self.panes.show_detail()
        self.choose_persona(persona_id)
        self.select_when_loaded(key, takes_focus=takes_focus)
        self.reload()

    def _on_current_changed(self, record: Row | None) -> None:
        key = self.spec.key(record) if record is not None else None
        if key != self._shown_key:
            if record is not None and key != self._wanted_key:
                self._wanted_key, self._wants_focus = None, False  # the user has moved on meanwhile
            self._show_current()

    def _show_current(self) -> None:
        record, shown_key = self.table.current_row, self._shown_key
        self._shown_key = self.spec.key(record) if record is not None else None
        for buttons in self._detail_buttons:
            buttons.show_record(record, is_same=self._shown_key == shown_key)
        self.show_record(record)
        task_key = f"details {id(self)}"
        if record is None:
            self._context.tasks.cancel(task_key)
        else:
            self._context.tasks.start_task(self._load_and_show(record), key=task_key)

    async def _load_and_show(self, record: Row) -> None:
        await self.saver.save()
        try:
            details = await self.load_details(record)
        except RecordMissing:
            return  # deleted meanwhile; the list is about to say so
        if self.is_current(record):
            self.show_details(record, details)
            if self._wants_focus:
                self._wants_focus = False
                self.panes.show_detail()
                self.focus_details()

    # Commands

    def run_command(self, command: RecordCommand[Row], records: Sequence[Row] | None = None) -> None:
        """Run a command on records, by default the selected ones, after asking if it does; nothing if it does not apply."""
        chosen = self.selected_records if records is None else records
        if not command.accepts(chosen):
            return
        if command.confirm is not None:
            self._context.tasks.start_task(self._ask_and_run(command, chosen), key=f"dialog {id(self)}")
        elif (work := command.run(chosen)) is not None:
            self._context.tasks.start_task(work)

    async def _ask_and_run(self, command: RecordCommand[Row], records: Sequence[Row]) -> None:
        is_confirmed = command.confirm is None or await run_dialog(command.confirm(records))
        if is_confirmed and (work := command.run(records)) is not None:
            self._context.tasks.start_task(work)  # goes on when the page is left, which closes only the question

    def _run_key(self, key: Key, records: Sequence[Row]) -> None:
        command = next((one for one in self.spec.commands if key in one.keys and one.accepts(records)), None)
        if command is not None:
            self.run_command(command, records)

    def update_commands(self) -> None:
        """Show the buttons in the head that the list may need, and enable those that apply to the selected records."""
        for command, button in self._head_buttons_by_title.values():
            command.update_button(button, self.selected_records, self.rows.row_total)

    def _show_menu(self, position: QPoint) -> None:
        records = self.selected_records
        entries = [
            MenuEntry(
                "\t".join([one.title_for(records), *one.keys[:1]]),
                partial(self.run_command, one, records),
                one.accepts(records),
            )
            for one in self.spec.commands
            if one.is_offered(records)
        ]
        if entries:
            popup_menu(self, position, entries)

    def close_page(self) -> None:
        super().close_page()
        self.loader.close()
