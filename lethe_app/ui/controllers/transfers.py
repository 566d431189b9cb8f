"""Export personas, and import files that are chosen, dropped on the window or handed over by another instance."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QFileSystemWatcher, QObject, QTimer, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from lethe_app.domain.bundle import CARD_SUFFIXES, ENDING, BundleScope
from lethe_app.errors import FileError
from lethe_app.services.imports.plan import IMPORTED_SUFFIXES, ImportResult, ItemKind
from lethe_app.services.maintenance import single_instance
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.avatars import encode_png, render_portrait, shrink_picture
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import format_bytes, format_count, join_with_and, shorten_text, suggest_file_name
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.dialogs.files import ask_for_files, ask_for_folder, ask_where_to_save, build_name_filter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lethe_app.domain.persona import Persona
    from lethe_app.paths import Paths
    from lethe_app.services.imports.service import ImportService
    from lethe_app.services.personas.bundles import BundleService, ImportedPersona
    from lethe_app.services.personas.card_export import CardExport
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.dialogs.import_preview import ImportPreviewDialog
    from lethe_app.ui.shell.main_window import MainWindow

CARD_PICTURE_SIZE = 512
"""Side in pixels of the picture of a card, if the persona's own is no PNG."""
MAX_RENAMED = 3
"""Maximum number of renamed records that the notification names."""
DRAG_EVENTS = {QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop}
"""Events of a drag that the event filter handles."""


class BundleExporter(Controller):
    """Asks for scope and target file, and writes the bundle while the user goes on."""

    def __init__(
        self,
        window: MainWindow,
        directory: PersonaDirectory,
        bundles: BundleService,
        get_card_export: Callable[[], CardExport],
        file_transfers: FileTransfers,
    ) -> None:
        """Set up the exporter. `get_card_export` is called when it is needed, because the service takes long to load."""
        super().__init__(window)
        self._directory, self._bundles = directory, bundles
        self._get_card_export, self._file_transfers = get_card_export, file_transfers

    async def export_persona(self, persona_id: str, scope: BundleScope) -> None:
        """Ask for scope and target file, then start the export of a persona."""
        from lethe_app.ui.dialogs.bundles import BundleExportDialog  # noqa: PLC0415 - rarely needed

        offer = await self._bundles.preview_export(persona_id)
        avatar = self._directory.render_avatar(offer.persona, AVATAR_SIZE)
        dialog = BundleExportDialog(self._window, self._theme, offer, avatar, scope)
        if not await run_dialog(dialog):
            return
        target = await self._ask_for_target_file(offer.persona.name, dialog.scope)
        if target is None:
            return
        # A task without key, so that the export of another persona does not cancel it.
        if target.suffix.lower() in CARD_SUFFIXES:
            self._tasks.start_task(self.write_card(offer.persona, target))
        else:
            self._tasks.start_task(self.write_bundle(offer.persona, dialog.scope, target))

    async def write_card(self, persona: Persona, target: Path) -> None:
        """Write a persona as a character card, and show a notification with its size and folder."""
        picture = encode_png(self._directory.render_avatar(persona, CARD_PICTURE_SIZE).toImage())
        file = await self._get_card_export().export_card(persona.unique_name, target, picture)
        await self._announce(persona.name, file)

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
            await self._announce(name, file)

    async def _announce(self, name: str, file: Path) -> None:
        size = await asyncio.to_thread(lambda: file.stat().st_size)
        self._notifier.notify(
            self.tr("{name} was exported to “{file}”.").format(name=name, file=file.name),
            format_bytes(size),
            self.tr("Show in folder"),
            partial(open_folder, file.parent),
        )

    async def _ask_for_target_file(self, name: str, scope: BundleScope) -> Path | None:
        """Ask for the target file of an export; None if the user cancels. A persona without history may also
        become a character card.
        """
        filters = [self.tr("Lethe (*{ending})").format(ending=ENDING)]
        if scope is BundleScope.PERSONA:
            filters += [
                self.tr("Character card, picture (*.png)"),
                self.tr("Character card, text (*.json)"),
                self.tr("Character card, archive (*.charx)"),
            ]
        file_name = f"{suggest_file_name(name, self.tr('Persona'))}{ENDING}"
        chosen = await ask_where_to_save(self._window, self.tr("Export {name}").format(name=name), file_name, *filters)
        return chosen[0] if chosen is not None else None


