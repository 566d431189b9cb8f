"""Tells in the list of what was done what a model did for the archive, and what that cost; no conversation is ever refused.

It does not count against what a persona may spend in a day: it belongs to what the user has talked with her, as replies do, and
after a long evening nothing would be left for what she does by herself. While it lasts it is told, and can be paused, where
everything is that goes on behind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from uuid import UUID

from lethe_app.agents.task import Result
from lethe_app.domain.agents import Outcome
from lethe_app.domain.archive import PartState
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import StorageError
from lethe_app.services.doings import ARCHIVE, Doing, Doings
from lethe_app.storage.chats import Chats
from lethe_app.storage.parts import Parts

Deed = Callable[[], Awaitable[bool]]
"""Makes all that a model is to make of one conversation; whether it could go on to its end."""


class ArchiveLog:
    """One run for each conversation that a model reads."""

    def __init__(self, doings: Doings, chats: Chats, parts: Parts) -> None:
        self._doings, self._chats, self._parts = doings, chats, parts

    async def carry_out(self, session_id: UUID, deed: Deed) -> bool:
        """What the deed returns. Raises what it raises."""
        try:
            persona_id = (await self._chats.session(session_id)).persona_id
        except StorageError:  # it was deleted, which the deed finds out for itself
            return await deed()
        went: list[bool] = []
        await self._doings.carry_out(ARCHIVE, (persona_id, persona_id), partial(self._do, session_id, deed, went))
        return went == [True]

    async def _do(self, session_id: UUID, deed: Deed, went: list[bool], _doing: Doing) -> Result:
        before = await self._by_model(session_id)
        went.append(await deed())
        parts = await self._by_model(session_id) - before
        named = await self._named(session_id)
        if not parts:
            return Result(f"{named} stays as the rules of Lethe have summed it up.", outcome=Outcome.NOTHING)
        return Result(f"{named} was summed up by the model. That does not count for the day.")

    async def _named(self, session_id: UUID) -> str:
        with suppress(StorageError):
            if name := (await self._chats.session(session_id)).name:
                return f"“{name}”"
        return "A conversation"

    async def _by_model(self, session_id: UUID) -> set[str]:
        there = (await self._parts.of(session_id)).items()
        return {part.value for part, one in there if one.state is PartState.DONE and one.made_by is MadeBy.MODEL}
