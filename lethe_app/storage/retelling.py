"""What is told of a conversation, part by part, taken down so that an edit of it can be taken back, the user's own included."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.archive import SessionPart
from lethe_app.domain.taken_down import Told
from lethe_app.storage.branches import standing
from lethe_app.storage.database import Database
from lethe_app.storage.records import Cell, insert, update

COLUMNS: dict[SessionPart, dict[str, tuple[str, ...]]] = {
    SessionPart.TITLE: {"memories": ("name",)},
    SessionPart.SUMMARY: {"memories": ("content",)},
    SessionPart.KEYWORDS: {"memories": ("keywords_main", "enabled")},
    SessionPart.GOALS: {"sessions": ("future_goals",)},
    SessionPart.RELEVANCE: {"sessions": ("relevance",)},
    SessionPart.ROLEPLAY: {"sessions": ("is_roleplay",)},
}
"""Where each part lies; facts lie by themselves."""
RELEASE = """
UPDATE session_parts SET made_by = 'rules', maker = '', state = 'pending', tries = 0, trouble = ''
WHERE session_id = ? AND part = ? AND made_by = 'user'
"""


class Retelling:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def told(self, session: UUID, part: SessionPart) -> Told:
        """The part as it is now. Raises StorageError for a session that is gone."""

        def work(connection: sqlite3.Connection) -> Told:
            here = str(session)
            standing(connection, here)
            values = {table: _values(connection, table, names, here) for table, names in COLUMNS.get(part, {}).items()}
            found = connection.execute("SELECT * FROM session_parts WHERE session_id = ? AND part = ?", (here, part.value))
            row = found.fetchone()
            record = dict(zip((column[0] for column in found.description), row, strict=True)) if row else None
            return Told(session, part, values, record)

        return await self._database.run(work)

    async def put_back(self, told: Told) -> None:
        """Make it that again, whoever has written it since."""

        def work(connection: sqlite3.Connection) -> None:
            here = str(told.session)
            standing(connection, here)
            for table, values in told.values.items():
                update(connection, table, "guid", {**values, "guid": here})
            connection.execute("DELETE FROM session_parts WHERE session_id = ? AND part = ?", (here, told.part.value))
            if told.record is not None:
                insert(connection, "session_parts", told.record)

        await self._database.run(work)

    async def release(self, session: UUID, part: SessionPart) -> None:
        """The user's wording may be overwritten now."""
        await self._database.run(lambda connection: connection.execute(RELEASE, (str(session), part.value)).rowcount)


def _values(connection: sqlite3.Connection, table: str, names: Sequence[str], guid: str) -> dict[str, Cell]:
    question = f"SELECT {', '.join(names)} FROM {table} WHERE guid = ?"  # noqa: S608 - names are ours
    return dict(zip(names, connection.execute(question, (guid,)).fetchone(), strict=True))