class FileImporter(Controller):
    """Imports files that the user chooses, drops on the window or hands over by starting the program with them. Batches are
    imported one after the other, so that only one of their dialogs is open at a time; so are bundles, which have other ones.
    """

    imported = Signal(str)
    """Emitted with the id of the character, if exactly one was imported and the user has waited for it."""
    reverted = Signal(str)
    """Emitted with the id of each persona whose import was undone."""

    def __init__(
        self,
        window: MainWindow,
        get_imports: Callable[[], ImportService],
        bundles: BundleService,
        file_transfers: FileTransfers,
        paths: Paths,
        preferences: Preferences,
    ) -> None:
        """Set up the importer. `get_imports` is called when it is needed, because the service takes long to load."""
        super().__init__(window)
        self._get_imports, self._bundles, self._file_transfers = get_imports, bundles, file_transfers
        self._paths, self._preferences = paths, preferences
        self._actions.connect(
            import_files=self._tasks.create_callback(self.choose_files, key="import"),
            import_folder=self._tasks.create_callback(self.choose_folder, key="import"),
        )
        self._import_lock, self._bundle_lock = asyncio.Lock(), asyncio.Lock()
        self._accept_drops()
        self._watch_inbox()

    def close(self) -> None:
        """Disconnect from settings, window and folder."""
        super().close()
        for target in self._drop_targets:
            target.removeEventFilter(self)
        self._inbox_watcher.directoryChanged.disconnect(self._process_notes)

    # Sources of files

    async def choose_files(self) -> None:
        """Let the user choose files to import."""
        kinds = build_name_filter(self.tr("Characters, worlds, chats and presets"), (ENDING, *IMPORTED_SUFFIXES))
        self.import_paths(await ask_for_files(self._window, self.tr("Import files"), kinds, self.tr("All files (*)")))

    async def choose_folder(self) -> None:
        """Let the user choose a folder to import, such as the user folder of SillyTavern."""
        folder = await ask_for_folder(self._window, self.tr("Import a folder"))
        if folder is not None:
            self.import_paths([folder])

    def _accept_drops(self) -> None:
        """Accept files that are dropped on the window, its input field included, which would else write the file's address."""
        draft_field = self._window.chat.composer.draft_field
        self._drop_targets: tuple[QWidget, ...] = (self._window, draft_field, draft_field.viewport())
        self._window.setAcceptDrops(True)
        for target in self._drop_targets:
            target.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Accept drags that contain files to import, and import those that are dropped."""
        if event.type() in DRAG_EVENTS and isinstance(event, QDropEvent):
            paths = list_importable_paths(event)
            if paths:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.import_paths(paths)
                return True
        return False

    def _watch_inbox(self) -> None:
        """Watch the folder in which another start of the program leaves files and requests as notes."""
        self.follow(self._process_notes, self._preferences.changed)
        inbox = self._paths.inbox
        with suppress(OSError):  # a data folder that cannot be written was reported at the start
            inbox.mkdir(parents=True, exist_ok=True)
        self._inbox_watcher = QFileSystemWatcher([str(inbox)], self)
        self._inbox_watcher.directoryChanged.connect(self._process_notes)
        # Notes may have arrived before the folder was watched.
        QTimer.singleShot(0, self, self._process_notes)

    def _process_notes(self) -> None:
        """Bring the window to the front and import files that were handed over. Files wait until the welcome screen of the
        first start is finished.
        """
        if single_instance.take_window_requests(self._paths):
            self._window.bring_to_front()
        if self._preferences.current.welcomed:
            files = single_instance.take_requested_files(self._paths)
            if files:
                self._window.bring_to_front()
                self.import_paths(files)

    # Import

    def import_paths(self, paths: Sequence[Path]) -> None:
        """Start the import of files and folders; the user is asked first."""
        for bundle in (path for path in paths if path.suffix.lower() == ENDING):
            self._tasks.start_task(self._import_bundle(bundle))
        others = [path for path in paths if path.suffix.lower() != ENDING]
        if others:
            self._tasks.start_task(self._confirm_and_import(others))

    async def _import_bundle(self, file: Path) -> None:
        from lethe_app.ui.dialogs.bundles import BundleImportDialog  # noqa: PLC0415 - rarely needed

        bundles, transfers = self._bundles, self._file_transfers
        async with self._bundle_lock:
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
        if received is None:
            return
        if not import_dialog.is_in_background and not received.persona.is_user:
            self.imported.emit(received.persona.unique_name)
        self._notifier.notify(
            self.tr("{name} was imported.").format(name=received.persona.name),
            button=self.tr("Undo"),
            action=self._tasks.create_callback(self._revert_bundle, received),
        )

    async def _revert_bundle(self, received: ImportedPersona) -> None:
        await self._bundles.revert_import(received)
        self.reverted.emit(received.persona.unique_name)

    async def _confirm_and_import(self, paths: Sequence[Path]) -> None:
        from lethe_app.ui.dialogs.import_preview import ImportPreviewDialog  # noqa: PLC0415 - rarely needed

        imports, transfers = self._get_imports(), self._file_transfers
        async with self._import_lock:
            reading_dialog = TransferProgressDialog(self._window, self.tr("Reading files…"))
            plan = await run_with_progress(reading_dialog, transfers, lambda report: imports.read_plan(paths, report))
            if plan is None:
                return
            dialog = ImportPreviewDialog(self._window, plan)
            self._tasks.start_task(self._show_portraits(dialog), key="import portraits")
            if not await run_dialog(dialog):
                return
            chosen = dialog.plan
            import_dialog = TransferProgressDialog(self._window, self.tr("Importing files…"))
            result = await run_with_progress(import_dialog, transfers, lambda report: imports.run(chosen, report))
        if result is not None:
            self._announce(result, is_awaited=not import_dialog.is_in_background)

    async def _show_portraits(self, dialog: ImportPreviewDialog) -> None:
        """Show the pictures of the first cards, one after the other, so that few of them are in memory at once."""
        ratio, palette = dialog.devicePixelRatioF(), self._window.theme.palette
        for row in dialog.portrait_rows:
            picture = await self._get_imports().read_portrait(row.item)
            size = row.portrait.width()
            small = await asyncio.to_thread(shrink_picture, picture, round(size * ratio)) if picture else b""
            row.portrait.setPixmap(render_portrait(small, row.item.name, size, palette, ratio))

    def _announce(self, result: ImportResult, *, is_awaited: bool) -> None:
        """Show what was imported, with Undo, and what failed; open the persona if there is exactly one."""
        if is_awaited and len(result.personas) == 1:
            self.imported.emit(result.personas[0])
        if result.keys:
            self._notifier.notify(
                self._describe(result),
                button=self.tr("Undo"),
                action=self._tasks.create_callback(self._revert, result),
                is_lasting=True,
            )
        if result.errors:
            self._notifier.report_error(self._summarise_errors(result.errors))

    def _describe(self, result: ImportResult) -> str:
        """Return what was imported and what was overwritten as text."""
        from lethe_app.ui.dialogs.import_preview import describe_count  # noqa: PLC0415 - rarely needed

        counts = {
            ItemKind.PERSONA: len(result.personas),
            ItemKind.WORLD: len(result.worlds),
            ItemKind.MEMORIES: len(result.memories),
            ItemKind.CONVERSATION: result.chats,
            ItemKind.PRESET: len(result.presets),
        }
        made = [describe_count(kind, count) for kind, count in counts.items() if count]
        updated = [record.name for record in result.updated]
        sentences = [self.tr("Imported: {things}.").format(things=join_with_and(made))] if made else []
        if result.known_chats:
            known = describe_count(ItemKind.CONVERSATION, result.known_chats)
            sentences.append(self.tr("Already here: {things}.").format(things=known))
        sentences += [
            self.tr("“{name}” is called “{new}” here.").format(name=shorten_text(name, 60), new=shorten_text(new, 60))
            for name, new in list(result.renamed.items())[:MAX_RENAMED]
        ]
        sentences += [self.tr("Updated: {names}.").format(names=shorten_text(join_with_and(updated), 120))] if updated else []
        return " ".join(sentences)

    def _summarise_errors(self, errors: Sequence[FileError]) -> FileError:
        """Return the first error, with the number of the others as its remedy."""
        first, others = errors[0], len(errors) - 1
        more = format_count(others, self.tr("{n} other file failed too."), self.tr("{n} other files failed too."))
        return FileError(first.path, first.problem, first.field, more if others else first.remedy)

    async def _revert(self, result: ImportResult) -> None:
        """Undo an import, with progress; it goes on when the dialog is closed."""
        imports = self._get_imports()
        dialog = TransferProgressDialog(self._window, self.tr("Undoing the import…"), can_cancel=False)
        async with self._import_lock:
            await run_with_progress(dialog, self._file_transfers, lambda report: asyncio.shield(imports.revert(result, report)))
        for persona_id in result.personas:
            self.reverted.emit(persona_id)


def list_importable_paths(event: QDropEvent) -> list[Path]:
    """Return the folders, and the files with the suffix of something to import, among the dragged URLs."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [path for path in paths if path.suffix.lower() in (ENDING, *IMPORTED_SUFFIXES) or path.is_dir()]
