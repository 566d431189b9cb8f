"""Page “Trash”: deleted items, which can be restored or, after confirmation, deleted permanently."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.library import Library
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import format_bytes, format_count, truncate_text
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.list_page import ListPage
from lethe_app.ui.pages.trash.labels import ICON_NAMES, format_kind, format_origin, format_time_left, item_title
from lethe_app.ui.pages.trash.preview import TrashPreview
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.card_column import create_splitter
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import ColumnFit, SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

ITEM, KIND, ORIGIN, DELETED_AT, EXPIRES, SIZE = range(6)
WIDTHS = {KIND: 124, ORIGIN: 190, DELETED_AT: 176, EXPIRES: 122, SIZE: 100}
HIDEABLE_COLUMNS = (DELETED_AT, KIND, EXPIRES, ORIGIN, SIZE)
MIN_ITEM_WIDTH = 220


class TrashPage(ListPage):
    """Page with a single list of deleted items of all kinds, and a preview of the selected one."""

    def __init__(
        self,
        context: PageContext,
        trash: Trash,
        sessions: SessionService,
        memory_service: MemoryService,
        fact_service: FactService,
        library: Library,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("TrashPage", "Trash"))
        self._trash, self._sessions, self._memory_service = trash, sessions, memory_service
        self._fact_service, self._library, self._preferences = fact_service, library, preferences
        self._names: dict[str, str] = {}
        self._chips: dict[TrashKind, QPushButton] = {}
        self.rows = self._build_rows()
        self._build()
        self._connect()
        self._schedule_reload()

    def _build_rows(self) -> FilteredTableModel[Trashed]:
        def row_icon(item: Trashed) -> Any:  # noqa: ANN401 - Qt's own type
            is_memory = item.kind in {TrashKind.MEMORY, TrashKind.FACT}
            return load_icon(ICON_NAMES[item.kind], self.theme.palette.amber if is_memory else self.theme.palette.muted)

        columns = [
            Column[Trashed](self.tr("Item"), item_title, width=0, icon=row_icon),
            Column[Trashed](self.tr("Type"), lambda item: format_kind(item.kind), width=WIDTHS[KIND]),
            Column[Trashed](self.tr("From"), lambda item: format_origin(item, self._names), width=WIDTHS[ORIGIN]),
            Column[Trashed](
                self.tr("Deleted"),
                lambda item: format_date_time(item.when),
                sort_key=attrgetter("when"),
                width=WIDTHS[DELETED_AT],
            ),
            Column[Trashed](self.tr("Expires"), self._time_left, sort_key=attrgetter("when"), width=WIDTHS[EXPIRES]),
            Column[Trashed](
                self.tr("Size"), _format_size, sort_key=attrgetter("size"), width=WIDTHS[SIZE], is_right_aligned=True
            ),
        ]
        return FilteredTableModel(
            columns, key=attrgetter("key"), search_text=lambda item: f"{item_title(item)} {format_origin(item, self._names)}"
        )

    def _time_left(self, item: Trashed) -> str:
        return format_time_left(item, self._trash.retention_days, now())

    def _build(self) -> None:
        self.restore_button = self.add_button(self.tr("Restore"), self.restore_selected, "undo", primary=True)
        self.erase_button = self.add_button(self.tr("Delete permanently…"), self.erase_selected)
        self.empty_button = self.add_button(self.tr("Empty Trash…"), self.empty_trash)
        self.search = SearchField(self.theme, self.tr("Search Trash"))
        empty_text = self.tr("The Trash is empty. You can restore deleted items from here.")
        self.table: Table[Trashed] = Table(
            self.rows, self.theme, self.tr("Trash"), empty_text, ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_ITEM_WIDTH)
        )
        self.search.down_pressed.connect(self.table.setFocus)
        self.hint = build_small_label("")
        chips = QWidget()
        self._flow = FlowLayout(chips, spacing=SPACE_1)
        for kind in TrashKind:
            chip = self._chips[kind] = build_chip(format_kind(kind))
            chip.toggled.connect(lambda _on: self._filter())
            self._flow.addWidget(chip)
        self._add_head(self.search, chips, self.hint)
        self.preview = TrashPreview(self)
        self.body.addWidget(create_splitter(self.table, self.preview), 1)

    def _connect(self) -> None:
        sources: tuple[Any, ...] = (self._trash, self._sessions, self._memory_service, self._fact_service, self._library)
        self._unsubscribers += [source.changed.add(self._reload_later) for source in sources]
        self._unsubscribers.append(self._preferences.changed.add(lambda _settings: self._filter()))
        self.search.textChanged.connect(lambda _text: self._filter())
        self.table.opened.connect(lambda _item: self.restore_selected())
        self.table.delete_requested.connect(lambda _items: self.erase_selected())
        self.table.menu_requested.connect(self._show_menu)
        self.table.current_changed.connect(self._show_preview)
        self.table.selectionModel().selectionChanged.connect(lambda *_which: self._update_buttons())

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.search

    # the list

    async def _reload(self) -> None:
        library = self._library
        items = await self._trash.list_items()
        existing = [*await library.personas(), *await library.user_personas()]
        deleted_names = {item.stem: item.title for item in items if item.kind in {TrashKind.PERSONA, TrashKind.USER_PERSONA}}
        self._names = {**deleted_names, **{persona.unique_name: persona.name for persona in existing}}
        was_empty = not self.rows.row_total
        self.rows.set_rows(items)
        for widget in (self.preview, self.restore_button, self.erase_button, self.empty_button):
            widget.setVisible(bool(items))
        present_kinds = {item.kind for item in items}
        for kind, chip in self._chips.items():
            chip.setVisible(kind in present_kinds and len(present_kinds) > 1)
            if kind not in present_kinds:
                chip.setChecked(False)
        self._filter()
        if was_empty and items and self.table.current_row is None:
            self.table.select_row(items[0].key)
            if self.search.hasFocus() and not self.search.text():
                self.table.setFocus()

    def _show_preview(self, item: Trashed | None) -> None:
        self.preview.show_item(item, self._names)
        self._update_buttons()
        if item is not None:
            self._context.tasks.start_task(self._load_preview(item), key="trash preview")

    async def _load_preview(self, item: Trashed) -> None:
        text = await self._trash.load_preview(item)
        if self.table.current_row == item:
            self.preview.show_text(text)

    def _filter(self) -> None:
        kinds = {kind for kind, chip in self._chips.items() if chip.isChecked()}
        self.rows.set_filter(self.search.text(), (lambda item: item.kind in kinds) if kinds else None)
        total = self.rows.row_total
        self._show_count(self.rows, format_count(total, self.tr("{n} item"), self.tr("{n} items")) if total else "")
        days = self._trash.retention_days
        retention = format_count(days, self.tr("{n} day"), self.tr("{n} days"))
        expiry_text = self.tr(
            "Items are deleted permanently after {after} in the Trash. You can change this in the settings."
        ).format(after=retention)
        self.hint.setText(expiry_text if days else self.tr("Items stay in the Trash until you empty it."))
        self._update_buttons()

    def _update_buttons(self) -> None:
        has_selection = bool(self._chosen_items())
        self.restore_button.setEnabled(has_selection)
        self.erase_button.setEnabled(has_selection)
        self.empty_button.setEnabled(bool(self.rows.row_total))

    def _chosen_items(self) -> list[Trashed]:
        """Return the selected items; without a selection the one of the preview."""
        current = self.table.current_row
        return self.table.selected_rows or ([current] if current is not None else [])

    # what the buttons do

    def restore_selected(self) -> None:
        """Restore the selected items."""
        if items := self._chosen_items():
            self._context.tasks.start_task(self._restore_items(items))

    async def _restore_items(self, items: list[Trashed]) -> None:
        errors: list[LetheError] = []
        # Sessions come first, because facts refer to them.
        for item in sorted(items, key=lambda item: (item.kind is not TrashKind.CONVERSATION, item.when)):  # facts rest on them
            try:
                await self._trash.restore(item)
            except LetheError as error:
                errors.append(error)
        for reported in errors[:2]:
            self._context.notifier.report_error(reported)
        restored_count = len(items) - len(errors)
        if restored_count:
            notice = self.tr("“{title}” was restored.").format(title=truncate_text(item_title(items[0]), 60))
            self._context.notifier.notify(
                notice if len(items) == 1 else self.tr("{n} items were restored.").format(n=restored_count)
            )

    def erase_selected(self) -> None:
        """Delete the selected items permanently after confirmation."""
        if items := self._chosen_items():
            self._context.tasks.start_task(self._confirm_and_erase(items, self._format_items(items)), key="trash dialog")

    def empty_trash(self) -> None:
        """Delete all items permanently after confirmation."""
        if items := list(self.rows.all_rows):
            self._context.tasks.start_task(self._confirm_and_erase(items, "", is_all=True), key="trash dialog")

    def _format_items(self, items: list[Trashed]) -> str:
        if len(items) > 1:
            return format_count(len(items), self.tr("{n} item"), self.tr("{n} items"))
        return f"“{truncate_text(item_title(items[0]))}”"

    async def _confirm_and_erase(self, items: list[Trashed], description: str, *, is_all: bool = False) -> None:
        count = format_count(len(items), self.tr("{n} item"), self.tr("{n} items"))
        title = self.tr("Empty Trash?") if is_all else self.tr("Delete {what} permanently?").format(what=description)
        button = self.tr("Empty Trash ({count})").format(count=count) if is_all else self.tr("Delete {what} permanently")
        text = self.tr("This cannot be undone.")
        session_count = sum(item.count for item in items if item.kind is TrashKind.PERSONA)
        if session_count:
            sessions_text = format_count(session_count, self.tr("{n} conversation"), self.tr("{n} conversations"))
            text += " " + self.tr("This also deletes {count} and everything the personas remember.").format(count=sessions_text)
        dialog = ConfirmDialog(self._context.dialog_parent, title, text, button.format(what=description), is_final=True)
        if await run_dialog(dialog):
            await self._trash.erase(items)

    def _show_menu(self, position: QPoint) -> None:
        if self.table.selected_rows:
            restore = MenuEntry(self.tr("Restore"), self.restore_selected)
            popup_menu(self, position, [restore, MenuEntry(self.tr("Delete permanently…"), self.erase_selected)])


def _format_size(item: Trashed) -> str:
    return format_bytes(item.size)
