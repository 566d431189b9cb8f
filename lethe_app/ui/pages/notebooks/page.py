"""Page “Notebooks”: the notebooks of a persona, each as the editable text of its file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.notebooks.service import NotebookListItem
from lethe_app.ui.core.formatting import age_in_words, counted
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import QuestionDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import invitation, side_by_side
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel
from lethe_app.ui.widgets.text_area import ProseField


class NotebookText(ProseField):
    """Text field that scrolls instead of growing with its text."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent=parent)
        self.setMinimumHeight(0)
        # Qt's QWIDGETSIZE_MAX, which stands for no maximum.
        self.setMaximumHeight(16777215)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def fit(self) -> None:
        """Do nothing: the layout decides the height."""


class Titling(QuestionDialog):
    """Dialog that asks for the title of a notebook."""

    def __init__(self, parent: QWidget, title: str, button: str, text: str = "") -> None:
        super().__init__(parent, title, button)
        self.field = QLineEdit(text)
        self.field.setMaxLength(80)
        self.field.setMinimumWidth(320)
        label = QLabel(self.tr("Title"))
        label.setProperty("field", True)
        label.setBuddy(self.field)
        self.field.setAccessibleName(self.tr("Notebook title"))
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addWidget(label)
        column.addWidget(self.field)
        self.column.addLayout(column)
        self.field.textChanged.connect(self._judge)
        self.field.selectAll()
        self.field.setFocus()
        self._judge(text)

    @property
    def text(self) -> str:
        return self.field.text().strip()

    def _judge(self, text: str) -> None:
        self.primary.setEnabled(bool(text.strip()))


REST_MS = 500
"""Pause in typing, in milliseconds, after which the text is saved."""
LOOK_AGAIN_MS = 3000
"""Interval in milliseconds at which the files are read, because other programs may change them."""


