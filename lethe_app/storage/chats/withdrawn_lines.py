"""Sentences of messages that the user wants forgotten, by their digests and the message that asked for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from lethe_app.storage import message_erasure, redaction, trash
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory import fact_validity

WITHDRAW = """
UPDATE messages SET withdrawn = json_patch(:digests, withdrawn)
WHERE id = :message AND withdrawn <> json_patch(:digests, withdrawn)
AND session_id IN (SELECT guid FROM sessions WHERE NOT is_incognito) RETURNING session_id
"""
"""Statement: what another message withdrew already remains withdrawn by that one."""
_IS_WITHDRAWN = "withdrawn <> '{}' AND EXISTS (SELECT 1 FROM json_each(withdrawn) w WHERE w.value = :request)"
SELECT_WITHDRAWN = f"SELECT id FROM messages WHERE {_IS_WITHDRAWN}"
RELEASE = f"""
UPDATE messages SET withdrawn = (SELECT json_group_object(w.key, w.value) FROM json_each(withdrawn) w WHERE w.value <> :request)
WHERE {_IS_WITHDRAWN} AND id <> :but_for RETURNING session_id
"""


class WithdrawnLines(Store):
    """Withdrawn sentences of all conversations but incognito ones, from which nothing is learnt."""

    @in_transaction
    def withdraw(
        self, connection: sqlite3.Connection, request: UUID, digests: Mapping[UUID, Collection[str]]
    ) -> dict[UUID, UUID]:
        """Withdraw sentences of messages, by message, because the message `request` asks for it; return the messages that
        changed, with their sessions.
        """
        added = {message: json.dumps(dict.fromkeys(found, str(request))) for message, found in digests.items()}
        rows = {id_: connection.execute(WITHDRAW, {"message": str(id_), "digests": new}) for id_, new in added.items()}
        return {message: UUID(guid) for message, changed in rows.items() for (guid,) in changed.fetchall()}

    @in_transaction
    def restore(self, connection: sqlite3.Connection, request: UUID) -> Collection[UUID]:
        """Bring back what a message withdrew, but for its own request, which would withdraw it again; return the sessions that
        changed.
        """
        values = {"request": str(request), "but_for": str(request)}
        return {UUID(guid) for (guid,) in connection.execute(RELEASE, values)}

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
        without the sentences of some digests; a message of which nothing is left goes. Return the sessions that changed.
        """
        values = {"request": str(request), "but_for": ""}
        found = messages.load(connection, [id_ for (id_,) in connection.execute(SELECT_WITHDRAWN, values)])
        with redaction.erasing(connection):
            for fact in facts:
                fact_validity.erase_fact(connection, str(fact))
            trash.erase_memories(connection, [str(guid) for guid in memories])
            message_erasure.erase_traces(connection, [str(message.id) for message in found])
            connection.execute(RELEASE, values).fetchall()
            for message in found:
                digests = [digest for digest, by in message.withdrawn.items() if by == request]
                texts = [remove(one.content, digests) for one in message.alternatives]
                for position, (text, alternative) in enumerate(zip(texts, message.alternatives, strict=True)):
                    changed = alternative.model_copy(update={"content": text, "thinking": ""})
                    messages.replace_alternative(connection, str(message.id), position, changed)
                if not any(map(str.strip, texts)):
                    trash.erase_messages(connection, [str(message.id)])
                messages.update_message_count(connection, str(message.session_id))
        return {message.session_id for message in found}
