"""Deletion of stored prompts that contain withdrawn world entries or texts of a deleted persona."""

from __future__ import annotations

from uuid import UUID

from lethe_app.domain.worldinfo import World
from lethe_app.services.events import Listeners
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.memory.world_usage import WorldUsage


class WorldPurge:
    """Delete stored prompts when world texts are withdrawn. `purged` is notified with the id of each persona affected,
    afterwards.
    """

    def __init__(self, world_usage: WorldUsage, receipts: Receipts) -> None:
        self.purged: Listeners[str] = Listeners()
        self._world_usage = world_usage
        self._receipts = receipts

    async def purge_withdrawn(self, old_world: World | None, new_world: World | None) -> None:
        """Delete the stored prompts of all personas for whom an entry of `find_withdrawn_entries` was ever activated."""
        withdrawn_guids = find_withdrawn_entries(old_world, new_world)
        for persona_id in await self._world_usage.personas_of_entries(withdrawn_guids) if withdrawn_guids else ():
            await self.purge_persona(persona_id)

    async def purge_persona(self, persona_id: str) -> None:
        """Delete all stored prompts of a persona."""
        await self._receipts.delete_prompts(persona_id)
        self.purged.notify(persona_id)


def find_withdrawn_entries(old_world: World | None, new_world: World | None) -> set[UUID]:
    """Return the entries that were deleted or whose old text is no longer contained in the new one; a mere addition does not
    count.
    """
    # Entries that are the same object in both versions are unchanged; only the texts of the others are compared.
    unchanged_ids = {id(entry) for entry in new_world.entries} if new_world is not None else set()
    changed = [entry for entry in old_world.entries if id(entry) not in unchanged_ids] if old_world is not None else []
    new_texts = {entry.guid: entry.content for entry in new_world.entries} if new_world is not None and changed else {}
    old_texts = ((entry.guid, entry.content) for entry in changed)
    return {guid for guid, content in old_texts if content.strip() and content.strip() not in new_texts.get(guid, "")}
