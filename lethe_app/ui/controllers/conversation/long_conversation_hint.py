"""Suggest a new session when the beginning of a long one is no longer in the prompt word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.prompt import Receipt

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from lethe_app.ui.shell.notifier import Notifier

LONG_SESSION_FRACTION = 0.9
"""Fraction of the prompt's token budget from which a session counts as long."""


class LongConversationHint(QObject):
    """Shows the suggestion once per session, as a notification."""

    def __init__(self, notifier: Notifier, new_session_action: QAction) -> None:
        super().__init__(notifier)
        self._notifier, self._new_session_action = notifier, new_session_action
        self._notified_sessions: set[UUID] = set()

    def check_prompt_size(self, session_id: UUID, name: str, receipt: Receipt) -> None:
        """Check the size of the prompt that was built for the session on display with `name`."""
        if session_id in self._notified_sessions or receipt.prompt_tokens <= LONG_SESSION_FRACTION * (
            receipt.context - receipt.reply_reserve
        ):
            return
        self._notified_sessions.add(session_id)
        template = self.tr("This conversation has grown long, so {name} no longer sees its beginning word for word.")
        self._notifier.notify(
            template.format(name=name),
            detail=self.tr("A new conversation responds faster, and this one will be remembered."),
            button=self.tr("New conversation"),
            action=self._new_session_action.trigger,
        )
