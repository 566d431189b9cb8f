"""Feedback of the user on replies: thumbs and comments, per alternative."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.agent_runs import Feedback
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import RecordTable, json_list

FEEDBACK = RecordTable("feedback", Feedback, "message_id, position")


class FeedbackStore(Store):
    """Table with at most one feedback per alternative. Every method is one transaction."""

    @in_transaction
    def save_feedback(self, connection: sqlite3.Connection, *feedback: Feedback) -> None:
        """Insert or replace feedback; feedback on an alternative that no longer exists is ignored."""
        for item in feedback:
            key = (str(item.message_id), item.position)
            if connection.execute("SELECT 1 FROM alternatives WHERE message_id = ? AND position = ?", key).fetchone():
                FEEDBACK.save(connection, item)

    @in_transaction
    def get(self, connection: sqlite3.Connection, message_id: UUID, position: int) -> Feedback | None:
        """Return the feedback on an alternative, or None."""
        return FEEDBACK.find(connection, "WHERE message_id = ? AND position = ?", (str(message_id), position))

    @in_transaction
    def delete_feedback(self, connection: sqlite3.Connection, message_id: UUID, position: int) -> None:
        """Delete the feedback on an alternative."""
        key = (str(message_id), position)
        connection.execute("DELETE FROM feedback WHERE message_id = ? AND position = ?", key)

    @in_transaction
    def feedback_on(self, connection: sqlite3.Connection, messages: Sequence[UUID]) -> list[Feedback]:
        """Return the feedback on all alternatives of these messages."""
        conditions = "WHERE message_id IN (SELECT value FROM json_each(?))"
        return FEEDBACK.load(connection, conditions, (json_list(messages),))

    @in_transaction
    def feedback_of(
        self, connection: sqlite3.Connection, persona_id: str, limit: int = 100, *, settled: bool | None = None
    ) -> list[Feedback]:
        """Return a persona's feedback, newest first; with `settled` only what a dream has evaluated, or only the rest."""
        conditions = "WHERE persona_id = ? AND settled = coalesce(?, settled) ORDER BY at DESC LIMIT ?"
        return FEEDBACK.load(connection, conditions, (persona_id, settled, limit))

    @in_transaction
    def mark_concluded(self, connection: sqlite3.Connection, feedback: Iterable[Feedback]) -> None:
        """Mark feedback as evaluated by a dream."""
        rows = [(str(item.message_id), item.position) for item in feedback]
        query = "UPDATE feedback SET settled = 1 WHERE message_id = ? AND position = ?"
        connection.executemany(query, rows)
