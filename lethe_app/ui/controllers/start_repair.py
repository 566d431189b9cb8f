"""Help the user out of a start that failed, until Lethe can be started again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from lethe_app.errors import DatabaseDamaged, DatabaseLocked, DatabaseTooNew, FileError, LetheError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import ListedBackup, read_backups, restore_backup
from lethe_app.services.maintenance.repair import StartRemedy, find_remedies, repair_database, set_settings_aside
from lethe_app.services.maintenance.single_instance import is_open
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.dialogs.files import ask_for_file
from lethe_app.ui.pages.backups.contents import KINDS, describe_contents, tr
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.shell.notifier import crash_report
from lethe_app.ui.shell.start_problem import Action, StartProblemPage

CHECK_INTERVAL_S = 2.0
"""Seconds between two looks whether another Lethe has ended."""


class StartRepair(QObject):
    """Page of one failed start, and what its buttons do. `resolve` ends when the start can be tried again."""

    def __init__(self, window: MainWindow, paths: Paths, error: Exception) -> None:
        super().__init__(window)
        self._window, self._paths, self._error = window, paths, error
        self._remedies = find_remedies(paths, error)
        self._outcomes: list[str] = []
        self._resolved = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self.page = StartProblemPage(
            (self.tr("Open the folder"), "", self._open_folder), (self.tr("Copy report"), "", self._copy_report)
        )

    async def resolve(self) -> None:
        """Show the page until something was done that may help, or the window is closed."""
        self._window.show_page(self.page)
        self._window.closed.connect(self._resolved.set)
        if isinstance(self._error, DatabaseLocked):
            self._work = asyncio.ensure_future(self._wait_for_other())
        self._show_problem()  # only a visible button takes the focus
        try:
            await self._resolved.wait()
        finally:
            if self._work is not None:
                self._work.cancel()
                await asyncio.gather(self._work, return_exceptions=True)
            self._window.remove_page(self.page)

    async def _wait_for_other(self) -> None:
        """Try again once the other Lethe has ended."""
        while await asyncio.to_thread(is_open, self._paths):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(CHECK_INTERVAL_S)
        self._resolved.set()

    def _show_problem(self, trouble: str = "") -> None:
        """Show what is wrong and what can help; `trouble` says why the last attempt failed."""
        self.page.headline = self.tr("Lethe could not start")
        retry = (self.tr("Try again"), self.tr("After you have corrected something yourself."), self._resolved.set)
        self.page.show_actions(self._explain(), [*map(self._build_action, self._remedies), retry], trouble)

    def _build_action(self, remedy: StartRemedy) -> Action:
        return {
            StartRemedy.REPAIR: (
                self.tr("Try repair"),
                self.tr("Saves what can still be read into a new file, and tells what was saved. The damaged file is kept."),
                partial(self._start, self._repair),
            ),
            StartRemedy.RESTORE: (
                self.tr("Restore a backup…"),
                self.tr("Goes back to an earlier state, which you choose from a list. What is there now is kept."),
                partial(self._start, self._list_backups),
            ),
            StartRemedy.DEFAULT_SETTINGS: (
                self.tr("Start with default settings"),
                self.tr("Keeps the settings file under another name beside the new one."),
                partial(self._start, self._set_settings_aside),
            ),
        }[remedy]

    def _explain(self) -> str:
        """Return in plain words what is wrong and what is not."""
        texts = {
            DatabaseTooNew: self.tr("Your conversations and memories were last used with a newer version of Lethe."),
            DatabaseDamaged: self.tr(
                "The file with your conversations and memories is damaged. It is kept, whatever you choose."
            ),
            DatabaseLocked: self.tr("This window opens by itself as soon as the other Lethe has ended."),
            FileError: self.tr("Your settings cannot be read. Your conversations and memories are not affected."),
            StorageError: self.tr(
                "The folder with your data cannot be used. Nothing was changed in it. With “lethe --home FOLDER”, Lethe starts"
                " with another one."
            ),
            LetheError: "",
            Exception: self.tr("There is an error in Lethe itself. Your data was not changed."),
        }
        text = next(text for kind, text in texts.items() if isinstance(self._error, kind))
        return "\n\n".join(filter(None, (text, describe_error(self._error, with_remedy=not self._remedies))))

    def _start(self, make_work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Do something that may fail, and go back to the problem with the reason if it does, or if it was cancelled."""

        async def run() -> None:
            try:
                await make_work()
            except Exception as error:
                self._show_problem(describe_error(error))
            except asyncio.CancelledError:
                self._show_problem(self.tr("Cancelled; nothing was changed."))

        self._work = asyncio.ensure_future(run())

    def _show_progress(self, text: str) -> Callable[[float], None]:
        """Show that a remedy is under way, and return the function that shows how far it is, from 0 to 1."""
        bar = self.page.show_progress(text, (self.tr("Cancel"), "", lambda: self._work and self._work.cancel()))
        return lambda fraction: bar.setValue(round(100 * fraction))

    async def _repair(self) -> None:
        on_progress = self._show_progress(self.tr("Saving what can still be read…"))
        self._remedies.sort(key=lambda remedy: remedy is StartRemedy.REPAIR)  # once it was tried, others promise more
        repair = await repair_database(self._paths, on_progress)
        saved = describe_contents(repair.contents) or self.tr("nothing")
        lines = [self.tr("Saved: {contents}.").format(contents=saved), repair.losses]
        if (richer := repair.richer_backup) is not None and richer.contents is not None:
            more = self.tr("The backup of {date} has more: {contents}.")
            contents = describe_contents(richer.contents)
            lines.insert(0, more.format(date=format_date_time(richer.backup.created), contents=contents))
        self._show_outcome("\n".join(lines), prefers_backup=richer is not None)

    async def _list_backups(self) -> None:
        self._show_progress(self.tr("Looking into the backups…"))
        backups = await asyncio.to_thread(read_backups, self._paths.home)
        text = self.tr(
            "Choose a backup. It replaces your data; what is there now is kept among the backups, so that you can return to it."
        )
        back = (self.tr("Back"), "", self._show_problem)
        file = (self.tr("Restore from file…"), self.tr("A backup from elsewhere."), partial(self._start, self._choose_file))
        self.page.show_actions(text, [*map(self._describe_choice, backups), file, back])

    async def _choose_file(self) -> None:
        file = await ask_for_file(self._window, self.tr("Restore from file"), folder=self._paths.home / "backups")
        await (self._restore(file) if file is not None else self._list_backups())

    def _describe_choice(self, listed: ListedBackup) -> Action:
        """Return the action that restores a backup: when and why it was made, and what is in it."""
        backup, contents = listed.backup, listed.contents
        what = listed.trouble if contents is None else describe_contents(contents)
        restore = None if contents is None else partial(self._start, partial(self._restore, backup.path))
        return format_date_time(backup.created), f"{tr(KINDS[backup.kind])}: {what}", restore

    async def _restore(self, backup: Path) -> None:
        kept = await restore_backup(self._paths, backup, self._show_progress(self.tr("Restoring the backup…")))
        lines = [self.tr("The backup was restored.")]
        if kept is not None:
            lines.append(self.tr("What was there before is kept in {folder}.").format(folder=kept))
        self._show_outcome("\n".join(lines))

    async def _set_settings_aside(self) -> None:
        kept = await asyncio.to_thread(set_settings_aside, self._paths)
        self._window.notifier.notify(
            self.tr("Lethe started with default settings."),
            self.tr("Your settings file is kept as {name}.").format(name=kept.name),
            is_lasting=True,
        )
        self._resolved.set()

    def _show_outcome(self, outcome: str, *, prefers_backup: bool = False) -> None:
        """Show what a remedy has done, before the start goes on or a backup is chosen instead."""
        self._outcomes.append(outcome)
        self.page.headline = self.tr("Ready to start")
        start = (self.tr("Start Lethe"), "", self._resolved.set)
        backups = [self._build_action(one) for one in self._remedies if one is StartRemedy.RESTORE]
        self.page.show_actions(outcome, [*backups, start] if prefers_backup else [start, *backups])

    def _open_folder(self) -> None:
        home = self._paths.home
        open_folder(next((folder for folder in (home, *home.parents) if folder.is_dir()), home))

    def _copy_report(self) -> None:
        report = "\n\n".join([describe_error(self._error), *self._outcomes, crash_report(self._error)])
        QApplication.clipboard().setText(report)
        self._window.notifier.notify(self.tr("The report was copied. It contains no text of your conversations."))


def describe_error(error: Exception, *, with_remedy: bool = True) -> str:
    """Return an error as a sentence, with its remedy if it has one."""
    if not isinstance(error, LetheError):
        return f"{type(error).__name__}: {error}"
    return str(error) if with_remedy else error.message
