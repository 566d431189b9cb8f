"""Page “Notebooks”: the notebooks of a persona, each rendered, or as the editable text of its file."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.service import NotebookListItem, NotebookService
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.formatting import format_age, format_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.routes import NotebooksRoute, Route
from lethe_app.ui.dialogs.dialogs import LineDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.notebooks.text import NotebookReader, NotebookText
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.card_column import create_placeholder
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column
from lethe_app.ui.widgets.table_model import Column

MIN_SPLIT_LINES = 6
"""Lines from which a notebook can be split."""
POLL_INTERVAL_MS = 3000
"""Interval in milliseconds at which the files are read, because other programs may change them."""
NotebookKey = tuple[str, str]
"""Persona and name of a notebook."""
Items = Sequence[NotebookListItem]


class NotebookTitleDialog(LineDialog):
    """Dialog that asks for the title of a notebook."""

    def __init__(self, parent: QWidget, title: str, button: str, text: str = "") -> None:
        super().__init__(parent, title, button, self.tr("Title"), text, max_length=80)
        self.field.setAccessibleName(self.tr("Notebook title"))


class NotebookPage(RecordPage[NotebookListItem]):
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
        self._owner_id = ""
        """Persona of the notebook on display, by unique name."""
        self._base_texts: dict[Hashable, str] = {}
        """Text of each file when it was last read, for merging with changes by other programs."""
        self._problem_text = ""
        self.editor = NotebookText(self.tr("Notebook text"))
        self.editor.edited.connect(self._on_text_edited)
        self.reader = NotebookReader(self.tr("Notebook"))
        self.reader.edit_requested.connect(lambda: self._show_editor(is_editing=True))
        self.length_label, self.problem_label = build_small_label(""), build_small_label("")
        self.problem_label.hide()
        self.detail = QStackedWidget()
        self.detail.addWidget(create_placeholder(self.tr("Select a notebook to read and edit it.")))
        self.detail.addWidget(self._build_text_pane())
        folder_button = QPushButton(self.tr("Open folder"))
        folder_button.setProperty("link", True)
        folder_button.clicked.connect(lambda _checked=False: self._open_folder())
        self.build_list(self._build_spec(), detail=self.detail, search_row=[folder_button], head=[self.problem_label])
        self.table.setMinimumWidth(220)
        self.panes.setStretchFactor(0, 0)
        self.panes.setStretchFactor(1, 1)
        self.panes.setSizes([360, 640])
        self.follow(notebooks.changed)
        self._poll_timer = QTimer(self, interval=POLL_INTERVAL_MS)
        self._poll_timer.timeout.connect(self.reload)
        self._poll_timer.start()

    def _build_spec(self) -> RecordSpec[NotebookListItem]:
        def format_updated(item: NotebookListItem) -> str:
            return format_age(item.when, now()) if item.when is not None else ""

        tr, title = self.tr, attrgetter("notebook.title")
        return RecordSpec(
            name=tr("Notebooks"),
            columns=[
                Column(tr("Subject"), title, width=0, min_width=160),
                Column(tr("Lines"), lambda item: str(line_count(item)), line_count, 84, hides_at=1, is_right_aligned=True),
                Column(
                    tr("Updated"), format_updated, lambda item: item.when.timestamp() if item.when else 0.0, 110, hides_at=2
                ),
            ],
            key=attrgetter("name"),
            search_text=title,
            empty_text=tr(
                "No notebooks yet\n\n"
                "A notebook collects, line by line, what is known about one subject: a person, a place, a project."
                " Recurring subjects get one when a conversation ends, or you can create one with “New notebook”.\n\n"
                "Example: “Garden” · The well runs dry in July. · Quinces are ripe in October."
            ),
            commands=self._build_commands(),
            format_total=lambda _count: "",
            selects_first=True,
        )

    def _build_commands(self) -> list[RecordCommand[NotebookListItem]]:
        tr = self.tr
        return [
            page_command(tr("New notebook"), self._create_notebook, "plus", is_primary=True),
            RecordCommand(
                lambda _items: tr("Done") if self._is_editing else tr("Edit"),
                lambda _items: self._show_editor(is_editing=not self._is_editing),
                (Key.OPEN,),
                maximum=1,
                in_head=True,
                icon="edit",
            ),
            single_command(tr("Rename…"), self._rename_notebook, (Key.RENAME,), in_head=True),
            RecordCommand(
                tr("Merge"),
                self._merge_notebooks,
                minimum=2,
                in_head=True,
                tooltip=tr("Select several notebooks with Ctrl or Shift to merge them"),
            ),
            single_command(
                tr("Split"),
                self._split_notebook,
                is_enabled=lambda item: line_count(item) >= MIN_SPLIT_LINES,
                in_head=True,
                tooltip=tr("Notebooks of {n} lines or more can be split by subject").format(n=MIN_SPLIT_LINES),
            ),
            RecordCommand(tr("Delete"), self._delete_notebooks, (Key.DELETE,), in_head=True),
        ]

    def _build_text_pane(self) -> QWidget:
        self.text_stack = QStackedWidget()
        self.text_stack.addWidget(self.reader)
        self.text_stack.addWidget(self.editor)
        pane, margins = QWidget(), (SPACE_4, SPACE_2, SPACE_4, SPACE_4)
        build_column(self.text_stack, self.length_label, spacing=SPACE_2, margins=margins, parent=pane)
        return pane

    def show_route(self, route: Route) -> None:
        if isinstance(route, NotebooksRoute) and route.notebook:
            self.go_to_record(route.persona_id, route.notebook)

    def close_page(self) -> None:
        self._poll_timer.stop()
        super().close_page()

    # The list

    async def load_records(self) -> Items:
        persona_id = self.persona_id
        items, problems = await self._notebooks.notebooks_of(persona_id), await self._notebooks.list_errors(persona_id)
        text = self.tr("{file} {problem}. The file was not changed.")
        self._problem_text = "\n".join(text.format(file=problem.path.name, problem=problem.problem) for problem in problems)
        return items

    def after_load(self) -> None:
        self.problem_label.setText(self._problem_text)
        self.problem_label.setVisible(bool(self._problem_text))

    # The notebook on display

    @property
    def _notebook_key(self) -> NotebookKey:
        return self._owner_id, self.notebook_name

    def show_record(self, record: NotebookListItem | None) -> None:
        key = (self.persona_id, record.name if record is not None else "")
        if key != self._notebook_key:
            self._owner_id, self.notebook_name = key
            self.text_stack.setCurrentWidget(self.reader)
        self.detail.setCurrentIndex(0 if record is None else 1)
        if record is not None:
            lines = format_count(line_count(record), self.tr("{n} line"), self.tr("{n} lines"))
            text = self.tr("{lines}. Split automatically above {most}.")
            text = text.format(lines=lines, most=self._preferences.current.notebook_lines)
            if record.has_text_only:
                text = self.tr("0 lines. Begin each line with “- ”: only such lines are remembered.")
            self.length_label.setText(text)

    async def load_details(self, record: NotebookListItem) -> str:
        return await self._notebooks.load_text(self._owner_id, record.name)

    def show_details(self, _record: NotebookListItem, text: str) -> None:
        if not self.saver.unsaved_values(self._notebook_key):
            self._base_texts[self._notebook_key] = text
            was_empty = not self.editor.text
            self._show_text(text)
            if was_empty:
                self.editor.move_to_end()

    def _show_text(self, text: str) -> None:
        self.editor.set_text(text)
        self.reader.set_text(text)

    @property
    def _is_editing(self) -> bool:
        return self.text_stack.currentWidget() is self.editor

    def _show_editor(self, *, is_editing: bool) -> None:
        """Show the text to edit, or the rendered notebook."""
        self.reader.set_text(self.editor.text)
        shown = self.editor if is_editing else self.reader
        self.text_stack.setCurrentWidget(shown)
        self.update_commands()
        self.editor.move_to_end()
        self.panes.show_detail()
        shown.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End editing on Esc before the page is left."""
        if event.key() == Qt.Key.Key_Escape and self.focusWidget() is self.editor:
            self._show_editor(is_editing=False)
        else:
            super().keyPressEvent(event)

    # Typing

    def _on_text_edited(self, text: str) -> None:
        if self.notebook_name:
            key = self._notebook_key
            before = self.saver.unsaved_values(key).get("text", self._base_texts.get(key, ""))
            self.saver.change_field(self.tr("editing the notebook"), key, "text", before, text)

    def show_field(self, key: Hashable, _name: str, value: object) -> None:
        if key == self._notebook_key:
            self._show_text(str(value))

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        """Store the text of a notebook, and show it with what another program has written into the file."""
        assert isinstance(key, tuple)
        text = str(values["text"])
        stored_text = await self._notebooks.save_edit(key[0], key[1], text, self._base_texts[key])
        self._base_texts[key] = stored_text
        # Text typed while this one was being stored is kept.
        if self.undo.is_open and key == self._notebook_key and self.saver.unsaved_values(key).get("text") == text:
            self._show_text(stored_text)

    # Commands

    async def _create_notebook(self) -> None:
        persona_id = self.persona_id
        dialog = NotebookTitleDialog(self._context.dialog_parent, self.tr("New notebook"), self.tr("Create"))
        if await run_dialog(dialog):
            self._context.notifier.drop_undoable()
            await self.saver.save()
            name = await self._notebooks.create(persona_id, dialog.entered_text)
            if persona_id == self.persona_id:
                self.select_when_loaded(name)
                await self.loader.reload_and_wait()
                self._show_editor(is_editing=True)

    async def _rename_notebook(self, item: NotebookListItem) -> None:
        persona_id = self._owner_id
        dialog = NotebookTitleDialog(
            self._context.dialog_parent, self.tr("Rename notebook"), self.tr("Rename"), item.notebook.title
        )
        if await run_dialog(dialog) and dialog.entered_text != item.notebook.title:
            before = await self._load_texts(persona_id, [item])
            name = await self._notebooks.rename(persona_id, item.name, dialog.entered_text)
            text = self.tr("Renamed to “{name}”.").format(name=dialog.entered_text)
            self._show_result(persona_id, text, [name], before)

    async def _merge_notebooks(self, selected: Items) -> None:
        persona_id = self._owner_id
        before = await self._load_texts(persona_id, selected)
        name = await self._notebooks.merge(persona_id, [item.name for item in selected])
        text = self.tr("{n} notebooks were merged into one.").format(n=len(selected))
        self._show_result(persona_id, text, [name], before)

    async def _split_notebook(self, item: NotebookListItem) -> None:
        persona_id = self._owner_id
        before = await self._load_texts(persona_id, [item])
        names = await self._notebook_filer.split(persona_id, item.name)
        text = self.tr("“{name}” was split into {n} notebooks.").format(name=item.notebook.title, n=len(names))
        self._show_result(persona_id, text, names, before)

    async def _delete_notebooks(self, selected: Items) -> None:
        persona_id = self._owner_id
        before = await self._load_texts(persona_id, selected)
        for item in selected:
            await self._notebooks.delete(persona_id, item.name)
        text = self.tr("{n} notebooks were moved to the Trash.").format(n=len(selected))
        if len(selected) == 1:
            text = self.tr("“{name}” was moved to the Trash.").format(name=selected[0].notebook.title)
        self._show_result(persona_id, text, [], before)

    async def _load_texts(self, persona_id: str, items: Items) -> dict[str, str]:
        """Return the texts of the notebooks by name, after saving what was typed."""
        await self.saver.save()
        return {item.name: await self._notebooks.load_text(persona_id, item.name) for item in items}

    def _show_result(self, persona_id: str, text: str, created: Sequence[str], before: dict[str, str]) -> None:
        """Show what an action made of the persona's notebooks, if they are still on display, and offer to undo it."""
        if persona_id == self.persona_id:
            if created:
                self.select_when_loaded(created[0])
                self.table.setFocus()
            self.reload()
        restore = self._context.tasks.create_callback(self._notebooks.restore_texts, persona_id, created, before)
        self._context.notifier.notify_undoable(text, restore)

    def _open_folder(self) -> None:
        try:
            folder = self._notebooks.folder(self.persona_id)
            folder.mkdir(parents=True, exist_ok=True)
        except (LetheError, OSError) as error:
            self._context.notifier.report_error(error)
            return
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def line_count(item: NotebookListItem) -> int:
    """Return the number of lines of a notebook."""
    return len(item.notebook.lines)
