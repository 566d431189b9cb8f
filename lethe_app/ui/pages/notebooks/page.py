"""Page “Notebooks”: the notebooks of a persona, each rendered, or as the editable text of its file."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.service import NotebookListItem, NotebookService
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.formatting import format_age, format_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.routes import NotebooksRoute, Route
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.notebooks.dialogs import NotebookTitleDialog
from lethe_app.ui.pages.notebooks.editor import NotebookText
from lethe_app.ui.pages.notebooks.reader import NotebookReader
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import create_placeholder
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

LINES, UPDATED = 1, 2
WIDTHS = {LINES: 84, UPDATED: 110}
MIN_SUBJECT_WIDTH = 160
"""Width in pixels of the column of subjects that the others give way to."""
MIN_SPLIT_LINES = 6
"""Lines from which a notebook can be split."""
SAVE_DELAY_MS = 500
"""Pause in typing, in milliseconds, after which the text is saved."""
POLL_INTERVAL_MS = 3000
"""Interval in milliseconds at which the files are read, because other programs may change them."""


class NotebookPage(PersonaListPage):
    """Page that saves typed text automatically; renaming, merging, splitting and deleting can be undone."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        notebooks: NotebookService,
        notebook_filer: NotebookFiler,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("NotebookPage", "Notebooks"), persona_selector)
        self._notebooks, self._notebook_filer, self._preferences = notebooks, notebook_filer, preferences
        self.notebook_name = ""
        """Name of the notebook on display."""
        self._base_text = ""
        """Text of the file when it was last read, for merging with changes by other programs."""
        self._typed_text: str | None = None
        self._owner_id = ""
        """Persona of the notebook on display, by unique name."""
        self._save_lock = asyncio.Lock()
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(lambda: self._spawn(self._save_typed_text()))
        self._notebook_to_select = ""
        """Name of the notebook to select once the list is loaded."""
        self._poll_timer = QTimer(self, interval=POLL_INTERVAL_MS)
        self._poll_timer.timeout.connect(self._schedule_reload)
        self._build()
        self.new_button = self.add_button(
            self.tr("New notebook"), lambda: self._spawn(self._create_notebook()), "plus", primary=True
        )
        self.edit_button = self.add_button(self.tr("Edit"), self._toggle_editor, "edit")
        self.rename_button = self.add_button(self.tr("Rename…"), lambda: self._spawn(self._rename_notebook()))
        self.merge_button = self.add_button(self.tr("Merge"), lambda: self._spawn(self._merge_selected()))
        self.split_button = self.add_button(self.tr("Split"), lambda: self._spawn(self._split_notebook()))
        self.delete_button = self.add_button(
            self.tr("Delete"), lambda: self._spawn(self._delete_notebooks(self.table.selected_rows))
        )
        self._unsubscribers += [self._notebooks.changed.add(self._on_notebooks_changed)]
        self.persona_selector.chosen.connect(lambda _persona: self._show_persona())
        self._update_buttons()
        self.persona_selector.emit_chosen()
        self._poll_timer.start()

    def _build(self) -> None:
        columns = [
            Column[NotebookListItem](self.tr("Subject"), lambda item: item.notebook.title, width=0),
            Column[NotebookListItem](
                self.tr("Lines"), lambda item: str(line_count(item)), line_count, WIDTHS[LINES], is_right_aligned=True
            ),
            Column[NotebookListItem](
                self.tr("Updated"),
                self._format_updated,
                lambda item: item.when.timestamp() if item.when else 0.0,
                WIDTHS[UPDATED],
            ),
        ]
        self.rows: FilteredTableModel[NotebookListItem] = FilteredTableModel(
            columns, key=lambda item: item.name, search_text=lambda item: item.notebook.title
        )
        empty_text = self.tr(
            "No notebooks yet\n\n"
            "A notebook collects, line by line, what is known about one subject: a person, a place, a project."
            " Recurring subjects get one when a conversation ends, or you can create one with “New notebook”.\n\n"
            "Example: “Garden” · The well runs dry in July. · Quinces are ripe in October."
        )
        self.table: Table[NotebookListItem] = Table(
            self.rows, self.theme, self.tr("Notebooks"), empty_text, ColumnFit(WIDTHS, (UPDATED, LINES), MIN_SUBJECT_WIDTH)
        )
        self.table.setMinimumWidth(220)
        self.table.current_changed.connect(self._show_notebook)
        self.table.selectionModel().selectionChanged.connect(lambda *_both: self._update_buttons())
        self.table.delete_requested.connect(lambda item: self._spawn(self._delete_notebooks(item)))
        self.table.rename_requested.connect(lambda: self._spawn(self._rename_notebook()))
        self.table.opened.connect(lambda _item: self._show_editor(is_editing=True))
        self.table.menu_requested.connect(self._show_menu)
        self.editor = NotebookText(self.tr("Notebook text"))
        self.editor.edited.connect(self._on_text_edited)
        self.guard_undo(self.editor)
        self.reader = NotebookReader(self.tr("Notebook"))
        self.reader.edit_requested.connect(lambda: self._show_editor(is_editing=True))
        self.text_stack = QStackedWidget()
        self.text_stack.addWidget(self.reader)
        self.text_stack.addWidget(self.editor)
        self.length_label, self.problem_label = build_small_label(""), build_small_label("")
        self.problem_label.setVisible(False)
        self.detail = QStackedWidget()
        self.detail.addWidget(create_placeholder(self.tr("Select a notebook to read and edit it.")))
        self.detail.addWidget(self._build_text_pane())
        self._build_layout()

    def _build_text_pane(self) -> QWidget:
        pane = QWidget()
        column = QVBoxLayout(pane)
        column.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        column.addWidget(self.text_stack)
        column.addWidget(self.length_label)
        return pane

    def _build_layout(self) -> None:
        self.panes = ListDetailPanes(self.theme, self.table, self.detail)
        self.panes.setStretchFactor(0, 0)
        self.panes.setStretchFactor(1, 1)
        self.panes.setSizes([360, 640])
        row = QHBoxLayout()
        row.addWidget(self.persona_selector, 1, Qt.AlignmentFlag.AlignLeft)
        self.folder_button = QPushButton(self.tr("Open folder"))
        self.folder_button.setProperty("link", True)
        self.folder_button.clicked.connect(lambda _checked=False: self._open_folder())
        row.addWidget(self.folder_button)
        above = self._add_head(row, self.problem_label)
        self.panes.detail_in_front.connect(above.setHidden)
        self.body.addWidget(self.panes, 1)

    def first_focus_widget(self) -> QWidget:
        return self.table

    def show_route(self, route: Route) -> None:
        if isinstance(route, NotebooksRoute) and route.notebook:
            self.show_notebook(route.persona_id, route.notebook)

    def show_notebook(self, persona_id: str, name: str) -> None:
        """Select a notebook of the given persona as soon as its list is loaded."""
        self._notebook_to_select = name
        self.panes.show_detail()
        self.persona_selector.choose_persona(persona_id)
        self._schedule_reload()

    async def confirm_leave(self) -> bool:
        await self._save_typed_text()
        return True

    def close_page(self) -> None:
        self._poll_timer.stop()
        self._save_timer.stop()
        super().close_page()

    # showing

    def _on_notebooks_changed(self, persona_id: str) -> None:
        if persona_id == self.persona_selector.persona_id:
            self._schedule_reload()

    def _schedule_reload(self) -> None:
        if self.persona_selector.persona_id:
            self._spawn(self._reload(), "notebooks")

    def _show_persona(self) -> None:
        self.rows.set_rows([])  # saves what was typed into the notebook on display
        self._schedule_reload()

    async def _reload(self, name_to_select: str = "") -> None:
        persona = self.persona_selector.persona_id
        name_to_select = name_to_select or self._notebook_to_select
        items, problems = await self._notebooks.notebooks_of(persona), await self._notebooks.list_errors(persona)
        if persona != self.persona_selector.persona_id:
            return
        if items != self.rows.all_rows:
            self.rows.set_rows(items)
        if name_to_select == self._notebook_to_select and any(item.name == name_to_select for item in items):
            self._notebook_to_select = ""
        if (
            (name_to_select or not self.table.current_row)
            and not self.table.select_row(name_to_select)
            and self.rows.visible_rows
        ):
            self.table.select_row(self.rows.visible_rows[0].name)
        self._show_notebook(self.table.current_row)
        self.problem_label.setVisible(bool(problems))
        text = self.tr("{file} {problem}. The file was not changed.")
        self.problem_label.setText(
            "\n".join(text.format(file=problem.path.name, problem=problem.problem) for problem in problems)
        )

    def _show_notebook(self, item: NotebookListItem | None) -> None:
        name = item.name if item is not None else ""
        if name != self.notebook_name:
            if self._typed_text is not None:
                # The arguments are taken now: `name` and `_owner_id` change below, before the task runs.
                self._spawn(self._write_text(self._owner_id, self.notebook_name, self._typed_text, self._base_text))
                self._typed_text = None
                self._save_timer.stop()
            self.notebook_name, self._owner_id = name, self.persona_selector.persona_id
            self.undo_stack.clear()
            self.text_stack.setCurrentWidget(self.reader)
            self.edit_button.setText(self.tr("Edit"))
        self._update_buttons()
        self._spawn(self._load_text(name), "notebook text")

    async def _load_text(self, name: str) -> None:
        text = await self._notebooks.load_text(self._owner_id, name) if name else ""
        if name == self.notebook_name and self._typed_text is None:
            self._base_text = text
            was_empty = not self.editor.text
            self.editor.set_text(text)
            if was_empty:
                self.editor.move_to_end()
            self.reader.set_text(text)

    def _show_editor(self, *, is_editing: bool) -> None:
        """Show the text to edit, or the rendered notebook."""
        self.reader.set_text(self.editor.text)
        shown = self.editor if is_editing else self.reader
        self.text_stack.setCurrentWidget(shown)
        self.edit_button.setText(self.tr("Done") if is_editing else self.tr("Edit"))
        self.editor.move_to_end()
        self.panes.show_detail()
        shown.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End editing on Esc before the page is left."""
        if event.key() == Qt.Key.Key_Escape and self.focusWidget() is self.editor:
            self._show_editor(is_editing=False)
        else:
            super().keyPressEvent(event)

    def _toggle_editor(self) -> None:
        self._show_editor(is_editing=self.text_stack.currentWidget() is self.reader)

    def _update_buttons(self) -> None:
        """Enable the buttons that apply to the selection."""
        item, selected = self.table.current_row, self.table.selected_rows
        self.detail.setCurrentIndex(0 if item is None else 1)
        self.edit_button.setEnabled(item is not None)
        self.rename_button.setEnabled(item is not None)
        self.delete_button.setEnabled(bool(selected))
        self._update_merge_and_split(len(selected), len(item.notebook.lines) if item is not None else 0)
        if item is None:
            self.length_label.setText("")
            return
        lines = format_count(len(item.notebook.lines), self.tr("{n} line"), self.tr("{n} lines"))
        max_lines = self._preferences.current.notebook_lines
        text = self.tr("{lines}. Split automatically above {most}.").format(lines=lines, most=max_lines)
        if item.has_text_only:
            text = self.tr("0 lines. Begin each line with “- ”: only such lines are remembered.")
        self.length_label.setText(text)

    def _update_merge_and_split(self, selected_count: int, lines: int) -> None:
        """Enable the buttons that need several notebooks or a long one, and say what they need."""
        count = self.rows.row_total
        for button in (self.edit_button, self.rename_button, self.split_button, self.delete_button):
            button.setVisible(count > 0)
        self.merge_button.setVisible(count > 1)
        self.merge_button.setEnabled(selected_count > 1)
        self.merge_button.setToolTip(
            self.tr("Merge the selected notebooks into one")
            if selected_count > 1
            else self.tr("Select several notebooks with Ctrl or Shift to merge them")
        )
        self.split_button.setEnabled(lines >= MIN_SPLIT_LINES)
        needed = self.tr("Notebooks of {n} lines or more can be split by subject").format(n=MIN_SPLIT_LINES)
        self.split_button.setToolTip(
            self.tr("Split this notebook into several by subject") if lines >= MIN_SPLIT_LINES else needed
        )

    def _format_updated(self, item: NotebookListItem) -> str:
        return format_age(item.when, now()) if item.when is not None else ""

    # typing

    def _on_text_edited(self, text: str) -> None:
        before = self._typed_text if self._typed_text is not None else self._base_text
        if self.notebook_name and text != before:
            title = self.tr("editing the notebook")
            self.undo_stack.push(FieldChange(title, self.notebook_name, before, text, self._apply_text))

    def _apply_text(self, name: str, text: object) -> None:
        if name == self.notebook_name:
            self._typed_text = str(text)
            self.editor.set_text(self._typed_text)
            self.reader.set_text(self._typed_text)
            self._save_timer.start()

    async def _save_typed_text(self) -> None:
        self._save_timer.stop()
        if self._typed_text is not None:
            await self._write_text(self._owner_id, self.notebook_name, self._typed_text, self._base_text)

    async def _write_text(self, owner: str, name: str, text: str, base_text: str) -> None:
        async with self._save_lock:
            stored_text = await self._notebooks.save_edit(owner, name, text, base_text)
        if (owner, name) == (self._owner_id, self.notebook_name):
            self._base_text = stored_text
            # Text typed while this one was being stored is kept.
            if self._typed_text in {text, None}:
                self._typed_text = None
                self.editor.set_text(stored_text)
                self.reader.set_text(stored_text)

    # Actions of the user.

    def _show_menu(self, position: QPoint) -> None:
        if self.table.selected_rows:
            buttons = (
                (self.edit_button, self.tr("Edit\tEnter")),
                (self.rename_button, self.tr("Rename…\tF2")),
                (self.merge_button, self.merge_button.text()),
                (self.split_button, self.split_button.text()),
                (self.delete_button, self.tr("Delete\tDel")),
            )
            popup_menu(self, position, [MenuEntry(title, button.click, button.isEnabled()) for button, title in buttons])

    async def _create_notebook(self) -> None:
        persona_id = self.persona_selector.persona_id
        dialog = NotebookTitleDialog(self._context.dialog_parent, self.tr("New notebook"), self.tr("Create"))
        if await run_dialog(dialog):
            self._context.notifier.drop_undoable()
            await self._save_typed_text()
            name = await self._notebooks.create(persona_id, dialog.entered_title)
            if persona_id == self.persona_selector.persona_id:
                await self._reload(name)
                self._show_editor(is_editing=True)

    async def _rename_notebook(self) -> None:
        item, persona_id = self.table.current_row, self._owner_id
        if item is None:
            return
        dialog = NotebookTitleDialog(
            self._context.dialog_parent, self.tr("Rename notebook"), self.tr("Rename"), item.notebook.title
        )
        if await run_dialog(dialog) and dialog.entered_title != item.notebook.title:
            before = await self._load_texts(persona_id, [item])
            name = await self._notebooks.rename(persona_id, item.name, dialog.entered_title)
            text = self.tr("Renamed to “{name}”.").format(name=dialog.entered_title)
            await self._show_result(persona_id, text, [name], before)

    async def _merge_selected(self) -> None:
        selected, persona_id = self.table.selected_rows, self._owner_id
        before = await self._load_texts(persona_id, selected)
        name = await self._notebooks.merge(persona_id, [item.name for item in selected])
        text = self.tr("{n} notebooks were merged into one.").format(n=len(selected))
        await self._show_result(persona_id, text, [name], before)

    async def _split_notebook(self) -> None:
        item, persona_id = self.table.current_row, self._owner_id
        if item is None:
            return
        before = await self._load_texts(persona_id, [item])
        names = await self._notebook_filer.split(persona_id, item.name)
        text = self.tr("“{name}” was split into {n} notebooks.").format(name=item.notebook.title, n=len(names))
        await self._show_result(persona_id, text, names, before)

    async def _delete_notebooks(self, selected: Sequence[NotebookListItem]) -> None:
        persona_id = self._owner_id
        before = await self._load_texts(persona_id, selected)
        for item in selected:
            await self._notebooks.delete(persona_id, item.name)
        text = self.tr("{n} notebooks were moved to the Trash.").format(n=len(selected))
        if len(selected) == 1:
            text = self.tr("“{name}” was moved to the Trash.").format(name=selected[0].notebook.title)
        await self._show_result(persona_id, text, [], before)

    async def _load_texts(self, persona_id: str, items: Sequence[NotebookListItem]) -> dict[str, str]:
        """Return the texts of the notebooks by name, after saving what was typed."""
        await self._save_typed_text()
        return {item.name: await self._notebooks.load_text(persona_id, item.name) for item in items}

    async def _show_result(self, persona_id: str, text: str, created: Sequence[str], before: dict[str, str]) -> None:
        """Show what an action made of the persona's notebooks, if they are still on display, and offer to undo it."""
        if persona_id == self.persona_selector.persona_id:
            await self._reload(created[0] if created else "")
            if created:
                self.table.setFocus()
        undo_action = lambda: self._spawn(self._notebooks.restore_texts(persona_id, created, before))  # noqa: E731 - short
        self._context.notifier.notify_undoable(text, undo_action)

    def _open_folder(self) -> None:
        try:
            folder = self._notebooks.folder(self.persona_selector.persona_id)
            folder.mkdir(parents=True, exist_ok=True)
        except (LetheError, OSError) as error:
            self._context.notifier.report_error(error)
            return
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _spawn(self, work: Coroutine[Any, Any, None], key: str = "") -> None:
        self._context.tasks.start_task(work, key=key)


def line_count(item: NotebookListItem) -> int:
    """Return the number of lines of a notebook."""
    return len(item.notebook.lines)


def create_page(environment: PageEnvironment, _route: object) -> NotebookPage:
    """Create the page with the services that it calls."""
    services = environment.services
    return NotebookPage(
        environment.context,
        environment.create_persona_selector(),
        services.notebooks,
        services.notebook_filer,
        services.preferences,
    )
