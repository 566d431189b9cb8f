"""Actions on a single message of a session, with their dialogs; all can be undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QRadioButton, QWidget

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.ui.core.palette import SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, QuestionDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.pages.sessions.commands import SessionEdits
from lethe_app.ui.pages.sessions.detail import SessionDetail
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.text_area import ProseField

LEAST_WIDTH = 440


class InsertMessage(QuestionDialog):
    """Dialog for author and text of a new message."""

    def __init__(self, parent: QWidget, persona: str, where: str) -> None:
        """Create the dialog; `where` is a sentence about the position of the message."""
        super().__init__(parent, self.tr("Insert message"), self.tr("Insert"), spacing=SPACE_3)
        self.by_user = QRadioButton(self.tr("Message from you"))
        self.by_persona = QRadioButton(self.tr("Message from {name}").format(name=persona))
        self.by_user.setChecked(True)
        self.field = ProseField(self.tr("Message text"), 4, 12)
        self.field.setMinimumWidth(LEAST_WIDTH)
        self.primary.setEnabled(False)
        self.field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        who = Flow(spacing=SPACE_4)  # a long name goes below
        who.addWidget(self.by_user)
        who.addWidget(self.by_persona)
        self.column.addWidget(explanation(where))
        self.column.addLayout(who)
        self.column.addWidget(self.field)
        self.field.setFocus()

    @property
    def words(self) -> str:
        return self.field.text.strip()


class RewordMessage(QuestionDialog):
    """Dialog that edits the text of a message."""

    def __init__(self, parent: QWidget, name: str, words: str) -> None:
        """Create the dialog; `name` is the author of the message."""
        super().__init__(parent, self.tr("Edit message by {name}").format(name=name), self.tr("Save changes"), spacing=SPACE_3)
        self.field = ProseField(self.tr("Message text"), 4, 16)
        self.field.setMinimumWidth(LEAST_WIDTH)
        self.field.set_text(words)
        self.field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.column.addWidget(self.field)
        self.field.setFocus()

    @property
    def words(self) -> str:
        return self.field.text.strip()


LANE = "session dialog"
LONGEST = 200
"""Characters of a message that a confirmation quotes."""


class SessionMessageActions(QObject):
    """Runs the actions requested by the transcript and by the buttons below it."""

    def __init__(
        self, place: PageContext, edits: SessionEdits, detail: SessionDetail, name: Callable[[], str], title: Callable[[], str]
    ) -> None:
        """Create the actions; `name` returns the persona's name, `title` the title of the session on display."""
        super().__init__(detail)
        self._place, self._edits, self._detail = place, edits, detail
        self._name, self._title = name, title
        transcript = detail.transcript
        transcript.wanted.connect(self.do)
        for wish, button in detail.wishes.items():
            button.clicked.connect(lambda _checked=False, wish=wish: self.do(wish, transcript.message))

    def do(self, wish: str, message: UUID | None) -> None:
        """Run one of `WISHES` on a message; without a message only insertion is possible, at the end."""
        session = self._detail.session
        if session is None:
            return
        if wish in {"above", "below"}:
            is_below = wish == "below" and message is not None
            above = self._detail.transcript.next_of(message) if is_below and message is not None else message
            self._place.bridge.spawn(self._insert(session.guid, above), lane=LANE)
        elif message is not None:
            self._do_with(wish, session, message)

    def _do_with(self, wish: str, session: ChatSession, message: UUID) -> None:
        if wish == "split":
            self._edits.split(message, self._title())
        elif wish == "open":
            self._place.go_to(session.guid, message)
        else:
            ask = self._reword if wish == "edit" else self._delete
            self._place.bridge.spawn(self._about(message, ask), lane=LANE)

    async def _about(self, message: UUID, ask: Callable[[Message], Awaitable[None]]) -> None:
        await ask(await self._place.services.sessions.message(message))

    async def _insert(self, guid: UUID, above: UUID | None) -> None:
        where = self.tr("The message is inserted above the selected one, with the date of the one before it.")
        at_end = self.tr("The message is added at the end, with the date of the last one.")
        dialog = InsertMessage(self._place.window, self._name(), where if above is not None else at_end)
        if await answered(dialog):
            self._edits.insert(guid, dialog.words, by_user=dialog.by_user.isChecked(), above=above)

    async def _reword(self, message: Message) -> None:
        dialog = RewordMessage(self._place.window, message.speaker_name or self.tr("unknown speaker"), message.content)
        if await answered(dialog) and dialog.words != message.content:
            self._edits.reword(message, dialog.words)

    async def _delete(self, message: Message) -> None:
        words = " ".join(message.content.split())
        question = ConfirmDialog(
            self._place.window,
            self.tr("Delete this message?"),
            words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…",
            self.tr("Delete message by {name}").format(name=message.speaker_name or self.tr("unknown speaker")),
        )
        if await answered(question):
            transcript = self._detail.transcript
            transcript.choose(transcript.next_of(message.id))  # where the reader is when it is gone
            self._edits.take_away(message)
