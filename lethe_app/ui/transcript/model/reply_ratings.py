"""The user's ratings of replies, queried with the page of their messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from uuid import UUID

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Message

RatingsQuery = Callable[[Sequence[UUID]], Awaitable[dict[UUID, dict[int, ReplyRating]]]]
"""Return the ratings by alternative of several messages, with one query."""
RATING_ICONS = {ReplyRating.GOOD: "thumb-up", ReplyRating.BAD: "thumb-down"}
"""Icon of each rating."""


class ReplyRatings:
    """Ratings by reply; each alternative has its own."""

    def __init__(self, query: RatingsQuery, on_changed: Callable[[Collection[UUID]], None]) -> None:
        """Start without ratings. `on_changed` is called with the replies whose ratings differ from before."""
        self._query, self._on_changed = query, on_changed
        self._ratings: dict[UUID, dict[int, ReplyRating]] = {}

    def clear(self) -> None:
        """Remove all ratings, because another session is on display."""
        self._ratings.clear()

    def rating_of(self, message: Message) -> ReplyRating | None:
        """Return the rating of the alternative on display; None if it has none."""
        return self._ratings.get(message.id, {}).get(message.shown)

    async def load(self, messages: Iterable[UUID]) -> None:
        """Query the ratings of messages."""
        message_ids = list(messages)
        ratings = await self._query(message_ids) if message_ids else {}
        changed = [one for one in message_ids if self._ratings.get(one, {}) != ratings.get(one, {})]
        for one in changed:
            self._ratings.pop(one, None)
        self._ratings |= {one: ratings[one] for one in changed if one in ratings}
        self._on_changed(changed)

    async def refresh(self) -> None:
        """Query the ratings of all rated messages again."""
        await self.load(list(self._ratings))


def format_rating(rating: ReplyRating) -> str:
    """Return the text of a rating for screen readers."""
    tr = QCoreApplication.translate
    return tr("ReplyRatings", "rated good") if rating is ReplyRating.GOOD else tr("ReplyRatings", "rated bad")
