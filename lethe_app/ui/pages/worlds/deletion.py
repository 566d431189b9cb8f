"""Deletion of a world: confirmation, trash, and a notification with an undo button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from lethe_app.domain.worldinfo import World
from lethe_app.services.worlds.service import OpenWorld
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState


class WorldDeletion(QObject):
    """Deletes a world, or resets a shipped one, whose changed version is moved to the trash."""

    def __init__(self, context: PageContext, book: WorldEditorState) -> None:
        super().__init__()
        self._context, self._book = context, book

    def delete_current(self) -> None:
        """Delete the world on display after confirmation."""
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
        if (
            await run_dialog(ConfirmDialog(self._context.dialog_parent, *texts))
            and self._book.stem == open_world.world.unique_name
        ):
            self._book.delete_world(self._notify_with_undo)

    def _notify_with_undo(self, world: World, undo_action: Callable[[], None]) -> None:
        text = self.tr("“{name}” was deleted.").format(name=world.name)
        self._context.notifier.notify_undoable(text, undo_action)
