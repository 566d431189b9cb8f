"""Tables for prompt receipts and for the newest prompts word for word.

A stored prompt contains whatever the persona knew when it was built. When a fact, memory or message of that persona is
deleted or corrected by the user, all its stored prompts are deleted; the receipts, which contain numbers but no text,
remain. Every such event is counted, so that a prompt built before it is not stored after it.
"""

from __future__ import annotations

import sqlite3

RECEIPT_TABLES = (
    """
    CREATE TABLE receipts (                             -- what the prompt of a wording was made of and what it cost
        message_id TEXT NOT NULL,
        position   INTEGER NOT NULL,
        value      TEXT NOT NULL,                       -- JSON, without any of the prompt's words
        PRIMARY KEY (message_id, position),
        FOREIGN KEY (message_id, position) REFERENCES alternatives (message_id, position) ON DELETE CASCADE ON UPDATE CASCADE
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE kept_prompts (                         -- the newest prompts word for word
        number     INTEGER NOT NULL PRIMARY KEY,        -- the higher is newer
        message_id TEXT NOT NULL,
        position   INTEGER NOT NULL,
        persona_id TEXT NOT NULL,
        spans      BLOB NOT NULL,                       -- compressed JSON
        UNIQUE (message_id, position),
        FOREIGN KEY (message_id, position) REFERENCES receipts (message_id, position) ON DELETE CASCADE ON UPDATE CASCADE
    )
    """,
    "CREATE INDEX kept_prompts_of_persona ON kept_prompts (persona_id)",
    """
    CREATE TABLE forgettings (                          -- how often something of a persona was forgotten
        persona_id TEXT NOT NULL PRIMARY KEY,
        times      INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)
_OF_SESSION = "(SELECT persona_id FROM sessions WHERE guid = new.session_id)"
_BY_USER = "new.part = 'summary' AND new.made_by = 'user'"
_FORGOTTEN = (
    ("UPDATE OF deleted_at ON facts", "new.persona_id", "new.deleted_at IS NOT NULL"),
    ("UPDATE OF fact ON facts", "new.persona_id", "new.fact <> old.fact AND new.made_by = 'user'"),
    ("DELETE ON facts", "old.persona_id", "1"),
    ("UPDATE OF deleted_at ON memories", "new.persona_id", "new.deleted_at IS NOT NULL"),
    (
        "UPDATE OF content ON memories",
        "new.persona_id",
        "new.content <> old.content AND new.category <> 'chat_session'",
    ),
    ("DELETE ON memories", "old.persona_id", "1"),
    ("UPDATE OF deleted_at ON messages", _OF_SESSION, "new.deleted_at IS NOT NULL"),
    ("INSERT ON session_parts", _OF_SESSION, _BY_USER),
    ("UPDATE OF made_by ON session_parts", _OF_SESSION, _BY_USER),
)
"""Events that delete a persona's stored prompts: event, expression for the persona id, and condition."""


def delete_prompts_of(connection: sqlite3.Connection, persona_id: str) -> None:
    """Delete all stored prompts of a persona, and prevent those being built now from being stored."""
    for statement in _forgetting("?"):
        connection.execute(statement, (persona_id,))


def receipt_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 4: receipts, stored prompts, and the triggers that delete these."""
    for statement in RECEIPT_TABLES:
        connection.execute(statement)
    for number, (event, whose, condition) in enumerate(_FORGOTTEN):
        work = "; ".join(_forgetting(whose))
        connection.execute(f"CREATE TRIGGER forget_prompts_{number} AFTER {event} WHEN {condition} BEGIN {work}; END")


def _forgetting(whose: str) -> tuple[str, str]:
    """Return the statements that delete a persona's stored prompts and count the event."""
    gone = f"DELETE FROM kept_prompts WHERE persona_id = {whose}"  # noqa: S608 - names are ours
    counted = f"INSERT INTO forgettings (persona_id, times) VALUES ({whose}, 1)"  # noqa: S608 - names are ours
    return gone, f"{counted} ON CONFLICT (persona_id) DO UPDATE SET times = times + 1"
