"""Command that erases conversations and memories for good, of one persona or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QCheckBox, QRadioButton, QWidget

from lethe_app.ui.dialogs.dialogs import QuestionDialog, run_dialog

if TYPE_CHECKING:
    from pathlib import Path

    from lethe_app.services.maintenance.erasure import Erasure
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow


class ErasureDialog(QuestionDialog):
    """Question whose history is erased, and whether the backups go with it."""

    def __init__(self, parent: QWidget, persona_name: str) -> None:
        super().__init__(parent, self.tr("Delete conversations and memories?"), self.tr("Delete permanently"), danger=True)
        self.add_paragraph(
            self.tr(
                "Conversations, memories, facts, notebooks, documents, moods and plans, ratings and the activity log are "
                "deleted, also what is in the Trash. Personas, worlds, presets and settings remain. This cannot be undone."
            )
        )
        self.one_button = QRadioButton(self.tr("Only those of {name}").format(name=persona_name.replace("&", "&&")))
        self.all_button = QRadioButton(self.tr("Those of all personas"))
        self.one_button.setChecked(True)
        self.backup_box = QCheckBox(self.tr("Also delete the daily backups, which contain copies of everything"))
        self.backup_box.setChecked(True)
        for widget in (self.one_button, self.all_button, self.backup_box):
            self.column.addWidget(widget)
        self.cancel.setDefault(True)
        self.cancel.setFocus()


class ErasureController(QObject):
    """Asks, erases, and opens a new conversation."""

    def __init__(
        self,
        window: MainWindow,
        erasure: Erasure,
        database: Path,
        directory: PersonaDirectory,
        sessions: SessionController,
        replies: ReplyController,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(window)
        self._window, self._erasure, self._database = window, erasure, database
        self._directory, self._sessions, self._replies, self._tasks = directory, sessions, replies, tasks
        actions: Actions = window.window_actions
        actions.connect(erase_history=lambda: tasks.start_task(self._confirm_and_erase(), key="erase"))

    async def _confirm_and_erase(self) -> None:
        session = self._sessions.current_session
        if session is None:
            return
        persona = await self._directory.find_persona(session.persona_id)
        dialog = ErasureDialog(self._window, persona.name if persona is not None else session.persona_id)
        if not await run_dialog(dialog):
            return
        is_all, with_backups = dialog.all_button.isChecked(), dialog.backup_box.isChecked()
        await self._replies.stop_session_reply(session.guid)
        await (self._erasure.erase_all() if is_all else self._erasure.erase([session.persona_id]))
        if with_backups:
            from lethe_app.services.maintenance.erasure import erase_backups  # noqa: PLC0415 - rarely needed

            await erase_backups(self._database)
        await self._sessions.resume_persona(session.persona_id)
        self._window.notifier.notify(self.tr("Conversations and memories were deleted."))
