"""Operations on a database shared by several tests."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from lethe_app.domain.chat import Alternative, Message
from lethe_app.domain.clock import now
from lethe_app.domain.passage import Passage
from lethe_app.domain.recall import TurnMemory
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Database
from lethe_app.storage.index import passages as passage_store
from lethe_app.storage.memory import memories
from lethe_app.storage.memory.turn_memories import TurnEffects, TurnMemories
from lethe_app.storage.row_mapping import utc_text
from lethe_app.storage.trash_listing import TrashListing


async def store_above(database: Database, below: UUID, line: Message) -> None:
    """Store a hidden message above another one, as a turn does."""
    effects = TurnEffects("mara", line.session_id, below, TurnMemory(), line.time, hidden_message=line)
    await TurnMemories(database).save_effects(effects)


async def store_alternative(database: Database, message_id: UUID, alternative: Alternative) -> int:
    """Store another alternative of a message, as a regenerated reply is, and return its position."""
    return await database.run(lambda connection: messages.append_alternative(connection, str(message_id), alternative))


async def purge_trash(database: Database, days: int = 30, moment: datetime | None = None) -> int:
    """Erase what has been in the trash for more than `days`; return the number of records."""
    return await TrashListing(database).purge(utc_text((moment or now()) - timedelta(days=days)))


async def mark_recalled(database: Database, guids: Sequence[UUID], moment: datetime | None = None) -> None:
    """Record that memories were recalled, now by default."""
    await database.run(lambda connection: memories.mark_recalled(connection, guids, moment or now()))


async def store_passages(database: Database, passages: Sequence[Passage]) -> list[int]:
    """Insert passages beside those that are stored, and return their numbers."""
    return await database.run(lambda connection: [passage_store.insert_passage(connection, passage) for passage in passages])


async def remove_passages(database: Database, numbers: Sequence[int]) -> list[int]:
    """Delete passages and return the numbers that existed."""
    return await database.run(lambda connection: passage_store.delete_passages(connection, numbers))


async def is_word_index_consistent(database: Database) -> bool:
    """Return whether the word index agrees with the texts (FTS5 integrity check)."""

    def check(connection: sqlite3.Connection) -> bool:
        try:
            connection.execute("INSERT INTO passage_words (passage_words, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            return False
        return True

    return await database.run(check)
