"""Keeps what the prompt of each reply was made of and what it cost, and of the newest ones every word.

The receipts are small and stay as long as the reply. The words are many and private: only so many prompts are kept, and they go
as soon as something of that persona's is forgotten (see `receipt_schema`).
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Sequence
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.domain.prompt import PromptPart, PromptSpan, ReceiptEntry
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import storable
from lethe_app.storage.schema.receipts import delete_prompts_of

KEPT = 200
"""Prompts of a home that are kept word for word."""
_ENTRY = TypeAdapter(ReceiptEntry)


class Receipts:
    """By message and the position of the wording. What another version wrote differently counts as none."""

    def __init__(self, database: Database, kept: int = KEPT) -> None:
        self._database = database
        self._kept = kept

    async def forgotten(self, persona_id: str) -> int:
        """How often something of this persona was forgotten; to be asked before a prompt is made, and handed over with it."""
        return await self._database.run(lambda connection: _forgotten(connection, persona_id))

    async def save_receipt(
        self, message_id: UUID, entry: ReceiptEntry, persona_id: str, spans: Sequence[PromptSpan], forgotten: int
    ) -> None:
        """Keep them with the wording on display; of a message that is in the trash or gone for good, nothing is kept.

        The words are not kept if something was forgotten since `forgotten` was asked for.
        """
        value = storable(_ENTRY.dump_json(entry).decode())

        def work(connection: sqlite3.Connection) -> None:
            row = connection.execute(SHOWN, (str(message_id),)).fetchone()
            if row is None:
                return
            here = (str(message_id), row[0])
            connection.execute(PUT, (*here, value))
            connection.execute("DELETE FROM kept_prompts WHERE message_id = ? AND position = ?", here)
            if spans and _forgotten(connection, persona_id) == forgotten:
                connection.execute(KEEP, (*here, persona_id, _packed(spans)))
                connection.execute(DROP_OLD, (self._kept,))

        await self._database.run(work)

    async def get(self, message_id: UUID, position: int) -> ReceiptEntry | None:
        """None where nothing is known."""

        def work(connection: sqlite3.Connection) -> ReceiptEntry | None:
            row = connection.execute(
                "SELECT value FROM receipts WHERE message_id = ? AND position = ?", (str(message_id), position)
            ).fetchone()
            try:
                return _ENTRY.validate_json(row[0]) if row else None
            except ValidationError:
                return None

        return await self._database.run(work)

    async def spans(self, message_id: UUID, position: int) -> tuple[PromptSpan, ...]:
        """The prompt word for word; empty where it is not kept."""

        def work(connection: sqlite3.Connection) -> tuple[PromptSpan, ...]:
            row = connection.execute(
                "SELECT spans FROM kept_prompts WHERE message_id = ? AND position = ?", (str(message_id), position)
            ).fetchone()
            return _unpacked(row[0]) if row else ()

        return await self._database.run(work)

    async def delete_prompts(self, persona_id: str) -> None:
        """Keep no word of what this persona was told in prompts until now."""
        await self._database.run(lambda connection: delete_prompts_of(connection, persona_id))


SHOWN = """
SELECT m.shown FROM messages m JOIN memories s ON s.guid = m.session_id
WHERE m.id = ? AND m.deleted_at IS NULL AND s.deleted_at IS NULL
"""
PUT = """
INSERT INTO receipts (message_id, position, value) VALUES (?, ?, ?)
ON CONFLICT (message_id, position) DO UPDATE SET value = excluded.value
"""
KEEP = "INSERT INTO kept_prompts (message_id, position, persona_id, spans) VALUES (?, ?, ?, ?)"
DROP_OLD = "DELETE FROM kept_prompts WHERE number NOT IN (SELECT number FROM kept_prompts ORDER BY number DESC LIMIT ?)"


def _forgotten(connection: sqlite3.Connection, persona_id: str) -> int:
    row = connection.execute("SELECT times FROM forgettings WHERE persona_id = ?", (persona_id,)).fetchone()
    return int(row[0]) if row else 0


def _packed(spans: Sequence[PromptSpan]) -> bytes:
    text = json.dumps([(span.part, span.text) for span in spans], ensure_ascii=True, separators=(",", ":"))
    return zlib.compress(text.encode())


def _unpacked(packed: bytes) -> tuple[PromptSpan, ...]:
    try:
        return tuple(PromptSpan(PromptPart(part), text) for part, text in json.loads(zlib.decompress(packed)))
    except (zlib.error, ValueError, TypeError):  # of a version that wrote it differently
        return ()
