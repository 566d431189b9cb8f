"""Page “Worlds (lorebooks)”: list of worlds, table of entries, forms and entry test."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.models.service import ModelService
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.worlds.service import WorldService
from lethe_app.services.worlds.world_trial import WorldTrials
from lethe_app.ui.core.routes import Route, WorldsRoute
from lethe_app.ui.core.theme import interface_font_size
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.worlds.copying import copy_to_memories
from lethe_app.ui.pages.worlds.detail import WorldEntryDetail
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.list import WorldList
from lethe_app.ui.pages.worlds.table import EntryRows, EntryTable
from lethe_app.ui.pages.worlds.world_trial import WorldTrialPanel
from lethe_app.ui.widgets.card_column import create_splitter
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes

MIN_WIDTH_FOR_LIST = 760
"""Minimum width in pixels at which the worlds are listed beside the entries, at the default text size."""
MIN_LIST_WIDTH, LIST_WIDTH = 150, 236


class WorldPage(Page):
    """Page that saves changes automatically; every edit can be undone while the page is open."""

    def __init__(
        self,
        context: PageContext,
        worlds: WorldService,
        world_trials: WorldTrials,
        token_counts: TokenCountService,
        library: Library,
        memory: MemoryService,
        models: ModelService,
        preferences: Preferences,
    ) -> None:
        super().__init__(context.theme, self.tr("Worlds (lorebooks)"))
        self._context, self._worlds, self._world_trials = context, worlds, world_trials
        self._library, self._memory = library, memory
        self.book = WorldEditorState(context, worlds, self.undo_stack)
        self.rows = EntryRows(context, token_counts)
        self.world_list = WorldList(context, worlds, self.book)
        self.table = EntryTable(self.theme, self.book, self.rows)
        self.detail = WorldEntryDetail(context, worlds, token_counts, preferences, self.book)
        self.trial_panel = WorldTrialPanel(context, world_trials, self.book)
        self.trial_panel.hide()
        self._is_list_in_front = False
        self._build()
        self._add_shortcuts()
        self._connect()
        self._unsubscribe = models.changed.add(lambda _state: self.rows.clear_tokens())
        self._load_task = context.tasks.start_task(self._load_page(), key="worlds")

    def _build(self) -> None:
        self.guard_undo(self.detail)
        scale = interface_font_size(self.theme.prose_size) / 13
        self.table.table.is_loading = True
        self.world_list.setMinimumWidth(round(MIN_LIST_WIDTH * scale))
        self.panes = ListDetailPanes(self.theme, self.table.table, self.detail, self.table)
        self.splitter = create_splitter(self.world_list, self.panes, stretch_index=1)
        self.splitter.setSizes([round(LIST_WIDTH * scale), 4 * LIST_WIDTH])
        self._trial_splitter = create_splitter(self.splitter, self.trial_panel)
        self._trial_splitter.setOrientation(Qt.Orientation.Vertical)
        self.body.addWidget(self._trial_splitter, 1)
        self.worlds_button = self.add_button(self.tr("Worlds"), self._toggle_list, "globe")
        self.trial_button = self.add_button(self.tr("Test entries"), self._toggle_trial_panel, "play")
        self.trial_button.setToolTip(self.tr("Test which entries a text activates  Ctrl+T"))

    def _add_shortcuts(self) -> None:
        keys: list[tuple[str, Callable[[], object]]] = [
            ("Ctrl+T", self._toggle_trial_panel),
            ("Ctrl+S", self._context.tasks.create_callback(self.book.saver.save)),
            ("Ctrl+Return", self._new_entry),
        ]
        for key, slot in keys:
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)

    def _connect(self) -> None:
        book, entries = self.book, self.table.table
        book.list_changed.connect(self.world_list.fill_list)
        book.list_changed.connect(self.detail.world_form.show_bindings)
        book.world_switched.connect(self._show_other_world)
        book.world_changed.connect(self._show_world)
        book.world_added.connect(self._focus_world_name)
        book.saving_changed.connect(self.subtitle.set_full_text)
        book.copy_requested.connect(self._copy_entry)
        self.world_list.rename_requested.connect(self._focus_world_name)
        self.world_list.table.opened.connect(lambda _world: self._focus_entries())
        entries.entries_selected.connect(self._show_detail)
        entries.opened.connect(lambda _entry: self._edit_selected())
        entries.new_requested.connect(self._new_entry)
        self.table.new_button.clicked.connect(self._new_entry)
        self.table.settings_button.clicked.connect(self._show_world_settings)
        self.trial_panel.result_opened.connect(lambda one: self._show_entry(one.world.unique_name, one.entry.guid))

    async def _load_page(self) -> None:
        await self.detail.show_owners()
        await self.book.load_worlds()
        for problem in await self._worlds.list_errors():
            self._context.notifier.report_error(problem)
        self.detail.set_user_messages(await self._world_trials.list_user_messages(self._context.current_session()))
        await self.trial_panel.load_messages()
        self.rows.set_use_counts(await self._worlds.count_activations())

    def show_route(self, route: Route) -> None:
        if isinstance(route, WorldsRoute) and route.entry is not None:
            self._context.tasks.start_task(self.open_entry(route.world, route.entry))

    async def open_entry(self, stem: str, guid: UUID) -> None:
        """Show an entry once the page is loaded."""
        if self._load_task is not None:
            await self._load_task
        self._show_entry(stem, guid)

    # the page itself

    def first_focus_widget(self) -> QWidget:
        return self.world_list.table

    async def confirm_leave(self) -> bool:
        if await self.book.save():
            return True
        question = ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Leave with unsaved changes?"),
            self.tr(
                "Your changes are kept until you close Lethe. Lethe tries to save them again with the next change "
                "and when it is closed."
            ),
            self.tr("Leave"),
        )
        return await run_dialog(question)

    def close_page(self) -> None:
        super().close_page()
        self._unsubscribe()
        self.book.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the entry test on Esc before the page itself."""
        focus = self.focusWidget()
        if event.key() == Qt.Key.Key_Escape and focus is not None and self.trial_panel.isAncestorOf(focus):
            self._toggle_trial_panel()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_layout()

    def _toggle_list(self) -> None:
        """Show the list of worlds in place of the entries, or these again."""
        self._is_list_in_front = not self._is_list_in_front
        self._update_layout()

    def _update_layout(self) -> None:
        """Show the list of worlds or the entries by turns where there is no room for both, and neither beside the entry test
        in a window too narrow for it.
        """
        is_small = self.width() < MIN_WIDTH_FOR_LIST * interface_font_size(self.theme.prose_size) / 13
        self.worlds_button.setVisible(is_small)
        self.world_list.setVisible(not is_small or self._is_list_in_front)
        self.panes.setVisible(not is_small or not self._is_list_in_front)
        self.splitter.setVisible(self.trial_panel.isHidden() or self.trial_panel.fits_beside(self.width()))

    # worlds

    def _show_other_world(self, world: World | None) -> None:
        self.world_list.select_world()
        self.table.search.clear()
        self.table.table.clearSelection()
        self.table.setEnabled(world is not None)
        self.subtitle.set_full_text(world.description if world is not None else "")
        self._show_world(world)

    def _show_world(self, world: World | None) -> None:
        """Show another world, or a new version of the one on display."""
        self.table.table.is_loading = False
        self.rows.show_world(world)
        self.detail.show_world(world)
        self._show_detail()
        self.trial_panel.schedule_run()

    def _focus_world_name(self) -> None:
        self._show_world_settings()
        self.detail.focus_name()

    def _focus_entries(self) -> None:
        """Move the focus from the list to the entries."""
        self._show_entries()
        self.panes.show_list()

    def _show_entries(self) -> None:
        self._is_list_in_front = False
        self._update_layout()

    # entries

    def _new_entry(self) -> None:
        if self.book.world is None:
            return
        self.table.search.clear()
        entry = self.book.add_entry("")
        if entry is not None:
            self.table.table.clearSelection()
            self.table.select_entry(entry.guid)
            self._edit_selected()

    def _edit_selected(self) -> None:
        """Show the selected entries and focus the first field."""
        self._show_entries()
        self._show_detail()
        self.panes.show_detail()
        self.detail.focus_name()

    def _show_world_settings(self) -> None:
        self._show_entries()
        self.table.table.clearSelection()
        self._show_detail()
        self.panes.show_detail()

    def _show_detail(self) -> None:
        """Show the selected entries, or the settings of the world if there are none."""
        self.detail.show_selection(self.table.table.selected_rows)

    def _copy_entry(self, entry: WorldEntry) -> None:
        work = copy_to_memories(entry, self._context, self._library, self._memory, self.book.commands)
        self._context.tasks.start_task(work, key="remember")

    # the entry test

    def _toggle_trial_panel(self) -> None:
        """Open the entry test and focus its text, or close it."""
        is_opened = self.trial_panel.isHidden()
        self.trial_panel.setVisible(is_opened)
        self._update_layout()
        if is_opened:
            if not self._trial_splitter.sizes()[1]:  # it was never shown before
                self._trial_splitter.setSizes([420, 230])
            self.trial_panel.text_field.setFocus()
            self.trial_panel.run()
        else:
            self.table.table.setFocus()

    def _show_entry(self, stem: str, guid: UUID) -> None:
        """Show the entry of a test result, in whichever world it is."""
        if stem != self.book.stem:
            self.book.switch_world(stem)
        if self.splitter.isHidden():
            self._toggle_trial_panel()
        self.table.select_entry(guid)
        self._edit_selected()
