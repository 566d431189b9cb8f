"""Feedback of the user on replies: thumbs and comments, per alternative."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.agent_runs import Feedback
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import column_values, parse_row, placeholders, save_row

COLUMNS = tuple(Feedback.model_fields)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM feedback"  # noqa: S608 - names are ours
MESSAGES_PER_QUERY = 500
"""Messages per query; SQLite allows some thousands of parameters."""


class FeedbackStore:
    """Table with at most one feedback per alternative. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_feedback(self, *feedback: Feedback) -> None:
        """Insert or replace feedback; feedback on an alternative that no longer exists is ignored."""

        def work(connection: sqlite3.Connection) -> None:
            for item in feedback:
                key = (str(item.message_id), item.position)
                if connection.execute("SELECT 1 FROM alternatives WHERE message_id = ? AND position = ?", key).fetchone():
                    save_row(connection, "feedback", "message_id, position", column_values(item, COLUMNS))

        await self._database.run(work)

    async def get(self, message_id: UUID, position: int) -> Feedback | None:
        """Return the feedback on an alternative, or None."""
        found = await self._read("WHERE message_id = ? AND position = ?", (str(message_id), position))
        return found[0] if found else None

    async def delete_feedback(self, message_id: UUID, position: int) -> None:
        """Delete the feedback on an alternative."""
        key = (str(message_id), position)
        await self._database.run(lambda c: c.execute("DELETE FROM feedback WHERE message_id = ? AND position = ?", key))

    async def feedback_on(self, messages: Sequence[UUID]) -> list[Feedback]:
        """Return the feedback on all alternatives of these messages."""
        found: list[Feedback] = []
        for start in range(0, len(messages), MESSAGES_PER_QUERY):
            batch = [str(message_id) for message_id in messages[start : start + MESSAGES_PER_QUERY]]
            found += await self._read(f"WHERE message_id IN ({placeholders(batch)})", batch)
        return found

    async def feedback_of(self, persona_id: str, limit: int = 100, *, settled: bool | None = None) -> list[Feedback]:
        """Return a persona's feedback, newest first; with `settled` only what a dream has evaluated, or only the rest."""
        condition, values = ("AND settled = ?", (persona_id, settled)) if settled is not None else ("", (persona_id,))
        return await self._read(f"WHERE persona_id = ? {condition} ORDER BY at DESC LIMIT ?", (*values, limit))

    async def mark_concluded(self, feedback: Iterable[Feedback]) -> None:
        """Mark feedback as evaluated by a dream."""
        rows = [(str(item.message_id), item.position) for item in feedback]
        query = "UPDATE feedback SET settled = 1 WHERE message_id = ? AND position = ?"
        await self._database.run(lambda connection: connection.executemany(query, rows))

    async def _read(self, where: str, values: Sequence[object]) -> list[Feedback]:
        def work(connection: sqlite3.Connection) -> list[Feedback]:
            rows = connection.execute(f"{_SELECT} {where}", tuple(values))
            return [parse_row(Feedback, COLUMNS, row) for row in rows]

        return await self._database.run(work)
