"""Operations on a database shared by several tests."""

from __future__ import annotations

from uuid import UUID

from lethe_app.domain.chat import Message
from lethe_app.domain.recall import TurnMemory
from lethe_app.storage.database import Database
from lethe_app.storage.memory.turn_memories import TurnEffects, TurnMemories


async def store_above(database: Database, below: UUID, line: Message) -> None:
    """Store a hidden message above another one, as a turn does."""
    effects = TurnEffects("mara", line.session_id, below, TurnMemory(), line.time, hidden_line=line)
    await TurnMemories(database).save_effects(effects)
