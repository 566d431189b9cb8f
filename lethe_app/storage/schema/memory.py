"""Tables for facts, archive jobs, the memories recalled per turn, app state, and the queue of records to index.

Triggers queue a record in the transaction that changes it, so that no code path can miss the index.
"""

from __future__ import annotations

import sqlite3

MEMORY_TABLES = (
    "CREATE INDEX vectors_of_embedder ON passage_vectors (embedder)",
    """
    CREATE TABLE facts (
        guid            TEXT NOT NULL PRIMARY KEY,
        persona_id      TEXT NOT NULL,                  -- who knows it
        fact            TEXT NOT NULL,
        first_seen      TEXT NOT NULL,
        last_seen       TEXT NOT NULL,
        reference_count INTEGER NOT NULL,
        source_memories TEXT NOT NULL,                  -- lists are JSON
        source_messages TEXT NOT NULL,
        superseded      INTEGER NOT NULL,
        superseded_by   TEXT,
        pinned          INTEGER NOT NULL,
        made_by         TEXT NOT NULL,
        deleted_at      TEXT
    )
    """,
    "CREATE INDEX facts_of_persona ON facts (persona_id) WHERE deleted_at IS NULL",
    """
    CREATE TABLE forgotten_facts (                      -- what the user had forgotten is not learnt from the same talk again
        persona_id TEXT NOT NULL,
        digest     TEXT NOT NULL,                       -- of the fact's words, which themselves are not kept
        messages   TEXT NOT NULL,
        PRIMARY KEY (persona_id, digest)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE session_parts (                        -- what an archived session is to get, and how far that has come
        session_id TEXT NOT NULL REFERENCES sessions (guid) ON DELETE CASCADE,
        part       TEXT NOT NULL,
        state      TEXT NOT NULL,
        made_by    TEXT NOT NULL,
        maker      TEXT NOT NULL,                       -- the model's name
        tries      INTEGER NOT NULL,
        trouble    TEXT NOT NULL,
        PRIMARY KEY (session_id, part)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE turn_memories (                        -- what was brought up when this message was said
        message_id TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
        value      TEXT NOT NULL                        -- JSON
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE house_state (
        scope TEXT NOT NULL,
        key   TEXT NOT NULL,
        value TEXT NOT NULL,                            -- JSON
        PRIMARY KEY (scope, key)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE passage_debts (                        -- what changed and is not yet in the passages
        number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        kind   TEXT NOT NULL,                           -- message, session, memory or fact
        id     TEXT NOT NULL,
        UNIQUE (kind, id) ON CONFLICT REPLACE
    )
    """,
)

_OWED = {
    "message": (
        ("INSERT ON alternatives", "new.message_id", ""),
        ("UPDATE OF content, position ON alternatives", "new.message_id", ""),
        ("DELETE ON alternatives", "old.message_id", ""),
        ("UPDATE OF shown, hidden, deleted_at, time, speaker_name, role ON messages", "new.id", ""),
        ("DELETE ON messages", "old.id", ""),
    ),
    "session": (
        ("UPDATE OF name, content, added, deleted_at ON memories", "new.guid", "new.category = 'chat_session'"),
        ("DELETE ON memories", "old.guid", "old.category = 'chat_session'"),
    ),
    "memory": (
        ("INSERT ON memories", "new.guid", "new.category <> 'chat_session'"),
        (
            "UPDATE OF name, content, added, deleted_at, insertion, enabled, category ON memories",
            "new.guid",
            "new.category <> 'chat_session'",
        ),
        ("DELETE ON memories", "old.guid", "old.category <> 'chat_session'"),
    ),
    "fact": (
        ("INSERT ON facts", "new.guid", ""),
        ("UPDATE OF fact, source_memories, superseded, deleted_at, last_seen ON facts", "new.guid", ""),
        ("DELETE ON facts", "old.guid", ""),
    ),
}
"""Events that queue a record for indexing: event, expression for its id, and condition."""

OWE_MESSAGES_OF_SESSION = """
CREATE TRIGGER owe_messages_of_session AFTER UPDATE OF deleted_at ON memories WHEN new.category = 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) SELECT 'message', id FROM messages WHERE session_id = new.guid;
    INSERT INTO passage_debts (kind, id)
        SELECT 'fact', facts.guid FROM facts, json_each(source_memories) WHERE json_each.value = new.guid;
END
"""
"""Trigger that queues a session's messages and facts when the session is moved to the trash or restored."""
OWE_EVERYTHING = (
    "INSERT INTO passage_debts (kind, id) SELECT 'message', id FROM messages WHERE deleted_at IS NULL AND hidden = 0",
    "INSERT INTO passage_debts (kind, id) SELECT 'session', guid FROM sessions",
    "INSERT INTO passage_debts (kind, id) SELECT 'memory', guid FROM memories WHERE category <> 'chat_session'",
)
"""Statements that queue all existing records for their first indexing."""


def memory_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 3: facts, archive jobs, recalled memories, app state and the indexing queue with its triggers."""
    for statement in MEMORY_TABLES:
        connection.execute(statement)
    for kind, events in _OWED.items():
        for number, (event, whose, condition) in enumerate(events):
            when = f"WHEN {condition}" if condition else ""
            note = f"INSERT INTO passage_debts (kind, id) VALUES ('{kind}', {whose})"  # noqa: S608 - names are ours
            connection.execute(f"CREATE TRIGGER owe_{kind}_{number} AFTER {event} {when} BEGIN {note}; END")
    connection.execute(OWE_MESSAGES_OF_SESSION)
    for statement in OWE_EVERYTHING:
        connection.execute(statement)
