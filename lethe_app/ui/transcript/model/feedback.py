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
PICTURES = {ReplyRating.GOOD: "thumb-up", ReplyRating.BAD: "thumb-down"}
"""Icon of each rating."""


async def _nothing(_messages: Sequence[UUID]) -> dict[UUID, dict[int, ReplyRating]]:
    return {}


class Thumbs:
    """Ratings by reply; each alternative has its own."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._known: dict[UUID, dict[int, ReplyRating]] = {}
        self.ask: Ask = _nothing
        """Query for the ratings; set by the feedback controller."""

    def clear(self) -> None:
        """Remove all ratings, because another session is on display."""
        self._known.clear()

    def rating_of(self, row: int) -> ReplyRating | None:
        """Return the rating of the alternative on display; None if it has none."""
        verdicts = self._known.get(self._model.outline(row).id) if self._known else None
        message = self._model.message(row) if verdicts else None
        return verdicts.get(message.shown) if verdicts and message is not None else None

    def spoken(self, row: int) -> list[str]:
        """Return the text of the rating for screen readers."""
        verdict = self.rating_of(row)
        return [in_words(verdict)] if verdict is not None else []

    async def learn(self, messages: Iterable[UUID]) -> None:
        """Query the ratings of messages, and emit `dataChanged` for those that differ from before."""
        wanted = list(messages)
        found = await self.ask(wanted) if wanted else {}
        changed = [one for one in wanted if self._known.get(one, {}) != found.get(one, {})]
        for one in changed:
            self._known.pop(one, None)
        self._known |= {one: found[one] for one in changed if one in found}
        model = self._model
        for row in (row for one in changed if (row := model.row_of(one)) is not None):
            model.dataChanged.emit(model.index(row), model.index(row))

    async def renew(self) -> None:
        """Query the ratings of all rated messages again."""
        await self.learn(list(self._known))


def in_words(verdict: ReplyRating) -> str:
    """Return the text of a rating for screen readers."""
    tr = QCoreApplication.translate
    return tr("Thumbs", "rated good") if verdict is ReplyRating.GOOD else tr("Thumbs", "rated bad")
