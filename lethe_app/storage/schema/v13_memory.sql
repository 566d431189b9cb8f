ALTER TABLE memories ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';   -- JSON object of texts by name
UPDATE memories SET metadata = '{"source": "inferred"}'
    WHERE made_by = 'dream' AND (filed_under = 'user-preferences/inferred' OR filed_under LIKE 'anti-patterns/%');
UPDATE memories SET metadata = json_set(metadata, '$.requires_user_permission', 'true') WHERE needs_permission;
ALTER TABLE memories DROP COLUMN needs_permission;
CREATE INDEX memories_metadata ON memories (persona_id) WHERE metadata <> '{}';

CREATE TABLE working_memory (                       -- entries that expire after some minutes
    persona_id TEXT NOT NULL,
    namespace  TEXT NOT NULL,                       -- session/<guid> or task/<name>
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    category   TEXT NOT NULL,
    tags       TEXT NOT NULL,                       -- JSON
    stored     TEXT NOT NULL,                       -- UTC, as is expires
    expires    TEXT NOT NULL,
    PRIMARY KEY (persona_id, namespace, key)
) WITHOUT ROWID;
INSERT INTO working_memory
    SELECT sessions.persona_id, namespace, key, value, category, tags, stored, expires
    FROM workbench JOIN sessions ON namespace = 'session/' || sessions.guid;
DROP TABLE workbench;

CREATE TRIGGER forget_working_memory AFTER DELETE ON sessions BEGIN
    DELETE FROM working_memory WHERE namespace = 'session/' || old.guid;
END;
