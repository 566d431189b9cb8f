"""Help the user out of a start that failed, until Lethe can be started again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QApplication

from lethe_app.errors import DatabaseDamaged, DatabaseTooNew, FileError, LetheError, StorageError
from lethe_app.services.maintenance.backups import ListedBackup, read_backups, restore_backup
from lethe_app.services.maintenance.repair import (
    StartProblem,
    StartRemedy,
    describe_repair,
    diagnose_start,
    repair_database,
    set_settings_aside,
)
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.pages.backups.contents import KINDS, describe_contents, tr
from lethe_app.ui.shell.notifier import crash_report
from lethe_app.ui.shell.start_problem import BackupChoice, StartProblemPage

if TYPE_CHECKING:
    from lethe_app.paths import Paths
    from lethe_app.ui.shell.main_window import MainWindow


class StartRepair(QObject):
    """Page of one failed start, and what its buttons do. `resolve` ends when the start can be tried again."""

    def __init__(self, window: MainWindow, paths: Paths, error: Exception) -> None:
        super().__init__(window)
        self._window, self._paths = window, paths
        self._problem = diagnose_start(paths, error)
        self._outcomes: list[str] = []
        self._resolved = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self.page = StartProblemPage(self._problem, self.tr("Lethe could not start"), explain(self._problem))
        self.page.remedy_chosen.connect(self._apply)
        self.page.backup_chosen.connect(lambda path: self._start(self._restore(path)))
        self.page.folder_requested.connect(lambda: open_folder(self._problem.folder))
        self.page.report_requested.connect(self._copy_report)
        self.page.start_requested.connect(self._resolved.set)
        self.page.cancelled.connect(lambda: self._work.cancel() if self._work is not None else None)

    async def resolve(self, closed: asyncio.Event) -> bool:
        """Show the page until something was done that may help; return False if the window was closed instead."""
        self._window.show_page(self.page)
        self.page.show_problem()  # only a visible button takes the focus
        waiting = [asyncio.ensure_future(event.wait()) for event in (self._resolved, closed)]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            if self._work is not None:
                self._work.cancel()
                await asyncio.gather(self._work, return_exceptions=True)
            self._window.remove_page(self.page)
        return not closed.is_set()

    def _apply(self, remedy: StartRemedy) -> None:
        match remedy:
            case StartRemedy.REPAIR:
                self._start(self._repair())
            case StartRemedy.RESTORE:
                self._start(self._list_backups())
            case StartRemedy.DEFAULT_SETTINGS:
                self._start(self._set_settings_aside())
            case _:
                self._resolved.set()

    def _start(self, work: Awaitable[None]) -> None:
        """Do something that may fail, and go back to the problem with the reason if it does, or if it was cancelled."""

        async def run() -> None:
            try:
                await work
            except Exception as error:
                self.page.show_problem(str(error) if isinstance(error, LetheError) else f"{type(error).__name__}: {error}")
            except asyncio.CancelledError:
                self.page.show_problem(self.tr("Cancelled; nothing was changed."))

        self._work = asyncio.ensure_future(run())

    async def _repair(self) -> None:
        self.page.show_progress(self.tr("Saving what can still be read…"))
        repair = await repair_database(self._paths, self.page.report_progress)
        self._finish(
            describe_repair(repair), offers_backups=repair.is_incomplete and StartRemedy.RESTORE in self._problem.remedies
        )

    async def _list_backups(self) -> None:
        self.page.show_progress(self.tr("Looking into the backups…"))
        backups = await asyncio.to_thread(read_backups, self._paths.home)
        self.page.show_backups([describe_choice(listed) for listed in backups])

    async def _restore(self, backup: Path) -> None:
        self.page.show_progress(self.tr("Restoring the backup…"))
        kept = await restore_backup(self._paths, backup, self.page.report_progress)
        lines = [self.tr("The backup was restored.")]
        if kept is not None:
            lines.append(self.tr("What was there before is kept in {folder}.").format(folder=kept))
        self._finish("\n".join(lines))

    async def _set_settings_aside(self) -> None:
        kept = await asyncio.to_thread(set_settings_aside, self._paths)
        self._window.notifier.notify(
            self.tr("Lethe started with default settings."),
            self.tr("Your settings file is kept as {name}.").format(name=kept.name),
            is_lasting=True,
        )
        self._resolved.set()

    def _finish(self, outcome: str, *, offers_backups: bool = False) -> None:
        self._outcomes.append(outcome)
        self.page.show_outcome(outcome, offers_backups=offers_backups)

    def _copy_report(self) -> None:
        report = "\n\n".join([self._problem.message, *self._outcomes, crash_report(self._problem.error)])
        QApplication.clipboard().setText(report)
        self._window.notifier.notify(self.tr("The report was copied. It contains no text of your conversations."))


def explain(problem: StartProblem) -> str:
    """Return in plain words what is wrong and what is not."""
    error = problem.error
    translate = QCoreApplication.translate
    match error:
        case DatabaseTooNew():
            text = translate("StartRepair", "Your conversations and memories were last used with a newer version of Lethe.")
        case DatabaseDamaged():
            text = translate("StartRepair", "The file with your conversations and memories is damaged. It was not changed.")
        case FileError():
            text = translate("StartRepair", "Your settings cannot be read. Your conversations and memories are not affected.")
        case StorageError():
            text = translate("StartRepair", "The folder with your data cannot be used. Nothing was changed in it.")
        case LetheError():
            text = ""
        case _:
            text = translate("StartRepair", "There is an error in Lethe itself. Your data was not changed.")
    remedy = error.remedy if isinstance(error, LetheError) and not problem.remedies[1:] else ""
    return "\n\n".join(filter(None, (text, f"{problem.message} {remedy}".strip())))


def describe_choice(listed: ListedBackup) -> BackupChoice:
    """Return a backup as it is listed: when and why it was made, and what is in it."""
    backup, contents = listed.backup, listed.contents
    what = listed.trouble if contents is None else describe_contents(contents)
    title = f"{format_date_time(backup.created)} · {tr(KINDS[backup.kind])}\n{what}"
    return BackupChoice(backup.path, title, can_be_restored=contents is not None)
