PRAGMA application_id = 1281717352;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
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
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-00000000000a',0,16,1,'2026-05-09T20:10:07+02:00','echo','Da bist du ja. 🌊','');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-00000000000a',1,8,1,'2026-05-09T20:11:07+02:00','echo','Endlich!','');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-00000000000c',0,24,1,'2026-05-09T20:12:07+02:00','','(Es ist ihr Geburtstag.)','');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-00000000000d',0,34,1,'2026-05-09T20:13:07+02:00','','مرحبا، هل تتذكرين المنارة؟ 👩‍👩‍👧‍👦','');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-00000000000e',0,49,0,'2026-05-09T20:14:07+02:00','SmolLM2','It''s only a *story*; isn''t it?

Second paragraph.','What did he mean?');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-00000000000f',0,14,1,'2026-05-09T20:15:07+02:00','','Deleted words.','');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-000000000010',0,15,1,'2026-05-09T20:16:07+02:00','','The last words.','');
INSERT INTO "alternatives" VALUES('11111111-1111-4111-8111-000000000014',0,4,1,'2026-05-09T20:20:07+02:00','','שלום','');
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
    );
INSERT INTO "memories" VALUES('11111111-1111-4111-8111-000000000001','mara-venn','chat_session','trigger','Der Leuchtturm 🗼','Ein Abend „am Meer“.','Sie war zum ersten Mal ehrlich.','','2026-05-09T20:00:07+02:00','2026-05-09T20:59:07+02:00','2026-05-09T20:00:07+02:00',0,3,-1,2,0.5,1,1,0,'["Leuchtturm", "C++"]','["مرسى"]','and',1,1,'{"x": 1}',NULL);
INSERT INTO "memories" VALUES('11111111-1111-4111-8111-000000000002','mara-venn','chat_session','trigger','In the trash','','','','2026-05-09T20:01:07+02:00',NULL,'2026-05-09T20:01:07+02:00',0,1,0,1,1.0,0,0,0,'[]','[]','and',0,0,'','2026-05-10T08:00:00.000000+00:00');
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
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-00000000000a','11111111-1111-4111-8111-000000000001',NULL,1,'assistant','mara-venn','Mara','2026-05-09T20:10:07+02:00',0,'',1,NULL);
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-00000000000c','11111111-1111-4111-8111-000000000001','11111111-1111-4111-8111-00000000000a',2,'system','ich','Ich','2026-05-09T20:12:07+02:00',1,'natural',0,NULL);
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-00000000000d','11111111-1111-4111-8111-000000000001','11111111-1111-4111-8111-00000000000c',3,'user','ich','Ich','2026-05-09T20:13:07+02:00',0,'',0,NULL);
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-00000000000e','11111111-1111-4111-8111-000000000001','11111111-1111-4111-8111-00000000000d',4,'assistant','mara-venn','Mara','2026-05-09T20:14:07+02:00',0,'',0,NULL);
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-00000000000f','11111111-1111-4111-8111-000000000001','11111111-1111-4111-8111-00000000000e',5,'user','ich','Ich','2026-05-09T20:15:07+02:00',0,'',0,'2026-05-10T08:00:00.000000+00:00');
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-000000000010','11111111-1111-4111-8111-000000000001','11111111-1111-4111-8111-00000000000f',6,'user','ich','Ich','2026-05-09T20:16:07+02:00',0,'',0,NULL);
INSERT INTO "messages" VALUES('11111111-1111-4111-8111-000000000014','11111111-1111-4111-8111-000000000002',NULL,1,'user','ich','Ich','2026-05-09T20:20:07+02:00',0,'',0,NULL);
CREATE TABLE session_state (
        session_id TEXT NOT NULL REFERENCES sessions (guid) ON DELETE CASCADE,
        key        TEXT NOT NULL,
        value      TEXT NOT NULL,                       -- JSON
        PRIMARY KEY (session_id, key)
    ) WITHOUT ROWID
    ;
INSERT INTO "session_state" VALUES('11111111-1111-4111-8111-000000000001','cut','{"first": 3}');
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
    );
INSERT INTO "sessions" VALUES('11111111-1111-4111-8111-000000000001','mara-venn','ich','Sturm.',1,'["Wieder hingehen"]',4,0,'11111111-1111-4111-8111-000000000010',0,'2026-05-09T18:16:07.000000+00:00',4);
INSERT INTO "sessions" VALUES('11111111-1111-4111-8111-000000000002','mara-venn','','',0,'[]',1,0,'11111111-1111-4111-8111-000000000014',0,'2026-05-09T18:20:07.000000+00:00',1);
CREATE TABLE token_counts (                         -- a cache, may be emptied at any time
        tokenizer TEXT NOT NULL,
        digest    BLOB NOT NULL,
        tokens    INTEGER NOT NULL,
        PRIMARY KEY (tokenizer, digest)
    ) WITHOUT ROWID
    ;
INSERT INTO "token_counts" VALUES('gpt2',X'A9D3FA503A641230F5AC78FFA3958746',2);
CREATE INDEX memories_of_persona ON memories (persona_id, category) WHERE deleted_at IS NULL;
CREATE INDEX memories_in_trash ON memories (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX sessions_of_persona ON sessions (persona_id, last_activity);
CREATE INDEX messages_in_order ON messages (session_id, seq) WHERE deleted_at IS NULL;
CREATE INDEX messages_by_parent ON messages (parent_id);
CREATE INDEX messages_in_trash ON messages (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX alternatives_unfinished ON alternatives (message_id) WHERE complete = 0;
COMMIT;