class NotebookPage(Page):
    """Page that saves typed text automatically; renaming, merging, splitting and deleting can be undone."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("NotebookPage", "Notebooks"))
        self._place, self._services, self._notebooks = place, place.services, place.services.mind.notebooks
        self.name = ""
        """Name of the notebook on display."""
        self._base = ""
        """Text of the file when it was last read, for merging with changes by other programs."""
        self._typed: str | None = None
        self._owner = ""
        """Persona of the notebook on display, by unique name."""
        self._saving = asyncio.Lock()
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: self._spawn(self._save()))
        self._wanted = ""
        """Name of the notebook to select once the list is loaded."""
        self._look = QTimer(self, interval=LOOK_AGAIN_MS)
        self._look.timeout.connect(self._read_soon)
        self._build()
        self.add = self.add_button(self.tr("New notebook"), lambda: self._spawn(self._new()), "plus", primary=True)
        self.name_it = self.add_button(self.tr("Rename…"), lambda: self._spawn(self._rename()))
        self.merge = self.add_button(self.tr("Merge"), lambda: self._spawn(self._merge()))
        self.part = self.add_button(self.tr("Split"), lambda: self._spawn(self._part()))
        self.drop = self.add_button(self.tr("Delete"), lambda: self._spawn(self._delete(self.table.selected)))
        self.merge.setToolTip(self.tr("Merge the selected notebooks into one"))
        self.part.setToolTip(self.tr("Split this notebook into several by subject"))
        self._stop: list[Callable[[], None]] = [self._notebooks.changed.add(self._changed_behind)]
        self.whose.chosen.connect(lambda _persona: self._spawn(self._switch()))
        self._offer()
        self.whose.announce_first()
        self._look.start()

    def _build(self) -> None:
        self.whose = Whose(self._place)
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.setToolTip(self.tr("Persona"))
        columns = [
            Column[NotebookListItem](self.tr("Subject"), lambda kept: kept.notebook.title, width=0),
            Column[NotebookListItem](self.tr("Lines"), lambda kept: str(length(kept)), length, 84, right=True),
            Column[NotebookListItem](
                self.tr("Updated"), self._when, lambda kept: kept.when.timestamp() if kept.when else 0.0, 110
            ),
        ]
        self.rows: FilteredTableModel[NotebookListItem] = FilteredTableModel(
            columns, key=lambda kept: kept.name, searched=lambda kept: kept.notebook.title
        )
        nothing = self.tr(
            "No notebooks yet. Recurring subjects get one automatically, or you can create one with “New notebook”."
        )
        self.table: Table[NotebookListItem] = Table(self.rows, self.theme, self.tr("Notebooks"), nothing)
        self.table.setMinimumWidth(220)
        self.table.current_changed.connect(self._show)
        self.table.selectionModel().selectionChanged.connect(lambda *_both: self._offer())
        self.table.delete_wanted.connect(lambda kept: self._spawn(self._delete(kept)))
        self.text = NotebookText(self.tr("Notebook text"))
        self.text.edited.connect(self._type)
        self.nothing = invitation(self.tr("Select a notebook to read and edit it."))
        self.note, self.trouble = explanation(""), explanation("")
        self.trouble.setVisible(False)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        for widget in (self.nothing, self.text, self.note, self.trouble):
            column.addWidget(widget)
        split = side_by_side(self.table, side, grows=1)
        split.setSizes([360, 640])
        above = QHBoxLayout()
        above.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        above.addWidget(self.whose, 1, Qt.AlignmentFlag.AlignLeft)
        self.folder = QPushButton(self.tr("Open folder"))
        self.folder.setProperty("link", True)
        self.folder.clicked.connect(lambda _checked=False: self._open_folder())
        above.addWidget(self.folder)
        self.body.addLayout(above)
        self.body.addWidget(split, 1)

    def first_focus(self) -> QWidget:
        return self.table

    def show_notebook(self, persona: str, name: str) -> None:
        """Select a notebook of the given persona as soon as its list is loaded."""
        self._wanted = name
        self.whose.choose(persona)
        self._read_soon()

    async def may_leave(self) -> bool:
        await self._save()
        return True

    def close_page(self) -> None:
        self._look.stop()
        self._rest.stop()
        self.whose.close_field()
        for stop in self._stop:
            stop()

    # showing

    def _changed_behind(self, persona: str) -> None:
        if persona == self.whose.persona:
            self._read_soon()

    def _read_soon(self) -> None:
        if self.whose.persona:
            self._spawn(self._read(), "notebooks")

    async def _switch(self) -> None:
        await self._save()
        self.name = ""
        self.undo.clear()
        self.rows.fill([])
        await self._read()

    async def _read(self, wanted: str = "") -> None:
        persona = self.whose.persona
        wanted = wanted or self._wanted
        found, problems = await self._notebooks.notebooks_of(persona), await self._notebooks.problems(persona)
        if persona != self.whose.persona:
            return
        if found != self.rows.everything:
            self.rows.fill(found)
        if wanted == self._wanted and any(kept.name == wanted for kept in found):
            self._wanted = ""
        if (wanted or not self.table.current) and not self.table.go_to(wanted) and self.rows.shown:
            self.table.go_to(self.rows.shown[0].name)
        self._show(self.table.current)
        self.trouble.setVisible(bool(problems))
        words = self.tr("{file} {problem}. The file was not changed.")
        self.trouble.setText("\n".join(words.format(file=one.path.name, problem=one.problem) for one in problems))

    def _show(self, kept: NotebookListItem | None) -> None:
        name = kept.name if kept is not None else ""
        if name != self.name:
            if self._typed is not None:
                # The arguments are taken now: `name` and `_owner` change below, before the task runs.
                self._spawn(self._store(self._owner, self.name, self._typed, self._base))
                self._typed = None
                self._rest.stop()
            self.name, self._owner = name, self.whose.persona
            self.undo.clear()
        self._offer()
        self._spawn(self._show_text(name), "notebook text")

    async def _show_text(self, name: str) -> None:
        text = await self._notebooks.text(self._owner, name) if name else ""
        if name == self.name and self._typed is None:
            self._base = text
            self.text.set_text(text)

    def _offer(self) -> None:
        """Enable the buttons that apply to the selection."""
        kept, selected = self.table.current, self.table.selected
        self.text.setVisible(kept is not None)
        self.nothing.setVisible(kept is None)
        self.name_it.setEnabled(kept is not None)
        self.drop.setEnabled(kept is not None)
        self.merge.setEnabled(len(selected) > 1)
        self.part.setEnabled(kept is not None and len(kept.notebook.lines) >= 6)
        if kept is None:
            self.note.setText("")
            return
        lines = counted(len(kept.notebook.lines), self.tr("{n} line"), self.tr("{n} lines"))
        most = self._services.preferences.current.notebook_lines
        words = self.tr("{lines}. Split automatically above {most}.").format(lines=lines, most=most)
        self.note.setText(words)

    def _when(self, kept: NotebookListItem) -> str:
        return age_in_words(kept.when, now()) if kept.when is not None else ""

    # typing

    def _type(self, text: str) -> None:
        before = self._typed if self._typed is not None else self._base
        if self.name and text != before:
            title = self.tr("editing the notebook")
            self.undo.push(FieldChange(title, self.name, before, text, self._put))

    def _put(self, name: str, text: object) -> None:
        if name == self.name:
            self._typed = str(text)
            self.text.set_text(self._typed)
            self._rest.start()

    async def _save(self) -> None:
        self._rest.stop()
        if self._typed is not None:
            await self._store(self._owner, self.name, self._typed, self._base)

    async def _store(self, owner: str, name: str, text: str, base: str) -> None:
        async with self._saving:
            after = await self._notebooks.write(owner, name, text, base)
        if (owner, name) == (self._owner, self.name):
            self._base = after
            # Text typed while this one was being stored is kept.
            if self._typed in {text, None}:
                self._typed = None
                self.text.set_text(after)

    # Actions of the user.

    async def _new(self) -> None:
        dialog = Titling(self._place.window, self.tr("New notebook"), self.tr("Create"))
        if await answered(dialog):
            await self._save()
            await self._read(await self._notebooks.create(self.whose.persona, dialog.text))
            self.text.setFocus()

    async def _rename(self) -> None:
        kept = self.table.current
        if kept is None:
            return
        dialog = Titling(self._place.window, self.tr("Rename notebook"), self.tr("Rename"), kept.notebook.title)
        if await answered(dialog) and dialog.text != kept.notebook.title:
            before = await self._before([kept])
            name = await self._notebooks.rename(self.whose.persona, kept.name, dialog.text)
            await self._read(name)
            self._tell(self.tr("Renamed to “{name}”.").format(name=dialog.text), [name], before)

    async def _merge(self) -> None:
        selected = self.table.selected
        before = await self._before(selected)
        name = await self._notebooks.merge(self.whose.persona, [kept.name for kept in selected])
        await self._read(name)
        self._tell(self.tr("{n} notebooks were merged into one.").format(n=len(selected)), [name], before)

    async def _part(self) -> None:
        kept = self.table.current
        if kept is None:
            return
        before = await self._before([kept])
        names = await self._services.mind.notekeeping.part(self.whose.persona, kept.name)
        await self._read(names[0])
        words = self.tr("“{name}” was split into {n} notebooks.").format(name=kept.notebook.title, n=len(names))
        self._tell(words, names, before)

    async def _delete(self, selected: Sequence[NotebookListItem]) -> None:
        before = await self._before(selected)
        for kept in selected:
            await self._notebooks.delete(self.whose.persona, kept.name)
        await self._read()
        words = self.tr("{n} notebooks were moved to the Trash.").format(n=len(selected))
        if len(selected) == 1:
            words = self.tr("“{name}” was moved to the Trash.").format(name=selected[0].notebook.title)
        self._tell(words, [], before)

    async def _before(self, kept: Sequence[NotebookListItem]) -> dict[str, str]:
        """Return the texts of the notebooks by name, after saving what was typed."""
        await self._save()
        return {one.name: await self._notebooks.text(self.whose.persona, one.name) for one in kept}

    def _tell(self, words: str, made: Sequence[str], before: dict[str, str]) -> None:
        persona = self.whose.persona
        take_back = lambda: self._spawn(self._notebooks.put_back(persona, made, before))  # noqa: E731 - said in one line
        self._place.window.notifier.tell(words, button=self.tr("Undo"), action=take_back)

    def _open_folder(self) -> None:
        try:
            folder = self._notebooks.folder(self.whose.persona)
            folder.mkdir(parents=True, exist_ok=True)
        except (LetheError, OSError) as error:
            self._place.window.notifier.report(error)
            return
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _spawn(self, work: Coroutine[Any, Any, None], lane: str = "") -> None:
        self._place.bridge.spawn(work, lane=lane)


def length(kept: NotebookListItem) -> int:
    """Return the number of lines of a notebook."""
    return len(kept.notebook.lines)
