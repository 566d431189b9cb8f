"""Import and export of persona bundles: by menu, by a file dropped on the window, or by a double-clicked file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QFileSystemWatcher, QObject, QStandardPaths, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QDropEvent
from PySide6.QtWidgets import QFileDialog

from lethe_app.domain.bundle import ENDING, BundleScope
from lethe_app.services.maintenance import single_instance
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, TransferProgressDialog, format_bytes, run_with_progress
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.personas.bundles import ImportedPersona
    from lethe_app.ui.pages.context import PageContext

DRAG_EVENTS = {QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop}
"""Events of a drag that the event filter handles."""


class BundleController(QObject):
    """Imports bundles, once per window. Files are imported one after the other, so that only one dialog is open at a time."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context.window)
        self._context, self._paths = context, context.services.paths
        self._import_lock = asyncio.Lock()
        context.window.actions_.connect(meet=lambda: context.tasks.start_task(self._choose_files(), key="meet"))
        draft_field = context.window.chat.composer.draft_field
        context.window.setAcceptDrops(True)
        for widget in (
            context.window,
            draft_field,
            draft_field.viewport(),
        ):  # the writing field would else write the file's address
            widget.installEventFilter(self)
        self._unsubscribe: Callable[[], None] = context.services.preferences.changed.add(
            lambda _settings: self._process_inbox()
        )
        with suppress(OSError):  # a home that cannot be written was told of already
            self._paths.inbox.mkdir(parents=True, exist_ok=True)
        # Another start of the program hands over files and requests as notes in this folder.
        self._watcher = QFileSystemWatcher([str(self._paths.inbox)], self)
        self._watcher.directoryChanged.connect(self._process_inbox)
        # Notes may have arrived before the folder was watched.
        QTimer.singleShot(0, self, self._process_inbox)

    def close(self) -> None:
        """Disconnect from settings and inbox, and stop filtering the window's events."""
        self._unsubscribe()
        self._watcher.directoryChanged.disconnect(self._process_inbox)
        self._context.window.removeEventFilter(self)

    def import_bundle(self, file: Path) -> None:
        """Start the import of the bundle `file`; the user is asked first."""
        self._context.tasks.start_task(self._confirm_and_import(file))

    def _process_inbox(self) -> None:
        """Process requests of other starts of the program: bring the window to the front and import files that were handed
        over. Files wait until the welcome screen of the first start is finished.
        """
        if single_instance.take_window_requests(self._paths):
            self._context.window.bring_to_front()
        if self._context.services.preferences.current.welcomed:
            for file in single_instance.take_requested_files(self._paths):
                self._context.window.bring_to_front()
                self.import_bundle(file)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Accept drags that contain bundles, and import the bundles that are dropped."""
        if event.type() in DRAG_EVENTS and isinstance(event, QDropEvent):
            files = list_bundle_files(event)
            if files:
                event.acceptProposedAction()
                for file in files if event.type() == QEvent.Type.Drop else []:
                    self.import_bundle(file)
                return True
        return False

    async def _choose_files(self) -> None:
        tr = QCoreApplication.translate
        name_filter = tr("BundleDesk", "Personas (*{ending})").format(ending=ENDING)
        dialog = QFileDialog(self._context.window, tr("BundleDesk", "Import character"), downloads_folder(), name_filter)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        if await run_dialog(dialog):
            for name in dialog.selectedFiles():
                self.import_bundle(Path(name))

    async def _confirm_and_import(self, file: Path) -> None:
        from lethe_app.ui.dialogs.bundle_import import BundleImportDialog  # noqa: PLC0415 - rarely needed

        context, bundles = self._context, self._context.services.bundles
        async with self._import_lock:
            reading_dialog = TransferProgressDialog(context.window, self.tr("Reading “{file}”…").format(file=file.name))
            bundle = await run_with_progress(
                reading_dialog, context.file_transfers, lambda told: bundles.read_bundle(file, told)
            )
            if bundle is None:
                return
            dialog = BundleImportDialog(context.window, context.theme, bundle, await bundles.find_free_name(bundle))
            if not await run_dialog(dialog):
                return
            name = dialog.name_field.text()
            import_dialog = TransferProgressDialog(context.window, self.tr("Importing {name}…").format(name=name))
            received = await run_with_progress(
                import_dialog, context.file_transfers, lambda told: bundles.import_bundle(bundle, name, told)
            )
        if received is not None:
            await self._open_imported(received, is_awaited=not import_dialog.is_in_background)

    async def _open_imported(self, received: ImportedPersona, *, is_awaited: bool) -> None:
        """Open a session with the imported persona, unless the user did not wait for the import or it is a user persona;
        show a notification with Undo.
        """
        context, persona = self._context, received.persona
        if is_awaited and not persona.is_user:
            context.open_session((await context.services.sessions.resume(persona.unique_name)).guid, None)
        context.window.notifier.notify(
            self.tr("{name} was imported.").format(name=persona.name),
            button=self.tr("Undo"),
            action=partial(self._undo_import, received),
        )

    def _undo_import(self, received: ImportedPersona) -> None:
        self._context.tasks.start_task(self._revert_import(received))

    async def _revert_import(self, received: ImportedPersona) -> None:
        from lethe_app.ui.pages.personas.deletion import PersonaDeletion  # noqa: PLC0415 - rarely needed

        current_session, name = self._context.current_session(), received.persona.unique_name
        await self._context.services.bundles.revert_import(received)
        if current_session is not None and current_session.persona_id == name:
            await PersonaDeletion(self._context).open_other_session(name)


def list_bundle_files(event: QDropEvent) -> list[Path]:
    """Return the bundle files among the dragged URLs."""
    files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [file for file in files if file.suffix.lower() == ENDING]


def downloads_folder() -> str:
    """Return the path of the downloads folder, or of the home folder if there is none."""
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DownloadLocation) or str(Path.home())


async def export_persona(context: PageContext, persona_id: str, scope: BundleScope) -> None:
    """Ask for scope and target file, then export a persona as a bundle."""
    from lethe_app.ui.dialogs.bundle_export import BundleExportDialog  # noqa: PLC0415 - rarely needed

    services, window = context.services, context.window
    offer = await services.bundles.preview_export(persona_id)
    name = offer.persona.name
    avatar_path = services.library.avatar(offer.persona)
    avatar_image = render_avatar(avatar_path, persona_id, name, AVATAR_SIZE, context.theme.palette, window.devicePixelRatioF())
    dialog = BundleExportDialog(window, context.theme, offer, avatar_image, scope)
    if not await run_dialog(dialog):
        return
    chosen_scope, target = dialog.scope, await ask_for_target_file(context, name)
    if target is not None:  # on its own: whoever gives another one away meanwhile does not end this
        context.tasks.start_task(write_bundle(context, offer.persona, chosen_scope, target))


async def write_bundle(context: PageContext, persona: Persona, scope: BundleScope, target: Path) -> None:
    """Write the bundle of a persona, and show a notification with its size and folder. The user can cancel it."""
    tr, window, bundles, name = QCoreApplication.translate, context.window, context.services.bundles, persona.name
    progress_dialog = TransferProgressDialog(window, tr("BundleDesk", "Exporting {name}…").format(name=name))
    file = await run_with_progress(
        progress_dialog, context.file_transfers, lambda told: bundles.export(persona.unique_name, scope, target, told)
    )
    if file is not None:
        folder = QUrl.fromLocalFile(str(file.parent))
        size = await asyncio.to_thread(lambda: file.stat().st_size)
        window.notifier.notify(
            tr("BundleDesk", "{name} was exported to “{file}”.").format(name=name, file=file.name),
            format_bytes(size),
            tr("BundleDesk", "Show in folder"),
            partial(open_folder, folder),
        )


def open_folder(folder: QUrl) -> None:
    """Open a folder in the system's file manager."""
    QDesktopServices.openUrl(folder)


async def ask_for_target_file(context: PageContext, name: str) -> Path | None:
    """Ask for the target file of an export; None if the user cancels. In the suggested file name, other characters than
    letters, digits, spaces and - _ ' are replaced.
    """
    tr = QCoreApplication.translate
    file_stem = "".join(letter if letter.isalnum() or letter in " -_'" else "-" for letter in name).strip(" -") or "Persona"
    name_filter = tr("BundleDesk", "Personas (*{ending})").format(ending=ENDING)
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())
    title = tr("BundleDesk", "Export {name}").format(name=name)
    dialog = QFileDialog(context.window, title, str(Path(folder) / f"{file_stem[:80]}{ENDING}"), name_filter)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(ENDING.removeprefix("."))
    dialog.selectFile(f"{file_stem[:80]}{ENDING}")
    return Path(dialog.selectedFiles()[0]) if await run_dialog(dialog) else None
