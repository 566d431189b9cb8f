"""Deletion of stored prompts that contain withdrawn world entries or texts of a deleted persona."""

from __future__ import annotations

from uuid import UUID

from lethe_app.domain.worldinfo import World
from lethe_app.services.events import Listeners
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.memory.world_usage import Awakenings


class WorldPurge:
    """Delete stored prompts when world texts are withdrawn. `told` is notified with the id of each persona affected,
    afterwards.
    """

    def __init__(self, awakenings: Awakenings, receipts: Receipts) -> None:
        self.told: Listeners[str] = Listeners()
        self._awakenings = awakenings
        self._receipts = receipts

    async def rewritten(self, before: World | None, after: World | None) -> None:
        """Delete the stored prompts of all personas for whom an entry that `withdrawn` returns was ever activated."""
        gone = withdrawn(before, after)
        for persona_id in await self._awakenings.hearers(gone) if gone else ():
            await self.persona(persona_id)

    async def persona(self, persona_id: str) -> None:
        """Delete all stored prompts of a persona."""
        await self._receipts.delete_prompts(persona_id)
        self.told.tell(persona_id)


def withdrawn(before: World | None, after: World | None) -> set[UUID]:
    """Return the entries that were deleted or whose old text is no longer contained in the new one; a mere addition does not
    count.
    """
    # Entries that are the same object in both versions are unchanged; only the texts of the others are compared.
    stay = {id(entry) for entry in after.entries} if after is not None else set()
    changed = [entry for entry in before.entries if id(entry) not in stay] if before is not None else []
    said = {entry.guid: entry.content for entry in after.entries} if after is not None and changed else {}
    old = ((entry.guid, entry.content) for entry in changed)
    return {guid for guid, content in old if content.strip() and content.strip() not in said.get(guid, "")}
