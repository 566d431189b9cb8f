-- Whether a fact is dormant is decided when a source is deleted or restored, not at every reading.

ALTER TABLE facts ADD COLUMN dormant INTEGER NOT NULL DEFAULT 0;
ALTER TABLE facts ADD COLUMN lapsed_sources TEXT NOT NULL DEFAULT '[]';  -- messages whose text changed: [id, digest of the text it was taken from]

CREATE INDEX facts_by_successor ON facts (superseded_by) WHERE superseded_by IS NOT NULL;

DROP TRIGGER owe_fact_1;

CREATE TRIGGER owe_fact_1 AFTER UPDATE OF fact, source_memories, superseded, dormant, deleted_at, last_seen ON facts BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('fact', new.guid);
END;

UPDATE facts SET dormant = 1 WHERE pinned = 0 AND made_by <> 'user'
AND NOT EXISTS (SELECT 1 FROM json_each(source_messages) s JOIN messages m ON m.id = s.value JOIN memories c ON c.guid = m.session_id
    WHERE m.deleted_at IS NULL AND c.deleted_at IS NULL)
AND (EXISTS (SELECT 1 FROM json_each(source_messages) s JOIN messages m ON m.id = s.value)
    OR (EXISTS (SELECT 1 FROM json_each(source_memories) s JOIN memories c ON c.guid = s.value WHERE c.deleted_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM json_each(source_memories) s JOIN memories c ON c.guid = s.value WHERE c.deleted_at IS NULL)));

UPDATE facts SET superseded = 0 WHERE superseded_by IN (SELECT guid FROM facts WHERE dormant = 1 AND superseded = 0);

-- What was made of messages is withdrawn with them by `derived_memories`, which replaces the triggers of key moments.

ALTER TABLE memories ADD COLUMN deleted_with TEXT NOT NULL DEFAULT '';  -- session, message or former text with which it went

UPDATE memories SET deleted_with = coalesce(
    (SELECT m.id FROM moment_sources s JOIN messages m ON m.id = s.message_id
        WHERE s.moment = memories.guid AND m.deleted_at = memories.deleted_at LIMIT 1),
    (SELECT c.guid FROM moment_sources s JOIN messages m ON m.id = s.message_id JOIN memories c ON c.guid = m.session_id
        WHERE s.moment = memories.guid AND c.deleted_at = memories.deleted_at LIMIT 1), '')
WHERE made_by = 'key_moments' AND deleted_at IS NOT NULL;

CREATE INDEX memories_by_deletion ON memories (deleted_with) WHERE deleted_with <> '';

DROP TRIGGER note_moment_sources;
DROP TRIGGER forget_moments_0;
DROP TRIGGER forget_moments_1;
DROP TRIGGER forget_moments_2;
DROP TRIGGER forget_moments_3;
DROP TRIGGER forget_moments_4;
DROP TABLE moment_sources;
