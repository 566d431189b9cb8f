"""Sentences of messages that the user wants forgotten, by their digests and the message that asked for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from lethe_app.domain.chat import Message
from lethe_app.storage import message_erasure, redaction, trash
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory import fact_validity

SELECT_WITHDRAWN_BY = """
SELECT id FROM messages WHERE withdrawn <> '{}' AND EXISTS (SELECT 1 FROM json_each(withdrawn) w WHERE w.value = ?)
"""


class WithdrawnLines(Store):
    """Withdrawn sentences of all conversations. Each method returns the sessions whose messages changed."""

    @in_transaction
    def withdraw(
        self, connection: sqlite3.Connection, request: UUID, digests: Mapping[UUID, Collection[str]]
    ) -> Collection[UUID]:
        """Withdraw sentences of messages, by message, because the message `request` asks for it."""
        found = messages.load(connection, [str(id_) for id_ in digests])
        for message in found:
            _save(connection, message, dict.fromkeys(digests[message.id], request) | message.withdrawn)
        return {message.session_id for message in found}

    @in_transaction
    def restore(self, connection: sqlite3.Connection, request: UUID) -> Collection[UUID]:
        """Bring back what a message withdrew, but for its own request, which would withdraw it again."""
        found = [message for message in _withdrawn_by(connection, request) if message.id != request]
        for message in found:
            _save(connection, message, {digest: by for digest, by in message.withdrawn.items() if by != request})
        return {message.session_id for message in found}

    @in_transaction
    def erase(
        self,
        connection: sqlite3.Connection,
        request: UUID,
        facts: Sequence[UUID],
        memories: Sequence[UUID],
        remove: Callable[[str, Collection[str]], str],
    ) -> Collection[UUID]:
        """Erase what a message withdrew for good, its request included, and these facts and memories. `remove` returns a text
        without the sentences of some digests; a message of which nothing is left goes.
        """
        found = _withdrawn_by(connection, request)
        with redaction.erasing(connection):
            for fact in facts:
                fact_validity.erase_fact(connection, str(fact))
            trash.erase_memories(connection, [str(guid) for guid in memories])
            message_erasure.erase_traces(connection, [str(message.id) for message in found])
            for message in found:
                digests = [digest for digest, by in message.withdrawn.items() if by == request]
                texts = [remove(alternative.content, digests) for alternative in message.alternatives]
                for position, (text, alternative) in enumerate(zip(texts, message.alternatives, strict=True)):
                    changed = alternative.model_copy(update={"content": text, "thinking": ""})
                    messages.replace_alternative(connection, str(message.id), position, changed)
                if not any(map(str.strip, texts)):
                    trash.erase_messages(connection, [str(message.id)])
                messages.update_message_count(connection, str(message.session_id))
        return {message.session_id for message in found}


def _withdrawn_by(connection: sqlite3.Connection, request: UUID) -> list[Message]:
    rows = connection.execute(SELECT_WITHDRAWN_BY, (str(request),)).fetchall()
    return messages.load(connection, [id_ for (id_,) in rows])


def _save(connection: sqlite3.Connection, message: Message, withdrawn: Mapping[str, UUID]) -> None:
    value = json.dumps({digest: str(by) for digest, by in withdrawn.items()})
    connection.execute("UPDATE messages SET withdrawn = ? WHERE id = ?", (value, str(message.id)))
