-- Version 3: facts, archive jobs, the memories recalled per turn, app state, and the queue of records to index.
--
-- Triggers queue a record in the transaction that changes it, so that no code path can miss the index.

CREATE INDEX vectors_of_embedder ON passage_vectors (embedder);

CREATE TABLE facts (
    guid            TEXT NOT NULL PRIMARY KEY,
    persona_id      TEXT NOT NULL,                  -- the persona that knows it
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
);

CREATE INDEX facts_of_persona ON facts (persona_id) WHERE deleted_at IS NULL;

CREATE TABLE forgotten_facts (                      -- tombstones: these facts are not learnt again from these messages
    persona_id TEXT NOT NULL,
    digest     TEXT NOT NULL,                       -- of the fact's words; the text itself is not stored
    messages   TEXT NOT NULL,
    PRIMARY KEY (persona_id, digest)
) WITHOUT ROWID;

CREATE TABLE session_parts (                        -- archive jobs
    session_id TEXT NOT NULL REFERENCES sessions (guid) ON DELETE CASCADE,
    part       TEXT NOT NULL,
    state      TEXT NOT NULL,
    made_by    TEXT NOT NULL,
    maker      TEXT NOT NULL,                       -- name of the model
    tries      INTEGER NOT NULL,
    trouble    TEXT NOT NULL,
    PRIMARY KEY (session_id, part)
) WITHOUT ROWID;

CREATE TABLE turn_memories (                        -- what was recalled for this message
    message_id TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    value      TEXT NOT NULL                        -- JSON
) WITHOUT ROWID;

CREATE TABLE house_state (
    scope TEXT NOT NULL,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,                            -- JSON
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;

CREATE TABLE passage_debts (                        -- records that changed and are not yet indexed
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind   TEXT NOT NULL,                           -- message, session, memory or fact
    id     TEXT NOT NULL,
    UNIQUE (kind, id) ON CONFLICT REPLACE
);

CREATE TRIGGER owe_message_0 AFTER INSERT ON alternatives BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('message', new.message_id);
END;

CREATE TRIGGER owe_message_1 AFTER UPDATE OF content, position ON alternatives BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('message', new.message_id);
END;

CREATE TRIGGER owe_message_2 AFTER DELETE ON alternatives BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('message', old.message_id);
END;

CREATE TRIGGER owe_message_3 AFTER UPDATE OF shown, hidden, deleted_at, time, speaker_name, role ON messages BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('message', new.id);
END;

CREATE TRIGGER owe_message_4 AFTER DELETE ON messages BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('message', old.id);
END;

CREATE TRIGGER owe_session_0 AFTER UPDATE OF name, content, added, deleted_at ON memories
WHEN new.category = 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('session', new.guid);
END;

CREATE TRIGGER owe_session_1 AFTER DELETE ON memories
WHEN old.category = 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('session', old.guid);
END;

CREATE TRIGGER owe_memory_0 AFTER INSERT ON memories
WHEN new.category <> 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('memory', new.guid);
END;

CREATE TRIGGER owe_memory_1 AFTER UPDATE OF name, content, added, deleted_at, insertion, enabled, category ON memories
WHEN new.category <> 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('memory', new.guid);
END;

CREATE TRIGGER owe_memory_2 AFTER DELETE ON memories
WHEN old.category <> 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('memory', old.guid);
END;

CREATE TRIGGER owe_fact_0 AFTER INSERT ON facts BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('fact', new.guid);
END;

CREATE TRIGGER owe_fact_1 AFTER UPDATE OF fact, source_memories, superseded, deleted_at, last_seen ON facts BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('fact', new.guid);
END;

CREATE TRIGGER owe_fact_2 AFTER DELETE ON facts BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('fact', old.guid);
END;

CREATE TRIGGER owe_messages_of_session AFTER UPDATE OF deleted_at ON memories WHEN new.category = 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) SELECT 'message', id FROM messages WHERE session_id = new.guid;
    INSERT INTO passage_debts (kind, id)
        SELECT 'fact', facts.guid FROM facts, json_each(source_memories) WHERE json_each.value = new.guid;
END;

INSERT INTO passage_debts (kind, id) SELECT 'message', id FROM messages WHERE deleted_at IS NULL AND hidden = 0;
INSERT INTO passage_debts (kind, id) SELECT 'session', guid FROM sessions;
INSERT INTO passage_debts (kind, id) SELECT 'memory', guid FROM memories WHERE category <> 'chat_session';
