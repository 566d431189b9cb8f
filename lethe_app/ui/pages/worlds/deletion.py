"""Deletion of a world: confirmation, trash, and a notification with an undo button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from lethe_app.domain.worldinfo import World
from lethe_app.services.worlds.service import OpenWorld
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldBook


class WorldDeletion(QObject):
    """Deletes a world, or resets a shipped one, whose changed version is moved to the trash."""

    def __init__(self, place: PageContext, book: WorldBook) -> None:
        super().__init__()
        self._place, self._book = place, book

    def ask(self) -> None:
        """Delete the world on display after confirmation."""
        held = self._book.held.get(self._book.stem)
        if held is not None and held.is_own:
            self._place.bridge.spawn(self._ask(held), lane="delete")

    async def _ask(self, held: OpenWorld) -> None:
        name, size = held.world.name, len(held.world.entries)
        count = counted(size, self.tr("{n} entry"), self.tr("{n} entries"))
        if held.is_shipped:
            title = self.tr("Reset “{name}” to default?")
            words = self.tr("Your version, with {count}, will be moved to the Trash, where you can restore it.")
            button = self.tr("Reset ‘{name}’")
        else:
            title = self.tr("Delete “{name}”?")
            words = self.tr("“{name}”, with {count}, will be moved to the Trash, where you can restore it.")
            button = self.tr("Delete ‘{name}’ ({count})")
        told = [text.format(name=name, count=count) for text in (title, words, button)]
        if await answered(ConfirmDialog(self._place.window, *told)) and self._book.stem == held.world.unique_name:
            self._book.delete(self._tell)

    def _tell(self, world: World, take_back: Callable[[], None]) -> None:
        words = self.tr("“{name}” was deleted.").format(name=world.name)
        self._place.window.notifier.tell(words, button=self.tr("Undo"), action=take_back)
