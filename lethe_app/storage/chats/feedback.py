"""Feedback of the user on replies: thumbs and comments, per alternative."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.agent_runs import Feedback
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import parse_record, storable, utc

COLUMNS = tuple(Feedback.model_fields)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM feedback"  # noqa: S608 - names are ours
_SAVE = f"INSERT OR REPLACE INTO feedback ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
MESSAGES_PER_QUERY = 500
"""Messages per query; SQLite allows some thousands of parameters."""


class FeedbackStore:
    """Table with at most one feedback per alternative. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_feedback(self, *all_of_them: Feedback) -> None:
        """Insert or replace feedback; feedback on an alternative that no longer exists is ignored."""

        def work(connection: sqlite3.Connection) -> None:
            for one in all_of_them:
                here = (str(one.message_id), one.position)
                if connection.execute("SELECT 1 FROM alternatives WHERE message_id = ? AND position = ?", here).fetchone():
                    connection.execute(_SAVE, _row(one))

        await self._database.run(work)

    async def get(self, message_id: UUID, position: int) -> Feedback | None:
        """Return the feedback on an alternative, or None."""
        found = await self._read("WHERE message_id = ? AND position = ?", (str(message_id), position))
        return found[0] if found else None

    async def delete_feedback(self, message_id: UUID, position: int) -> None:
        """Delete the feedback on an alternative."""
        here = (str(message_id), position)
        await self._database.run(lambda c: c.execute("DELETE FROM feedback WHERE message_id = ? AND position = ?", here))

    async def feedback_on(self, messages: Sequence[UUID]) -> list[Feedback]:
        """Return the feedback on all alternatives of these messages."""
        found: list[Feedback] = []
        for start in range(0, len(messages), MESSAGES_PER_QUERY):
            part = [str(one) for one in messages[start : start + MESSAGES_PER_QUERY]]
            found += await self._read(f"WHERE message_id IN ({', '.join('?' * len(part))})", part)
        return found

    async def feedback_of(self, persona_id: str, limit: int = 100, *, settled: bool | None = None) -> list[Feedback]:
        """Return a persona's feedback, newest first; with `settled` only what a dream has evaluated, or only the rest."""
        which, values = ("AND settled = ?", (persona_id, settled)) if settled is not None else ("", (persona_id,))
        return await self._read(f"WHERE persona_id = ? {which} ORDER BY at DESC LIMIT ?", (*values, limit))

    async def mark_concluded(self, all_of_them: Iterable[Feedback]) -> None:
        """Mark feedback as evaluated by a dream."""
        rows = [(str(one.message_id), one.position) for one in all_of_them]
        question = "UPDATE feedback SET settled = 1 WHERE message_id = ? AND position = ?"
        await self._database.run(lambda connection: connection.executemany(question, rows))

    async def _read(self, where: str, values: Sequence[object]) -> list[Feedback]:
        def work(connection: sqlite3.Connection) -> list[Feedback]:
            rows = connection.execute(f"{_SELECT} {where}", tuple(values))
            return [parse_record(Feedback, dict(zip(COLUMNS, row, strict=True))) for row in rows]

        return await self._database.run(work)


def _row(one: Feedback) -> tuple[str | int, ...]:
    moment, words = utc(one.at), storable(one.words)
    return (str(one.message_id), one.position, one.persona_id, one.verdict.value, words, moment, int(one.settled))
