"""Actions on a single message of a session, with their dialogs; all can be undone."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QRadioButton, QWidget

from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.core.palette import SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, TextDialog, run_dialog
from lethe_app.ui.dialogs.message_details import MessageDetailsDialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.sessions.commands import SessionEdits
from lethe_app.ui.pages.sessions.detail import SessionDetail
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label


class InsertMessage(TextDialog):
    """Dialog for author and text of a new message."""

    def __init__(self, parent: QWidget, persona_name: str, position_text: str) -> None:
        """Create the dialog; `position_text` is a sentence about the position of the message."""
        super().__init__(parent, self.tr("Insert message"), self.tr("Insert"), self.tr("Message text"))
        self.user_radio = QRadioButton(self.tr("Message from you"))
        self.persona_radio = QRadioButton(self.tr("Message from {name}").format(name=persona_name))
        self.user_radio.setChecked(True)
        author_row = FlowLayout(spacing=SPACE_4)  # a long name goes below
        author_row.addWidget(self.user_radio)
        author_row.addWidget(self.persona_radio)
        self.column.insertWidget(0, build_small_label(position_text))
        self.column.insertLayout(1, author_row)


TASK_KEY = "session dialog"
MAX_QUOTE_LENGTH = 200
"""Characters of a message that a confirmation quotes."""


class SessionMessageActions(QObject):
    """Runs the actions requested by the transcript and by the buttons below it."""

    def __init__(
        self,
        context: PageContext,
        sessions: SessionService,
        edits: SessionEdits,
        detail: SessionDetail,
        persona_name: Callable[[], str],
        session_title: Callable[[], str],
    ) -> None:
        """Create the actions; `persona_name` and `session_title` return those of the session on display."""
        super().__init__(detail)
        self._context, self._sessions, self._edits, self._detail = context, sessions, edits, detail
        self._persona_name, self._session_title = persona_name, session_title
        transcript = detail.transcript
        transcript.action_requested.connect(self.run_action)
        for action, button in detail.message_buttons.items():
            button.clicked.connect(lambda _checked=False, action=action: self.run_action(action, transcript.message))

    def run_action(self, action: str, message: UUID | None) -> None:
        """Run the action of a message button or menu; without a message only insertion is possible, at the end."""
        session = self._detail.session
        if session is None:
            return
        if action in {"above", "below"}:
            is_below = action == "below" and message is not None
            above = self._detail.transcript.next_message(message) if is_below and message is not None else message
            self._context.tasks.start_task(self._ask_and_insert(session.guid, above), key=TASK_KEY)
        elif message is not None and action == "split":
            self._edits.split_session(message, self._session_title())
        elif message is not None and action == "open":
            self._context.open_session(session.guid, message)
        elif message is not None:
            self._context.tasks.start_task(self._ask_and_run(action, message), key=TASK_KEY)

    async def _ask_and_insert(self, guid: UUID, above: UUID | None) -> None:
        above_text = self.tr("The message is inserted above the selected one, with the date of the one before it.")
        end_text = self.tr("The message is added at the end, with the date of the last one.")
        dialog = InsertMessage(self._context.dialog_parent, self._persona_name(), above_text if above is not None else end_text)
        if await run_dialog(dialog):
            self._edits.insert_message(guid, dialog.entered_text, by_user=dialog.user_radio.isChecked(), above=above)

    async def _ask_and_run(self, action: str, message_id: UUID) -> None:
        """Show the details of a message, or change or delete it after asking."""
        message, parent = await self._sessions.message(message_id), self._context.dialog_parent
        author = message.speaker_name or self.tr("unknown speaker")
        if action == "details":
            await run_dialog(MessageDetailsDialog(parent, message))
        elif action == "edit":
            title = self.tr("Edit message by {name}").format(name=author)
            dialog = TextDialog(parent, title, self.tr("Save changes"), self.tr("Message text"), message.content)
            if await run_dialog(dialog) and dialog.entered_text != message.content:
                self._edits.edit_message(message, dialog.entered_text)
        else:
            quote = truncate_text(" ".join(message.content.split()), MAX_QUOTE_LENGTH)
            button = self.tr("Delete message by {name}").format(name=author)
            if await run_dialog(ConfirmDialog(parent, self.tr("Delete this message?"), quote, button)):
                transcript = self._detail.transcript
                transcript.select_message(transcript.next_message(message.id))  # where the reader is when it is gone
                self._edits.delete_message(message)
