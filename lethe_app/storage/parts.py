"""Keeps the work of archiving, so that a program that ends in the middle goes on where it was."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.archive import PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.storage.database import Database
from lethe_app.storage.text import storable

COLUMNS = "session_id, part, state, made_by, maker, tries, trouble"
ORDER = {part: number for number, part in enumerate(SessionPart)}


class Parts:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, session_id: UUID, parts: Iterable[SessionPart] = SessionPart, *, archive: bool = True) -> None:
        """Note all that is to be done for a session and mark it as archived; parts the user wrote stay as they are."""
        rows = [(str(session_id), part.value, PartState.PENDING.value, MadeBy.RULES.value, MadeBy.USER.value) for part in parts]

        def work(connection: sqlite3.Connection) -> None:
            if archive:
                connection.execute("UPDATE sessions SET archived = 1 WHERE guid = ?", (str(session_id),))
            connection.executemany(
                "INSERT INTO session_parts (session_id, part, state, made_by, maker, tries, trouble)"
                " VALUES (?1, ?2, ?3, ?4, '', 0, '')"
                " ON CONFLICT (session_id, part) DO UPDATE SET state = ?3, tries = 0, trouble = '' WHERE made_by <> ?5",
                rows,
            )

        await self._database.run(work)

    async def of(self, session_id: UUID) -> dict[SessionPart, PartRecord]:
        """In the order in which they are filled; empty for a session that was never archived."""
        question = f"SELECT {COLUMNS} FROM session_parts WHERE session_id = ?"  # noqa: S608 - names are ours
        return await self._database.run(
            lambda connection: {one.part: one for one in _records(connection.execute(question, (str(session_id),)))}
        )

    async def pending(self) -> list[PartRecord]:
        """Everything still to be done, the newest session first."""
        question = f"""
            SELECT {", ".join(f"p.{name}" for name in COLUMNS.split(", "))} FROM session_parts p
            JOIN sessions s ON s.guid = p.session_id JOIN memories m ON m.guid = s.guid
            WHERE p.state = 'pending' AND m.deleted_at IS NULL ORDER BY s.last_activity DESC, s.guid
        """  # noqa: S608 - names are ours
        return await self._database.run(lambda connection: _in_order(_records(connection.execute(question))))

    async def put(self, record: PartRecord) -> None:
        """Note how far a part has come; what the user wrote is not overwritten by anybody else."""
        row = (
            str(record.session), record.part.value, record.state.value, record.made_by.value, storable(record.maker),
            record.tries, storable(record.trouble),
        )  # fmt: skip

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"INSERT INTO session_parts ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - names are ours
                " ON CONFLICT (session_id, part) DO UPDATE SET state = excluded.state, made_by = excluded.made_by,"
                " maker = excluded.maker, tries = excluded.tries, trouble = excluded.trouble"
                " WHERE made_by <> 'user' OR excluded.made_by = 'user'",
                row,
            )

        await self._database.run(work)

    async def redo(self, parts: Sequence[SessionPart]) -> int:
        """Have these parts made again wherever only rules made them; returns how many that are."""
        rows = [(part.value,) for part in parts]

        def work(connection: sqlite3.Connection) -> int:
            return connection.executemany(
                "UPDATE session_parts SET state = 'pending', tries = 0, trouble = ''"
                " WHERE part = ? AND made_by = 'rules' AND state <> 'pending'",
                rows,
            ).rowcount

        return await self._database.run(work)


def _records(rows: Iterable[tuple[str, str, str, str, str, int, str]]) -> list[PartRecord]:
    return [
        PartRecord(UUID(session), SessionPart(part), PartState(state), MadeBy(made_by), maker, tries, trouble)
        for session, part, state, made_by, maker, tries, trouble in rows
    ]


def _in_order(records: list[PartRecord]) -> list[PartRecord]:
    """Sessions stay in their order; within each the parts are put in theirs."""
    sessions = {record.session: number for number, record in reversed(list(enumerate(records)))}
    return sorted(records, key=lambda record: (sessions[record.session], ORDER[record.part]))
