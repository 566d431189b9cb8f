"""The user's ratings of replies, queried with the page of their messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import ReplyRating

if TYPE_CHECKING:
    from lethe_app.ui.transcript.model.model import ChatModel

Ask = Callable[[Sequence[UUID]], Awaitable[dict[UUID, dict[int, ReplyRating]]]]
"""Return the ratings by alternative of several messages, with one query."""
RATING_ICONS = {ReplyRating.GOOD: "thumb-up", ReplyRating.BAD: "thumb-down"}
"""Icon of each rating."""


async def _query_nothing(_messages: Sequence[UUID]) -> dict[UUID, dict[int, ReplyRating]]:
    return {}


class ReplyRatings:
    """Ratings by reply; each alternative has its own."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._ratings: dict[UUID, dict[int, ReplyRating]] = {}
        self.query_ratings: Ask = _query_nothing
        """Query for the ratings; set by the feedback controller."""

    def clear(self) -> None:
        """Remove all ratings, because another session is on display."""
        self._ratings.clear()

    def rating_of(self, row: int) -> ReplyRating | None:
        """Return the rating of the alternative on display; None if it has none."""
        ratings = self._ratings.get(self._model.outline(row).id) if self._ratings else None
        message = self._model.message(row) if ratings else None
        return ratings.get(message.shown) if ratings and message is not None else None

    def accessible_texts(self, row: int) -> list[str]:
        """Return the text of the rating for screen readers."""
        rating = self.rating_of(row)
        return [format_rating(rating)] if rating is not None else []

    async def load_ratings(self, messages: Iterable[UUID]) -> None:
        """Query the ratings of messages, and emit `dataChanged` for those that differ from before."""
        message_ids = list(messages)
        ratings = await self.query_ratings(message_ids) if message_ids else {}
        changed = [one for one in message_ids if self._ratings.get(one, {}) != ratings.get(one, {})]
        for one in changed:
            self._ratings.pop(one, None)
        self._ratings |= {one: ratings[one] for one in changed if one in ratings}
        model = self._model
        for row in (row for one in changed if (row := model.row_of(one)) is not None):
            model.dataChanged.emit(model.index(row), model.index(row))

    async def refresh_ratings(self) -> None:
        """Query the ratings of all rated messages again."""
        await self.load_ratings(list(self._ratings))


def format_rating(rating: ReplyRating) -> str:
    """Return the text of a rating for screen readers."""
    tr = QCoreApplication.translate
    return tr("ReplyRatings", "rated good") if rating is ReplyRating.GOOD else tr("ReplyRatings", "rated bad")
