-- Version 2: passages with their embeddings, and a full-text index of them.
--
-- The full-text index has external content: FTS5 stores no copy of the texts, so every change of a passage must tell it the old
-- and the new text (see `index/passage_rows.py`). The stemmer makes a query match every form of a word; a word keeps its stem
-- only while this tokenizer is that of `index/term_positions.py`.

CREATE TABLE passages (                             -- derived from the other tables and from files, can be rebuilt
    number   INTEGER NOT NULL PRIMARY KEY,
    kind     TEXT NOT NULL,
    owner    TEXT NOT NULL,                         -- the persona whose index it belongs to
    source   TEXT NOT NULL,                         -- record that is recalled: a session, a memory, a world entry
    origin   TEXT NOT NULL,                         -- record it was taken from: a fact, a message, or the source
    text     TEXT NOT NULL,
    searched TEXT NOT NULL,                         -- text of the full-text index
    time     TEXT NOT NULL,
    speaker  TEXT NOT NULL,
    place    INTEGER NOT NULL                       -- position within the source
);

CREATE INDEX passages_of_owner ON passages (owner);
CREATE INDEX passages_of_source ON passages (source);
CREATE INDEX passages_of_origin ON passages (origin);

CREATE TABLE passage_vectors (
    passage  INTEGER NOT NULL PRIMARY KEY REFERENCES passages (number) ON DELETE CASCADE,
    embedder TEXT NOT NULL,                         -- vectors of different models are never compared
    vector   BLOB NOT NULL,                         -- unit vector of float32, native byte order
    tokens   BLOB NOT NULL                          -- one row of signed bytes per token
);

CREATE VIRTUAL TABLE passage_words USING fts5(
    searched, content = 'passages', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2');

CREATE VIRTUAL TABLE passage_terms USING fts5vocab(passage_words, row);
CREATE VIRTUAL TABLE passage_places USING fts5vocab(passage_words, instance);
