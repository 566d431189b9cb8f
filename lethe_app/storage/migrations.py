"""Schema migrations of the database: one numbered step per change, never edited once released."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from lethe_app.storage.schema.agents import agent_schema
from lethe_app.storage.schema.facts import fact_schema
from lethe_app.storage.schema.guests import guest_schema
from lethe_app.storage.schema.memory import memory_schema
from lethe_app.storage.schema.reasons import reason_schema
from lethe_app.storage.schema.receipts import receipt_schema
from lethe_app.storage.transaction import transaction

Migration = Callable[[sqlite3.Connection], None]

APPLICATION_ID = 0x4C657468
"""“Leth” in ASCII, stored in the header of every Lethe database."""

FIRST_TABLES = (
    """
    CREATE TABLE memories (
        guid               TEXT NOT NULL PRIMARY KEY,
        persona_id         TEXT NOT NULL,               -- whose memory it is
        category           TEXT NOT NULL,
        insertion          TEXT NOT NULL,
        name               TEXT NOT NULL,
        content            TEXT NOT NULL,
        reason             TEXT NOT NULL,
        path               TEXT NOT NULL,
        added              TEXT NOT NULL,               -- times are ISO 8601 with their zone
        end_time           TEXT,
        last_trigger       TEXT NOT NULL,
        trigger_count      INTEGER NOT NULL,
        priority           INTEGER NOT NULL,
        position_index     INTEGER NOT NULL,
        duration           INTEGER NOT NULL,
        trigger_chance     REAL NOT NULL,
        sticky             INTEGER NOT NULL,
        protected          INTEGER NOT NULL,
        enabled            INTEGER NOT NULL,
        keywords_main      TEXT NOT NULL,               -- lists are JSON
        keywords_secondary TEXT NOT NULL,
        word_link          TEXT NOT NULL,
        case_sensitive     INTEGER NOT NULL,
        meta_info_toggle   INTEGER NOT NULL,
        meta_info          TEXT NOT NULL,
        deleted_at         TEXT                         -- in the trash since then (UTC)
    )
    """,
    "CREATE INDEX memories_of_persona ON memories (persona_id, category) WHERE deleted_at IS NULL",
    "CREATE INDEX memories_in_trash ON memories (deleted_at) WHERE deleted_at IS NOT NULL",
    """
    CREATE TABLE sessions (                             -- the other half of a memory of category chat_session
        guid          TEXT NOT NULL PRIMARY KEY REFERENCES memories (guid) ON DELETE CASCADE,
        persona_id    TEXT NOT NULL,
        user_id       TEXT NOT NULL,
        scenario      TEXT NOT NULL,
        is_roleplay   INTEGER NOT NULL,
        future_goals  TEXT NOT NULL,
        relevance     INTEGER NOT NULL,
        archived      INTEGER NOT NULL,
        tip_id        TEXT,                             -- last message of the branch on display, in the trash or not
        branched      INTEGER NOT NULL DEFAULT 0,       -- 0: every message follows the one before it by seq
        last_activity TEXT NOT NULL,                    -- UTC, so that text order is the order in time
        message_count INTEGER NOT NULL DEFAULT 0        -- messages neither hidden nor in the trash
    )
    """,
    "CREATE INDEX sessions_of_persona ON sessions (persona_id, last_activity)",
    """
    CREATE TABLE messages (
        id           TEXT NOT NULL PRIMARY KEY,
        session_id   TEXT NOT NULL REFERENCES sessions (guid) ON DELETE CASCADE,
        parent_id    TEXT REFERENCES messages (id),     -- never changes while the parent exists, in the trash or not
        seq          INTEGER NOT NULL,                  -- order of arrival within the session
        role         TEXT NOT NULL,
        speaker      TEXT NOT NULL,
        speaker_name TEXT NOT NULL,
        time         TEXT NOT NULL,
        hidden       INTEGER NOT NULL,
        note         TEXT NOT NULL,
        shown        INTEGER NOT NULL,
        deleted_at   TEXT,
        UNIQUE (session_id, seq)
    )
    """,
    "CREATE INDEX messages_in_order ON messages (session_id, seq) WHERE deleted_at IS NULL",
    "CREATE INDEX messages_by_parent ON messages (parent_id)",
    "CREATE INDEX messages_in_trash ON messages (deleted_at) WHERE deleted_at IS NOT NULL",
    """
    CREATE TABLE alternatives (
        message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
        position   INTEGER NOT NULL,
        length     INTEGER NOT NULL,                    -- characters of content
        complete   INTEGER NOT NULL,
        created    TEXT NOT NULL,
        model      TEXT NOT NULL,
        content    TEXT NOT NULL,
        thinking   TEXT NOT NULL,
        PRIMARY KEY (message_id, position)
    )
    """,
    "CREATE INDEX alternatives_unfinished ON alternatives (message_id) WHERE complete = 0",
    """
    CREATE TABLE token_counts (                         -- a cache, may be emptied at any time
        tokenizer TEXT NOT NULL,
        digest    BLOB NOT NULL,
        tokens    INTEGER NOT NULL,
        PRIMARY KEY (tokenizer, digest)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE session_state (
        session_id TEXT NOT NULL REFERENCES sessions (guid) ON DELETE CASCADE,
        key        TEXT NOT NULL,
        value      TEXT NOT NULL,                       -- JSON
        PRIMARY KEY (session_id, key)
    ) WITHOUT ROWID
    """,
)
"""Statements of version 1."""


def first_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 1: memories, sessions, messages with their alternatives, token counts and session state."""
    for statement in FIRST_TABLES:
        connection.execute(statement)


PASSAGE_TABLES = (
    """
    CREATE TABLE passages (                             -- derived from the other tables and from files; may be built anew
        number   INTEGER NOT NULL PRIMARY KEY,
        kind     TEXT NOT NULL,
        owner    TEXT NOT NULL,                         -- the persona who remembers it
        source   TEXT NOT NULL,                         -- what is brought up: a session, a memory, a world entry
        origin   TEXT NOT NULL,                         -- what it was taken from: a fact, a message, or the source
        text     TEXT NOT NULL,
        searched TEXT NOT NULL,                         -- the text as words find it
        time     TEXT NOT NULL,
        speaker  TEXT NOT NULL,
        place    INTEGER NOT NULL                       -- order within the source
    )
    """,
    "CREATE INDEX passages_of_owner ON passages (owner)",
    "CREATE INDEX passages_of_source ON passages (source)",
    "CREATE INDEX passages_of_origin ON passages (origin)",
    """
    CREATE TABLE passage_vectors (
        passage  INTEGER NOT NULL PRIMARY KEY REFERENCES passages (number) ON DELETE CASCADE,
        embedder TEXT NOT NULL,                         -- vectors of different models are never compared
        vector   BLOB NOT NULL,                         -- unit vector of float32, native byte order
        tokens   BLOB NOT NULL                          -- a row of signed bytes per token
    )
    """,
    """
    CREATE VIRTUAL TABLE passage_words USING fts5(
        searched, content = 'passages', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2')
    """,
    "CREATE VIRTUAL TABLE passage_terms USING fts5vocab(passage_words, row)",
    "CREATE VIRTUAL TABLE passage_places USING fts5vocab(passage_words, instance)",
)
"""Statements of version 2."""


def passage_schema(connection: sqlite3.Connection) -> None:
    """Migrate to version 2: passages with vectors and a full-text index."""
    for statement in PASSAGE_TABLES:
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (
    first_schema,
    passage_schema,
    memory_schema,
    receipt_schema,
    agent_schema,
    guest_schema,
    fact_schema,
    reason_schema,
)
"""Migration steps in order; step n migrates from version n to version n + 1."""


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of the database: the number of steps applied."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply all outstanding steps, each in a transaction of its own; a failing step leaves the version before it."""
    # SQLite ignores this pragma inside a transaction, so it must come before the first BEGIN.
    connection.execute("PRAGMA foreign_keys = OFF")  # a step may rebuild a table that others refer to
    for number in range(schema_version(connection), len(migrations)):
        with transaction(connection):
            migrations[number](connection)
            # With foreign keys off, nothing else would notice a row that lost its parent.
            _check_references(connection)
            # Both pragmas write to the header page, so they are part of the transaction.
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")
    connection.execute("PRAGMA foreign_keys = ON")


def _check_references(connection: sqlite3.Connection) -> None:
    orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
    if orphan is not None:
        raise sqlite3.IntegrityError(f"a row of {orphan[0]} is left without its {orphan[2]}")
