"""Carries errands from those who gather in the internet to a clerk, even in the middle of a turn in which the clerk rests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from lethe_app.brain.answers import Answer
from lethe_app.services.clerk import Clerk

T = TypeVar("T", bound=Answer)


async def _at_leisure() -> None:
    """There is nothing to be hurried."""


class Messenger:
    """An `Asker`, as the hands of a task are."""

    def __init__(self, clerk: Clerk, hurry: Callable[[], Awaitable[object]] = _at_leisure) -> None:
        """`hurry` is done before every errand, where somebody waits for it: it ends other quiet work that is under way."""
        self._clerk, self._hurry = clerk, hurry

    async def ask(self, errand: str, answer: type[T], **material: str) -> T:
        """Raises ModelError."""
        await self._hurry()
        return await self._clerk.ask(errand, answer, **material)

    async def room(self, errand: str, answer: type[Answer], **material: str) -> int:
        """Tokens for the gaps that `material` does not fill."""
        return await self._clerk.room(errand, answer, **material)

    async def count(self, texts: list[str]) -> list[int]:
        """Tokens of each text."""
        return await self._clerk.count(texts)
