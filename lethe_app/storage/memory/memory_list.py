"""Paged reading of a persona's memories, so that the first rows appear at once and the storage thread is not blocked for
long.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime

from lethe_app.domain.list_items import NEVER, MemoryLine, beginning, search_text
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.storage.chats.session_list import shown_title
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import parse_rows, unreadable_error

# NOT INDEXED: with the index by persona, SQLite would sort all rows before it returns the first.
SELECT_LINES = """
SELECT rowid, guid, category, insertion, {title}, content, reason, keywords_main, keywords_secondary, filed_under, tags,
    metadata, priority, added, last_trigger, trigger_count, end_time, enabled, sticky, protected
FROM memories NOT INDEXED WHERE rowid < ? AND persona_id = ? AND deleted_at IS NULL
AND (category <> 'chat_session' OR content <> ''
    OR (SELECT archived AND message_count > 1 FROM sessions WHERE sessions.guid = memories.guid)
    AND NOT EXISTS (SELECT 1 FROM session_parts WHERE session_id = memories.guid AND part = 'summary' AND state = 'done'))
ORDER BY rowid DESC LIMIT ?
""".format(title=shown_title("memories"))
"""Query of memories; a session is none while it is open and not summarised, and if nothing in it was worth a summary."""
TYPES = {kind.value: kind for kind in MemoryType}
INSERTIONS = {insertion.value: insertion for insertion in MemoryInsertion}
MAX_ROWID = 2**63 - 1
"""Upper bound above every rowid."""


class MemoryListRows(Store):
    """Rows of the memory page. Every method is one transaction."""

    @in_transaction
    def page_of_memories(
        self, connection: sqlite3.Connection, persona_id: str, limit: int, below: int = MAX_ROWID
    ) -> tuple[list[MemoryLine], int]:
        """Return up to `limit` memories of a persona, sessions included, last stored first, and the rowid to continue below."""
        rows = connection.execute(SELECT_LINES, (below, persona_id, limit)).fetchall()
        return parse_rows(_line, rows), rows[-1][0] if rows else 0


def _line(row: tuple[str, ...]) -> MemoryLine:
    _row, guid, category, insertion, name, content, reason, *words = row[:12]
    priority, added, last, times, until, *flags = row[12:]
    enabled, sticky, protected = map(bool, flags)
    try:
        return MemoryLine(
            guid,
            TYPES[category],
            INSERTIONS[insertion],
            name,
            beginning(content),
            search_text(name, content, reason, *words),
            int(priority),
            _moment(added),
            _moment(last),
            int(times),
            _moment(until) if until is not None else NEVER,
            enabled,
            sticky,
            protected,
        )
    except (KeyError, ValueError) as error:
        raise unreadable_error("memory", error) from error


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
