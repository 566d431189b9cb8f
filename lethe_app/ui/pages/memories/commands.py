"""Undo commands of the memories page. Typed text is stored after a pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from uuid import UUID, uuid4

from PySide6.QtCore import QObject, QTimer

from lethe_app.domain.clock import now
from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.table_model import memory_title
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange

SAVE_DELAY_MS = 400


class MemoryEdits(QObject):
    """Edits memories of a persona; every edit becomes a command on the page's undo stack."""

    def __init__(
        self,
        page: Page,
        context: PageContext,
        memory_service: MemoryService,
        memory_lists: MemoryLists,
        show_field: Callable[[UUID, str, object], None],
        on_done: Callable[[UUID | None], None],
    ) -> None:
        """Create the edits of a page.

        `show_field` shows a new value of a field. `on_done` is called when memories were added or removed, with the memory to
        select, if any.
        """
        super().__init__(page)
        self._page, self._context, self._show_field, self._on_done = page, context, show_field, on_done
        self._memory_service, self._memory_lists = memory_service, memory_lists
        self._memory_to_select: UUID | None = None
        self._blank_memories: list[MemoryUnit] = []
        self._commands = CommandRunner(page.undo_stack, context.tasks, self._on_step_done)
        self._unsaved: dict[UUID, dict[str, object]] = {}
        self._being_saved: dict[UUID, dict[str, object]] = {}
        """Changes that are being stored now, by memory."""
        self._save_lock = asyncio.Lock()
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(lambda: context.tasks.start_task(self.save()))

    def change_field(self, memory: MemoryUnit, name: str, value: object) -> None:
        """Set one field; `memory` is the memory before the change."""
        guid = memory.guid
        title = field_title(MemoryUnit, name)

        def apply_value(_key: str, new: object) -> None:
            self._unsaved.setdefault(guid, {})[name] = new
            self._save_timer.start()
            self._show_field(guid, name, new)

        self._page.undo_stack.push(FieldChange(title, f"{guid} {name}", getattr(memory, name), value, apply_value))

    def is_unsaved(self, guid: UUID) -> bool:
        return guid in self._unsaved or guid in self._being_saved

    async def save(self) -> None:
        """Store the changed fields only, because other fields may have been changed by others meanwhile.

        An error is reported in the window. The changes are kept for another attempt unless the memory no longer exists; the
        same applies to what was not stored yet when this task is cancelled, as by a click on the next row.
        """
        async with self._save_lock:
            self._being_saved, self._unsaved = self._unsaved, {}
            try:
                for guid, changes in list(self._being_saved.items()):
                    if await self._save_memory(guid, changes):
                        del self._being_saved[guid]
            finally:
                # Runs on cancellation, too: what was not stored is put back, but does not overwrite newer changes.
                for guid, changes in self._being_saved.items():
                    self._unsaved[guid] = {**changes, **self._unsaved.get(guid, {})}
                self._being_saved = {}

    async def _save_memory(self, guid: UUID, changes: dict[str, object]) -> bool:
        """Store the changes of one memory; return False if they are to be tried again."""
        exists = False
        try:
            memory = await self._memory_lists.load_memory(guid)
            exists = True
            await self._memory_service.edit(memory.model_copy(update=changes))
        except StorageError as error:
            self._context.notifier.report_error(error)
            return not exists
        return True

    def add_blank_memory(self, persona_id: str, memory: MemoryUnit) -> None:
        """Add a memory without content, which is forgotten again if nothing is entered."""
        self._blank_memories.append(memory)
        self.add_memory(persona_id, memory, self.tr("adding a memory"))

    async def forget_blank_memories(self) -> None:
        """Move those of the added memories to the trash in which nothing was entered."""
        blank, self._blank_memories = self._blank_memories, []
        for added in blank:
            with suppress(StorageError):  # forgotten already
                memory = await self._memory_lists.load_memory(added.guid)
                if (memory.name, memory.content, memory.keywords_main) == (added.name, "", added.keywords_main):
                    await self._memory_service.forget_memory(added.guid)

    def add_memory(self, persona_id: str, memory: MemoryUnit, title: str) -> None:
        """Add a memory."""
        memory_service = self._memory_service

        async def redo_step() -> None:
            await memory_service.memorize(persona_id, memory, check=False)
            self._memory_to_select = memory.guid

        self._commands.run_command(title, redo_step, lambda: memory_service.forget_memory(memory.guid))

    def duplicate_memory(self, persona_id: str, memory: MemoryUnit) -> None:
        """Add a copy of a memory, with its recall count reset."""
        copy = memory.model_copy(update={"guid": uuid4(), "trigger_count": 0, "last_trigger": now()})
        self.add_memory(persona_id, copy, self.tr("duplicating “{name}”").format(name=memory.name))

    def forget_memories(self, persona_id: str, lines: Sequence[MemoryLine]) -> None:
        """Move memories to the trash and show a notification with an undo button, which works after the page was closed,
        too.
        """
        browsing, guids = self._memory_lists, [UUID(line.guid) for line in lines]
        first_title = memory_title(lines[0])
        short = first_title if len(first_title) <= 60 else f"{first_title[:59]}…"
        name = f"“{short}”" if len(lines) == 1 else self.tr("{n} memories").format(n=len(lines))

        async def redo_step() -> None:
            await self.save()
            await browsing.forget_memories(persona_id, guids)

        async def undo_step() -> None:
            await browsing.restore_memories(persona_id, guids)
            self._memory_to_select = guids[0]

        self._commands.run_command(self.tr("forgetting {name}").format(name=name), redo_step, undo_step)
        notice = self.tr("{name} was forgotten.") if len(lines) == 1 else self.tr("{name} were forgotten.")
        restore = lambda: browsing.restore_memories(persona_id, guids)  # noqa: E731 - said in one line
        self._commands.notify_undoable(self._context.notifier, notice.format(name=name), restore, lambda: self.is_open)

    def _on_step_done(self) -> None:
        memory_to_select, self._memory_to_select = self._memory_to_select, None
        self._on_done(memory_to_select)
