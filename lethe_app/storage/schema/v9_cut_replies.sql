-- Version 9: replies that ended at their maximum length.

ALTER TABLE alternatives ADD COLUMN is_cut INTEGER NOT NULL DEFAULT 0;
