"""Records of every run of a background task: what was attempted, its cost and its outcome."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import RecordTable, json_list, utc_text

RUNS = RecordTable("task_runs", TaskRun, "id")


class TaskRuns(Store):
    """Table of task runs. Every method is one transaction."""

    @in_transaction
    def save_run(self, connection: sqlite3.Connection, run: TaskRun) -> None:
        """Insert a run, or update one already stored."""
        RUNS.save(connection, run)

    @in_transaction
    def get(self, connection: sqlite3.Connection, run_id: UUID) -> TaskRun | None:
        """Return a run, or None if there is none."""
        return RUNS.find(connection, "WHERE id = ?", (str(run_id),))

    @in_transaction
    def runs_of(
        self, connection: sqlite3.Connection, persona_id: str, task: str, limit: int, before: datetime
    ) -> list[TaskRun]:
        """Return the newest runs of a task of a persona that began before a moment."""
        conditions = "WHERE persona_id = ? AND task = ? AND began < ? ORDER BY began DESC LIMIT ?"
        return RUNS.load(connection, conditions, (persona_id, task, utc_text(before), limit))

    @in_transaction
    def newest_runs(self, connection: sqlite3.Connection, limit: int = 100) -> list[TaskRun]:
        """Return the newest runs of all personas, newest first."""
        return RUNS.load(connection, "ORDER BY began DESC LIMIT ?", (limit,))

    @in_transaction
    def runs_since(self, connection: sqlite3.Connection, persona_id: str, moment: datetime) -> list[TaskRun]:
        """Return all runs of a persona that began at or after a moment, oldest first."""
        return RUNS.load(connection, "WHERE persona_id = ? AND began >= ? ORDER BY began", (persona_id, utc_text(moment)))

    @in_transaction
    def mark_lost_runs(self, connection: sqlite3.Connection, running_ids: Collection[UUID] = ()) -> int:
        """Mark unfinished runs as lost, except `running_ids`, after the program ended during them; return their number."""
        is_lost = "outcome IS NULL AND id NOT IN (SELECT value FROM json_each(?))"
        query = f"UPDATE task_runs SET outcome = ?, ended = ? WHERE {is_lost}"
        values = (RunOutcome.LOST.value, utc_text(now()), json_list(running_ids))
        return connection.execute(query, values).rowcount
