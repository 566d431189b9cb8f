"""Keeps the log of what dreams proposed and did to memories, so that every change can be seen and taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.agents import Change, ChangeState
from lethe_app.storage.database import Database
from lethe_app.storage.records import understood, utc
from lethe_app.storage.text import storable

COLUMNS = tuple(Change.model_fields)
_ALL = f"SELECT {', '.join(COLUMNS)} FROM changes"  # noqa: S608 - names are ours
_PUT = f"INSERT OR REPLACE INTO changes ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


class Changes:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, *changes: Change) -> None:
        """New ones, or what has become of those that are known. All of them or none."""
        rows = [_row(change) for change in changes]
        await self._database.run(lambda connection: connection.executemany(_PUT, rows))

    async def get(self, change_id: UUID) -> Change | None:
        """None if there is none."""
        found = await self._read("WHERE id = ?", (str(change_id),))
        return found[0] if found else None

    async def of(self, persona_id: str, state: ChangeState | None = None, limit: int = 200) -> list[Change]:
        """Newest first; those in one state, where it is given."""
        where, values = ("AND state = ?", (persona_id, state.value)) if state is not None else ("", (persona_id,))
        return await self._read(f"WHERE persona_id = ? {where} ORDER BY at DESC, id LIMIT ?", (*values, limit))

    async def of_run(self, run_id: UUID) -> list[Change]:
        """In the order in which they were made."""
        return await self._read("WHERE run_id = ? ORDER BY at, id", (str(run_id),))

    async def _read(self, where: str, values: Sequence[object]) -> list[Change]:
        def work(connection: sqlite3.Connection) -> list[Change]:
            rows = connection.execute(f"{_ALL} {where}", tuple(values))
            return [understood(Change, dict(zip(COLUMNS, row, strict=True))) for row in rows]

        return await self._database.run(work)


def _row(change: Change) -> tuple[str | None, ...]:
    special = {"at": utc(change.at), "run_id": str(change.run_id) if change.run_id is not None else None}
    return tuple(special[name] if name in special else storable(str(getattr(change, name))) for name in COLUMNS)
