-- Version 5: task runs, change log, feedback on replies, working memory; category and tags of memories.

ALTER TABLE memories ADD COLUMN filed_under TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memories ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
ALTER TABLE memories ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN needs_permission INTEGER NOT NULL DEFAULT 0;

CREATE INDEX memories_filed ON memories (persona_id, filed_under) WHERE filed_under <> '' AND deleted_at IS NULL;

CREATE TABLE task_runs (                            -- every run of a task, also the one in progress
    id         TEXT NOT NULL PRIMARY KEY,
    persona_id TEXT NOT NULL,
    task       TEXT NOT NULL,
    began      TEXT NOT NULL,                       -- UTC, as is ended
    ended      TEXT,
    outcome    TEXT,
    tokens     INTEGER NOT NULL,
    summary    TEXT NOT NULL,
    trouble    TEXT NOT NULL,
    made       TEXT NOT NULL,                       -- JSON
    undone     INTEGER NOT NULL
);

CREATE INDEX task_runs_of_persona ON task_runs (persona_id, task, began);
CREATE INDEX task_runs_in_time ON task_runs (began);

CREATE TABLE changes (                              -- changes that tasks proposed or made
    id         TEXT NOT NULL PRIMARY KEY,
    run_id     TEXT REFERENCES task_runs (id) ON DELETE SET NULL,
    persona_id TEXT NOT NULL,
    at         TEXT NOT NULL,                       -- UTC
    state      TEXT NOT NULL,
    what       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    before     TEXT NOT NULL,                       -- JSON, as is after
    after      TEXT NOT NULL
);

CREATE INDEX changes_of_persona ON changes (persona_id, state, at);

CREATE TABLE feedback (                             -- the user's feedback on an alternative
    message_id TEXT NOT NULL,
    position   INTEGER NOT NULL,
    persona_id TEXT NOT NULL,
    verdict    TEXT NOT NULL,
    words      TEXT NOT NULL,
    at         TEXT NOT NULL,                       -- UTC
    settled    INTEGER NOT NULL,
    PRIMARY KEY (message_id, position),
    FOREIGN KEY (message_id, position) REFERENCES alternatives (message_id, position) ON DELETE CASCADE ON UPDATE CASCADE
) WITHOUT ROWID;

CREATE INDEX feedback_of_persona ON feedback (persona_id, settled, at);

CREATE TABLE workbench (                            -- working memory: entries that expire after some minutes
    namespace TEXT NOT NULL,                        -- session/<guid> or task/<name>
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    category  TEXT NOT NULL,
    tags      TEXT NOT NULL,                        -- JSON
    stored    TEXT NOT NULL,                        -- UTC, as is expires
    expires   TEXT NOT NULL,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

CREATE TRIGGER owe_memory_filed AFTER UPDATE OF filed_under, tags ON memories WHEN new.category <> 'chat_session' BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('memory', new.guid);
END;
