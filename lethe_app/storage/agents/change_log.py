"""Log of the changes that dreams and other tasks proposed or made to memories and facts, with undo."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from uuid import UUID

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import ChangedRecords, Record, is_owned_by_user, is_same_content, rebase_change
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory import facts, memories
from lethe_app.storage.row_mapping import RecordTable, utc_text

CHANGES = RecordTable("changes", RecordedChange, "id")


class ChangeLog(Store):
    """Table of changes. Every method is one transaction."""

    @in_transaction
    def save_changes(self, connection: sqlite3.Connection, *changes: RecordedChange) -> None:
        """Insert changes, or update those already stored; all or none."""
        CHANGES.save(connection, *changes)

    @in_transaction
    def get(self, connection: sqlite3.Connection, change_id: UUID) -> RecordedChange | None:
        """Return a change, or None if there is none."""
        return _find(connection, change_id)

    @in_transaction
    def apply_change(self, connection: sqlite3.Connection, change: RecordedChange) -> RecordedChange:
        """Apply a proposed change and record it as applied, in one transaction; return the change as it was applied.

        It is applied to the records as they are now. Raise StorageError, without any change, if a record is gone, was
        changed meanwhile or belongs to the user. A change that was decided before is returned unaltered.
        """
        stored_change = _find(connection, change.id)
        if stored_change is not None and stored_change.state is not ChangeState.PROPOSED:
            return stored_change
        applied = _apply(connection, stored_change or change).model_copy(update={"state": ChangeState.APPLIED})
        CHANGES.save(connection, applied)
        return applied

    @in_transaction
    def revert_changes(
        self, connection: sqlite3.Connection, change_ids: Sequence[UUID], *, skip_changed: bool = False
    ) -> list[RecordedChange]:
        """Restore the records from before these changes and record them as reverted, in one transaction; return the changes
        that were reverted.

        Raise StorageError, without any change, if a record was changed since; with `skip_changed` that change stays applied.
        """
        reverted: list[RecordedChange] = []
        for change_id in change_ids:
            stored_change = _find(connection, change_id)
            if stored_change is None:
                raise StorageError("This change is no longer in the log.")
            if stored_change.state is ChangeState.APPLIED:
                # A change that is skipped has written nothing: all records are checked before the first is restored.
                with suppress(StorageError) if skip_changed else nullcontext():
                    _revert(connection, stored_change)
                    reverted.append(stored_change.model_copy(update={"state": ChangeState.REVERTED}))
                    CHANGES.save(connection, reverted[-1])
        return reverted

    @in_transaction
    def changes_of(
        self, connection: sqlite3.Connection, persona_id: str, state: ChangeState | None = None, limit: int = 200
    ) -> list[RecordedChange]:
        """Return the changes of a persona, newest first, optionally only those in one state."""
        conditions = "WHERE persona_id = ? AND state = coalesce(?, state) ORDER BY at DESC, id LIMIT ?"
        return CHANGES.load(connection, conditions, (persona_id, state, limit))

    @in_transaction
    def changes_of_run(self, connection: sqlite3.Connection, run_id: UUID) -> list[RecordedChange]:
        """Return the changes of a task run, in order."""
        return CHANGES.load(connection, "WHERE run_id = ? ORDER BY at, id", (str(run_id),))


def _find(connection: sqlite3.Connection, change_id: UUID) -> RecordedChange | None:
    return CHANGES.find(connection, "WHERE id = ?", (str(change_id),))


def _apply(connection: sqlite3.Connection, change: RecordedChange) -> RecordedChange:
    current = _unchanged_records(connection, ChangedRecords.before(change))
    if any(map(is_owned_by_user, current.memories)) or any(map(is_owned_by_user, current.facts)):
        raise StorageError("This belongs to the user, so it was left unchanged.")
    applied = rebase_change(change, current)
    new = ChangedRecords.after(applied)
    remaining = new.guids
    memories.delete(connection, [record.guid for record in current.memories if record.guid not in remaining])
    memories.save_in_transaction(connection, change.persona_id, new.memories)
    deleted = [(utc_text(now()), str(record.guid)) for record in current.facts if record.guid not in remaining]
    connection.executemany("UPDATE facts SET deleted_at = ? WHERE guid = ?", deleted)
    facts.FACTS.save(connection, *new.facts, persona_id=change.persona_id, deleted_at=None)
    return applied


def _revert(connection: sqlite3.Connection, change: RecordedChange) -> None:
    old, new = ChangedRecords.before(change), ChangedRecords.after(change)
    _unchanged_records(connection, new)
    created, remaining = new.guids - old.guids, new.guids
    for memory in old.memories:  # one that the user took out of the trash and made their own stays theirs
        current = memories.find_memory(connection, memory.guid) if memory.guid not in remaining else None
        if current is not None:
            _check_unchanged(memory, current)
    for table in ("memories", "facts"):
        connection.executemany(f"DELETE FROM {table} WHERE guid = ?", [(str(guid),) for guid in created])
    memories.save_in_transaction(connection, change.persona_id, old.memories)
    facts.FACTS.save(connection, *old.facts, persona_id=change.persona_id, deleted_at=None)


def _unchanged_records(connection: sqlite3.Connection, records: ChangedRecords) -> ChangedRecords:
    """Return the current versions of these records. Raise StorageError if one is gone or was changed."""
    current_memories = [_check_unchanged(record, memories.find_memory(connection, record.guid)) for record in records.memories]
    current_facts = [_check_unchanged(record, facts.find_fact(connection, record.guid)) for record in records.facts]
    return ChangedRecords(memories=current_memories, facts=current_facts)


def _check_unchanged(expected: Record, current: Record | None) -> Record:
    title = expected.content if isinstance(expected, MemoryUnit) else expected.fact
    if current is None:
        raise StorageError(f"“{title[:60]}” no longer exists, so nothing was changed.")
    if not is_same_content(expected, current):
        raise StorageError(
            f"“{title[:60]}” has been changed since, so nothing was changed.", "Decline the change, or run Dreams again."
        )
    return current
