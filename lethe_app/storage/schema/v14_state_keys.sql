UPDATE session_state SET key = 'keyword_entries' WHERE key = 'pool';
UPDATE session_state SET key = 'active_spans' WHERE key = 'staying';
UPDATE session_state SET key = 'announced' WHERE key = 'told';
UPDATE session_state SET key = 'session_notes' WHERE key = 'scratch';
UPDATE house_state SET scope = 'network_log' WHERE scope = 'outgoing';
UPDATE house_state SET key = 'notified' WHERE scope = 'reminders' AND key = 'told on the desktop';
