"""Keeps the user's objections to memories that came at the wrong moment, and has them counted from then on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.brain.recall.objections import UNWANTED, Objection, objection, sift, unwanted
from lethe_app.domain.chat import Message
from lethe_app.domain.clock import now
from lethe_app.domain.recall import NotRecalled, Recollection
from lethe_app.errors import StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.memory.search import without
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.turn_memories import TurnMemories

MOST = 400
"""Objections kept for each persona; the oldest, which count least, go first."""
TAKEN_BACK = "taken back"
"""Key under which what was kept back in a turn waits for the user to think better of it."""
_KEPT = TypeAdapter(list[Objection])
_TAKEN = TypeAdapter(Recollection)


@dataclass(frozen=True)
class Objected:
    """An objection as a person reads it."""

    objection: Objection
    title: str
    text: str
    """Of the memory, as it came up; both empty where that is not known any more."""
    said: str
    """The user's words it had nothing to do with; empty where they are gone."""
    session: UUID | None
    """The conversation they stand in."""


class ObjectionService:
    """An objection takes the memory out of the turn it was made in, and makes it come less easily in turns like that one."""

    def __init__(self, state: AppState, turns: TurnMemories, chats: Chats) -> None:
        self.changed: Listeners[str] = Listeners()
        """Told the persona to whose memories something was objected, or not any more."""
        self._state = state
        self._turns = turns
        self._chats = chats

    async def objections_of(self, persona_id: str) -> list[Objection]:
        """All that were made to memories of this persona, oldest first."""
        try:
            return _KEPT.validate_python(await self._state.get(scope_of(persona_id), "all") or [])
        except ValidationError:
            return []

    async def describe_objections(self, persona_id: str) -> list[Objected]:
        """The same with the words on both sides, newest first."""
        return [await self._told(persona_id, one) for one in reversed(await self.objections_of(persona_id))]

    async def _told(self, persona_id: str, one: Objection) -> Objected:
        taken, turn = await self._taken(persona_id, one.memory, one.message), await self._turns.get(one.message)
        held = next((held for held in turn.blocked if held.memory == one.memory), None) if turn else None
        named = held.title if held is not None and (held.world or not await self._turns.forgotten([held.memory])) else ""
        left = await self._left(taken) if taken is not None else None
        what = (left.title, left.text) if left is not None else ("" if taken is not None else named, "")
        with suppress(StorageError):
            message = await self._chats.message(one.message)
            return Objected(one, *what, message.content, message.session_id)
        return Objected(one, *what, "", None)

    async def _left(self, taken: Recollection) -> Recollection | None:
        """What of it was not forgotten since; None where all of it was."""
        named = [taken.memory, *(lead.origin for lead in taken.leads)]
        return without(taken, await self._turns.forgotten(named))

    async def make(self, persona_id: str, memory: UUID, asked: Message) -> None:
        """This memory had nothing to do with that message of the user's: another wording of the reply does without it."""
        await self.repeat(persona_id, objection(memory, asked.id, asked.content, now()))

    async def repeat(self, persona_id: str, new: Objection) -> None:
        """Make one as it was made before."""
        memory, asked = new.memory, new.message
        others = [one for one in await self.objections_of(persona_id) if (one.memory, one.message) != (memory, asked)]
        for old in others[: len(others) + 1 - MOST]:
            await self._state.set(scope_of(persona_id), _place(old.memory, old.message), None)
        await self._keep(persona_id, sorted([*others, new], key=lambda one: one.moment)[-MOST:])
        await self._take_out(persona_id, memory, asked)
        self.changed.tell(persona_id)

    async def _take_out(self, persona_id: str, memory: UUID, asked: UUID) -> None:
        turn = await self._turns.get(asked)
        taken = next((one for one in turn.recalled if one.memory == memory), None) if turn else None
        if turn is None or taken is None:
            return
        await self._state.set(scope_of(persona_id), _place(memory, asked), taken.model_dump(mode="json"))
        recalled = [one for one in turn.recalled if one is not taken]
        blocked = [unwanted(taken), *turn.blocked]
        await self._turns.save_turn(asked, turn.model_copy(update={"recalled": recalled, "blocked": blocked}))

    async def withdraw(self, persona_id: str, memory: UUID, asked: UUID) -> None:
        """It did belong to that message after all."""
        others = [one for one in await self.objections_of(persona_id) if (one.memory, one.message) != (memory, asked)]
        await self._keep(persona_id, others)
        await self._put_back(persona_id, memory, asked)
        self.changed.tell(persona_id)

    async def _put_back(self, persona_id: str, memory: UUID, asked: UUID) -> None:
        taken = await self._taken(persona_id, memory, asked)
        turn = await self._turns.get(asked)
        if taken is None or turn is None:
            return
        blocked = [one for one in turn.blocked if (one.memory, one.why) != (memory, UNWANTED)]
        await self._turns.save_turn(asked, turn.model_copy(update={"recalled": [*turn.recalled, taken], "blocked": blocked}))
        await self._state.set(scope_of(persona_id), _place(memory, asked), None)

    async def remove_objections_to(self, persona_id: str, memory: UUID) -> None:
        """The memory itself was forgotten: no copy of it waits here to be taken back."""
        for key in await self._state.all(scope_of(persona_id)):
            if key.startswith(f"{TAKEN_BACK} {memory} "):
                await self._state.set(scope_of(persona_id), key, None)

    async def sifted(
        self, persona_id: str, recalled: Sequence[Recollection], said: str
    ) -> tuple[list[Recollection], list[NotRecalled]]:
        """Of what comes to mind at these words, what still comes and what the user's objections keep back."""
        return sift(recalled, await self.objections_of(persona_id), said, now())

    async def _keep(self, persona_id: str, objections: Sequence[Objection]) -> None:
        await self._state.set(scope_of(persona_id), "all", _KEPT.dump_python(list(objections), mode="json") or None)

    async def _taken(self, persona_id: str, memory: UUID, message: UUID) -> Recollection | None:
        try:
            return _TAKEN.validate_python(await self._state.get(scope_of(persona_id), _place(memory, message)))
        except ValidationError:
            return None


def scope_of(persona_id: str) -> str:
    """Of the app state, where hers are kept."""
    return f"objections {persona_id}"


def _place(memory: UUID, message: UUID) -> str:
    return f"{TAKEN_BACK} {memory} {message}"
