"""Export personas as cards or bundles."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.domain.bundle import CARD_SUFFIXES, ENDING, BundleScope
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.avatars import encode_png
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import format_bytes, suggest_file_name
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.dialogs.files import ask_where_to_save

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.domain.persona import Persona
    from lethe_app.services.personas.bundles import BundleService
    from lethe_app.services.personas.card_export import CardExport
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow

CARD_PICTURE_SIZE = 512
"""Side in pixels of the picture of a card, if the persona's own is no PNG."""


class BundleExporter(Controller):
    """Asks for scope and target file, and writes the bundle while the user goes on."""

    def __init__(
        self,
        window: MainWindow,
        tasks: TaskRunner,
        directory: PersonaDirectory,
        bundles: BundleService,
        get_card_export: Callable[[], CardExport],
        file_transfers: FileTransfers,
    ) -> None:
        """Set up the exporter. `get_card_export` is called when it is needed, because the service takes long to load."""
        super().__init__(window, tasks)
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
