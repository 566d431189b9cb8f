-- Sentences that the user wants forgotten: the digest of each with the message that asked for it. They stay in the conversation,
-- and nothing is read of them any more.

ALTER TABLE messages ADD COLUMN withdrawn TEXT NOT NULL DEFAULT '{}';

CREATE INDEX messages_withdrawn ON messages (session_id) WHERE withdrawn <> '{}';

CREATE TRIGGER owe_message_5 AFTER UPDATE OF withdrawn ON messages BEGIN
    INSERT INTO passage_debts (kind, id) VALUES ('message', new.id);
END;
