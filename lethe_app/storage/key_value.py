"""Keeps what is known about a session or the program besides its words, and token counts that need not be computed twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from uuid import UUID

from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import storable

MOST_COUNTS = 200_000


class SessionState:
    """Any JSON value under a key of a session; gone when the session is purged."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, session_id: UUID, key: str) -> object:
        """The value, or None if there is none."""

        def work(connection: sqlite3.Connection) -> object:
            row = connection.execute(
                "SELECT value FROM session_state WHERE session_id = ? AND key = ?", (str(session_id), key)
            ).fetchone()
            return json.loads(row[0]) if row else None

        return await self._database.run(work)

    async def set(self, session_id: UUID, key: str, value: object) -> None:
        """None takes the key away."""
        await self._database.run(lambda connection: set_in_transaction(connection, session_id, key, value))


class AppState:
    """Any JSON value under a scope and a key, such as what a persona's brain keeps between turns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: str, key: str) -> object | None:
        """The value, or None if there is none."""

        def work(connection: sqlite3.Connection) -> object | None:
            row = connection.execute("SELECT value FROM house_state WHERE scope = ? AND key = ?", (scope, key)).fetchone()
            return json.loads(row[0]) if row else None

        return await self._database.run(work)

    async def set(self, scope: str, key: str, value: object) -> None:
        """None takes the key away."""
        await self._database.run(lambda connection: keep_for_app(connection, scope, key, value))

    async def all(self, scope: str) -> dict[str, object]:
        """Every key of a scope with its value."""

        def work(connection: sqlite3.Connection) -> dict[str, object]:
            rows = connection.execute("SELECT key, value FROM house_state WHERE scope = ? ORDER BY key", (scope,))
            return {key: json.loads(value) for key, value in rows}

        return await self._database.run(work)


class TokenCounts:
    """How many tokens a text has for one tokenizer; only a digest of the text is kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, tokenizer: str, texts: Sequence[str]) -> list[int | None]:
        """One count per text, None where it was never counted."""
        digests = [_digest(text) for text in texts]

        def work(connection: sqlite3.Connection) -> list[int | None]:
            question = "SELECT tokens FROM token_counts WHERE tokenizer = ? AND digest = ?"
            rows = [connection.execute(question, (tokenizer, digest)).fetchone() for digest in digests]
            return [row[0] if row else None for row in rows]

        return await self._database.run(work)

    async def remember(self, tokenizer: str, counts: Mapping[str, int]) -> None:
        """Keep counts by text; when there are too many, all older ones go and are counted anew when needed."""
        rows = [(tokenizer, _digest(text), tokens) for text, tokens in counts.items()]

        def work(connection: sqlite3.Connection) -> None:
            (kept,) = connection.execute("SELECT count(*) FROM token_counts").fetchone()
            if kept + len(rows) > MOST_COUNTS:
                connection.execute("DELETE FROM token_counts")
            connection.executemany("INSERT OR REPLACE INTO token_counts (tokenizer, digest, tokens) VALUES (?, ?, ?)", rows)

        await self._database.run(work)


def set_in_transaction(connection: sqlite3.Connection, session_id: UUID, key: str, value: object) -> None:
    """A value of a session, inside a transaction that somebody has begun; None takes the key away."""
    here = (str(session_id), key)
    if value is None:
        connection.execute("DELETE FROM session_state WHERE session_id = ? AND key = ?", here)
    else:
        row = (*here, storable(json.dumps(value, ensure_ascii=False)))
        connection.execute("INSERT OR REPLACE INTO session_state (session_id, key, value) VALUES (?, ?, ?)", row)


def keep_for_app(connection: sqlite3.Connection, scope: str, key: str, value: object) -> None:
    """The same of the app state."""
    here = (storable(scope), storable(key))
    if value is None:
        connection.execute("DELETE FROM house_state WHERE scope = ? AND key = ?", here)
    else:
        row = (*here, storable(json.dumps(value, ensure_ascii=False)))
        connection.execute("INSERT OR REPLACE INTO house_state (scope, key, value) VALUES (?, ?, ?)", row)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
