"""State of archive jobs, so that work interrupted by the end of the program continues."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.chat import ChatSession, PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.storage.chats.branches import branch_state
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, cells, storable, update

COLUMNS = "session_id, part, state, made_by, maker, tries, trouble"
ORDER = {part: number for number, part in enumerate(SessionPart)}
QUEUE = """
INSERT INTO session_parts (session_id, part, state, made_by, maker, tries, trouble) VALUES (?, ?, 'pending', 'rules', '', 0, '')
ON CONFLICT (session_id, part) DO UPDATE SET state = 'pending', tries = 0, trouble = '' WHERE made_by <> 'user'
"""
SAVE = f"""
INSERT INTO session_parts ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id, part) DO UPDATE SET state = excluded.state, made_by = excluded.made_by, maker = excluded.maker,
    tries = excluded.tries, trouble = excluded.trouble
WHERE made_by <> 'user' OR excluded.made_by = 'user'
"""  # noqa: S608 - names are ours
OF_SESSION = f"SELECT {COLUMNS} FROM session_parts WHERE session_id = ?"  # noqa: S608 - names are ours


class ArchiveJobs:
    """Table of the archive jobs, one per session and part. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start_archive(
        self, session_id: UUID, parts: Iterable[SessionPart] = SessionPart, *, archive: bool = True
    ) -> None:
        """Queue the given parts of a session and mark it as archived; parts written by the user remain. Raise `StorageError`
        if it is gone.

        If the session continued since a model wrote its parts, those no longer cover all of it: they count as made by rules,
        which may overwrite them. If it did not continue, they stay until a model writes them again.
        """
        here = str(session_id)
        rows = [(here, part.value) for part in parts]

        def work(connection: sqlite3.Connection) -> None:
            branch_state(connection, here)
            (went_on,) = connection.execute("SELECT archived = 0 FROM sessions WHERE guid = ?", (here,)).fetchone()
            if archive:
                connection.execute("UPDATE sessions SET archived = 1 WHERE guid = ?", (here,))
            connection.executemany(QUEUE, rows)
            if archive and went_on:
                connection.execute(
                    "UPDATE session_parts SET made_by = 'rules', maker = '' WHERE session_id = ? AND made_by = 'model'", (here,)
                )

        await self._database.run(work)

    async def parts_of(self, session_id: UUID) -> dict[SessionPart, PartRecord]:
        """Return the jobs of a session in the order of `SessionPart`; empty if it was never archived."""

        def work(connection: sqlite3.Connection) -> dict[SessionPart, PartRecord]:
            found = _records(connection.execute(OF_SESSION, (str(session_id),)))
            return {one.part: one for one in sorted(found, key=lambda record: ORDER[record.part])}

        return await self._database.run(work)

    async def pending_parts(self) -> list[PartRecord]:
        """Return all pending jobs, those of the most recent session first."""
        question = f"""
            SELECT {", ".join(f"p.{name}" for name in COLUMNS.split(", "))} FROM session_parts p
            JOIN sessions s ON s.guid = p.session_id JOIN memories m ON m.guid = s.guid
            WHERE p.state = 'pending' AND m.deleted_at IS NULL ORDER BY s.last_activity DESC, s.guid
        """  # noqa: S608 - names are ours
        return await self._database.run(lambda connection: _in_order(_records(connection.execute(question))))

    async def save_part(self, record: PartRecord) -> None:
        """Save the state of a job; a part written by the user is never overwritten by anything else."""
        await self._database.run(lambda connection: _save(connection, record))

    async def save_value(self, record: PartRecord, before: PartRecord | None = None, /, **fields: object) -> bool:
        """Write fields of the session and the state of the job in one transaction.

        With `before` only if the job is still in that state; returns False if it is not. Raise `StorageError` if the session
        is gone.
        """
        here = str(record.session)
        values = cells(ChatSession.model_validate({"persona_id": "", **fields}), fields)
        memory = {name: value for name, value in values.items() if name in MEMORY_COLUMNS}
        own = {name: value for name, value in values.items() if name not in MEMORY_COLUMNS}

        def work(connection: sqlite3.Connection) -> bool:
            branch_state(connection, here)
            known = {one.part: one for one in _records(connection.execute(OF_SESSION, (here,)))}
            if before is not None and known.get(record.part) != before:
                return False
            for table, row in (("memories", memory), ("sessions", own)):
                if row:
                    update(connection, table, "guid", {**row, "guid": here})
            _save(connection, record)
            return True

        return await self._database.run(work)

    async def requeue_parts(self, parts: Sequence[SessionPart], model: str = "") -> int:
        """Queue these parts again for all sessions where only rules wrote them; returns the number of jobs.

        Jobs at which this very model failed are skipped: their error text begins with the model's name. The number of tries
        is kept; otherwise a model that crashes at a part whenever it is loaded would do so for ever.
        """
        rows = [(part.value, f"{storable(model)}: ") for part in parts]

        def work(connection: sqlite3.Connection) -> int:
            return connection.executemany(
                "UPDATE session_parts SET state = 'pending', trouble = '' WHERE part = ?1 AND made_by = 'rules'"
                " AND (state = 'done' OR state = 'failed' AND substr(trouble, 1, length(?2)) <> ?2)",
                rows,
            ).rowcount

        return await self._database.run(work)


def _save(connection: sqlite3.Connection, record: PartRecord) -> None:
    texts = (record.part.value, record.state.value, record.made_by.value, storable(record.maker))
    connection.execute(SAVE, (str(record.session), *texts, record.tries, storable(record.trouble)))


def _records(rows: Iterable[tuple[str, str, str, str, str, int, str]]) -> list[PartRecord]:
    return [
        PartRecord(UUID(session), SessionPart(part), PartState(state), MadeBy(made_by), maker, tries, trouble)
        for session, part, state, made_by, maker, tries, trouble in rows
    ]


def _in_order(records: list[PartRecord]) -> list[PartRecord]:
    """Sort the parts within each session; the order of the sessions remains."""
    sessions = {record.session: number for number, record in reversed(list(enumerate(records)))}
    return sorted(records, key=lambda record: (sessions[record.session], ORDER[record.part]))
