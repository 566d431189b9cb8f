"""Page about records, often those of one persona, which reads them again after changes and undoes what is done to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget

from lethe_app.services.events import Listeners
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.files import ask_for_markdown_file
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.field_saver import FieldSaver
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.undo_commands import CommandRunner, Step
from lethe_app.ui.widgets.layouts import build_column, build_row

RELOAD_DELAY_MS = 200
"""Delay in milliseconds after which the records are read again; further changes within it restart it."""


class ReloadingPage(Page):
    """Page that reads its records in `load`, again after changes of the services that it follows."""

    def __init__(self, context: PageContext, title: str, persona_selector: PersonaSelector | None = None) -> None:
        """Create the frame; with a persona selector, the page is about one persona."""
        super().__init__(context.theme, title)
        self._context, self.persona_selector = context, persona_selector
        self._unsubscribers: list[Callable[[], None]] = []
        self._task_keys = [f"load {id(self)}"]
        """Keys of the tasks that end with the page."""
        self.saver = FieldSaver(
            self.undo_stack, context.tasks, context.notifier.report_error, self.store_fields, self.show_field
        )
        self.undo = CommandRunner(self.undo_stack, context.tasks, self.saver.save, self.reload)
        self._reload_timer = QTimer(self, singleShot=True, interval=RELOAD_DELAY_MS)
        self._reload_timer.timeout.connect(self.reload)

    # The records

    async def load(self) -> None:
        """Read the records and show them."""

    def reload(self) -> None:
        """Read the records again now."""
        self._reload_timer.stop()
        self._context.tasks.start_task(self.load(), key=self._task_keys[0])

    def follow(self, *listeners: Listeners[Any]) -> None:
        """Read the records again when one of the services reports a change, but not one of another persona."""
        self._unsubscribers += [each.add(self._on_change) for each in listeners]

    def _on_change(self, change: object) -> None:
        if self.persona_selector is None or not isinstance(change, str) or change == self.persona_id:
            self._reload_timer.start()

    # What is typed

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        """Store fields of a record that `saver` was told to change, by name. Called after the page is closed, too, so it must
        not touch widgets.
        """
        raise NotImplementedError

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        """Show a field of a record that was typed, undone or redone, if the record is on display."""

    async def confirm_leave(self) -> bool:
        await self.saver.save()
        return True

    # The persona

    @property
    def persona_id(self) -> str:
        return self.persona_selector.persona_id if self.persona_selector is not None else ""

    @property
    def persona_name(self) -> str:
        """Return the display name of the persona that the page is about; empty if it is about none."""
        return self.persona_selector.persona_name if self.persona_selector is not None else ""

    def choose_persona(self, persona_id: str) -> None:
        if self.persona_selector is not None:
            self.persona_selector.choose_persona(persona_id)

    # The frame

    def add_head(self, *rows: QWidget | QLayout) -> QWidget:
        """Add the rows above the records: search, filters and hints."""
        head = QWidget()
        build_column(*rows, spacing=SPACE_2, margins=(SPACE_4, SPACE_3, SPACE_4, SPACE_2), parent=head)
        self.body.addWidget(head)
        head.setVisible(bool(rows))  # only now, as a widget without a parent would be shown as a window
        return head

    def build_search_row(self, search: QWidget | None, widgets: Sequence[QWidget] = ()) -> QHBoxLayout:
        """Create the row of the persona selector, the search field, which takes the free width, and further widgets."""
        shown = [widget for widget in (self.persona_selector, search, *widgets) if widget is not None]
        # The stretch keeps the selector at the left while the search field is hidden.
        return build_row(*((widget, int(widget is search)) for widget in shown), 0, spacing=SPACE_2)

    def run_undoable(self, title: str, redo_step: Step, undo_step: Step | None = None, notice: str = "") -> None:
        """Run a step now, as a command that `undo_step` takes back, or without one the step that `redo_step` returns. What was
        typed is stored before each of them, and the records are read again afterwards. Once the command is done, a notice
        offers to undo it, also after the page was closed.
        """

        async def redo_and_notify() -> object:
            result = await redo_step()
            if notice:
                self.undo.notify_undoable(self._context.notifier, notice, command)
            return result

        command = self.undo.run_command(title, redo_and_notify, undo_step)

    async def ask_and_save_text(self, title: str, stem: str, text: str, save: Callable[[Path, str], Awaitable[object]]) -> None:
        """Ask for a Markdown file with that name, and save a text in it. Raise StorageError."""
        path = await ask_for_markdown_file(self._context.dialog_parent, title, stem)
        if path is not None:
            await save(path, text)
            self._context.notifier.notify(self.tr("Saved as {file}.").format(file=path.name))

    def close_page(self) -> None:
        self.saver.close()
        if self.persona_selector is not None:
            self.persona_selector.close_field()
        super().close_page()
        self.undo.is_open = False
        self._reload_timer.stop()
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        for key in self._task_keys:
            self._context.tasks.cancel(key)
