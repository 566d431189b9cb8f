"""Listing and erasing of the database records in the trash."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.clock import ClockHistory, now
from lethe_app.storage import message_erasure, redaction, trash
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.key_value import app_values, set_app_value
from lethe_app.storage.memory import fact_validity
from lethe_app.storage.row_mapping import json_list, parse_rows, select_by_values, utc_text

CLOCK = ("clock", "history")
"""Scope and key of the app state under which the last look at the clock is stored."""
TITLE_CHARACTERS = 160
"""Characters of a text shown as its title."""
CONVERSATIONS = """
SELECT m.guid, coalesce(nullif(m.name, ''), (SELECT substr(a.content, 1, ?1) FROM messages t JOIN alternatives a
        ON a.message_id = t.id AND a.position = t.shown
        WHERE t.session_id = m.guid AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.role <> 'user', t.seq LIMIT 1), ''),
    m.deleted_at, length(m.content) + coalesce((SELECT sum(a.length) FROM messages t JOIN alternatives a
        ON a.message_id = t.id WHERE t.session_id = m.guid), 0), m.persona_id, s.message_count, ''
FROM memories m JOIN sessions s USING (guid) WHERE m.deleted_at IS NOT NULL
"""
MESSAGES = """
SELECT t.id, substr(a.content, 1, ?1), t.deleted_at, (SELECT sum(length) FROM alternatives WHERE message_id = t.id),
    s.persona_id, 0, u.name
FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
JOIN sessions s ON s.guid = t.session_id JOIN memories u ON u.guid = s.guid
WHERE t.deleted_at IS NOT NULL AND u.deleted_at IS NULL AND t.hidden = 0 AND NOT s.is_incognito
"""
MEMORIES = """
SELECT guid, coalesce(nullif(name, ''), substr(content, 1, ?1)), deleted_at, length(content), persona_id, 0, ''
FROM memories WHERE deleted_at IS NOT NULL AND category <> 'chat_session' AND deleted_with = ''
"""
FACTS = "SELECT guid, substr(fact, 1, ?1), deleted_at, length(fact), persona_id, 0, '' FROM facts WHERE deleted_at IS NOT NULL"
QUERIES = {
    TrashKind.CONVERSATION: CONVERSATIONS,
    TrashKind.MESSAGE: MESSAGES,
    TrashKind.MEMORY: MEMORIES,
    TrashKind.FACT: FACTS,
}
PREVIEW_CHARACTERS = 4000
"""Maximum characters of a preview."""
PREVIEW_MESSAGES = 40
"""Maximum number of messages in the preview of a session."""
SELECT_PREVIEW = {
    TrashKind.CONVERSATION: """
        SELECT t.speaker_name || ': ' || a.content FROM messages t JOIN alternatives a
            ON a.message_id = t.id AND a.position = t.shown
        WHERE t.session_id = ?1 AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.seq LIMIT ?2
    """,
    TrashKind.MESSAGE: """
        SELECT t.speaker_name || ': ' || a.content FROM messages t JOIN alternatives a
            ON a.message_id = t.id AND a.position = t.shown WHERE t.id = ?1 LIMIT ?2
    """,
    TrashKind.MEMORY: "SELECT content FROM memories WHERE guid = ?1 LIMIT ?2",
    TrashKind.FACT: "SELECT fact FROM facts WHERE guid = ?1 LIMIT ?2",
}
"""Query of the text of an item, by kind; its parameters are the id and the maximum number of rows."""
COUNT_SESSIONS = (
    "SELECT s.persona_id, count(*) FROM sessions s JOIN memories m USING (guid) WHERE m.deleted_at IS NULL GROUP BY 1"
)
# The hidden messages directly above a message are deleted and restored with it.
SELECT_HIDDEN_ANCESTORS = """
WITH RECURSIVE up (id, parent_id) AS (
    SELECT id, parent_id FROM messages WHERE id = ?
    UNION ALL SELECT m.id, m.parent_id FROM up JOIN messages m ON m.id = up.parent_id
    WHERE m.hidden = 1 AND m.deleted_at IS NOT NULL)
SELECT id FROM up
"""
PERSONA_TABLES = ("changes", "feedback", "task_runs", "memories", "facts", "forgotten_facts", "working_memory")
"""Tables whose rows name their persona in `persona_id`."""


@dataclass(frozen=True)
class PersonaStateKeys:
    """Locations of one persona's data in the app state."""

    persona_scopes: Sequence[str] = ()
    """Scopes in which the key is the persona id."""
    persona_scope_prefixes: Sequence[str] = ()
    """Prefixes of scopes in which the key is the persona id."""
    owned_scopes: Sequence[str] = ()
    """Scopes that belong to the persona alone."""
    value_scopes: Sequence[str] = ()
    """Scopes whose values contain the persona id as `persona_id`."""


