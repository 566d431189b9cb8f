"""Store the user's ratings of replies, and show stored ones in the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.agent_runs import ReplyRating

if TYPE_CHECKING:
    from lethe_app.ui.pages.context import PageContext
    from lethe_app.ui.transcript.model.model import ChatModel
    from lethe_app.ui.transcript.view import ChatView


class FeedbackController(QObject):
    """Connects the thumbs of the transcript with the feedback service, once per window."""

    def __init__(self, place: PageContext, view: ChatView, messages: ChatModel) -> None:
        super().__init__(place.window)
        self._service, self._bridge, self._thumbs = place.services.feedback, place.bridge, messages.marks.thumbs
        self._thumbs.ask = self._service.about
        view.verdict_requested.connect(lambda message, verdict: self._bridge.spawn(self._judge(message, ReplyRating(verdict))))
        self._forget = self._service.changed.add(self._renew)

    def close(self) -> None:
        """Disconnect from the service."""
        self._forget()

    def _renew(self, _persona: str) -> None:
        self._bridge.spawn(self._thumbs.renew(), lane="thumbs")

    async def _judge(self, message: UUID, verdict: ReplyRating) -> None:
        await self._service.thumb(message, verdict)
        await self._thumbs.learn([message])
