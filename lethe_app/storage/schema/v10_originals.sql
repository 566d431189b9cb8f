-- Version 10: fields of imported messages that have no counterpart here, kept for export.

CREATE TABLE message_originals (
    message_id TEXT NOT NULL PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    value      TEXT NOT NULL                        -- JSON
) WITHOUT ROWID;