class TrashListing(Store):
    """Trash of the database. Every method is one transaction."""

    @in_transaction
    def list_items(self, connection: sqlite3.Connection) -> list[Trashed]:
        """Return everything in the trash that can be restored."""
        rows = ((kind, *row) for kind, query in QUERIES.items() for row in connection.execute(query, (TITLE_CHARACTERS,)))
        return parse_rows(
            lambda row: Trashed(row[0], row[1], " ".join(row[2].split()), datetime.fromisoformat(row[3]), *row[4:]), rows
        )

    @in_transaction
    def may_erase_by_age(self, connection: sqlite3.Connection) -> bool:
        """Look at the clock, and return whether things may be erased because they are old by it: not for some days of use after
        a leap since the last look, or at the first one since the newest message.
        """
        moment = now()
        stored = app_values(connection, [CLOCK]).get(CLOCK)
        (newest,) = connection.execute("SELECT max(last_activity) FROM sessions").fetchone()
        history = ClockHistory.parse(stored, datetime.fromisoformat(newest) if newest else moment).follow(moment)
        set_app_value(connection, *CLOCK, {"last": utc_text(history.last), "days_left": history.days_left})
        return not history.days_left

    @in_transaction
    def load_preview(self, connection: sqlite3.Connection, item: Trashed) -> str:
        """Return the beginning of the text of a record; empty if it is not in the database any more."""
        rows = connection.execute(SELECT_PREVIEW[item.kind], (item.id, PREVIEW_MESSAGES))
        return "\n\n".join(text for (text,) in rows)[:PREVIEW_CHARACTERS]

    @in_transaction
    def session_counts(self, connection: sqlite3.Connection) -> dict[str, int]:
        """Return the number of sessions by persona, including personas whose file is gone."""
        return dict(connection.execute(COUNT_SESSIONS).fetchall())

    @in_transaction
    def ids_with_hidden_notes(self, connection: sqlite3.Connection, message: str) -> list[str]:
        """Return the ids of a message and of the hidden messages above it that were deleted with it."""
        return _with_hidden_ancestors(connection, message)

    @in_transaction
    def erase(self, connection: sqlite3.Connection, items: Sequence[Trashed]) -> list[UUID]:
        """Erase items for good, all or none; an item that was restored meanwhile is left alone. With a message, what was
        derived from it is erased; return the sessions whose summary and other parts have to be made again.
        """
        by_kind = {kind: [item.id for item in items if item.kind is kind] for kind in QUERIES}
        changed = dict[UUID, None]()
        with redaction.erasing(connection):
            trash.erase_memories(connection, [*by_kind[TrashKind.CONVERSATION], *by_kind[TrashKind.MEMORY]])
            facts = (json_list(by_kind[TrashKind.FACT]),)
            in_trash = "deleted_at IS NOT NULL AND guid IN (SELECT value FROM json_each(?))"
            connection.execute(f"DELETE FROM facts WHERE {in_trash}", facts)
            for message in by_kind[TrashKind.MESSAGE]:
                query = "SELECT id FROM messages WHERE deleted_at IS NOT NULL AND id"
                deleted = [id_ for (id_,) in select_by_values(connection, query, _with_hidden_ancestors(connection, message))]
                changed |= dict.fromkeys(message_erasure.erase_traces(connection, deleted))
                trash.erase_messages(connection, deleted)
        return list(changed)

    @in_transaction
    def erase_former(self, connection: sqlite3.Connection) -> None:
        """Erase facts and memories that rest on former texts of messages and could come back only if an edit were undone."""
        with redaction.erasing(connection):
            fact_validity.erase_lapsed(connection)
            connection.execute("DELETE FROM memories WHERE deleted_with LIKE '% %'")

    @in_transaction
    def erase_persona(self, connection: sqlite3.Connection, persona_id: str, keys: PersonaStateKeys) -> None:
        """Erase all sessions, memories and other records of a deleted persona, and its app state at `keys`."""
        for table in PERSONA_TABLES:
            connection.execute(f"DELETE FROM {table} WHERE persona_id = ?", (persona_id,))
        for scope in keys.persona_scopes:
            connection.execute("DELETE FROM app_state WHERE scope = ? AND key = ?", (scope, persona_id))
        for prefix in keys.persona_scope_prefixes:
            values = (len(prefix), prefix, persona_id)
            # Not LIKE, for which “_” and “%” in a prefix would be wildcards.
            connection.execute("DELETE FROM app_state WHERE substr(scope, 1, ?) = ? AND key = ?", values)
        for scope in keys.owned_scopes:
            connection.execute("DELETE FROM app_state WHERE scope = ?", (scope,))
        for scope in keys.value_scopes:
            owned = "json_valid(value) AND json_extract(value, '$.persona_id') = ?"
            query = f"DELETE FROM app_state WHERE scope = ? AND {owned}"
            connection.execute(query, (scope, persona_id))

    @in_transaction
    def erase_copies(self, connection: sqlite3.Connection, persona_id: str) -> None:
        """Erase the copies of a persona's notebooks in prompts, states and recorded turns."""
        redaction.erase_states(connection, persona_id)

    @in_transaction
    def persona_ids(self, connection: sqlite3.Connection) -> set[str]:
        """Return the ids of all personas that own records."""
        query = " UNION ".join(f"SELECT persona_id FROM {table}" for table in PERSONA_TABLES)
        return {id_ for (id_,) in connection.execute(query)}

    @in_transaction
    def erase_app_state(self, connection: sqlite3.Connection, scope: str) -> None:
        """Delete all values of a scope of the app state."""
        connection.execute("DELETE FROM app_state WHERE scope = ?", (scope,))

    async def scrub(self) -> None:
        """Remove what was erased from the files of the database."""
        await self._database.scrub()

    @in_transaction
    def purge(self, connection: sqlite3.Connection, before: str) -> int:
        """Erase everything deleted before that time (UTC) and return the number of records."""
        with redaction.erasing(connection):
            facts = connection.execute("DELETE FROM facts WHERE deleted_at < ?", (before,)).rowcount
            return facts + trash.purge(connection, before)


def _with_hidden_ancestors(connection: sqlite3.Connection, message: str) -> list[str]:
    return [id_ for (id_,) in connection.execute(SELECT_HIDDEN_ANCESTORS, (message,))]
