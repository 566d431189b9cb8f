"""Knows what the user thinks of replies: asked for with the page a message lies on, like what was remembered for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.agent_runs import ReplyRating

if TYPE_CHECKING:
    from lethe_app.ui.transcript.model.model import ChatModel

Ask = Callable[[Sequence[UUID]], Awaitable[dict[UUID, dict[int, ReplyRating]]]]
"""Tells what is thought of the wordings of many messages, in one question."""
PICTURES = {ReplyRating.GOOD: "thumb-up", ReplyRating.BAD: "thumb-down"}


async def _nothing(_messages: Sequence[UUID]) -> dict[UUID, dict[int, ReplyRating]]:
    return {}


class Thumbs:
    """Each wording has its own: another one of the same reply may be better."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._known: dict[UUID, dict[int, ReplyRating]] = {}
        self.ask: Ask = _nothing

    def clear(self) -> None:
        self._known.clear()

    def rating_of(self, row: int) -> ReplyRating | None:
        """What is thought of the wording on display."""
        verdicts = self._known.get(self._model.outline(row).id) if self._known else None
        message = self._model.message(row) if verdicts else None
        return verdicts.get(message.shown) if verdicts and message is not None else None

    def spoken(self, row: int) -> list[str]:
        """The same as it is read aloud."""
        verdict = self.rating_of(row)
        return [in_words(verdict)] if verdict is not None else []

    async def learn(self, messages: Iterable[UUID]) -> None:
        """Ask about these, and show what is others than before."""
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
        """Ask again about all that are known to be thought of."""
        await self.learn(list(self._known))


def in_words(verdict: ReplyRating) -> str:
    """“You liked it”."""
    tr = QCoreApplication.translate
    return tr("Thumbs", "you liked it") if verdict is ReplyRating.GOOD else tr("Thumbs", "you did not like it")
