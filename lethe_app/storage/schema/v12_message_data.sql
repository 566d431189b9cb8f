-- Version 12: mode and language of messages, latency and degradations of replies, switches within a session, key moments, and
-- incognito sessions.

ALTER TABLE messages ADD COLUMN mode TEXT NOT NULL DEFAULT 'text';

ALTER TABLE alternatives ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE alternatives ADD COLUMN is_sensitive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alternatives ADD COLUMN first_token_ms INTEGER;
ALTER TABLE alternatives ADD COLUMN total_ms INTEGER;
ALTER TABLE alternatives ADD COLUMN degradations TEXT NOT NULL DEFAULT '[]';

ALTER TABLE sessions ADD COLUMN is_incognito INTEGER NOT NULL DEFAULT 0;

CREATE TABLE session_events (                       -- a switch belongs to its message, and through it to a session
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    before     TEXT NOT NULL,
    after      TEXT NOT NULL,
    trigger    TEXT NOT NULL,
    time       TEXT NOT NULL,
    PRIMARY KEY (message_id, kind)
) WITHOUT ROWID;

-- A key moment is a memory; this table finds those of a message. They go to the trash and come back with their messages.

CREATE TABLE moment_sources (
    message_id TEXT NOT NULL,
    moment     TEXT NOT NULL REFERENCES memories (guid) ON DELETE CASCADE,
    PRIMARY KEY (message_id, moment)
) WITHOUT ROWID;

CREATE INDEX sources_of_moment ON moment_sources (moment);

CREATE TRIGGER note_moment_sources AFTER INSERT ON memories WHEN new.made_by = 'key_moments' BEGIN
    INSERT INTO moment_sources (message_id, moment)
        SELECT DISTINCT substr(value, 9), new.guid FROM json_each(new.sources) WHERE value LIKE 'message:%';
END;

CREATE TRIGGER forget_moments_0 AFTER UPDATE OF deleted_at ON messages WHEN new.deleted_at IS NOT NULL BEGIN
    UPDATE memories SET deleted_at = new.deleted_at
        WHERE deleted_at IS NULL AND guid IN (SELECT moment FROM moment_sources WHERE message_id = new.id);
END;

CREATE TRIGGER forget_moments_1 AFTER UPDATE OF deleted_at ON messages WHEN new.deleted_at IS NULL BEGIN
    UPDATE memories SET deleted_at = NULL
        WHERE deleted_at = old.deleted_at AND guid IN (SELECT moment FROM moment_sources WHERE message_id = new.id);
END;

CREATE TRIGGER forget_moments_2 AFTER UPDATE OF deleted_at ON memories
WHEN new.category = 'chat_session' AND new.deleted_at IS NOT NULL BEGIN
    UPDATE memories SET deleted_at = new.deleted_at WHERE deleted_at IS NULL AND guid IN (
        SELECT moment FROM messages m JOIN moment_sources s ON s.message_id = m.id WHERE m.session_id = new.guid);
END;

CREATE TRIGGER forget_moments_3 AFTER UPDATE OF deleted_at ON memories
WHEN new.category = 'chat_session' AND new.deleted_at IS NULL BEGIN
    UPDATE memories SET deleted_at = NULL WHERE deleted_at = old.deleted_at AND guid IN (
        SELECT moment FROM messages m JOIN moment_sources s ON s.message_id = m.id WHERE m.session_id = new.guid);
END;

CREATE TRIGGER forget_moments_4 AFTER DELETE ON messages BEGIN
    DELETE FROM memories WHERE guid IN (SELECT moment FROM moment_sources WHERE message_id = old.id);
END;
