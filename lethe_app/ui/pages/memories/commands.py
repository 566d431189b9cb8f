"""What the user changes in memories, as commands that can be undone; what is typed is stored when the fingers rest."""

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
    """Every change of the page goes through here and onto its undo stack."""

    def __init__(
        self, page: Page, place: PageContext, put: Callable[[UUID, str, object], None], after: Callable[[UUID | None], None]
    ) -> None:
        """`put` shows a new value; `after` is called when memories came or went, with the one to be shown then."""
        super().__init__(page)
        self._page, self._place, self._put, self._after = page, place, put, after
        self._wanted: UUID | None = None
        self._deeds = CommandRunner(page.undo, place.bridge, self._done)
        self._unsaved: dict[UUID, dict[str, object]] = {}
        self._underway: dict[UUID, dict[str, object]] = {}
        """What is being stored just now."""
        self._saving = asyncio.Lock()
        self.is_open = True
        """Is there still a page, with a stack to undo on?"""
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(lambda: place.bridge.spawn(self.save()))

    def change(self, memory: MemoryUnit, name: str, value: object) -> None:
        """One field of a memory; `memory` is as it was before."""
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
        """Store what was changed: only these fields, for others may have changed behind the page.

        What cannot be stored is told. It waits for another try, unless the memory itself is gone; so does what was not come to
        because somebody ended this, as a click on the next row does.
        """
        async with self._saving:
            self._underway, self._unsaved = self._unsaved, {}
            try:
                for guid, changes in list(self._underway.items()):
                    if await self._store(guid, changes):
                        del self._underway[guid]
            finally:
                for guid, changes in self._underway.items():
                    self._unsaved[guid] = {**changes, **self._unsaved.get(guid, {})}
                self._underway = {}

    async def _store(self, guid: UUID, changes: dict[str, object]) -> bool:
        """Is it done with, stored or never to be stored?"""
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
        """A memory that was not there."""
        brain = self._place.services.brain

        async def forth() -> None:
            await brain.memorize(persona, memory, check=False)
            self._wanted = memory.guid

        self._deeds.do(title, forth, lambda: brain.forget_memory(memory.guid))

    def duplicate(self, persona: str, memory: MemoryUnit) -> None:
        """The same once more, as if it were new."""
        copy = memory.model_copy(update={"guid": uuid4(), "trigger_count": 0, "last_trigger": now()})
        self.add(persona, copy, self.tr("duplicating “{name}”").format(name=memory.name))

    def forget_memories(self, persona: str, lines: Sequence[MemoryLine]) -> None:
        """Into the trash, with a note from which they can be taken back."""
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

        told = self.tr("{name} is forgotten.") if len(lines) == 1 else self.tr("{name} are forgotten.")
        self._place.window.notifier.tell(told.format(name=name), button=self.tr("Take it back"), action=take_back)

    def _done(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._after(wanted)


async def _nothing_more(work: object) -> None:
    await work  # type: ignore[misc]
