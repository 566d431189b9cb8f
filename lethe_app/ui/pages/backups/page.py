"""Page “Backups”: what each backup contains and how it differs from now, making one, and restoring one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from lethe_app.domain.bundle import BACKUP_SUFFIX, BackupContents, BackupKind
from lethe_app.paths import Paths
from lethe_app.services.library import Library
from lethe_app.services.maintenance.backups import (
    ListedBackup,
    back_up,
    delete_backup,
    prepare_restore,
    read_backups,
    read_contents,
    read_current_contents,
    save_copy,
)
from lethe_app.ui.core.file_transfers import FileTransfers, open_folder
from lethe_app.ui.core.formatting import (
    format_bytes,
    format_count,
    join_with_and,
)
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.dialogs.bundle_parts import TransferProgressDialog, run_with_progress
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.files import ask_for_file, ask_where_to_save
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

    def __init__(
        self, context: PageContext, paths: Paths, library: Library, file_transfers: FileTransfers, window: MainWindow
    ) -> None:
        super().__init__(context, QCoreApplication.translate("BackupsPage", "Backups"))
        self._paths, self._library, self._transfers, self._window = paths, library, file_transfers, window
        self._current: BackupContents | None = None
        self._names: dict[str, str] = {}
        self._commands = self._build_commands()
        self.build_list(
            RecordSpec(
                name=self.tr("Backups"),
                columns=self._build_columns(),
                key=lambda one: one.backup.path,
                search_text=self._describe,
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
            Column(self.tr("Compared with now"), self._describe, width=0, min_width=200),
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
            page_command(tr("Restore from file…"), self._restore_file, needs_records=False),
            page_command(tr("Open folder"), self._open_folder, "folder", needs_records=False),
            single_command(
                tr("Restore…"),
                lambda one: self._restore(one.backup.path, one.contents),
                (Key.OPEN,),
                is_enabled=lambda one: one.contents is not None,
                icon="undo",
            ),
            single_command(tr("Save a copy…"), self._save_copy),
            single_command(tr("Delete…"), self._delete, (Key.DELETE,), confirm=self._confirm_deletion),
        ]

    def _build_detail(self) -> DetailPane:
        self.detail = DetailPane(self.tr("Select a backup to see what it contains."), MIN_WIDTH, WIDTH)
        self.title_label, self.kind_label = create_text_label("", "section"), build_small_label("")
        self.contents_label, self.difference_label = create_text_label(""), create_text_label("")
        buttons = self.build_command_buttons(*(one for one in self._commands if one.minimum))
        self.detail.add_card(self.title_label, self.kind_label, self.contents_label, self.difference_label, buttons)
        self.personas_label, self.conversations_label = create_text_label(""), create_text_label("")
        titles = {self.personas_label: self.tr("Personas"), self.conversations_label: self.tr("Newest conversations")}
        self._cards = [(self.detail.add_card(label, title=title)[0], label) for label, title in titles.items()]
        for label in (self.contents_label, self.personas_label, self.conversations_label):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return self.detail

    def first_focus_widget(self) -> QWidget:
        return self.table

    # The list

    async def load_records(self) -> Sequence[ListedBackup]:
        personas = [*await self._library.personas(), *await self._library.user_personas()]
        self._names = {persona.unique_name: persona.name for persona in personas}
        self._current = await asyncio.to_thread(read_current_contents, self._paths.home)
        return await asyncio.to_thread(read_backups, self._paths.home)

    def _describe(self, listed: ListedBackup) -> str:
        """Return how a backup differs from what there is now, or why it cannot be restored."""
        return listed.trouble if listed.contents is None else self._compare(listed.contents)

    def _compare(self, contents: BackupContents) -> str:
        return describe_difference(contents, self._current) if self._current is not None else ""

    def _compare_in_sentence(self, contents: BackupContents) -> str:
        return self.tr("Compared with now: {difference}").format(difference=self._compare(contents))

    def show_record(self, record: ListedBackup | None) -> None:
        self.detail.setCurrentIndex(0 if record is None else 1)
        if record is None:
            return
        backup, contents = record.backup, record.contents or BackupContents(made=record.backup.created)
        names = {**self._names, **contents.personas}
        talked_to = (names.get(one.persona_id, one.persona_id) for one in contents.conversations)
        notes = (
            describe_contents(contents),
            "" if contents.has_files else self.tr("Only the database, without personas, worlds, presets and settings."),
            self.tr("Left out: {files}.").format(files=", ".join(contents.left_out)) if contents.left_out else "",
        )
        texts = {
            self.title_label: format_date_time(backup.created),
            self.kind_label: f"{tr(KINDS[backup.kind])} · {format_bytes(backup.size)} · {backup.path.name}",
            self.contents_label: "\n".join(filter(None, notes)),
            self.difference_label: record.trouble or self._compare_in_sentence(contents),
            self.personas_label: join_with_and(sorted({*contents.personas.values(), *talked_to})),
            self.conversations_label: "\n\n".join(describe_conversation(one, names) for one in contents.conversations),
        }
        for label, text in texts.items():
            label.setText(text)
            label.setVisible(bool(text))
        for card, label in self._cards:
            card.setVisible(bool(label.text()))

    # Commands

    async def _back_up(self) -> None:
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Backing up…"))
        path = await run_with_progress(dialog, self._transfers, partial(back_up, self._paths.home, None))
        if path is not None:
            self._context.notifier.notify(self.tr("Everything was backed up."))
            self.select_when_loaded(path)
            self.reload()

    def _open_folder(self) -> None:
        folder = self._paths.home / "backups"
        open_folder(folder if folder.is_dir() else self._paths.home)

    async def _save_copy(self, listed: ListedBackup) -> None:
        backup = listed.backup
        suffix = BACKUP_SUFFIX if backup.kind is BackupKind.REPLACED else backup.path.suffix
        name = f"Lethe {backup.created:%Y-%m-%d}{suffix}"
        filters = self.tr("Backup (*{suffix})").format(suffix=suffix)
        chosen = await ask_where_to_save(self._context.dialog_parent, self.tr("Save a copy"), name, filters)
        if chosen is None:
            return
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Saving a copy…"))
        await run_with_progress(dialog, self._transfers, lambda report: save_copy(backup, chosen[0], report))
        if not dialog.is_cancelled:
            self._context.notifier.notify(self.tr("The backup was saved as “{file}”.").format(file=chosen[0].name))

    def _confirm_deletion(self, chosen: Sequence[ListedBackup]) -> ConfirmDialog:
        title = self.tr("Delete the backup of {date}?").format(date=format_date_time(chosen[0].backup.created))
        text = self.tr("This cannot be undone.")
        return ConfirmDialog(self._context.dialog_parent, title, text, self.tr("Delete backup"), is_final=True)

    async def _delete(self, listed: ListedBackup) -> None:
        await delete_backup(listed.backup)
        self.reload()

    async def _restore_file(self) -> None:
        kinds = self.tr("Backups (*{suffix} *.sqlite3)").format(suffix=BACKUP_SUFFIX)
        path = await ask_for_file(self._context.dialog_parent, self.tr("Restore from file"), kinds)
        if path is not None:
            await self._restore(path, await asyncio.to_thread(read_contents, path))

    async def _restore(self, path: Path, contents: BackupContents | None) -> None:
        """Ask, prepare the restore while Lethe is open, and then close Lethe, which restores the backup and starts again."""
        assert contents is not None, "the command is disabled for what cannot be read"
        title = self.tr("Restore the backup of {date}?").format(date=format_date_time(contents.made))
        database_only = self.tr("It is a copy of the database alone: personas, worlds, presets and settings stay as they are.")
        parts = (
            self.tr("It contains {contents}.").format(contents=describe_contents(contents) or self.tr("nothing")),
            f"{self._compare_in_sentence(contents)}.",
            "" if contents.has_files else database_only,
            self.tr(
                "Lethe closes, puts the backup in place and starts again. What is here now is kept as a backup of its own,"
                " from which you can return. Models, keys and passwords stay as they are."
            ),
        )
        text = "\n\n".join(filter(None, parts))
        if not await run_dialog(ConfirmDialog(self._context.dialog_parent, title, text, self.tr("Restore and restart"))):
            return
        dialog = TransferProgressDialog(self._context.dialog_parent, self.tr("Preparing the backup…"))
        dialog.primary.hide()  # Lethe would close while the user does something else
        commit = await run_with_progress(dialog, self._transfers, partial(prepare_restore, self._paths, path))
        if commit is not None:
            self._window.restart_after = commit
            self._context.run_action("quit")
