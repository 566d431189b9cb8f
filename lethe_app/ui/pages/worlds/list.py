"""List of worlds at the left of the page, the user's and those shipped with Lethe, with the actions on them."""

from __future__ import annotations

from functools import partial
from operator import attrgetter

from PySide6.QtCore import QPoint, QSignalBlocker, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.worldinfo import World
from lethe_app.services.worlds.service import OpenWorld, WorldService
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import format_count, suggest_file_name
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.files import ask_where_to_save
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class WorldList(QWidget):
    """List in which the selection shows a world; its actions are in a menu and on keys."""

    rename_requested = Signal()

    def __init__(self, context: PageContext, worlds: WorldService, book: WorldEditorState) -> None:
        super().__init__()
        self._context, self._theme, self._worlds, self._book = context, context.theme, worlds, book

        def count_entries(open_world: OpenWorld) -> int:
            return len(open_world.world.entries)

        name = attrgetter("world.name")
        columns: list[Column[OpenWorld]] = [
            Column(self.tr("World"), name, width=0, min_width=80, icon=self._use_icon),
            Column(self.tr("Entries"), lambda one: str(count_entries(one)), count_entries, 46, is_right_aligned=True),
        ]
        self.rows: FilteredTableModel[OpenWorld] = FilteredTableModel(columns, attrgetter("world.unique_name"), name)
        self.table = Table(self.rows, self._theme, self.tr("Worlds"), self.tr("No worlds yet. Create one below."))
        self.table.is_loading = True
        self.table.horizontalHeader().hide()  # a name and a number say what they are
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(self._show_chosen)
        self.table.menu_requested.connect(self._show_menu)
        self.table.rename_requested.connect(self.rename_requested)
        self.table.delete_requested.connect(lambda _worlds: self._delete_world())
        self.new_button = QPushButton(self.tr("New world"))
        self.new_button.setProperty("row", True)
        self.new_button.setIconSize(BUTTON_ICON_SIZE)
        self.new_button.clicked.connect(book.create_world)
        text = self.tr("Rename, duplicate, export, delete")
        menu_button = IconButton(self._theme, "dots", text, accessible_name=self.tr("World actions"))
        menu_button.clicked.connect(lambda: self._show_menu(menu_button.mapToGlobal(QPoint(0, menu_button.height()))))
        foot = build_row((self.new_button, 1), menu_button, spacing=SPACE_2, margins=SPACE_2)
        build_column((self.table, 1), foot, parent=self)
        self._theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def fill_list(self) -> None:
        """Show the worlds and select that on display without emitting signals."""
        self.table.is_loading = False
        with QSignalBlocker(self.table):
            self.rows.set_rows(self._book.open_worlds.values())
        self.select_world()

    def select_world(self) -> None:
        """Select the world on display without emitting signals."""
        with QSignalBlocker(self.table):
            self.table.select_row(self._book.stem)

    def _show_chosen(self, open_world: OpenWorld | None) -> None:
        if open_world is not None and open_world.world.unique_name != self._book.stem:
            self._book.switch_world(open_world.world.unique_name)

    def _use_icon(self, open_world: OpenWorld) -> object:
        """Return a globe, coloured if the world is used in the conversation that is open."""
        palette = self._theme.palette
        is_in_use = any(open_world.world.unique_name in stems for stems in self._book.bindings.values())
        return load_icon("globe", palette.water if is_in_use else palette.muted, 16)

    def _apply_theme(self) -> None:
        self.new_button.setIcon(load_button_icon("plus", self._theme.palette.muted))

    # Actions on the world on display

    def _show_menu(self, position: QPoint) -> None:
        if self._book.world is not None:
            popup_menu(self, position, self.list_actions())

    def list_actions(self) -> list[MenuEntry]:
        """Return the menu of the world on display."""
        open_world = self._book.open_worlds[self._book.stem]
        delete = self.tr("Reset to default…\tDel") if open_world.is_shipped else self.tr("Delete…\tDel")
        return [
            MenuEntry(self.tr("Rename\tF2"), self.rename_requested.emit),
            MenuEntry(self.tr("Duplicate"), self._book.duplicate_world),
            MenuEntry(self.tr("Export…"), self._export_world),
            MenuEntry(delete, self._delete_world, open_world.is_own),
        ]

    def _delete_world(self) -> None:
        """Delete the world after confirmation; of a shipped one, the changed version is moved to the trash."""
        open_world = self._book.open_worlds.get(self._book.stem)
        if open_world is not None and open_world.is_own:
            self._context.tasks.start_task(self._confirm_and_delete(open_world), key="delete")

    async def _confirm_and_delete(self, open_world: OpenWorld) -> None:
        name, size = open_world.world.name, len(open_world.world.entries)
        count = format_count(size, self.tr("{n} entry"), self.tr("{n} entries"))
        if open_world.is_shipped:
            title = self.tr("Reset “{name}” to default?")
            body = self.tr("Your version, with {count}, will be moved to the Trash, where you can restore it.")
            button = self.tr("Reset “{name}”")
        else:
            title = self.tr("Delete “{name}”?")
            body = self.tr("“{name}”, with {count}, will be moved to the Trash, where you can restore it.")
            button = self.tr("Delete “{name}” ({count})")
        texts = [text.format(name=name, count=count) for text in (title, body, button)]
        is_confirmed = await run_dialog(ConfirmDialog(self._context.dialog_parent, *texts))
        if is_confirmed and self._book.stem == open_world.world.unique_name:
            self._book.delete_world()

    def _export_world(self) -> None:
        if self._book.world is not None:
            self._context.tasks.start_task(self._ask_and_export(self._book.world), key="export")

    async def _ask_and_export(self, world: World) -> None:
        """Ask for a file and export a world to it, unsaved changes included."""
        file_name = f"{suggest_file_name(world.name, self.tr('World'))}.json"
        title, kind = self.tr("Export {name}"), self.tr("World Info, for SillyTavern and others (*.json)")
        chosen = await ask_where_to_save(self._context.dialog_parent, title.format(name=world.name), file_name, kind)
        if chosen is None:
            return
        target, _filter = chosen
        await self._worlds.export_world(world, target)
        self._context.notifier.notify(
            self.tr("{name} was exported to “{file}”.").format(name=world.name, file=target.name),
            button=self.tr("Show in folder"),
            action=partial(open_folder, target.parent),
        )
