"""Version 8: reasons for recalls, blocks, cache misses and cuts are data; until then they were English sentences."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from lethe_app.domain.old_reasons import converted_memory, converted_receipt, converted_recollection

Values = dict[str, Any]
OBJECTIONS = """
SELECT json_array(scope, key), value FROM house_state WHERE scope LIKE 'objections %' AND key LIKE 'taken back %'
"""


def reason_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 8. A record that cannot be read is left as it is."""
    turns = "SELECT message_id, value FROM turn_memories"
    for id_, value in _changed(connection, turns, lambda row: {**row, "memory": converted_memory(row["memory"])}):
        connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (value, id_))
    receipts = "SELECT json_array(message_id, position), value FROM receipts"
    for place, value in _changed(connection, receipts, converted_receipt):
        connection.execute("UPDATE receipts SET value = ? WHERE message_id = ? AND position = ?", (value, *json.loads(place)))
    # Memories that an objection keeps out of a turn are stored with the objections until it is withdrawn.
    objections = (
        "SELECT json_array(scope, key), value FROM house_state WHERE scope LIKE 'objections %' AND key LIKE 'taken back %'"
    )
    for place, value in _changed(connection, objections, converted_recollection):
        connection.execute("UPDATE house_state SET value = ? WHERE scope = ? AND key = ?", (value, *json.loads(place)))


def _changed(connection: sqlite3.Connection, question: str, convert: Callable[[Values], Values]) -> Iterator[tuple[Any, str]]:
    """Yield the key and the new JSON of every record that changes."""
    for key, text in connection.execute(question).fetchall():
        try:
            stored = json.loads(text)
            made = convert(stored)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        if made != stored:
            yield key, json.dumps(made, ensure_ascii=False)
