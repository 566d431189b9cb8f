"""Card above the composer that says what a message let be forgotten: to undo it, choose what is meant, or erase it for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox

from lethe_app.services.events import MemoriesForgotten, MessageStored, TurnEvent
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import format_count, join_with_and, shorten_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, QuestionDialog, run_dialog
from lethe_app.ui.widgets.buttons import IconButton

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from uuid import UUID

    from lethe_app.services.chat.forgetting import Forgetting
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.reply_state import ReplyState
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.shell.main_window import MainWindow

MAX_QUOTED = 60
"""Maximum characters of what was forgotten that the card quotes."""


class ForgettingController(Controller):
    """Shows one card a session, until the user sends another message in it."""

    def __init__(
        self,
        window: MainWindow,
        shown_session: ShownSession,
        replies: ReplyController,
        forgetting: Forgetting,
        sessions: SessionService,
    ) -> None:
        super().__init__(window)
        self._panel, self._shown, self._replies = window.chat, shown_session, replies
        self._forgetting, self._sessions = forgetting, sessions
        self._forgotten: dict[UUID, MemoriesForgotten] = {}
        self.card: ComposerCard | None = None
        replies.event_received.connect(self._on_reply_event)
        shown_session.session_changed.connect(lambda *_sessions: self._show_card())

    def _on_reply_event(self, _turn: ReplyState, event: TurnEvent) -> None:
        if isinstance(event, MemoriesForgotten):
            self._forgotten[event.session] = event
            self._show_card()
        elif isinstance(event, MessageStored) and self._forgotten.pop(event.message.session_id, None) is not None:
            self._show_card()

    def _show_card(self) -> None:
        """Show the card of the session on display, or none."""
        if self.card is not None:
            self._panel.remove_card(self.card)
            self.card = None
        forgotten = self._forgotten.get(self._shown.session_id) if self._shown.session_id is not None else None
        if forgotten is None:
            return
        card = self.card = ComposerCard(self._format_title(forgotten), self._format_details(forgotten), is_compact=True)
        if any(forgotten.candidates.values()):
            card.add_button(self.tr("Choose…"), "primary", lambda: self._run(self._choose(forgotten)))
        if _has_forgotten(forgotten):
            card.add_button(self.tr("Undo"), "filled", lambda: self._run(self._undo(forgotten)))
            card.add_button(self.tr("Erase for good…"), "filled", lambda: self._run(self._erase(forgotten)))
        close_button = IconButton(self._theme, "close", self.tr("Close"))
        close_button.clicked.connect(lambda: self._close_card(forgotten))
        card.add_icon_button(close_button)
        self._panel.add_card(card)
        announce(card, f"{card.title.text()} {card.details.text()}")

    def _run(self, work: Coroutine[None, None, None]) -> None:
        self._tasks.start_task(work, key="forgetting")

    def _close_card(self, forgotten: MemoriesForgotten) -> None:
        self._forgotten.pop(forgotten.session, None)
        self._show_card()

    def _format_title(self, forgotten: MemoriesForgotten) -> str:
        what = shorten_text(forgotten.what, MAX_QUOTED)
        if any(forgotten.candidates.values()) and not _has_forgotten(forgotten):
            return self.tr("What should be forgotten?")
        if not _has_forgotten(forgotten) and not forgotten.what:
            return self.tr("There is nothing before your message that could be forgotten.")
        if not _has_forgotten(forgotten):
            return self.tr("Nothing else says this. Your message is not remembered.")
        return self.tr("Forgotten: “{what}”").format(what=what) if what else self.tr("Forgotten")

    def _format_details(self, forgotten: MemoriesForgotten) -> str:
        candidates = sum(map(len, forgotten.candidates.values()))
        if candidates and not _has_forgotten(forgotten):
            text = format_count(candidates, self.tr("{n} fact may be meant:"), self.tr("{n} facts may be meant:"))
            return f"{text} “{shorten_text(forgotten.what, MAX_QUOTED)}”"
        facts, memories = (sum(map(len, found.values())) for found in (forgotten.facts, forgotten.memories))
        counts = [
            (facts, self.tr("{n} fact"), self.tr("{n} facts")),
            (memories, self.tr("{n} memory"), self.tr("{n} memories")),
            (len(forgotten.lines), self.tr("{n} message"), self.tr("{n} messages")),
        ]
        found = join_with_and([format_count(*count) for count in counts if count[0]])
        text = self.tr("{found} withdrawn, and learnt again only if you say it anew. The conversation keeps its text.")
        return text.format(found=found) if found else ""

    async def _choose(self, forgotten: MemoriesForgotten) -> None:
        """Ask which of the facts shall be forgotten."""
        dialog = QuestionDialog(self._window, self._format_title(forgotten), self.tr("Forget"), danger=True)
        facts = {fact.guid: fact for candidates in forgotten.candidates.values() for fact in candidates}
        boxes = {guid: QCheckBox(shorten_text(fact.fact, 90).replace("&", "&&")) for guid, fact in facts.items()}
        for box in boxes.values():
            box.setChecked(True)
            dialog.column.addWidget(box)
        if await run_dialog(dialog):
            await self._forgetting.forget_chosen(forgotten, [guid for guid, box in boxes.items() if box.isChecked()])
            forgotten.candidates.clear()
            self._show_card()

    async def _undo(self, forgotten: MemoriesForgotten) -> None:
        await self._forgetting.undo(forgotten)
        self._close_card(forgotten)
        self._notifier.notify(self.tr("Everything that was forgotten is back."))

    async def _erase(self, forgotten: MemoriesForgotten) -> None:
        """Erase what was forgotten after confirmation, and show the conversation without it."""
        question = ConfirmDialog(
            self._window,
            self.tr("Erase “{what}” for good?").format(what=shorten_text(forgotten.what, MAX_QUOTED)),
            self.tr("The facts and the sentences that say so are removed from all conversations. This cannot be undone."),
            self.tr("Erase for good"),
            is_final=True,
        )
        if await run_dialog(question):
            await self._forgetting.erase(forgotten)
            self._close_card(forgotten)
            if (session := self._shown.session) is not None:
                self._replies.show_messages(session, await self._sessions.outline(session.guid))
            self._notifier.notify(self.tr("Erased for good."))


def _has_forgotten(forgotten: MemoriesForgotten) -> bool:
    return bool(forgotten.lines) or any(forgotten.facts.values()) or any(forgotten.memories.values())
