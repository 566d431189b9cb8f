-- Version 6: personas that take part in a group session besides its own, as a JSON list.

ALTER TABLE sessions ADD COLUMN guests TEXT NOT NULL DEFAULT '[]';
