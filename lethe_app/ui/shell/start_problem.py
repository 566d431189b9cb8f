"""Page that is shown when Lethe cannot start: what is wrong, and a button for everything that can help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QProgressBar, QVBoxLayout, QWidget

from lethe_app.services.maintenance.repair import StartProblem, StartRemedy
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.icons import application_icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import ContentArea, Item, build_column, build_row

COLUMN_WIDTH = 680
"""Maximum width of the content in pixels."""
BUTTON_WIDTH = 280
"""Width of the buttons of the remedies in pixels."""
LIST_HEIGHT = 240
"""Minimum height of the list of backups in pixels."""


@dataclass(frozen=True)
class BackupChoice:
    """Backup in the list, with what is in it."""

    path: Path
    title: str
    can_be_restored: bool


class StartProblemPage(QFrame):
    """Page with the problem and its remedies, a list of backups, the progress of a remedy, or its outcome."""

    remedy_chosen = Signal(object)
    """A `StartRemedy`."""
    backup_chosen = Signal(object)
    """Path of the backup to restore."""
    folder_requested = Signal()
    report_requested = Signal()
    start_requested = Signal()
    """The outcome was read, and the start goes on."""
    cancelled = Signal()

    def __init__(self, problem: StartProblem, headline: str, explanation: str) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self._problem, self._headline, self._explanation = problem, headline, explanation
        self._column: QVBoxLayout = build_column(parent=self)
        self._area: QWidget | None = None
        self.progress_bar: QProgressBar | None = None
        self.backup_list: QListWidget | None = None

    def show_problem(self, trouble: str = "") -> None:
        """Show what is wrong and what can help; `trouble` says why the last attempt failed."""
        rows = []
        for number, remedy in enumerate(self._problem.remedies):
            title, description = self._describe(remedy)
            button = build_button(title, partial(self.remedy_chosen.emit, remedy), primary=not number)
            button.setMinimumWidth(BUTTON_WIDTH)
            button.setAccessibleDescription(description)
            rows.append(build_row(button, (build_small_label(description), 1), spacing=SPACE_4))
        if trouble:
            announce(self, trouble)
        self._show(create_text_label(self._explanation), create_text_label(trouble, "danger") if trouble else 0, *rows)

    def show_backups(self, choices: Sequence[BackupChoice]) -> None:
        """Show the backups to choose from, with the newest that can be restored selected."""
        self.backup_list = chosen = QListWidget()
        chosen.setAccessibleName(self.tr("Backups"))
        chosen.setWordWrap(True)
        chosen.setMinimumHeight(LIST_HEIGHT)
        for choice in choices:
            item = QListWidgetItem(choice.title, chosen)
            item.setData(Qt.ItemDataRole.UserRole, choice.path)
            if not choice.can_be_restored:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            elif chosen.currentItem() is None:
                chosen.setCurrentItem(item)
        restore = build_button(self.tr("Restore this backup"), self._restore, primary=True)
        restore.setEnabled(chosen.currentItem() is not None)
        chosen.itemActivated.connect(lambda _item: self._restore())
        text = self.tr(
            "Choose a backup. It replaces your data; what is there now is kept among the backups, so that you can return to it."
        )
        buttons = build_row(restore, build_button(self.tr("Back"), self.show_problem), 1, spacing=SPACE_2)
        self._show(create_text_label(text), chosen, buttons)

    def show_progress(self, text: str) -> None:
        """Show that a remedy is under way, with a button that cancels it."""
        self.progress_bar = QProgressBar()
        self.progress_bar.setRange(0, 100)
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setAccessibleName(text)
        cancel = build_button(self.tr("Cancel"), self.cancelled.emit)
        self._show(create_text_label(text), self.progress_bar, build_row(cancel, 1))

    def report_progress(self, fraction: float) -> None:
        """Show how far the remedy is, from 0 to 1."""
        if self.progress_bar is not None:
            self.progress_bar.setValue(round(100 * fraction))

    def show_outcome(self, text: str, *, offers_backups: bool = False) -> None:
        """Show what a remedy has done, before the start goes on or, with `offers_backups`, a backup is chosen instead."""
        announce(self, text)
        self._headline = self.tr("Ready to start")
        label = create_text_label(text)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        start = build_button(self.tr("Start Lethe"), self.start_requested.emit, primary=True)
        others = [build_button(self.tr("Restore a backup…"), partial(self.remedy_chosen.emit, StartRemedy.RESTORE))]
        self._show(label, build_row(start, *(others if offers_backups else ()), 1, spacing=SPACE_2))

    def _restore(self) -> None:
        item = self.backup_list.currentItem() if self.backup_list is not None else None
        if item is not None:
            self.backup_chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def _describe(self, remedy: StartRemedy) -> tuple[str, str]:
        """Return the text of a remedy's button, and what it does."""
        tr = self.tr
        return {
            StartRemedy.REPAIR: (
                tr("Try repair"),
                tr("Saves what can still be read into a new file, and tells what was saved. The damaged file is kept."),
            ),
            StartRemedy.RESTORE: (
                tr("Restore a backup…"),
                tr("Goes back to an earlier state, which you choose from a list. What is there now is kept."),
            ),
            StartRemedy.DEFAULT_SETTINGS: (
                tr("Start with default settings"),
                tr("Keeps the settings file under another name beside the new one."),
            ),
            StartRemedy.TRY_AGAIN: (tr("Try again"), tr("After you have corrected something yourself.")),
        }[remedy]

    def _show(self, *items: Item) -> None:
        """Replace the content below the headline."""
        logo = QLabel()
        logo.setPixmap(application_icon().pixmap(56, 56))
        headline = create_text_label(self._headline)
        headline.setProperty("hero", True)
        head = build_row((logo, 0, Qt.AlignmentFlag.AlignTop), (headline, 1), spacing=SPACE_4)
        footer = build_row(
            build_button(self.tr("Open the folder"), self.folder_requested.emit),
            build_button(self.tr("Copy report"), self.report_requested.emit),
            1,
            spacing=SPACE_2,
        )
        content = QWidget()
        content.setMaximumWidth(COLUMN_WIDTH)
        build_column(1, head, *(item for item in items if item), footer, 2, spacing=SPACE_3, margins=SPACE_6, parent=content)
        area = ContentArea(content)
        if self._area is not None:
            self._column.removeWidget(self._area)
            self._area.deleteLater()
        self._area = area
        self._column.addWidget(area)
        self._focus_first(content)

    def _focus_first(self, content: QWidget) -> None:
        primary = next((button for button in content.findChildren(QWidget) if button.property("primary")), None)
        (self.backup_list if self.backup_list in content.findChildren(QListWidget) else primary or content).setFocus()
