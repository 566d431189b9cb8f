"""Copying of a world entry to the memories of a persona, with undo."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QWidget

from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.library import Library
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.worlds.service import convert_to_memory
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec
from lethe_app.ui.widgets.form import Form


class RememberDialog(QuestionDialog):
    """Dialog for persona and recall mode; the persona of the open conversation is preselected."""

    def __init__(self, parent: QWidget, theme: Theme, name: str, personas: Sequence[Persona], preselected_id: str) -> None:
        super().__init__(parent, self.tr("Copy to memories"), self.tr("Copy entry"))
        self.add_paragraph(
            self.tr("“{name}” is copied to the memories of a persona. The world entry is kept.").format(name=name)
        )
        self._form = Form(self._form_specs(personas), theme)
        persona_ids = [persona.unique_name for persona in personas]
        self._form.show_values(
            {
                "persona": preselected_id if preselected_id in persona_ids else next(iter(persona_ids), ""),
                "insertion": MemoryInsertion.TRIGGER,
            }
        )
        self.column.addWidget(self._form)
        self._form.field_widget("persona").setFocus()

    def _form_specs(self, personas: Sequence[Persona]) -> list[FieldSpec]:
        modes = [
            (MemoryInsertion.TRIGGER, self.tr("when relevant, by meaning or key")),
            (MemoryInsertion.NATURAL, self.tr("once, when relevant")),
            (MemoryInsertion.NATURAL_FORCED, self.tr("once, when relevant or after a while")),
            (MemoryInsertion.USER_RETURN, self.tr("once, when you return after a while")),
            (MemoryInsertion.NONE, self.tr("never")),
        ]
        return [
            FieldSpec(
                "persona",
                self.tr("Persona"),
                FieldKind.COMBO_BOX,
                choices=[(persona.unique_name, persona.name) for persona in personas],
            ),
            FieldSpec("insertion", self.tr("Recall mode"), FieldKind.COMBO_BOX, choices=modes),
        ]

    @property
    def persona_id(self) -> str:
        return str(self._form.value_of("persona"))

    @property
    def insertion(self) -> MemoryInsertion:
        return MemoryInsertion(self._form.value_of("insertion"))


class RememberAction(QObject):
    """Copies an entry to the memories of the persona chosen in a dialog."""

    def __init__(self, context: PageContext, library: Library, memory_service: MemoryService, stack: QUndoStack) -> None:
        super().__init__()
        self._context, self._library, self._memory_service = context, library, memory_service
        self._commands = CommandRunner(stack, context.tasks)

    def copy_entry(self, entry: WorldEntry | None) -> None:
        if entry is not None:
            self._context.tasks.start_task(self._ask_and_copy(entry), key="remember")

    async def _ask_and_copy(self, entry: WorldEntry) -> None:
        context, session = self._context, self._context.current_session()
        personas = await self._library.personas()
        dialog = RememberDialog(
            context.dialog_parent,
            context.theme,
            entry.name or entry.content[:40],
            personas,
            session.persona_id if session else "",
        )
        if not await run_dialog(dialog):
            return
        target = next(persona for persona in personas if persona.unique_name == dialog.persona_id)
        memory, memory_service, copied_guids = convert_to_memory(entry, dialog.insertion), self._memory_service, list[UUID]()

        async def redo_step() -> None:
            if copied_guids:
                # Redo restores the same memory from the trash instead of creating another one.
                await memory_service.restore(copied_guids[0])
            else:
                copied_guids.append((await memory_service.memorize(target.unique_name, memory, check=False)).record.guid)
            text = self.tr("{name} now remembers “{entry}”.").format(name=target.name, entry=memory.name)
            context.notifier.notify(text)

        title = self.tr("copying “{entry}” to {name}").format(name=target.name, entry=memory.name)
        self._commands.run_command(title, redo_step, lambda: memory_service.forget_memory(copied_guids[0]))
