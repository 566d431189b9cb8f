"""Feedback of the user on replies: thumbs and comments, per alternative."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.agent_runs import Feedback
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import column_values, parse_row, save_row, select_by_values

COLUMNS = tuple(Feedback.model_fields)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM feedback"  # noqa: S608 - names are ours


class FeedbackStore(Store):
    """Table with at most one feedback per alternative. Every method is one transaction."""

    @in_transaction
    def save_feedback(self, connection: sqlite3.Connection, *feedback: Feedback) -> None:
        """Insert or replace feedback; feedback on an alternative that no longer exists is ignored."""
        for item in feedback:
            key = (str(item.message_id), item.position)
            if connection.execute("SELECT 1 FROM alternatives WHERE message_id = ? AND position = ?", key).fetchone():
                save_row(connection, "feedback", "message_id, position", column_values(item, COLUMNS))

    async def get(self, message_id: UUID, position: int) -> Feedback | None:
        """Return the feedback on an alternative, or None."""
        found = await self._read("WHERE message_id = ? AND position = ?", (str(message_id), position))
        return found[0] if found else None

    @in_transaction
    def delete_feedback(self, connection: sqlite3.Connection, message_id: UUID, position: int) -> None:
        """Delete the feedback on an alternative."""
        key = (str(message_id), position)
        connection.execute("DELETE FROM feedback WHERE message_id = ? AND position = ?", key)

    @in_transaction
    def feedback_on(self, connection: sqlite3.Connection, messages: Sequence[UUID]) -> list[Feedback]:
        """Return the feedback on all alternatives of these messages."""
        rows = select_by_values(connection, f"{_SELECT} WHERE message_id", [str(message_id) for message_id in messages])
        return [parse_row(Feedback, COLUMNS, row) for row in rows]

    async def feedback_of(self, persona_id: str, limit: int = 100, *, settled: bool | None = None) -> list[Feedback]:
        """Return a persona's feedback, newest first; with `settled` only what a dream has evaluated, or only the rest."""
        condition, values = ("AND settled = ?", (persona_id, settled)) if settled is not None else ("", (persona_id,))
        return await self._read(f"WHERE persona_id = ? {condition} ORDER BY at DESC LIMIT ?", (*values, limit))

    @in_transaction
    def mark_concluded(self, connection: sqlite3.Connection, feedback: Iterable[Feedback]) -> None:
        """Mark feedback as evaluated by a dream."""
        rows = [(str(item.message_id), item.position) for item in feedback]
        query = "UPDATE feedback SET settled = 1 WHERE message_id = ? AND position = ?"
        connection.executemany(query, rows)

    @in_transaction
    def _read(self, connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Feedback]:
        rows = connection.execute(f"{_SELECT} {where}", tuple(values))
        return [parse_row(Feedback, COLUMNS, row) for row in rows]
