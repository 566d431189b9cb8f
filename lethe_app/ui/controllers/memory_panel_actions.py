"""Actions of the memory panel: pin, edit, forget and mark as irrelevant. All but pinning can be undone from a notification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.services.chat.reply_sources import ReplySources, SourceKind, Surfaced
from lethe_app.ui.chat import memory_labels
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered

if TYPE_CHECKING:
    from lethe_app.ui.chat.memory_panel import MemoryPanel
    from lethe_app.ui.pages.context import PageContext


class MemoryPanelActions(QObject):
    """Runs the requests of the panel with the service."""

    def __init__(
        self,
        place: PageContext,
        panel: MemoryPanel,
        behind: Callable[[], ReplySources | None],
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        """Connect the panel; `behind` returns the recall on display, `changed` is awaited after every change of it."""
        super().__init__(place.window)
        self._window, self._bridge = place.window, place.bridge
        self._service, self._behind, self._changed = place.services.reconsidering, behind, changed
        panel.pin_wanted.connect(lambda one, pinned: self._bridge.spawn(self._pin(one, pinned=pinned)))
        panel.written.connect(lambda one, text: self._bridge.spawn(self._write(one, text)))
        panel.forget_wanted.connect(lambda one: self._bridge.spawn(self._ask_to_forget(one), lane="forget"))
        panel.objected.connect(lambda one: self._bridge.spawn(self._object(one)))
        panel.withdrawn.connect(lambda memory: self._bridge.spawn(self._withdraw(memory, self._behind())))

    def _tell(self, text: str, back: Callable[[], Awaitable[None]], detail: str = "") -> None:
        """Show a notification of what was done, with an Undo button that awaits `back`."""

        async def undone() -> None:
            await back()

        def take_back() -> None:
            self._bridge.spawn(undone())

        self._window.notifier.tell(text, detail, button=self.tr("Undo"), action=take_back)

    async def _pin(self, one: Surfaced, *, pinned: bool) -> None:
        await self._service.pin(one, pinned=pinned)
        await self._changed()

    async def _write(self, one: Surfaced, text: str) -> None:
        give_back = await self._service.write(one, text)
        await self._changed()

        async def back() -> None:
            await give_back()
            await self._changed()

        self._tell(self.tr("The memory was edited."), back)

    async def _ask_to_forget(self, one: Surfaced) -> None:
        """Forget a memory. Only a whole session needs a confirmation; everything can be undone."""
        behind = self._behind()
        if behind is None or (one.kind is SourceKind.CONVERSATION and not await self._confirmed(one)):
            return
        await self._service.forget_memory(one, behind.persona_id)
        await self._changed()
        words = memory_labels.shortened(one.recollection.title or memory_labels.body(one), 60)
        self._tell(self.tr("Forgotten: “{words}”").format(words=words), lambda: self._restore(one))

    async def _confirmed(self, one: Surfaced) -> bool:
        title = one.recollection.title or self.tr("An earlier conversation")
        words = self.tr("“{title}” and all of its messages will be moved to the Trash, where you can restore them.")
        question = ConfirmDialog(
            self._window,
            self.tr("Forget this conversation?"),
            words.format(title=title),
            self.tr("Forget ‘{title}’").format(title=memory_labels.shortened(title, 24)),
        )
        return await answered(question)

    async def _restore(self, one: Surfaced) -> None:
        await self._service.restore(one)
        await self._changed()

    async def _object(self, one: Surfaced) -> None:
        behind, memory = self._behind(), one.recollection.memory
        if behind is None:
            return
        await self._service.object_to(memory, behind)
        await self._changed()
        detail = self.tr("A regenerated reply will not use it, and similar messages will recall it less often.")
        self._tell(self.tr("Marked as irrelevant."), lambda: self._withdraw(memory, behind), detail)

    async def _withdraw(self, memory: UUID, behind: ReplySources | None) -> None:
        if behind is not None:
            await self._service.withdraw(memory, behind)
            await self._changed()
