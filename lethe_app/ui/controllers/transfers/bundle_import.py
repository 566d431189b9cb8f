"""Import of persona bundles."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from lethe_app.services.personas.bundles import BundleService, ImportedPersona
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.core.theme import Theme
    from lethe_app.ui.shell.notifier import Notifier


class BundleImporter(QObject):
    """Imports bundles, one after the other, so that only one dialog is open at a time."""

    imported = Signal(str)
    """Emitted with the id of an imported character for which the user has waited."""
    import_reverted = Signal(str)
    """Emitted with the id of a persona whose import was undone."""

    def __init__(
        self,
        window: QWidget,
        theme: Theme,
        notifier: Notifier,
        bundles: BundleService,
        file_transfers: FileTransfers,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(window)
        self._window, self._theme, self._notifier = window, theme, notifier
        self._bundles, self._file_transfers, self._tasks = bundles, file_transfers, tasks
        self._import_lock = asyncio.Lock()

    def import_bundle(self, file: Path) -> None:
        """Start the import of the bundle `file`; the user is asked first."""
        self._tasks.start_task(self._confirm_and_import(file))

    async def _confirm_and_import(self, file: Path) -> None:
        from lethe_app.ui.dialogs.bundle_import import BundleImportDialog  # noqa: PLC0415 - rarely needed

        bundles, transfers = self._bundles, self._file_transfers
        async with self._import_lock:
            reading_dialog = TransferProgressDialog(self._window, self.tr("Reading “{file}”…").format(file=file.name))
            bundle = await run_with_progress(reading_dialog, transfers, lambda report: bundles.read_bundle(file, report))
            if bundle is None:
                return
            dialog = BundleImportDialog(self._window, self._theme, bundle, await bundles.find_free_name(bundle))
            if not await run_dialog(dialog):
                return
            name = dialog.name_field.text()
            import_dialog = TransferProgressDialog(self._window, self.tr("Importing {name}…").format(name=name))
            received = await run_with_progress(
                import_dialog, transfers, lambda report: bundles.import_bundle(bundle, name, report)
            )
        if received is not None:
            self._announce_import(received, is_awaited=not import_dialog.is_in_background)

    def _announce_import(self, received: ImportedPersona, *, is_awaited: bool) -> None:
        """Emit `imported`, unless the user did not wait for the import or it is a user persona; show a notification with
        Undo.
        """
        persona = received.persona
        if is_awaited and not persona.is_user:
            self.imported.emit(persona.unique_name)
        self._notifier.notify(
            self.tr("{name} was imported.").format(name=persona.name),
            button=self.tr("Undo"),
            action=self._tasks.create_callback(self._revert_import, received),
        )

    async def _revert_import(self, received: ImportedPersona) -> None:
        await self._bundles.revert_import(received)
        self.import_reverted.emit(received.persona.unique_name)


def downloads_folder() -> str:
    """Return the path of the downloads folder, or of the home folder if there is none."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DownloadLocation)
    return folder if folder and Path(folder).is_dir() else str(Path.home())
