"""Suggests a new conversation once one has grown so long that its beginning is told in fewer words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.prompt import Receipt

if TYPE_CHECKING:
    from lethe_app.ui.shell.main_window import MainWindow

FULL = 0.9
"""Part of the room for the prompt from which a conversation counts as long."""


class LongTalk(QObject):
    """Says it once for each conversation; nothing is wrong."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._notifier, self._new = window.notifier, window.actions_["new"]
        self._told: set[UUID] = set()

    def look(self, session_id: UUID, name: str, receipt: Receipt) -> None:
        """A prompt of that size was built for the conversation on display, which is with `name`."""
        if session_id in self._told or receipt.prompt_tokens <= FULL * (receipt.context - receipt.reply_reserve):
            return
        self._told.add(session_id)
        words = self.tr("This conversation has grown long, and {name} now knows its beginning only as a summary.")
        self._notifier.tell(
            words.format(name=name),
            detail=self.tr("A new one starts quickly. This one will be remembered."),
            button=self.tr("New conversation"),
            action=self._new.trigger,
        )
