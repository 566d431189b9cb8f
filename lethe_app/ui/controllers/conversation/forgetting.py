"""Card above the composer that says what a message let be forgotten: to undo it, choose what is meant, or erase it for good."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox

from lethe_app.services.events import MessageStored, TurnEvent
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.controllers.conversation.message_changes import MessageChange
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import format_count, join_with_and, shorten_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, QuestionDialog, run_dialog
from lethe_app.ui.widgets.buttons import IconButton

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.services.chat.forgetting import Forgetting, MemoriesForgotten
    from lethe_app.services.maintenance.trash import Trash
    from lethe_app.ui.controllers.conversation.message_changes import MessageChanges
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
        message_changes: MessageChanges,
        trash: Trash,
    ) -> None:
        super().__init__(window)
        self._panel, self._shown, self._forgetting = window.chat, shown_session, forgetting
        self._message_changes, self._trash = message_changes, trash
        self._forgotten: dict[UUID | None, MemoriesForgotten] = {}
        self._changes: dict[UUID, MessageChange] = {}
        """The same as changes that Ctrl+Z undoes, by session."""
        self.card: ComposerCard | None = None
        replies.event_received.connect(self._on_reply_event)
        shown_session.session_changed.connect(lambda *_sessions: self._show_card())
        self._unsubscribers.append(forgetting.changed.add(self._on_forgotten))

    def _on_forgotten(self, forgotten: MemoriesForgotten) -> None:
        session = forgotten.session
        self._drop_change(session)
        self._forgotten[session] = forgotten
        if forgotten.has_found:
            undo, close = partial(self._forgetting.undo, forgotten), partial(self._close_card, session)
            self._changes[session] = MessageChange(session, undo, None, close, self._format_title(forgotten))
            self._message_changes.keep_change(self._changes[session])
        self._show_card()

    def _on_reply_event(self, _turn: ReplyState, event: TurnEvent) -> None:
        if isinstance(event, MessageStored):
            session, forgotten = event.message.session_id, self._forgotten.get(event.message.session_id)
            if forgotten is None or forgotten.request != event.message.id:
                self._drop_change(session)
                self._close_card(session)

    def _show_card(self) -> None:
        """Show the card of the session on display, or none."""
        if self.card is not None:
            self._panel.remove_card(self.card)
        self.card, forgotten = None, self._forgotten.get(self._shown.session_id)
        if forgotten is None:
            return
        card = self.card = ComposerCard(self._format_title(forgotten), self._format_details(forgotten), is_compact=True)
        run = partial(self._tasks.create_callback, key="forgetting")
        if forgotten.candidates:
            card.add_button(self.tr("Choose…"), "primary", run(self._choose, forgotten))
        if forgotten.has_found:
            card.add_button(self.tr("Undo"), "filled", run(self._undo, forgotten))
            card.add_button(self.tr("Erase for good…"), "filled", run(self._erase, forgotten))
        close_button = IconButton(self._theme, "close", self.tr("Close"))
        close_button.clicked.connect(lambda: self._close_card(forgotten.session))
        card.add_icon_button(close_button)
        self._panel.add_card(card)
        announce(card, f"{card.title.text()} {card.details.text()}")

    def _close_card(self, session: UUID) -> None:
        self._forgotten.pop(session, None)
        self._show_card()

    def _drop_change(self, session: UUID) -> None:
        self._message_changes.drop_change(self._changes.pop(session, None))

    def _format_title(self, forgotten: MemoriesForgotten) -> str:
        if not forgotten.has_found:
            nothing = self.tr("Nothing else says this. Your message is not remembered.")
            return self.tr("What should be forgotten?") if forgotten.candidates else nothing
        what = shorten_text(forgotten.what, MAX_QUOTED)
        return self.tr("Forgotten: “{what}”").format(what=what) if what else self.tr("Forgotten")

    def _format_details(self, forgotten: MemoriesForgotten) -> str:
        counts = [
            (len(forgotten.facts), self.tr("{n} fact"), self.tr("{n} facts")),
            (len(forgotten.memories), self.tr("{n} memory"), self.tr("{n} memories")),
            (len(forgotten.lines), self.tr("{n} message"), self.tr("{n} messages")),
        ]
        found = join_with_and([format_count(*count) for count in counts if count[0]])
        text = self.tr(
            "{found} withdrawn, and learnt again only if you say it anew. The conversation keeps its text,"
            " the Trash the facts and memories."
        )
        count, what = len(forgotten.candidates), shorten_text(forgotten.what, MAX_QUOTED)
        choice = format_count(count, self.tr("{n} fact may be meant:"), self.tr("{n} facts may be meant:"))
        return text.format(found=found) if found else f"{choice} “{what}”" if count else ""

    async def _choose(self, forgotten: MemoriesForgotten) -> None:
        """Ask which of the facts shall be forgotten."""
        dialog = QuestionDialog(self._window, self._format_title(forgotten), self.tr("Forget"), danger=True)
        boxes = {fact.guid: QCheckBox(shorten_text(fact.fact, 90).replace("&", "&&")) for fact in forgotten.candidates}
        for box in boxes.values():
            box.setChecked(True)
            dialog.column.addWidget(box)
        if await run_dialog(dialog):
            await self._forgetting.forget_chosen(forgotten, [guid for guid, box in boxes.items() if box.isChecked()])

    async def _undo(self, forgotten: MemoriesForgotten) -> None:
        self._drop_change(forgotten.session)
        await self._forgetting.undo(forgotten)
        self._close_card(forgotten.session)
        self._notifier.notify(self.tr("Everything that was forgotten is back."))

    async def _erase(self, forgotten: MemoriesForgotten) -> None:
        """Erase what was forgotten after confirmation."""
        question = ConfirmDialog(
            self._window,
            self.tr("Erase “{what}” for good?").format(what=shorten_text(forgotten.what, MAX_QUOTED)),
            self.tr(
                "The facts and the sentences that say so are removed from all conversations, and your request with them."
                " This cannot be undone."
            ),
            self.tr("Erase for good"),
            is_final=True,
        )
        question.offer_backups(await self._trash.count_backups())
        if await run_dialog(question):
            self._drop_change(forgotten.session)
            await self._forgetting.erase(forgotten)
            if question.deletes_backups:
                await self._trash.erase_backups()
            self._close_card(forgotten.session)
            self._notifier.notify(self.tr("Erased for good."))
