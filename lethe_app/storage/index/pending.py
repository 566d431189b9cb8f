"""What changed and is not yet in the passages; triggers note it in the transaction that changes it, so nothing is missed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.domain.chat import Role
from lethe_app.storage.database import Database

# Neither place nor opening may hang on what else is hidden or deleted: a message is not made anew when another one is.
SPOKEN = """
WITH wanted AS MATERIALIZED (SELECT m.* FROM messages m WHERE m.id IN (SELECT value FROM json_each(?))),
hidden AS MATERIALIZED (
    SELECT session_id, seq FROM messages WHERE hidden = 1 AND session_id IN (SELECT session_id FROM wanted))
SELECT m.id, m.session_id, s.persona_id, m.speaker_name, m.role, m.time, m.place, a.content,
    m.role = 'assistant' AND m.place = 1
FROM (SELECT w.*, w.seq - (SELECT count(*) FROM hidden h WHERE h.session_id = w.session_id AND h.seq < w.seq) AS place
      FROM wanted w) m JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
JOIN sessions s ON s.guid = m.session_id JOIN memories u ON u.guid = s.guid
WHERE m.deleted_at IS NULL AND m.hidden = 0 AND u.deleted_at IS NULL AND m.role IN ('user', 'assistant')
ORDER BY m.session_id, m.seq
"""
_ORPHANS = """
INSERT INTO passage_debts (kind, id) SELECT DISTINCT 'memory', origin FROM passages
WHERE origin NOT IN (SELECT id FROM messages) AND origin NOT IN (SELECT guid FROM memories)
    AND origin NOT IN (SELECT guid FROM facts)
"""


@dataclass(frozen=True)
class Debt:
    """One thing whose passages must be made anew."""

    number: int
    kind: str
    """`message`, `session`, `memory` or `fact`."""
    id: UUID


@dataclass(frozen=True)
class PendingMessage:
    """A message as its passages need it."""

    id: UUID
    session: UUID
    persona_id: str
    speaker_name: str
    role: Role
    time: datetime
    place: int
    """Order of arrival among what was said in its session; hidden lines take no place."""
    text: str
    is_opening: bool
    """The first words of a conversation, if they are the persona's: a greeting, the same in many sessions."""


class PendingIndex:
    """Settled by `Recall.replace`, which strikes them off in the transaction that changes the passages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def next(self, limit: int) -> list[Debt]:
        """Newest first: what was just said is asked for soonest."""

        def work(connection: sqlite3.Connection) -> list[Debt]:
            rows = connection.execute("SELECT number, kind, id FROM passage_debts ORDER BY number DESC LIMIT ?", (limit,))
            return [Debt(number, kind, UUID(id_)) for number, kind, id_ in rows]

        return await self._database.run(work)

    async def count(self) -> int:
        return await self._database.run(
            lambda connection: int(connection.execute("SELECT count(*) FROM passage_debts").fetchone()[0])
        )

    async def spoken(self, ids: Sequence[UUID]) -> list[PendingMessage]:
        """Those of these messages that can be heard, neither hidden nor in the trash, in the order in which they were said."""
        wanted = json.dumps([str(id_) for id_ in ids])
        return await self._database.run(lambda connection: [_spoken(row) for row in connection.execute(SPOKEN, (wanted,))])

    async def owe_all(self) -> None:
        """Have everything made anew, as after passages were found to be damaged, and the words found again in the texts.

        Passages of which nothing knows any more are owed too, and so go; those of worlds, which are files, are among them.
        """

        def work(connection: sqlite3.Connection) -> None:
            for kind, source in (
                ("message", "SELECT id FROM messages"),
                ("session", "SELECT guid FROM sessions"),
                ("memory", "SELECT guid FROM memories WHERE category <> 'chat_session'"),
                ("fact", "SELECT guid FROM facts"),
            ):
                question = f"INSERT INTO passage_debts (kind, id) SELECT '{kind}', * FROM ({source})"  # noqa: S608 - names are ours
                connection.execute(question)
            connection.execute(_ORPHANS)
            connection.execute("INSERT INTO passage_words (passage_words) VALUES ('rebuild')")

        await self._database.run(work)


def _spoken(row: tuple[str, str, str, str, str, str, int, str, int]) -> PendingMessage:
    id_, session, persona_id, name, role, time, place, text, is_opening = row
    when = datetime.fromisoformat(time)
    return PendingMessage(UUID(id_), UUID(session), persona_id, name, Role(role), when, place, text, bool(is_opening))
