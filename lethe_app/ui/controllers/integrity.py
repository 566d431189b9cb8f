"""Show damage of the database, check it on request, and close Lethe for a repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.errors import DatabaseDamaged, LetheError
from lethe_app.services.maintenance.integrity import request_repair
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress

if TYPE_CHECKING:
    from lethe_app.paths import Paths
    from lethe_app.services.maintenance.integrity import IntegrityService
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.shell.main_window import MainWindow


class IntegrityController(Controller):
    """Notices of damage, whose button leads to the page of a failed start, and the command that checks the database."""

    def __init__(self, window: MainWindow, integrity: IntegrityService, paths: Paths, file_transfers: FileTransfers) -> None:
        super().__init__(window)
        self._integrity, self._paths, self._transfers = integrity, paths, file_transfers
        start = self._tasks.create_callback(self._check_or_repair, key="repair")
        self._notifier.register_remedy(DatabaseDamaged, self.tr("Repair or restore…"), start)
        self._actions.connect(repair=start)
        self._unsubscribers.append(integrity.found.add(self._report))

    def _report(self, found: LetheError) -> None:
        if isinstance(found, DatabaseDamaged):
            self._notifier.report_error(found)
        else:
            self._notifier.notify(found.message, found.remedy, is_lasting=True)

    async def _check_or_repair(self) -> None:
        """Check the database; if it is known to be damaged, close Lethe, which starts again with a choice of remedies."""
        if self._integrity.needs_repair:
            request_repair(self._paths)
            self._window.restarts = True
            self._actions["quit"].trigger()
            return
        dialog = TransferProgressDialog(self._window, self.tr("Checking your data…"))
        if await run_with_progress(dialog, self._transfers, self._integrity.check):
            self._notifier.notify(self.tr("Your data was checked. Nothing is damaged."))
