-- Version 11: documents that a persona or a world knows, as the passages in which they are searched.
--
-- The text is stored here, so that a document is known also while its file is elsewhere. Whoever removes a document removes
-- the prompts kept with its words as well; of a world, those of every persona, because any may have it.

CREATE TABLE documents (
    guid    TEXT NOT NULL PRIMARY KEY,
    owner   TEXT NOT NULL,                          -- the id of a persona, or world: with the file name of a world
    title   TEXT NOT NULL,
    path    TEXT NOT NULL,                          -- where the file was
    digest  TEXT NOT NULL,                          -- hash of the file as it was read
    size    INTEGER NOT NULL,
    added   TEXT NOT NULL,
    trouble TEXT NOT NULL DEFAULT ''                -- why the changed file could not be read
);

CREATE INDEX documents_of_owner ON documents (owner);

CREATE TABLE document_chunks (
    id       TEXT NOT NULL PRIMARY KEY,             -- made from the text: unchanged passages keep it
    document TEXT NOT NULL REFERENCES documents (guid) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    heading  TEXT NOT NULL,
    page     INTEGER NOT NULL,                      -- from 1; 0 where there are no pages
    text     TEXT NOT NULL
);

CREATE INDEX chunks_of_document ON document_chunks (document, position);

CREATE TRIGGER owe_chunk_0 AFTER INSERT ON document_chunks BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('document', new.id);
END;

CREATE TRIGGER owe_chunk_1 AFTER DELETE ON document_chunks BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('document', old.id);
END;

CREATE TRIGGER forget_prompts_9 AFTER DELETE ON documents BEGIN
    INSERT INTO forgettings (persona_id, times)
        SELECT DISTINCT persona_id, 1 FROM sessions WHERE old.owner LIKE 'world:%' OR persona_id = old.owner
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
    DELETE FROM kept_prompts WHERE old.owner LIKE 'world:%' OR persona_id = old.owner;
END;

CREATE TRIGGER forget_prompts_10 AFTER UPDATE OF digest ON documents BEGIN
    INSERT INTO forgettings (persona_id, times)
        SELECT DISTINCT persona_id, 1 FROM sessions WHERE old.owner LIKE 'world:%' OR persona_id = old.owner
        ON CONFLICT (persona_id) DO UPDATE SET times = times + 1;
    DELETE FROM kept_prompts WHERE old.owner LIKE 'world:%' OR persona_id = old.owner;
END;
