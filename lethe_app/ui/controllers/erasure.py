"""Commands that erase for good: all conversations and memories, or those of a day, of one persona or of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QLocale
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLayout, QRadioButton, QWidget

from lethe_app.services.maintenance.erasure import erase_backups
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.formatting import format_message_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.dialogs.dialogs import QuestionDialog, run_dialog
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.layouts import build_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from lethe_app.paths import Paths
    from lethe_app.services.maintenance.erasure import Days, Erasure
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.shell.main_window import MainWindow


class ErasureQuestion(QuestionDialog):
    """Question what is erased, and whether the backups go with it."""

    def __init__(self, parent: QWidget, title: str) -> None:
        super().__init__(parent, title, self.tr("Delete permanently"), danger=True)

    def add_content(self, explanation: str, choice: QLayout) -> None:
        """Add an explanation and the choice, and below it the one whether the backups go with it."""
        self.add_paragraph(explanation)
        self.column.addLayout(choice)
        self.backup_box = QCheckBox(self.tr("Also delete the daily backups, which contain copies of everything"))
        self.backup_box.setChecked(True)
        self.column.addWidget(self.backup_box)
        self.cancel.setDefault(True)
        self.cancel.setFocus()


class ErasureDialog(ErasureQuestion):
    """Question whose history is erased."""

    def __init__(self, parent: QWidget, persona_name: str) -> None:
        super().__init__(parent, self.tr("Delete conversations and memories?"))
        self.one_button = QRadioButton(self.tr("Only those of {name}").format(name=persona_name.replace("&", "&&")))
        self.all_button = QRadioButton(self.tr("Those of all personas"))
        self.one_button.setChecked(True)
        text = self.tr(
            "Conversations, memories, facts, notebooks, documents, moods and plans, ratings and the activity log are "
            "deleted, also what is in the Trash. Personas, worlds, presets and settings remain. This cannot be undone."
        )
        self.add_content(text, build_column(self.one_button, self.all_button, spacing=SPACE_2))


@dataclass(frozen=True)
class DayChoice:
    """Persona whose days may be erased."""

    persona_id: str
    """Empty for all personas."""
    name: str
    days: Mapping[date, int]
    """Number of messages by day, newest first."""


class DayErasureDialog(ErasureQuestion):
    """Question which day of whom is erased."""

    def __init__(self, parent: QWidget, choices: Sequence[DayChoice], persona_id: str) -> None:
        super().__init__(parent, self.tr("Delete a day?"))
        self._choices = choices
        text = self.tr(
            "The messages of the day are deleted with what was made of them: summaries, facts, key moments, notes of "
            "personas, notebook lines and records of replies. What you wrote elsewhere remains, also facts that you "
            "reworded. This cannot be undone."
        )
        self.persona_box, self.day_box = NoWheelComboBox(), NoWheelComboBox()
        table = QFormLayout()
        table.setHorizontalSpacing(SPACE_4)
        table.setVerticalSpacing(SPACE_2)
        for title, box in ((self.tr("Persona"), self.persona_box), (self.tr("Day"), self.day_box)):
            box.setAccessibleName(title)
            table.addRow(title, box)
        self.add_content(text, table)
        for choice in choices:
            self.persona_box.addItem(choice.name, choice.persona_id)
        self.persona_box.currentIndexChanged.connect(lambda _index: self._list_days())
        self.persona_box.setCurrentIndex(max(self.persona_box.findData(persona_id), 0))
        self._list_days()

    @property
    def persona_id(self) -> str:
        """Return the id of the chosen persona; empty for all."""
        return self._choices[self.persona_box.currentIndex()].persona_id

    @property
    def day(self) -> date | None:
        """Return the chosen day; None if there is none."""
        days = list(self._choices[self.persona_box.currentIndex()].days)
        return days[self.day_box.currentIndex()] if days else None

    def _list_days(self) -> None:
        days = self._choices[self.persona_box.currentIndex()].days
        self.day_box.clear()
        for day, count in days.items():
            text = QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.LongFormat)
            self.day_box.addItem(self.tr("{day}, {count}").format(day=text, count=format_message_count(count)))
        if not days:
            self.day_box.addItem(self.tr("No messages"))
        self.day_box.setEnabled(bool(days))
        self.primary.setEnabled(bool(days))


class ErasureController(Controller):
    """Asks, erases, and opens a new conversation."""

    def __init__(
        self,
        window: MainWindow,
        erasure: Erasure,
        days: Days,
        paths: Paths,
        directory: PersonaDirectory,
        session_controller: SessionController,
        replies: ReplyController,
    ) -> None:
        super().__init__(window)
        self._erasure, self._days, self._database = erasure, days, paths.database
        self._directory, self._session_controller, self._replies = directory, session_controller, replies
        self._shown = session_controller.shown
        self._actions.connect(
            erase_history=self._tasks.create_callback(self._confirm_and_erase, key="erase"),
            erase_day=self._tasks.create_callback(self._confirm_and_erase_day, key="erase"),
        )

    async def _confirm_and_erase_day(self) -> None:
        session = self._shown.session
        choices = [
            DayChoice(persona_id, persona.name, await self._days.count_messages(persona_id))
            for persona_id, persona in self._directory.personas.items()
        ]
        choices.append(DayChoice("", self.tr("All personas"), await self._days.count_messages()))
        dialog = DayErasureDialog(self._window, choices, session.persona_id if session is not None else "")
        if not await run_dialog(dialog) or dialog.day is None:
            return
        await self._days.erase(dialog.day, dialog.persona_id)
        await self._erase_backups(dialog)
        self._notifier.notify(self.tr("The day was deleted."))

    async def _erase_backups(self, dialog: ErasureQuestion) -> None:
        if dialog.backup_box.isChecked():
            await erase_backups(self._database)

    async def _confirm_and_erase(self) -> None:
        session = self._shown.session
        if session is None:
            return
        dialog = ErasureDialog(self._window, self._shown.participants[0].name)
        if not await run_dialog(dialog):
            return
        await self._replies.stop_all_replies()  # one in another conversation would be stored afterwards
        await (self._erasure.erase_all() if dialog.all_button.isChecked() else self._erasure.erase([session.persona_id]))
        await self._erase_backups(dialog)
        await self._session_controller.resume_persona(session.persona_id)
        self._notifier.notify(self.tr("Conversations and memories were deleted."))
