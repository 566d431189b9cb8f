"""Page “Worlds (lorebooks)”: list of worlds, table of entries, forms and entry test."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QSplitter, QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.models.service import ModelService
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.worlds.service import WorldSaved, WorldService
from lethe_app.services.worlds.world_trial import WorldTrials
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.routes import Route, WorldsRoute
from lethe_app.ui.core.theme import Theme, interface_font_size
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.worlds.deletion import WorldDeletion
from lethe_app.ui.pages.worlds.detail import WorldEntryDetail
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.export import WorldExport
from lethe_app.ui.pages.worlds.list import WorldList
from lethe_app.ui.pages.worlds.remember import RememberAction
from lethe_app.ui.pages.worlds.table import EntryTable
from lethe_app.ui.pages.worlds.table_model import EntryRows
from lethe_app.ui.pages.worlds.world_trial import WorldTrial, WorldTrialPanel

WIDE_MIN_WIDTH, MEDIUM_MIN_WIDTH = 1060, 760
"""Minimum widths in pixels of the layouts with three and with two panes, at the default text size."""
LIST_WIDTH, DETAIL_WIDTH = 236, 372


class WorldPanes(QSplitter):
    """Splitter that shows list, table and detail; in a medium window list and one of the others, in a narrow one a single
    pane.
    """

    layout_changed = Signal()

    def __init__(self, theme: Theme, list_: QWidget, table: QWidget, detail: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._list, self._table, self._detail = theme, list_, table, detail
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        for widget in (list_, table, detail):
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self._front_pane = "table"
        self._mode = self._shown_pane = ""
        self._update_layout()

    @property
    def is_wide(self) -> bool:
        return self._mode == "wide"

    @property
    def is_list_hidden(self) -> bool:
        return self._mode == "narrow"

    @property
    def is_detail_in_front(self) -> bool:
        """True if the detail is shown in place of the table."""
        return not self.is_wide and self._front_pane == "detail"

    def show_detail(self) -> None:
        self._show_pane("detail")

    def show_table(self) -> None:
        self._show_pane("table")

    def toggle_list(self) -> None:
        """Toggle between the list and the table."""
        self._show_pane("table" if self._front_pane == "list" else "list")

    def _show_pane(self, front: str) -> None:
        self._front_pane = front
        self._update_layout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_layout()

    def _update_layout(self) -> None:
        scale = interface_font_size(self._theme.prose_size) / 13
        width = self.width() / scale
        mode = "wide" if width >= WIDE_MIN_WIDTH else "medium" if width >= MEDIUM_MIN_WIDTH else "narrow"
        front = self._front_pane if mode != "medium" or self._front_pane != "list" else "table"
        self._list.setVisible(mode != "narrow" or front == "list")
        self._table.setVisible(mode == "wide" or front == "table")
        self._detail.setVisible(mode == "wide" or front == "detail")
        if (mode, front) == (self._mode, self._shown_pane):
            return
        self._mode, self._shown_pane = mode, front
        self._list.setMinimumWidth(round(150 * scale))
        self._detail.setMinimumWidth(round(330 * scale))
        left, right = round(LIST_WIDTH * scale), round(DETAIL_WIDTH * scale)
        rest = max(self.width() - left, 100)
        self.setSizes([left, max(rest - right, 100), right] if mode == "wide" else [left, rest, rest])
        self.layout_changed.emit()


class WorldPage(Page):
    """Page that saves changes automatically; every edit can be undone while the page is open."""

    def __init__(
        self,
        context: PageContext,
        worlds: WorldService,
        world_trials: WorldTrials,
        token_counts: TokenCountService,
        library: Library,
        memory_service: MemoryService,
        models: ModelService,
        preferences: Preferences,
    ) -> None:
        super().__init__(context.theme, self.tr("Worlds (lorebooks)"))
        self._context, self._worlds, self._world_trials, self._token_counts = context, worlds, world_trials, token_counts
        self.book = WorldEditorState(context, worlds, self.undo_stack)
        self.rows = EntryRows(self.theme, lambda texts: context.tasks.start_task(self._count_tokens(list(texts))))
        self.world_list = WorldList(self.theme, self._is_in_use)
        self.table = EntryTable(self.theme, self.book, self.rows)
        self.detail = WorldEntryDetail(context, worlds, token_counts, preferences, self.book)
        self._is_naming_world = False
        self._remember_action = RememberAction(context, library, memory_service, self.undo_stack)
        self._world_deletion = WorldDeletion(context, self.book)
        self.world_export = WorldExport(context, worlds, self.book)
        self._build()
        self.world_trial = WorldTrial(context, world_trials, self.book, self.bench_splitter)
        self._add_shortcuts()
        self._connect()
        self._unsubscribe = models.changed.add(lambda _state: self.rows.clear_tokens())
        self._load_task = context.tasks.start_task(self._load_page(), key="worlds")

    def _build(self) -> None:
        self.guard_undo(self.detail)
        self.panes = WorldPanes(self.theme, self.world_list, self.table, self.detail)
        self.bench_splitter = QSplitter(Qt.Orientation.Vertical)
        self.bench_splitter.setChildrenCollapsible(False)
        self.bench_splitter.setHandleWidth(1)
        self.bench_splitter.addWidget(self.panes)
        self.bench_splitter.setStretchFactor(0, 1)
        self.body.addWidget(self.bench_splitter, 1)
        self.worlds_button = self.add_button(self.tr("Worlds"), self.panes.toggle_list, "globe")
        self.trial_button = self.add_button(self.tr("Test entries"), self._toggle_trial_panel, "play")
        self.trial_button.setToolTip(self.tr("Test which entries a text activates  Ctrl+T"))
        self.panes.layout_changed.connect(self._update_buttons)
        self._update_buttons()

    @property
    def trial_panel(self) -> WorldTrialPanel:
        """The entry test, created when it is first opened."""
        return self.world_trial.panel

    def _add_shortcuts(self) -> None:
        keys: list[tuple[str, QWidget, Callable[[], object]]] = [
            ("Ctrl+T", self, self._toggle_trial_panel),
            ("Ctrl+S", self, lambda: self._context.tasks.start_task(self._save())),
            ("Ctrl+Return", self, self._new_entry),
            ("F2", self.world_list, self._focus_world_name),
        ]
        for key, widget, slot in keys:
            shortcut = QShortcut(QKeySequence(key), widget)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)

    def _connect(self) -> None:
        book = self.book
        book.list_changed.connect(self._update_list)
        book.world_switched.connect(self._show_world)
        book.world_changed.connect(self._show_new_version)
        book.save_finished.connect(self._on_save_finished)
        book.entries_deleted.connect(self._notify_deleted)
        self.world_list.chosen.connect(self._choose_world)
        self.world_list.create_requested.connect(self._create_world)
        self.world_list.duplicate_requested.connect(self._duplicate_world)
        self.world_list.export_requested.connect(self.world_export.export_current)
        self.world_list.rename_requested.connect(self._focus_world_name)
        self.world_list.delete_requested.connect(self._world_deletion.delete_current)
        self.world_list.entries_requested.connect(self._focus_entries)
        self.table.entries_selected.connect(self._show_detail)
        self.table.opened.connect(lambda _entry: self._edit_selected())
        self.table.settings_requested.connect(self._show_world_settings)
        self.table.new_requested.connect(self._new_entry)
        self.table.remember_requested.connect(self._remember_action.copy_entry)
        self.detail.remember_requested.connect(self._remember_action.copy_entry)
        self.detail.delete_requested.connect(lambda: book.delete_entries(self.table.table.selected_rows))
        self.detail.back_requested.connect(self._back_to_table)
        self.world_trial.opened.connect(self._show_entry)

    async def _load_page(self) -> None:
        await self.detail.show_owners()
        await self.book.load_worlds()
        for problem in await self._worlds.list_errors():
            self._context.notifier.report_error(problem)
        self.detail.set_user_messages(await self._world_trials.list_user_messages(self._context.current_session()))
        await self.world_trial.load_messages()
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
        if await self._worlds.flush():
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
        """Close the entry test or the detail on Esc before the page itself."""
        focus = self.focusWidget()
        if event.key() == Qt.Key.Key_Escape and self.world_trial.contains_widget(focus):
            self._toggle_trial_panel()
        elif event.key() == Qt.Key.Key_Escape and self.panes.is_detail_in_front:
            self._back_to_table()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_panes()

    def _update_buttons(self) -> None:
        self.worlds_button.setVisible(self.panes.is_list_hidden)
        self.table.edit_button.setVisible(not self.panes.is_wide)
        self.detail.show_back_buttons(is_wide=self.panes.is_wide)

    def _update_panes(self) -> None:
        """Hide everything else while the entry test is open in a window too narrow for both."""
        self.panes.setVisible(not self.world_trial.is_open or self.trial_panel.fits_beside(self.width()))

    async def _save(self) -> None:
        await self._worlds.flush()

    def _on_save_finished(self, result: WorldSaved) -> None:
        notifier = self._context.notifier
        if result.error is not None:
            self.subtitle.set_full_text(self.tr("not saved"))
            notifier.report_error(result.error)
            return
        self.subtitle.set_full_text(self.tr("saved"))
        if result.replaced is not None:
            notifier.notify(
                self.tr("“{file}” was changed by another program.").format(file=f"{result.stem}.json"),
                self.tr("Your version was saved; the other one is in the Trash as {name}.").format(name=result.replaced.name),
            )

    async def _count_tokens(self, texts: list[str]) -> None:
        self.rows.set_tokens(dict(zip(texts, await self._token_counts.count(texts), strict=True)))

    # worlds

    def _is_in_use(self, stem: str) -> bool:
        return any(stem in names for names in self.book.bindings.values())

    def _update_list(self) -> None:
        self.world_list.fill_list(list(self.book.open_worlds.values()), self.book.stem)
        self.detail.world_form.show_bindings(self.book.bindings, self.book.stem)

    def _choose_world(self, stem: str) -> None:
        if stem != self.book.stem:
            self.book.switch_world(stem)

    def _show_world(self, world: World | None) -> None:
        """Show another world."""
        self.world_list.select_world(self.book.stem)
        self.table.search.clear()
        self.table.table.clearSelection()
        self.table.show_world(world, is_new_world=True)
        self.table.setEnabled(world is not None)
        self.detail.show_world(world)
        self.subtitle.set_full_text(world.description if world is not None else "")
        self._show_detail()
        self.world_trial.schedule_run()
        if self._is_naming_world and world is not None:
            self._is_naming_world = False
            self._focus_world_name()

    def _show_new_version(self, world: World) -> None:
        """Show a new version of the world on display."""
        self.subtitle.set_full_text(self.tr("saving…"))
        self.table.show_world(world, is_new_world=False)
        self.detail.show_world(world)
        self._show_detail()
        self.world_trial.schedule_run()

    def _create_world(self) -> None:
        self._is_naming_world = True
        self.book.create_world(self._free_name(self.tr("New world")))

    def _duplicate_world(self) -> None:
        if self.book.world is not None:
            self._is_naming_world = True
            self.book.duplicate_world(self._free_name(self.tr("{name} (copy)").format(name=self.book.world.name)))

    def _focus_world_name(self) -> None:
        self._show_world_settings()
        self.detail.focus_first_field()

    def _free_name(self, base_name: str) -> str:
        taken = {open_world.world.name for open_world in self.book.open_worlds.values()}
        names = (base_name if number == 1 else f"{base_name} {number}" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def _focus_entries(self) -> None:
        """Move the focus from the list to the entries."""
        self.panes.show_table()
        self.table.table.setFocus()

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
        self._show_detail()
        self.panes.show_detail()
        self.detail.focus_first_field()

    def _show_world_settings(self) -> None:
        self.table.table.clearSelection()
        self._show_detail()
        self.panes.show_detail()

    def _back_to_table(self) -> None:
        self.panes.show_table()
        self.table.table.setFocus()

    def _show_detail(self) -> None:
        """Show the selected entries, or the settings of the world if there are none."""
        entries = self.table.table.selected_rows
        self.detail.show_selection(entries)
        self.table.edit_button.setEnabled(bool(entries))

    def _notify_deleted(self, stem: str, entries: list[WorldEntry]) -> None:
        notice = self.tr("“{name}” was deleted.").format(name=entries[0].name or self.tr("An entry"))
        text = notice if len(entries) == 1 else format_count(len(entries), "", self.tr("{n} entries were deleted."))

        def undo_deletion() -> None:
            self.book.restore_entries(stem, entries)

        self._context.notifier.notify_undoable(text, undo_deletion)

    # the entry test

    def _toggle_trial_panel(self) -> None:
        """Open the entry test and focus its text, or close it."""
        self.world_trial.toggle_panel()
        self._update_panes()
        if not self.world_trial.is_open:
            self.table.table.setFocus()

    def _show_entry(self, stem: str, guid: UUID) -> None:
        """Show the entry of a test result, in whichever world it is."""
        self._choose_world(stem)
        if self.panes.isHidden():
            self._toggle_trial_panel()
        self.table.select_entry(guid)
        self._edit_selected()


def create_page(environment: PageEnvironment, _route: object) -> WorldPage:
    """Create the page with the services that it calls."""
    services = environment.services
    return WorldPage(
        environment.context,
        services.worlds,
        services.world_trials,
        services.token_counts,
        services.library,
        services.memory,
        services.models,
        services.preferences,
    )
