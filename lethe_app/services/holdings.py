"""A persona's memories at hand: read once, kept while nobody changes them, so that a turn need not read them again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.brain.decay import touched
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.events import Listeners
from lethe_app.storage.memories import Memories
from lethe_app.storage.turns import Traces


class Holdings:
    """Everything that changes memories goes through here; `changed` names the persona."""

    def __init__(self, memories: Memories) -> None:
        self.changed: Listeners[str] = Listeners()
        self.forgotten: Listeners[str] = Listeners()
        """Told the persona of whose memories some are in the trash now, or say something else."""
        self._memories = memories
        self._held: dict[str, list[MemoryUnit]] = {}

    async def of(self, persona_id: str) -> Sequence[MemoryUnit]:
        """All that are not in the trash, newest first."""
        if persona_id not in self._held:
            self._held[persona_id] = await self._memories.of(persona_id)
        return self._held[persona_id]

    async def put(self, persona_id: str, *memories: MemoryUnit) -> None:
        """New ones, or others in the place of those with the same guid."""
        said = {one.guid: one.content for one in await self.of(persona_id)}
        await self._memories.put(persona_id, *memories)
        self._tell(persona_id)
        if any(said.get(one.guid, one.content) not in one.content for one in memories):
            self.forgotten.tell(persona_id)

    async def delete(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move them to the trash."""
        if guids:
            await self._memories.delete(guids)
            self._tell(persona_id)
            self.forgotten.tell(persona_id)

    async def restore(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Take them out of it again; returns how many really came out."""
        restored = await self._memories.restore(guids)
        self._tell(persona_id)
        return restored

    async def touch(self, persona_id: str, guids: Sequence[UUID], moment: datetime) -> None:
        """They were brought up anew."""
        if guids:
            await self._memories.touch(guids, moment)
            self._retouch(persona_id, guids, moment)

    def follow(self, traces: Traces) -> None:
        """A turn has stored with everything else what it changed in memories."""
        if traces.changed or traces.gone:
            self._tell(traces.persona_id)
        else:
            self._retouch(traces.persona_id, traces.anew, traces.moment)
        if traces.gone:
            self.forgotten.tell(traces.persona_id)

    def reload(self) -> None:
        """Read everything again when it is needed."""
        self._held.clear()

    def _retouch(self, persona_id: str, guids: Collection[UUID], moment: datetime) -> None:
        named = set(guids)
        if named and persona_id in self._held:  # thousands need not be read again because of a few
            held = self._held[persona_id]
            self._held[persona_id] = [touched(one, moment) if one.guid in named else one for one in held]

    def _tell(self, persona_id: str) -> None:
        self._held.pop(persona_id, None)
        self.changed.tell(persona_id)
