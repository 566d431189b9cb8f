-- Version 4: prompt receipts, and the newest prompts word for word.
--
-- A stored prompt contains whatever the persona knew when it was built. When a fact, memory or message of that persona is
-- deleted or corrected by the user, triggers delete all its stored prompts; the receipts, which contain numbers but no text,
-- remain. Every such event is counted, so that a prompt built before it is not stored after it.

CREATE TABLE receipts (                             -- parts of the prompt of an alternative, and its cost
    message_id TEXT NOT NULL,
    position   INTEGER NOT NULL,
    value      TEXT NOT NULL,                       -- JSON without any text of the prompt
    PRIMARY KEY (message_id, position),
    FOREIGN KEY (message_id, position) REFERENCES alternatives (message_id, position) ON DELETE CASCADE ON UPDATE CASCADE
) WITHOUT ROWID;

CREATE TABLE kept_prompts (                         -- the newest prompts word for word
    number     INTEGER NOT NULL PRIMARY KEY,        -- the higher, the newer
    message_id TEXT NOT NULL,
    position   INTEGER NOT NULL,
    persona_id TEXT NOT NULL,
    spans      BLOB NOT NULL,                       -- compressed JSON
    UNIQUE (message_id, position),
    FOREIGN KEY (message_id, position) REFERENCES receipts (message_id, position) ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX kept_prompts_of_persona ON kept_prompts (persona_id);

CREATE TABLE forgettings (                          -- number of deletions
    persona_id TEXT NOT NULL PRIMARY KEY,
    times      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER forget_prompts_0 AFTER UPDATE OF deleted_at ON facts
WHEN new.deleted_at IS NOT NULL BEGIN
    DELETE FROM kept_prompts WHERE persona_id = new.persona_id;
    INSERT INTO forgettings (persona_id, times) VALUES (new.persona_id, 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_1 AFTER UPDATE OF fact ON facts
WHEN new.fact <> old.fact AND new.made_by = 'user' BEGIN
    DELETE FROM kept_prompts WHERE persona_id = new.persona_id;
    INSERT INTO forgettings (persona_id, times) VALUES (new.persona_id, 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_2 AFTER DELETE ON facts BEGIN
    DELETE FROM kept_prompts WHERE persona_id = old.persona_id;
    INSERT INTO forgettings (persona_id, times) VALUES (old.persona_id, 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_3 AFTER UPDATE OF deleted_at ON memories
WHEN new.deleted_at IS NOT NULL BEGIN
    DELETE FROM kept_prompts WHERE persona_id = new.persona_id;
    INSERT INTO forgettings (persona_id, times) VALUES (new.persona_id, 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_4 AFTER UPDATE OF content ON memories
WHEN new.content <> old.content AND new.category <> 'chat_session' BEGIN
    DELETE FROM kept_prompts WHERE persona_id = new.persona_id;
    INSERT INTO forgettings (persona_id, times) VALUES (new.persona_id, 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_5 AFTER DELETE ON memories BEGIN
    DELETE FROM kept_prompts WHERE persona_id = old.persona_id;
    INSERT INTO forgettings (persona_id, times) VALUES (old.persona_id, 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_6 AFTER UPDATE OF deleted_at ON messages
WHEN new.deleted_at IS NOT NULL BEGIN
    DELETE FROM kept_prompts WHERE persona_id = (SELECT persona_id FROM sessions WHERE guid = new.session_id);
    INSERT INTO forgettings (persona_id, times) VALUES ((SELECT persona_id FROM sessions WHERE guid = new.session_id), 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_7 AFTER INSERT ON session_parts
WHEN new.part = 'summary' AND new.made_by = 'user' BEGIN
    DELETE FROM kept_prompts WHERE persona_id = (SELECT persona_id FROM sessions WHERE guid = new.session_id);
    INSERT INTO forgettings (persona_id, times) VALUES ((SELECT persona_id FROM sessions WHERE guid = new.session_id), 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER forget_prompts_8 AFTER UPDATE OF made_by ON session_parts
WHEN new.part = 'summary' AND new.made_by = 'user' BEGIN
    DELETE FROM kept_prompts WHERE persona_id = (SELECT persona_id FROM sessions WHERE guid = new.session_id);
    INSERT INTO forgettings (persona_id, times) VALUES ((SELECT persona_id FROM sessions WHERE guid = new.session_id), 1)
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
END;
