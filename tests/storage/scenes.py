"""What the tests of several rooms do to a database."""

from __future__ import annotations

from uuid import UUID

from lethe_app.domain.chat import Message
from lethe_app.domain.recall import TurnMemory
from lethe_app.storage.database import Database
from lethe_app.storage.memory.turn_memories import TurnEffects, TurnMemories


async def put_above(database: Database, below: UUID, line: Message) -> None:
    """A turn left this hidden line above a message, and nothing else."""
    traces = TurnEffects("mara", line.session_id, below, TurnMemory(), line.time, hidden_line=line)
    await TurnMemories(database).save_effects(traces)
