"""Key-value stores: state of a session, state of the program, and cached token counts."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from uuid import UUID

from lethe_app.storage.chats import incognito
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import ColumnValue, json_text, read_json, save_row, storable_text

MAX_COUNTS = 200_000
"""Maximum number of cached token counts; when it is exceeded, the cache is emptied."""
SESSION_VALUES = """
SELECT key, value FROM session_state WHERE session_id = ?1
UNION ALL SELECT key, value FROM incognito_state WHERE session_id = ?1
"""

KEY_MOMENT_DAYS, NOTEBOOK_PROGRESS = "key moments", "notebooks"
"""Scopes of the app state: by persona, what was read, each with the number of messages then: days, and sessions."""
REMOVE_ENTRY = """
UPDATE app_state SET value = json_remove(value, '$."' || ? || '"')
WHERE scope = ? AND key = (SELECT persona_id FROM sessions WHERE guid = ?) AND json_valid(value)
"""
"""Statement that removes an entry of a session's persona, so that it is read again."""


class SessionState(Store):
    """Store of JSON values by session and key; deleted when the session is purged."""

    @in_transaction
    def get(self, connection: sqlite3.Connection, session_id: UUID, key: str) -> object:
        """Return the value, or None if there is none."""
        return session_values(connection, session_id).get(key)

    @in_transaction
    def values_of(self, connection: sqlite3.Connection, session_id: UUID) -> dict[str, object]:
        """Return all values of a session by key."""
        return session_values(connection, session_id)

    @in_transaction
    def set(self, connection: sqlite3.Connection, session_id: UUID, key: str, value: object) -> None:
        """Store a value; None deletes the key."""
        set_session_value(connection, session_id, key, value)


class AppState(Store):
    """Store of JSON values by scope and key, such as the state of a service per persona."""

    @in_transaction
    def get(self, connection: sqlite3.Connection, scope: str, key: str) -> object | None:
        """Return the value, or None if there is none."""
        row = connection.execute("SELECT value FROM app_state WHERE scope = ? AND key = ?", (scope, key)).fetchone()
        return read_json(row[0]) if row else None

    @in_transaction
    def set(self, connection: sqlite3.Connection, scope: str, key: str, value: object) -> None:
        """Store a value; None deletes the key."""
        set_app_value(connection, scope, key, value)

    @in_transaction
    def values_of(self, connection: sqlite3.Connection, scope: str) -> dict[str, object]:
        """Return all keys of a scope with their values."""
        rows = connection.execute("SELECT key, value FROM app_state WHERE scope = ? ORDER BY key", (scope,))
        return {key: read_json(value) for key, value in rows}


class TokenCounts(Store):
    """Cache of token counts per tokenizer; texts are stored only as digests."""

    @in_transaction
    def cached_counts(self, connection: sqlite3.Connection, tokenizer: str, texts: Sequence[str]) -> list[int | None]:
        """Return one count per text, None if it is not cached."""
        digests = [_digest(text) for text in texts]
        query = "SELECT tokens FROM token_counts WHERE tokenizer = ? AND digest = ?"
        rows = [connection.execute(query, (tokenizer, digest)).fetchone() for digest in digests]
        return [row[0] if row else None for row in rows]

    @in_transaction
    def cache_counts(self, connection: sqlite3.Connection, tokenizer: str, counts: Mapping[str, int]) -> None:
        """Cache counts by text. If there are too many, all older ones are deleted and counted again when needed."""
        rows = [(tokenizer, _digest(text), tokens) for text, tokens in counts.items()]
        (count,) = connection.execute("SELECT count(*) FROM token_counts").fetchone()
        if count + len(rows) > MAX_COUNTS:
            connection.execute("DELETE FROM token_counts")
        connection.executemany("INSERT OR REPLACE INTO token_counts (tokenizer, digest, tokens) VALUES (?, ?, ?)", rows)


def session_values(connection: sqlite3.Connection, session_id: UUID) -> dict[str, object]:
    """Return the whole state of a session by key, inside a transaction."""
    rows = connection.execute(SESSION_VALUES, (str(session_id),))
    return {key: read_json(value) for key, value in rows}


def app_values(connection: sqlite3.Connection, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], object]:
    """Return those of these values of the app state that exist, by scope and key, inside a transaction."""
    query = "SELECT value FROM app_state WHERE scope = ? AND key = ?"
    rows = {key: connection.execute(query, key).fetchone() for key in keys}
    return {key: read_json(row[0]) for key, row in rows.items() if row}


def set_session_value(connection: sqlite3.Connection, session_id: UUID, key: str, value: object) -> None:
    """Set a session value inside the caller's transaction; None deletes the key."""
    table = "incognito_state" if incognito.is_session_incognito(connection, str(session_id)) else "session_state"
    _set_value(connection, table, {"session_id": str(session_id), "key": key}, value)


def set_app_value(connection: sqlite3.Connection, scope: str, key: str, value: object) -> None:
    """Set a value of the app state inside the caller's transaction; None deletes the key."""
    _set_value(connection, "app_state", {"scope": storable_text(scope), "key": storable_text(key)}, value)


def _set_value(connection: sqlite3.Connection, table: str, key: dict[str, ColumnValue], value: object) -> None:
    if value is None:
        condition = " AND ".join(f"{name} = :{name}" for name in key)
        connection.execute(f"DELETE FROM {table} WHERE {condition}", key)
    else:
        save_row(connection, table, ", ".join(key), {**key, "value": json_text(value)})


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
