"""Records of every run of a background task: what was attempted, its cost and its outcome."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import column_values, parse_record, save_row, storable_text, utc_text

COLUMNS = tuple(TaskRun.model_fields)
PLAIN_COLUMNS = tuple(name for name in COLUMNS if name != "made")
"""Columns whose values need no conversion of their own; `made` is a JSON list of records."""
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM task_runs"  # noqa: S608 - names are ours


class TaskRuns(Store):
    """Table of task runs. Every method is one transaction."""

    @in_transaction
    def save_run(self, connection: sqlite3.Connection, run: TaskRun) -> None:
        """Insert a run, or update one already stored."""
        made = storable_text(json.dumps([record.model_dump(mode="json") for record in run.made], ensure_ascii=False))
        row = {**column_values(run, PLAIN_COLUMNS), "made": made}
        save_row(connection, "task_runs", "id", row)

    @in_transaction
    def get(self, connection: sqlite3.Connection, run_id: UUID) -> TaskRun | None:
        """Return a run, or None if there is none."""
        row = connection.execute(f"{_SELECT} WHERE id = ?", (str(run_id),)).fetchone()
        return _run(row) if row else None

    async def runs_of(self, persona_id: str, task: str = "", limit: int = 50, before: datetime | None = None) -> list[TaskRun]:
        """Return the newest runs of a persona, of one task unless that is empty; with `before`, only those that began before
        it.
        """
        where, values = ("AND task = ?", (persona_id, task)) if task else ("", (persona_id,))
        values = (*values, utc_text(before) if before is not None else "9999", limit)
        return await self._read(f"WHERE persona_id = ? {where} AND began < ? ORDER BY began DESC LIMIT ?", values)

    async def newest_runs(self, limit: int = 100, before: datetime | None = None) -> list[TaskRun]:
        """Return the newest runs of all personas, newest first; with `before`, only those that began before it."""
        until = utc_text(before) if before is not None else "9999"
        return await self._read("WHERE began < ? ORDER BY began DESC LIMIT ?", (until, limit))

    async def runs_since(self, persona_id: str, moment: datetime) -> list[TaskRun]:
        """Return all runs of a persona that began at or after a moment, oldest first."""
        return await self._read("WHERE persona_id = ? AND began >= ? ORDER BY began", (persona_id, utc_text(moment)))

    @in_transaction
    def mark_lost_runs(self, connection: sqlite3.Connection, running_ids: Collection[UUID] = ()) -> int:
        """Mark unfinished runs as lost, except `running_ids`, after the program ended during them; return their number."""
        is_lost = "outcome IS NULL AND id NOT IN (SELECT value FROM json_each(?))"
        query = f"UPDATE task_runs SET outcome = ?, ended = ? WHERE {is_lost}"  # noqa: S608 - names are ours
        values = (RunOutcome.LOST.value, utc_text(now()), json.dumps([str(run_id) for run_id in running_ids]))
        return connection.execute(query, values).rowcount

    @in_transaction
    def _read(self, connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[TaskRun]:
        return [_run(row) for row in connection.execute(f"{_SELECT} {where}", tuple(values))]


def _run(row: tuple[object, ...]) -> TaskRun:
    values = dict(zip(COLUMNS, row, strict=True))
    return parse_record(TaskRun, {**values, "made": json.loads(str(values["made"]))})
