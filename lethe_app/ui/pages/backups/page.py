"""Page “Backups”: what each backup contains and how it differs from now, making one, and restoring one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt

from lethe_app.domain.bundle import BACKUP_SUFFIX, BackupContents
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import (
    ListedBackup,
    back_up,
    delete_backup,
    prepare_restore,
    read_backups,
    read_contents,
)
from lethe_app.ui.core.file_transfers import FileTransfers, open_folder
from lethe_app.ui.core.formatting import format_bytes, format_count
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.files import ask_for_file, ask_for_folder
from lethe_app.ui.pages.backups.contents import KINDS, describe_contents, describe_conversation, describe_difference, tr
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.table_model import Column

MIN_WIDTH, WIDTH = 280, 420
"""Minimum and initial width of the details in pixels."""


class BackupsPage(RecordPage[ListedBackup]):
    """Page with the backups of the data folder."""

    def __init__(self, context: PageContext, paths: Paths, file_transfers: FileTransfers, window: MainWindow) -> None:
        super().__init__(context, QCoreApplication.translate("BackupsPage", "Backups"))
        self._paths, self._transfers, self._window = paths, file_transfers, window
        self._current = BackupContents(made=now())
        """What the data folder contains."""
        self._commands = self._build_commands()
        self.build_list(
            RecordSpec(
                name=self.tr("Backups"),
                columns=self._build_columns(),
                key=lambda one: one.backup.path,
                search_text=self._compare,
                empty_text=self.tr(
                    "No backups yet\n\n"
                    "A backup is made on every day on which Lethe is open and something was written. It contains your"
                    " conversations and memories, personas, worlds, presets, notebooks, documents and settings."
                ),
                commands=self._commands,
                format_total=lambda count: format_count(count, self.tr("{n} backup"), self.tr("{n} backups")),
                selects_one=True,
                selects_first=True,
            ),
            detail=self._build_detail(),
            head=[
                build_small_label(
                    self.tr("One backup a day is kept for a week. Models, passwords and keys are in none of them.")
                )
            ],
        )

    def _build_columns(self) -> list[Column[ListedBackup]]:
        return [
            Column(self.tr("Made"), lambda one: format_date_time(one.backup.created), attrgetter("backup.created"), 176),
            Column(self.tr("Type"), lambda one: tr(KINDS[one.backup.kind]), width=136, hides_at=2),
            Column(self.tr("Compared with now"), self._compare, width=0, min_width=200),
            Column(
                self.tr("Size"),
                lambda one: format_bytes(one.backup.size),
                attrgetter("backup.size"),
                96,
                hides_at=1,
                is_right_aligned=True,
            ),
        ]

    def _build_commands(self) -> list[RecordCommand[ListedBackup]]:
        tr = self.tr
        return [
            page_command(tr("Back up now"), self._back_up, "download", is_primary=True),
            page_command(tr("Back up to folder…"), self._choose_folder, needs_records=False),
            page_command(tr("Restore from file…"), self._choose_file, needs_records=False),
            page_command(tr("Open folder"), lambda: open_folder(self._paths.home / "backups"), "folder"),
            single_command(
                tr("Restore…"),
                lambda one: self._restore(one.backup.path, one.contents),
                (Key.OPEN,),
                is_enabled=lambda one: one.contents is not None,
                icon="undo",
            ),
            single_command(tr("Delete…"), self._delete, (Key.DELETE,), confirm=self._confirm_deletion),
        ]

    def _build_detail(self) -> DetailPane:
        self.detail = DetailPane(self.tr("Select a backup to see what it contains."), MIN_WIDTH, WIDTH)
        self.title_label, self.kind_label = create_text_label("", "section"), build_small_label("")
        self.text_label, self.conversations_label = create_text_label(""), create_text_label("")
        for label in (self.text_label, self.conversations_label):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = self.build_command_buttons(*(one for one in self._commands if one.minimum))
        self.detail.add_card(self.title_label, self.kind_label, self.text_label, buttons)
        self._conversations_card, _layout = self.detail.add_card(
            self.conversations_label, title=self.tr("Newest conversations")
        )
        return self.detail

    # The list

    async def load_records(self) -> Sequence[ListedBackup]:
        self._current = BackupContents(made=now())
        with suppress(StorageError):  # of damaged data, to which a backup is the way back
            self._current = await asyncio.to_thread(read_contents, self._paths.home)
        return await asyncio.to_thread(read_backups, self._paths.home)

    def _compare(self, listed: ListedBackup) -> str:
        """Return how a backup differs from what there is now, or why it cannot be restored."""
        return listed.trouble if listed.contents is None else describe_difference(listed.contents, self._current)

    def _explain(self, contents: BackupContents) -> str:
        """Return what a backup contains, how it differs from what there is now, and what it lacks."""
        difference = describe_difference(contents, self._current)
        personas = ", ".join(sorted(contents.personas.values()))
        lines = (
            self.tr("It contains {contents}.").format(contents=describe_contents(contents) or self.tr("nothing")),
            self.tr("Compared with now: {difference}.").format(difference=difference),
            self.tr("Personas: {names}").format(names=personas) if personas else "",
            self.tr("Left out: {files}").format(files=", ".join(contents.left_out)) if contents.left_out else "",
            ""
            if "personas" in contents.counts
            else self.tr("It is a copy of the database alone: personas, worlds, presets and settings stay as they are."),
        )
        return "\n\n".join(filter(None, lines))

    def show_record(self, record: ListedBackup | None) -> None:
        self.detail.setCurrentIndex(0 if record is None else 1)
        if record is None:
            return
        backup, contents = record.backup, record.contents or BackupContents(made=record.backup.created)
        names = {**self._current.personas, **contents.personas}
        self.title_label.setText(format_date_time(backup.created))
        self.kind_label.setText(f"{tr(KINDS[backup.kind])} · {format_bytes(backup.size)} · {backup.path.name}")
        self.text_label.setText(record.trouble or self._explain(contents))
        self.conversations_label.setText("\n\n".join(describe_conversation(one, names) for one in contents.conversations))
        self._conversations_card.setVisible(bool(contents.conversations))

    # Commands

    async def _back_up(self, folder: Path | None = None) -> None:
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Backing up…"))
        path = await run_with_progress(dialog, self._transfers, partial(back_up, self._paths.home, folder))
        if path is not None:
            self._context.notifier.notify(self.tr("Everything was backed up."), str(path))
            self.select_when_loaded(path)
            self.reload()

    async def _choose_folder(self) -> None:
        folder = await ask_for_folder(self._context.dialog_parent, self.tr("Back up to folder"))
        if folder is not None:
            await self._back_up(folder)

    def _confirm_deletion(self, chosen: Sequence[ListedBackup]) -> ConfirmDialog:
        title = self.tr("Delete the backup of {date}?").format(date=format_date_time(chosen[0].backup.created))
        text = self.tr("This cannot be undone.")
        return ConfirmDialog(self._context.dialog_parent, title, text, self.tr("Delete backup"), is_final=True)

    async def _delete(self, listed: ListedBackup) -> None:
        await delete_backup(listed.backup)
        self.reload()

    async def _choose_file(self) -> None:
        kinds = self.tr("Backups (*{suffix} *.sqlite3)").format(suffix=BACKUP_SUFFIX)
        path = await ask_for_file(
            self._context.dialog_parent, self.tr("Restore from file"), kinds, folder=self._paths.home / "backups"
        )
        if path is not None:
            await self._restore(path, await asyncio.to_thread(read_contents, path))

    async def _restore(self, path: Path, contents: BackupContents | None) -> None:
        """Ask, prepare the restore while Lethe is open, and then close Lethe, whose next start restores the backup."""
        assert contents is not None, "the command is disabled for what cannot be read"
        title = self.tr("Restore the backup of {date}?").format(date=format_date_time(contents.made))
        note = self.tr(
            "Lethe closes, puts the backup in place and starts again. What is here now is kept as a backup of its own,"
            " from which you can return. Models, keys and passwords stay as they are."
        )
        text, button = f"{self._explain(contents)}\n\n{note}", self.tr("Restore and restart")
        if not await run_dialog(ConfirmDialog(self._context.dialog_parent, title, text, button)):
            return
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Preparing the backup…"))
        dialog.primary.hide()  # Lethe would close while the user does something else
        if await run_with_progress(dialog, self._transfers, partial(prepare_restore, self._paths, path)) is not None:
            self._window.restarts = True
            self._context.run_action("quit")
