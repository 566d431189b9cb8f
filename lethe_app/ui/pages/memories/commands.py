"""Undo commands of the memories page. Typed text is stored after a pause in typing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from uuid import UUID, uuid4

from PySide6.QtCore import QObject, QTimer

from lethe_app.domain.clock import now
from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.form import title_of_field
from lethe_app.ui.pages.memories.table_model import title_of
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.undo_commands import CommandRunner, FieldChange

REST_MS = 400


class MemoryEdits(QObject):
    """Edits memories of a persona; every edit becomes a command on the page's undo stack."""

    def __init__(
        self, page: Page, place: PageContext, put: Callable[[UUID, str, object], None], after: Callable[[UUID | None], None]
    ) -> None:
        """Create the edits of a page.

        `put` shows a new value of a field. `after` is called when memories were added or removed, with the memory to select,
        if any.
        """
        super().__init__(page)
        self._page, self._place, self._put, self._after = page, place, put, after
        self._wanted: UUID | None = None
        self._deeds = CommandRunner(page.undo, place.bridge, self._done)
        self._unsaved: dict[UUID, dict[str, object]] = {}
        self._underway: dict[UUID, dict[str, object]] = {}
        """Changes that are being stored now, by memory."""
        self._saving = asyncio.Lock()
        self.is_open = True
        """True until the page is closed; its undo stack may be used only while this is true."""
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    def change(self, memory: MemoryUnit, name: str, value: object) -> None:
        """Set one field; `memory` is the memory before the change."""
        guid = memory.guid
        title = title_of_field(name)

        def put(_key: str, new: object) -> None:
            self._unsaved.setdefault(guid, {})[name] = new
            self._rest.start()
            self._put(guid, name, new)

        self._page.undo.push(FieldChange(title, f"{guid} {name}", getattr(memory, name), value, put))

    def is_unsaved(self, guid: UUID) -> bool:
        return guid in self._unsaved or guid in self._underway

    async def save(self) -> None:
        """Store the changed fields only, because other fields may have been changed by others meanwhile.

        An error is reported in the window. The changes are kept for another attempt unless the memory no longer exists; the
        same applies to what was not stored yet when this task is cancelled, as by a click on the next row.
        """
        async with self._saving:
            self._underway, self._unsaved = self._unsaved, {}
            try:
                for guid, changes in list(self._underway.items()):
                    if await self._store(guid, changes):
                        del self._underway[guid]
            finally:
                # Runs on cancellation, too: what was not stored is put back, but does not overwrite newer changes.
                for guid, changes in self._underway.items():
                    self._unsaved[guid] = {**changes, **self._unsaved.get(guid, {})}
                self._underway = {}

    async def _store(self, guid: UUID, changes: dict[str, object]) -> bool:
        """Store the changes of one memory; return False if they are to be tried again."""
        services, is_there = self._place.services, False
        try:
            memory = await services.browsing.memory(guid)
            is_there = True
            await services.brain.edit(memory.model_copy(update=changes))
        except StorageError as error:
            self._place.window.notifier.report(error)
            return not is_there
        return True

    def add(self, persona: str, memory: MemoryUnit, title: str) -> None:
        """Add a memory."""
        brain = self._place.services.brain

        async def forth() -> None:
            await brain.memorize(persona, memory, check=False)
            self._wanted = memory.guid

        self._deeds.do(title, forth, lambda: brain.forget_memory(memory.guid))

    def duplicate(self, persona: str, memory: MemoryUnit) -> None:
        """Add a copy of a memory, with its recall count reset."""
        copy = memory.model_copy(update={"guid": uuid4(), "trigger_count": 0, "last_trigger": now()})
        self.add(persona, copy, self.tr("duplicating “{name}”").format(name=memory.name))

    def forget_memories(self, persona: str, lines: Sequence[MemoryLine]) -> None:
        """Move memories to the trash and show a notification with an undo button, which works after the page was closed,
        too.
        """
        browsing, guids = self._place.services.browsing, [UUID(line.guid) for line in lines]
        one = title_of(lines[0])
        short = one if len(one) <= 60 else f"{one[:59]}…"
        name = f"“{short}”" if len(lines) == 1 else self.tr("{n} memories").format(n=len(lines))

        async def forth() -> None:
            await self.save()
            await browsing.forget_memories(persona, guids)

        async def back() -> None:
            await browsing.restore(persona, guids)
            self._wanted = guids[0]

        self._deeds.do(self.tr("forgetting {name}").format(name=name), forth, back)
        command = self._page.undo.command(self._page.undo.index() - 1)
        stack = self._page.undo

        def take_back() -> None:
            if self.is_open and stack.index() and stack.command(stack.index() - 1) is command:
                stack.undo()
            else:
                self._place.bridge.spawn(_nothing_more(browsing.restore(persona, guids)))

        told = self.tr("{name} was forgotten.") if len(lines) == 1 else self.tr("{name} were forgotten.")
        self._place.window.notifier.tell(told.format(name=name), button=self.tr("Undo"), action=take_back)

    def _done(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._after(wanted)


async def _nothing_more(work: object) -> None:
    await work  # type: ignore[misc]
