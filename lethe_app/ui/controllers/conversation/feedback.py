"""Store the user's ratings of replies, and show stored ones in the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.transcript.model.reply_ratings import format_rating

if TYPE_CHECKING:
    from lethe_app.services.background.feedback import FeedbackService
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.transcript.chat_view import ChatView


class FeedbackController(QObject):
    """Connects the thumbs of the transcript with the feedback service, once per window."""

    def __init__(self, view: ChatView, service: FeedbackService, tasks: TaskRunner) -> None:
        super().__init__(view)
        self._view, self._service, self._tasks, self._ratings = view, service, tasks, view.chat_model.annotations.ratings
        view.rating_requested.connect(
            lambda message_id, rating: self._tasks.start_task(self._save_rating(message_id, ReplyRating(rating)))
        )
        self._unsubscribe = self._service.changed.add(self._refresh_ratings)

    def close(self) -> None:
        """Disconnect from the service."""
        self._unsubscribe()

    def _refresh_ratings(self, _persona: str) -> None:
        self._tasks.start_task(self._ratings.refresh(), key="ratings")

    async def _save_rating(self, message_id: UUID, rating: ReplyRating) -> None:
        await self._service.rate_reply(message_id, rating)
        await self._ratings.load([message_id])
        row = self._view.chat_model.row_of(message_id)
        if row is not None:
            stored = self._view.chat_model.annotations_of(row).rating
            announce(self._view, format_rating(stored) if stored is not None else self.tr("rating removed"))
