"""Actions on a world or an entry that ask first: deletion, export, and copying of an entry to the memories of a persona."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QWidget

from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.worlds.service import OpenWorld, WorldService, convert_to_memory
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import format_count, suggest_file_name
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, QuestionDialog, run_dialog
from lethe_app.ui.dialogs.files import ask_where_to_save
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.form import Form


class RememberDialog(QuestionDialog):
    """Dialog for persona and recall mode; the persona of the open conversation is preselected."""

    def __init__(self, parent: QWidget, theme: Theme, name: str, personas: Sequence[Persona], preselected_id: str) -> None:
        super().__init__(parent, self.tr("Copy to memories"), self.tr("Copy entry"))
        self.add_paragraph(
            self.tr("“{name}” is copied to the memories of a persona. The world entry is kept.").format(name=name)
        )
        names = {persona.unique_name: persona.name for persona in personas}
        modes = [
            (MemoryInsertion.TRIGGER, self.tr("when relevant, by meaning or key")),
            (MemoryInsertion.NATURAL, self.tr("once, when relevant")),
            (MemoryInsertion.NATURAL_FORCED, self.tr("once, when relevant or after a while")),
            (MemoryInsertion.USER_RETURN, self.tr("once, when you return after a while")),
            (MemoryInsertion.NONE, self.tr("never")),
        ]
        specs = [
            FieldSpec("persona", self.tr("Persona"), FieldKind.COMBO_BOX, choices=list(names.items())),
            FieldSpec("insertion", self.tr("Recall mode"), FieldKind.COMBO_BOX, choices=modes),
        ]
        self._form = Form(specs, theme)
        persona_id = preselected_id if preselected_id in names else next(iter(names), "")
        self._form.show_values({"persona": persona_id, "insertion": MemoryInsertion.TRIGGER})
        self.column.addWidget(self._form)
        self._form.field_widget("persona").setFocus()

    @property
    def persona_id(self) -> str:
        return str(self._form.value_of("persona"))

    @property
    def insertion(self) -> MemoryInsertion:
        return MemoryInsertion(self._form.value_of("insertion"))


class WorldActions(QObject):
    """Runs the actions on the world on display, and the copying of an entry."""

    def __init__(
        self,
        context: PageContext,
        worlds: WorldService,
        library: Library,
        memory_service: MemoryService,
        book: WorldEditorState,
        stack: QUndoStack,
    ) -> None:
        super().__init__()
        self._context, self._worlds, self._book = context, worlds, book
        self._library, self._memory_service = library, memory_service
        self._commands = CommandRunner(stack, context.tasks)

    # Deletion

    def delete_current(self) -> None:
        """Delete the world on display after confirmation; of a shipped one, the changed version is moved to the trash."""
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
            self._book.delete_world(self._notify_with_undo)

    def _notify_with_undo(self, world: World, undo_action: Callable[[], None]) -> None:
        text = self.tr("“{name}” was deleted.").format(name=world.name)
        self._context.notifier.notify_undoable(text, undo_action)

    # Export

    def export_current(self) -> None:
        """Ask for a file and export the world on display to it, unsaved changes included."""
        if self._book.world is not None:
            self._context.tasks.start_task(self._ask_and_export(self._book.world), key="export")

    async def _ask_and_export(self, world: World) -> None:
        file_name = f"{suggest_file_name(world.name, self.tr('World'))}.json"
        title, kind = self.tr("Export {name}"), self.tr("World Info, for SillyTavern and others (*.json)")
        chosen = await ask_where_to_save(self._context.dialog_parent, title.format(name=world.name), file_name, kind)
        if chosen is not None:
            await self.export_world(world, chosen[0])

    async def export_world(self, world: World, target: Path) -> None:
        """Write a world, and show a notification. Raise StorageError."""
        await self._worlds.export_world(world, target)
        self._context.notifier.notify(
            self.tr("{name} was exported to “{file}”.").format(name=world.name, file=target.name),
            button=self.tr("Show in folder"),
            action=partial(open_folder, target.parent),
        )

    # Copying to memories

    def copy_entry(self, entry: WorldEntry | None) -> None:
        """Copy an entry to the memories of the persona chosen in a dialog."""
        if entry is not None:
            self._context.tasks.start_task(self._ask_and_copy(entry), key="remember")

    async def _ask_and_copy(self, entry: WorldEntry) -> None:
        context, session = self._context, self._context.current_session()
        personas, name = await self._library.personas(), entry.name or entry.content[:40]
        own_id = session.persona_id if session else ""
        dialog = RememberDialog(context.dialog_parent, context.theme, name, personas, own_id)
        if not await run_dialog(dialog):
            return
        target = next(persona for persona in personas if persona.unique_name == dialog.persona_id)
        memory, memory_service, copied_guids = convert_to_memory(entry, dialog.insertion), self._memory_service, list[UUID]()

        async def redo_step() -> None:
            if copied_guids:
                # Redo restores the same memory from the trash instead of creating another one.
                await memory_service.restore(copied_guids[0])
            else:
                copied_guids.append((await memory_service.memorize(target.unique_name, memory, check=False)).guid)
            text = self.tr("{name} now remembers “{entry}”.").format(name=target.name, entry=memory.name)
            context.notifier.notify(text)

        title = self.tr("copying “{entry}” to {name}").format(name=target.name, entry=memory.name)
        self._commands.run_command(title, redo_step, lambda: memory_service.forget_memory(copied_guids[0]))
