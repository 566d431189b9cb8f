ALTER TABLE house_state RENAME TO app_state;
UPDATE session_state SET key = 'stable_prefix' WHERE key = 'frame';
DROP INDEX alternatives_unfinished;  -- no query uses it
