"""Version 8: reasons for recalls, blocks, cache misses and cuts are data; until then they were English sentences."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from lethe_app.domain.old_reasons import convert_memory, convert_receipt, convert_recollection

Values = dict[str, Any]
TURNS = "SELECT message_id, value FROM turn_memories"
RECEIPTS = "SELECT json_array(message_id, position), value FROM receipts"
WITHDRAWN_RECALLS = """
SELECT json_array(scope, key), value FROM house_state WHERE scope LIKE 'objections %' AND key LIKE 'taken back %'
"""
"""Query: memories that an objection keeps out of a turn, stored with the objections until it is withdrawn."""


def convert_reasons(connection: sqlite3.Connection) -> None:
    """Migrate to version 8. A record that cannot be read is left as it is."""
    for id_, value in _converted(connection, TURNS, lambda row: {**row, "memory": convert_memory(row["memory"])}):
        connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (value, id_))
    for key, value in _converted(connection, RECEIPTS, convert_receipt):
        connection.execute("UPDATE receipts SET value = ? WHERE message_id = ? AND position = ?", (value, *json.loads(key)))
    for key, value in _converted(connection, WITHDRAWN_RECALLS, convert_recollection):
        connection.execute("UPDATE house_state SET value = ? WHERE scope = ? AND key = ?", (value, *json.loads(key)))


def _converted(connection: sqlite3.Connection, query: str, convert: Callable[[Values], Values]) -> Iterator[tuple[Any, str]]:
    """Yield the key and the new JSON of every record that changes."""
    for key, text in connection.execute(query).fetchall():
        try:
            stored = json.loads(text)
            converted = convert(stored)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        if converted != stored:
            yield key, json.dumps(converted, ensure_ascii=False)
