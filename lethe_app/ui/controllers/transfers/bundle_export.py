"""Export of personas as bundles."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from lethe_app.domain.bundle import ENDING, BundleScope
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, TransferProgressDialog, format_bytes, run_with_progress
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.personas.bundles import BundleService
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.core.theme import Theme
    from lethe_app.ui.shell.notifier import Notifier


class BundleExporter(QObject):
    """Asks for scope and target file, and writes the bundle while the user goes on."""

    def __init__(
        self,
        window: QWidget,
        theme: Theme,
        notifier: Notifier,
        directory: PersonaDirectory,
        bundles: BundleService,
        file_transfers: FileTransfers,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(window)
        self._window, self._theme, self._notifier, self._directory = window, theme, notifier, directory
        self._bundles, self._file_transfers, self._tasks = bundles, file_transfers, tasks

    async def export_persona(self, persona_id: str, scope: BundleScope) -> None:
        """Ask for scope and target file, then start the export of a persona."""
        from lethe_app.ui.dialogs.bundle_export import BundleExportDialog  # noqa: PLC0415 - rarely needed

        offer = await self._bundles.preview_export(persona_id)
        avatar = self._directory.render_avatar(offer.persona, AVATAR_SIZE)
        dialog = BundleExportDialog(self._window, self._theme, offer, avatar, scope)
        if not await run_dialog(dialog):
            return
        chosen_scope, target = dialog.scope, await self._ask_for_target_file(offer.persona.name)
        if target is not None:  # a task without key, so that the export of another persona does not cancel it
            self._tasks.start_task(self.write_bundle(offer.persona, chosen_scope, target))

    async def write_bundle(self, persona: Persona, scope: BundleScope, target: Path) -> None:
        """Write the bundle of a persona, and show a notification with its size and folder. The user can cancel it."""
        name = persona.name
        progress_dialog = TransferProgressDialog(self._window, self.tr("Exporting {name}…").format(name=name))
        file = await run_with_progress(
            progress_dialog,
            self._file_transfers,
            lambda report: self._bundles.export(persona.unique_name, scope, target, report),
        )
        if file is not None:
            folder = QUrl.fromLocalFile(str(file.parent))
            size = await asyncio.to_thread(lambda: file.stat().st_size)
            self._notifier.notify(
                self.tr("{name} was exported to “{file}”.").format(name=name, file=file.name),
                format_bytes(size),
                self.tr("Show in folder"),
                partial(open_folder, folder),
            )

    async def _ask_for_target_file(self, name: str) -> Path | None:
        """Ask for the target file of an export; None if the user cancels. In the suggested file name, other characters than
        letters, digits, spaces and - _ ' are replaced.
        """
        stem = "".join(letter if letter.isalnum() or letter in " -_'" else "-" for letter in name).strip(" -") or "Persona"
        file_name = f"{stem[:80]}{ENDING}"
        name_filter = self.tr("Personas (*{ending})").format(ending=ENDING)
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())
        title = self.tr("Export {name}").format(name=name)
        dialog = QFileDialog(self._window, title, str(Path(folder) / file_name), name_filter)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(ENDING.removeprefix("."))
        dialog.selectFile(file_name)
        return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None


def open_folder(folder: QUrl) -> None:
    """Open a folder in the system's file manager."""
    QDesktopServices.openUrl(folder)
