-- Version 1: memories, sessions, messages with their alternatives, token counts and session state.

CREATE TABLE memories (
    guid               TEXT NOT NULL PRIMARY KEY,
    persona_id         TEXT NOT NULL,               -- the persona it belongs to
    category           TEXT NOT NULL,
    insertion          TEXT NOT NULL,
    name               TEXT NOT NULL,
    content            TEXT NOT NULL,
    reason             TEXT NOT NULL,
    path               TEXT NOT NULL,
    added              TEXT NOT NULL,               -- times are ISO 8601 with time zone
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
    deleted_at         TEXT                         -- time it was moved to the trash (UTC), else NULL
);

CREATE INDEX memories_of_persona ON memories (persona_id, category) WHERE deleted_at IS NULL;
CREATE INDEX memories_in_trash ON memories (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE sessions (                             -- further columns of a memory of category chat_session
    guid          TEXT NOT NULL PRIMARY KEY REFERENCES memories (guid) ON DELETE CASCADE,
    persona_id    TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    scenario      TEXT NOT NULL,
    is_roleplay   INTEGER NOT NULL,
    future_goals  TEXT NOT NULL,
    relevance     INTEGER NOT NULL,
    archived      INTEGER NOT NULL,
    tip_id        TEXT,                             -- last message of the displayed branch, in the trash or not
    branched      INTEGER NOT NULL DEFAULT 0,       -- 0: the parent of every message is the one before it by seq
    last_activity TEXT NOT NULL,                    -- UTC, so that alphabetical order is the order in time
    message_count INTEGER NOT NULL DEFAULT 0        -- messages neither hidden nor in the trash
);

CREATE INDEX sessions_of_persona ON sessions (persona_id, last_activity);

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
);

CREATE INDEX messages_in_order ON messages (session_id, seq) WHERE deleted_at IS NULL;
CREATE INDEX messages_by_parent ON messages (parent_id);
CREATE INDEX messages_in_trash ON messages (deleted_at) WHERE deleted_at IS NOT NULL;

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
);

CREATE INDEX alternatives_unfinished ON alternatives (message_id) WHERE complete = 0;

CREATE TABLE token_counts (                         -- a cache, may be emptied at any time
    tokenizer TEXT NOT NULL,
    digest    BLOB NOT NULL,
    tokens    INTEGER NOT NULL,
    PRIMARY KEY (tokenizer, digest)
) WITHOUT ROWID;

CREATE TABLE session_state (
    session_id TEXT NOT NULL REFERENCES sessions (guid) ON DELETE CASCADE,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,                       -- JSON
    PRIMARY KEY (session_id, key)
) WITHOUT ROWID;
