"""Export of a world as a World Info file, the form in which other programs read lorebooks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths
from PySide6.QtWidgets import QFileDialog

from lethe_app.domain.worldinfo import World
from lethe_app.services.worlds.service import WorldService
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import suggest_file_name
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState


class WorldExport(QObject):
    """Asks for a file and writes the world on display to it, unsaved changes included."""

    def __init__(self, context: PageContext, worlds: WorldService, book: WorldEditorState) -> None:
        super().__init__()
        self._context, self._worlds, self._book = context, worlds, book

    def export_current(self) -> None:
        """Export the world on display."""
        open_world = self._book.open_worlds.get(self._book.stem)
        if open_world is not None:
            self._context.tasks.start_task(self._ask_and_export(open_world.world), key="export")

    async def _ask_and_export(self, world: World) -> None:
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())
        file_name = f"{suggest_file_name(world.name, self.tr('World'))}.json"
        title = self.tr("Export {name}").format(name=world.name)
        filters = self.tr("World Info, for SillyTavern and others (*.json)")
        dialog = QFileDialog(self._context.dialog_parent, title, str(Path(folder) / file_name), filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile(file_name)
        if await run_dialog(dialog):
            await self.export_world(world, Path(dialog.selectedFiles()[0]))

    async def export_world(self, world: World, target: Path) -> None:
        """Write a world, and show a notification. Raise StorageError."""
        await self._worlds.export_world(world, target)
        self._context.notifier.notify(
            self.tr("{name} was exported to “{file}”.").format(name=world.name, file=target.name),
            button=self.tr("Show in folder"),
            action=partial(open_folder, target.parent),
        )
