-- Version 7: kind, key, subject and story flag of facts.

ALTER TABLE facts ADD COLUMN kind TEXT NOT NULL DEFAULT 'other';
ALTER TABLE facts ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN in_story INTEGER NOT NULL DEFAULT 0;
