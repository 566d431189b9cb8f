"""Actions of the memory panel: pin, edit, forget and mark as irrelevant. All but pinning can be undone from a notification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.services.chat.reply_source_reader import ReplyMemory, ReplySources, SourceKind
from lethe_app.ui.chat import memory_labels
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog

if TYPE_CHECKING:
    from lethe_app.services.chat.reply_actions import ReplyActions
    from lethe_app.ui.chat.memory_panel import MemoryPanel
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier


class MemoryPanelActions(QObject):
    """Runs the requests of the panel with the service."""

    def __init__(
        self,
        panel: MemoryPanel,
        notifier: Notifier,
        service: ReplyActions,
        tasks: TaskRunner,
        get_sources: Callable[[], ReplySources | None],
        on_changed: Callable[[], Awaitable[None]],
    ) -> None:
        """Connect the panel; `get_sources` returns the recall on display, `on_changed` is awaited after every change of it."""
        super().__init__(panel)
        self._panel, self._notifier, self._service, self._tasks = panel, notifier, service, tasks
        self._get_sources, self._on_changed = get_sources, on_changed
        panel.pin_requested.connect(lambda one, pinned: self._tasks.start_task(self._pin_memory(one, is_pinned=pinned)))
        panel.text_saved.connect(lambda one, text: self._tasks.start_task(self._save_text(one, text)))
        panel.forget_requested.connect(lambda one: self._tasks.start_task(self._forget_memory(one), key="forget"))
        panel.irrelevant_marked.connect(lambda one: self._tasks.start_task(self._mark_irrelevant(one)))
        panel.irrelevant_unmarked.connect(
            lambda memory: self._tasks.start_task(self._unmark_irrelevant(memory, self._get_sources()))
        )

    def _notify_with_undo(self, text: str, undo: Callable[[], None], detail: str = "") -> None:
        """Show a notification of what was done, with an Undo button that calls `undo`."""
        self._notifier.notify_undoable(text, undo, detail)

    async def _pin_memory(self, memory: ReplyMemory, *, is_pinned: bool) -> None:
        await self._service.pin(memory, pinned=is_pinned)
        await self._on_changed()

    async def _save_text(self, memory: ReplyMemory, text: str) -> None:
        restore_text = await self._service.write(memory, text)
        await self._on_changed()

        async def undo() -> None:
            await restore_text()
            await self._on_changed()

        self._notify_with_undo(self.tr("The memory was edited."), self._tasks.create_callback(undo))

    async def _forget_memory(self, memory: ReplyMemory) -> None:
        """Forget a memory. Only a whole session needs a confirmation; everything can be undone."""
        sources = self._get_sources()
        if sources is None or (memory.kind is SourceKind.CONVERSATION and not await self._confirm_forgetting(memory)):
            return
        await self._service.forget_memory(memory, sources.persona_id)
        await self._on_changed()
        text = memory_labels.shorten_text(memory.recollection.title or memory_labels.format_card_text(memory), 60)
        undo = self._tasks.create_callback(self._restore_memory, memory)
        self._notify_with_undo(self.tr("Forgotten: “{words}”").format(words=text), undo)

    async def _confirm_forgetting(self, memory: ReplyMemory) -> bool:
        title = memory.recollection.title or self.tr("An earlier conversation")
        template = self.tr("“{title}” and all of its messages will be moved to the Trash, where you can restore them.")
        question = ConfirmDialog(
            self._panel.window(),
            self.tr("Forget this conversation?"),
            template.format(title=title),
            self.tr("Forget “{title}”").format(title=memory_labels.shorten_text(title, 24)),
        )
        return await run_dialog(question)

    async def _restore_memory(self, memory: ReplyMemory) -> None:
        await self._service.restore(memory)
        await self._on_changed()

    async def _mark_irrelevant(self, surfaced_memory: ReplyMemory) -> None:
        sources, memory_id = self._get_sources(), surfaced_memory.recollection.memory
        if sources is None:
            return
        await self._service.object_to(memory_id, sources)
        await self._on_changed()
        detail = self.tr("A regenerated reply will not use it, and similar messages will recall it less often.")
        undo = self._tasks.create_callback(self._unmark_irrelevant, memory_id, sources)
        self._notify_with_undo(self.tr("Marked as irrelevant."), undo, detail)

    async def _unmark_irrelevant(self, memory_id: UUID, sources: ReplySources | None) -> None:
        if sources is not None:
            await self._service.withdraw_objection(memory_id, sources)
            await self._on_changed()
