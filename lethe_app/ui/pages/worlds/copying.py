"""Copying of a world's entry to the memories of a persona, which a dialog asks for."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

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
from lethe_app.ui.pages.worlds.labels import tr
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


async def copy_to_memories(
    entry: WorldEntry, context: PageContext, library: Library, memories: MemoryService, commands: CommandRunner
) -> None:
    """Ask for a persona, and copy an entry to its memories, as a command that can be undone."""
    personas, session = await library.personas(), context.current_session()
    own_id = session.persona_id if session else ""
    dialog = RememberDialog(context.dialog_parent, context.theme, entry.name or entry.content[:40], personas, own_id)
    if not await run_dialog(dialog):
        return
    persona = next(persona for persona in personas if persona.unique_name == dialog.persona_id)
    memory, copied_guids = convert_to_memory(entry, dialog.insertion), list[UUID]()
    names = {"name": persona.name, "entry": memory.name}

    async def redo_step() -> None:
        if copied_guids:
            # Redo restores the same memory from the trash instead of creating another one.
            await memories.restore(copied_guids[0])
        else:
            copied_guids.append((await memories.memorize(persona.unique_name, memory, check=False)).guid)
        context.notifier.notify(tr("{name} now remembers “{entry}”.").format(**names))

    title = tr("copying “{entry}” to {name}").format(**names)
    commands.run_command(title, redo_step, lambda: memories.forget_memory(copied_guids[0]))
