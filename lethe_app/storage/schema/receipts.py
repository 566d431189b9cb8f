"""The tables that came with the inspector: what each prompt was made of and cost, and the newest prompts word for word.

A kept prompt holds whatever the persona knew when it was made. When something of hers is forgotten, thrown away or corrected by
the user, all her kept prompts go with it; the receipts, which hold numbers and no words, stay. Every such moment is counted, so
that a prompt that was made before it is not kept after it.
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
"""After what the kept prompts of somebody go: event, whose, and under which condition."""


def delete_prompts_of(connection: sqlite3.Connection, persona_id: str) -> None:
    """No word of what this persona was told in prompts is kept any longer."""
    for statement in _forgetting("?"):
        connection.execute(statement, (persona_id,))


def receipt_schema(connection: sqlite3.Connection) -> None:
    """Version 4: receipts, kept prompts, and what makes these go."""
    for statement in RECEIPT_TABLES:
        connection.execute(statement)
    for number, (event, whose, condition) in enumerate(_FORGOTTEN):
        work = "; ".join(_forgetting(whose))
        connection.execute(f"CREATE TRIGGER forget_prompts_{number} AFTER {event} WHEN {condition} BEGIN {work}; END")


def _forgetting(whose: str) -> tuple[str, str]:
    gone = f"DELETE FROM kept_prompts WHERE persona_id = {whose}"  # noqa: S608 - names are ours
    counted = f"INSERT INTO forgettings (persona_id, times) VALUES ({whose}, 1)"  # noqa: S608 - names are ours
    return gone, f"{counted} ON CONFLICT (persona_id) DO UPDATE SET times = times + 1"
