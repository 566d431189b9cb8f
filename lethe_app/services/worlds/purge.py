"""What the user takes back from a world, or a persona they delete, is not kept in old prompts and states of mind either."""

from __future__ import annotations

from uuid import UUID

from lethe_app.domain.worldinfo import World
from lethe_app.services.events import Listeners
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.memory.world_usage import Awakenings


class WorldPurge:
    """`told` names each persona who had heard it, once her kept prompts are gone."""

    def __init__(self, awakenings: Awakenings, receipts: Receipts) -> None:
        self.told: Listeners[str] = Listeners()
        self._awakenings = awakenings
        self._receipts = receipts

    async def rewritten(self, before: World | None, after: World | None) -> None:
        """A world says something else now, or nothing any more."""
        gone = withdrawn(before, after)
        for persona_id in await self._awakenings.hearers(gone) if gone else ():
            await self.persona(persona_id)

    async def persona(self, persona_id: str) -> None:
        """Nothing she was told word for word is kept."""
        await self._receipts.delete_prompts(persona_id)
        self.told.tell(persona_id)


def withdrawn(before: World | None, after: World | None) -> set[UUID]:
    """The entries some words of which are not said any more; what was only added to is not among them."""
    stay = {id(entry) for entry in after.entries} if after is not None else set()
    changed = [entry for entry in before.entries if id(entry) not in stay] if before is not None else []
    said = {entry.guid: entry.content for entry in after.entries} if after is not None and changed else {}
    old = ((entry.guid, entry.content) for entry in changed)
    return {guid for guid, content in old if content.strip() and content.strip() not in said.get(guid, "")}
