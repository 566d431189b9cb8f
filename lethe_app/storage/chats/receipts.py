"""Receipts of prompts (parts, costs), and the newest prompts word for word.

Receipts are small and stay as long as the reply. Prompts are large and private: only a limited number is stored, and a
persona's prompts are deleted as soon as something of that persona is forgotten (see
`schema/v4_receipts.sql`).
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.domain.prompt import PromptPart, PromptSpan, ReceiptEntry
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import storable_text

MAX_STORED_PROMPTS = 200
"""Maximum number of stored prompts."""
_ENTRY = TypeAdapter(ReceiptEntry)


@dataclass(frozen=True)
class ReplyReceipt:
    """Receipt of the prompt of a reply, with what it was made from."""

    entry: ReceiptEntry
    persona_id: str
    spans: Sequence[PromptSpan]
    """The prompt word for word."""
    deletions: int
    """Number of deletions of the persona's memories before the prompt was built; after another one, `spans` are not stored."""


class Receipts(Store):
    """Table of receipts by message and alternative. A receipt in the format of another version counts as missing."""

    @in_transaction
    def get(self, connection: sqlite3.Connection, message_id: UUID, position: int) -> ReceiptEntry | None:
        """Return a receipt, or None."""
        row = connection.execute(
            "SELECT value FROM receipts WHERE message_id = ? AND position = ?", (str(message_id), position)
        ).fetchone()
        try:
            return _ENTRY.validate_json(row[0]) if row else None
        except ValidationError:
            return None

    @in_transaction
    def spans(self, connection: sqlite3.Connection, message_id: UUID, position: int) -> tuple[PromptSpan, ...]:
        """Return the stored prompt; empty if there is none."""
        row = connection.execute(
            "SELECT spans FROM kept_prompts WHERE message_id = ? AND position = ?", (str(message_id), position)
        ).fetchone()
        return _decompress_spans(row[0]) if row else ()

    @in_transaction
    def is_full(self, connection: sqlite3.Connection) -> bool:
        """Return whether as many prompts are stored as there may be, so that older ones were deleted for new ones."""
        (count,) = connection.execute("SELECT count(*) FROM kept_prompts").fetchone()
        return bool(count >= MAX_STORED_PROMPTS)

    @in_transaction
    def delete_prompts(self, connection: sqlite3.Connection, persona_id: str) -> None:
        """Delete all stored prompts of a persona, and prevent those being built now from being stored."""
        connection.execute("DELETE FROM kept_prompts WHERE persona_id = ?", (persona_id,))
        connection.execute(COUNT_DELETION, (persona_id,))


SELECT_SHOWN_POSITION = """
SELECT m.shown FROM messages m JOIN memories s ON s.guid = m.session_id
WHERE m.id = ? AND m.deleted_at IS NULL AND s.deleted_at IS NULL
"""
SAVE_RECEIPT = """
INSERT INTO receipts (message_id, position, value) VALUES (?, ?, ?)
ON CONFLICT (message_id, position) DO UPDATE SET value = excluded.value
"""
SAVE_PROMPT = "INSERT INTO kept_prompts (message_id, position, persona_id, spans) VALUES (?, ?, ?, ?)"
COUNT_DELETION = """
INSERT INTO forgettings (persona_id, times) VALUES (?, 1) ON CONFLICT (persona_id) DO UPDATE SET times = times + 1
"""
DELETE_OLD_PROMPTS = (
    "DELETE FROM kept_prompts WHERE number NOT IN (SELECT number FROM kept_prompts ORDER BY number DESC LIMIT ?)"
)


def save_receipt(connection: sqlite3.Connection, message_id: UUID, receipt: ReplyReceipt) -> None:
    """Store a receipt and the prompt for the displayed alternative, inside a transaction; ignored if the message is in the
    trash or erased. The newest prompts remain.
    """
    row = connection.execute(SELECT_SHOWN_POSITION, (str(message_id),)).fetchone()
    if row is None:
        return
    key = (str(message_id), row[0])
    connection.execute(SAVE_RECEIPT, (*key, storable_text(_ENTRY.dump_json(receipt.entry).decode())))
    connection.execute("DELETE FROM kept_prompts WHERE message_id = ? AND position = ?", key)
    if receipt.spans and count_deletions(connection, receipt.persona_id) == receipt.deletions:
        connection.execute(SAVE_PROMPT, (*key, receipt.persona_id, _compress_spans(receipt.spans)))
        connection.execute(DELETE_OLD_PROMPTS, (MAX_STORED_PROMPTS,))


def count_deletions(connection: sqlite3.Connection, persona_id: str) -> int:
    """Return how often memories of a persona were deleted."""
    row = connection.execute("SELECT times FROM forgettings WHERE persona_id = ?", (persona_id,)).fetchone()
    return int(row[0]) if row else 0


def _compress_spans(spans: Sequence[PromptSpan]) -> bytes:
    rows = [(span.part, span.text, *([span.session] if span.session else [])) for span in spans]
    text = json.dumps(rows, ensure_ascii=True, separators=(",", ":"))
    return zlib.compress(text.encode())


def _decompress_spans(compressed: bytes) -> tuple[PromptSpan, ...]:
    try:
        return tuple(PromptSpan(PromptPart(part), *texts) for part, *texts in json.loads(zlib.decompress(compressed)))
    except (zlib.error, ValueError, TypeError):  # of a version that wrote it differently
        return ()
