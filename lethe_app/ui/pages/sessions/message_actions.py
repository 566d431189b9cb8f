"""What the user wishes of one message of an old conversation: asked about where that is due, and done so that undo knows."""

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
    """The primary button waits for words."""

    def __init__(self, parent: QWidget, persona: str, where: str) -> None:
        """`where` is a sentence that says where it will stand."""
        super().__init__(parent, self.tr("Insert a message"), self.tr("Insert"), spacing=SPACE_3)
        self.by_user = QRadioButton(self.tr("You said it"))
        self.by_persona = QRadioButton(self.tr("{name} said it").format(name=persona))
        self.by_user.setChecked(True)
        self.field = ProseField(self.tr("What was said"), 4, 12)
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
    """The words of a message, to be written anew."""

    def __init__(self, parent: QWidget, name: str, words: str) -> None:
        """`name` is who said it."""
        super().__init__(parent, self.tr("What {name} said").format(name=name), self.tr("Keep these words"), spacing=SPACE_3)
        self.field = ProseField(self.tr("What was said"), 4, 16)
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
"""Characters of a message that a question quotes."""


class SessionMessageActions(QObject):
    """Listens to the transcript and to the buttons below it."""

    def __init__(
        self, place: PageContext, edits: SessionEdits, detail: SessionDetail, name: Callable[[], str], title: Callable[[], str]
    ) -> None:
        """`name` is the persona's, `title` that of the conversation shown."""
        super().__init__(detail)
        self._place, self._edits, self._detail = place, edits, detail
        self._name, self._title = name, title
        transcript = detail.transcript
        transcript.wanted.connect(self.do)
        for wish, button in detail.wishes.items():
            button.clicked.connect(lambda _checked=False, wish=wish: self.do(wish, transcript.message))

    def do(self, wish: str, message: UUID | None) -> None:
        """One of `WISHES`; without a message only insert, at the end."""
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
        where = self.tr("It will stand above the message you chose, with the date of the one before it.")
        at_end = self.tr("It will stand at the end, with the date of the last message.")
        dialog = InsertMessage(self._place.window, self._name(), where if above is not None else at_end)
        if await answered(dialog):
            self._edits.insert(guid, dialog.words, by_user=dialog.by_user.isChecked(), above=above)

    async def _reword(self, message: Message) -> None:
        dialog = RewordMessage(self._place.window, message.speaker_name or self.tr("nobody"), message.content)
        if await answered(dialog) and dialog.words != message.content:
            self._edits.reword(message, dialog.words)

    async def _delete(self, message: Message) -> None:
        words = " ".join(message.content.split())
        question = ConfirmDialog(
            self._place.window,
            self.tr("Delete this message?"),
            words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…",
            self.tr("Delete the message by {name}").format(name=message.speaker_name or self.tr("nobody")),
        )
        if await answered(question):
            transcript = self._detail.transcript
            transcript.choose(transcript.next_of(message.id))  # where the reader is when it is gone
            self._edits.take_away(message)
