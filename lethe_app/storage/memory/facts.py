"""Facts of a persona, each one sentence, and tombstones of facts the user wanted forgotten.

A fact follows the messages it was taken from, see `fact_validity`. Facts that the user wrote or pinned are never dormant.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, Tombstone
from lethe_app.errors import RecordMissing
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory import fact_validity
from lethe_app.storage.row_mapping import RecordTable, json_list, parse_rows, read_json, utc_text

FACTS = RecordTable("facts", ExtractedFact, "guid")
_NO_LONGER_HOLDS = "coalesce(f.superseded_because, 'contradicted') IN ('contradicted', 'restored')"
SELECT_OUTDATED = f"""
WITH RECURSIVE successors (message, guid, is_outdated) AS (
    SELECT m.value, f.superseded_by, {_NO_LONGER_HOLDS} FROM facts f, json_each(f.source_messages) m
    WHERE f.superseded = 1 AND f.deleted_at IS NULL AND m.value IN (SELECT value FROM json_each(?))
    UNION SELECT message, f.superseded_by, is_outdated OR {_NO_LONGER_HOLDS} FROM successors JOIN facts f USING (guid)
    WHERE f.superseded = 1)
SELECT message, guid FROM successors WHERE is_outdated AND guid IS NOT NULL
"""
"""Query: messages among these that state what no longer holds, each with the facts that superseded it. What was said again,
extended or merged holds.
"""
SELECT_WITHOUT_DELETED = f"""
SELECT facts.guid, json_group_array(s.value) FILTER (WHERE m.deleted_at IS NULL OR c.deleted_at IS NOT NULL)
FROM facts, json_each(facts.source_messages) s
LEFT JOIN messages m ON m.id = s.value LEFT JOIN memories c ON c.guid = m.session_id
WHERE facts.persona_id = ? AND NOT {fact_validity.IS_MERGED}
GROUP BY facts.guid HAVING max(m.deleted_at IS NOT NULL AND c.deleted_at IS NULL)
"""
"""Query: facts with messages that were deleted from a session that remains, and the other messages of each."""
RESTORE_LINES = """
UPDATE messages SET withdrawn = '{}' WHERE id IN (SELECT m.value FROM facts f, json_each(f.source_messages) m WHERE f.guid = ?)
AND (SELECT count(DISTINCT w.value) FROM json_each(withdrawn) w WHERE w.value <> messages.id) = 1
"""
"""Statement: messages that state a fact, of which nothing else was withdrawn, are read again."""
IS_KNOWN = "deleted_at IS NULL AND dormant = 0"
"""Condition: the fact is neither in the trash nor dormant."""


class FactStore(Store):
    """Store of facts. Every method is one transaction."""

    @in_transaction
    def rename_subject(self, connection: sqlite3.Connection, old: str, new: str) -> set[str]:
        """Change the name with which facts about somebody begin; return the personas that know such facts."""
        possessive = ("'s", "’s")
        rows = connection.execute("SELECT guid, persona_id, fact FROM facts WHERE subject = ?", (old,)).fetchall()
        begins = [(guid, owner, fact[len(old) :]) for guid, owner, fact in rows if fact.startswith(old)]
        changed = [(guid, owner, rest) for guid, owner, rest in begins if rest.startswith((" ", *possessive))]
        connection.executemany(
            "UPDATE facts SET fact = ?, subject = ? WHERE guid = ?", [(new + rest, new, guid) for guid, _, rest in changed]
        )
        return {owner for _, owner, _ in changed}

    @in_transaction
    def save_facts(self, connection: sqlite3.Connection, persona_id: str, *facts: ExtractedFact) -> None:
        """Insert facts, or replace those with a known guid; all or none."""
        FACTS.save(connection, *facts, persona_id=persona_id)
        fact_validity.update_validity(connection, [fact.guid for fact in facts])

    @in_transaction
    def get(self, connection: sqlite3.Connection, guid: UUID) -> ExtractedFact:
        """Return a fact. Raise StorageError if it does not exist, is in the trash or is dormant."""
        fact = find_fact(connection, guid)
        if fact is None:
            raise RecordMissing(
                "This fact no longer exists.", "The fact or the conversation it comes from may be in the Trash."
            )
        return fact

    async def facts_of(self, persona_id: str, *, deleted: bool = False) -> list[ExtractedFact]:
        """Return all known facts of a persona, superseded ones included, newest first; with `deleted` those in the trash."""
        return await self._facts_where(persona_id, "deleted_at IS NOT NULL" if deleted else IS_KNOWN)

    async def undeleted_facts_of(self, persona_id: str) -> list[ExtractedFact]:
        """Return known and dormant facts: when one is stated again, no duplicate may be created beside a dormant one."""
        return await self._facts_where(persona_id, "deleted_at IS NULL")

    @in_transaction
    def facts_for_learning(self, connection: sqlite3.Connection, persona_id: str) -> list[ExtractedFact]:
        """Return known and dormant facts without the messages that were deleted from sessions that remain: these are learnt
        from again when a message is restored, while with a restored session its facts return as they are. A merged fact, which
        needs all its messages, keeps them.
        """
        left = dict(connection.execute(SELECT_WITHOUT_DELETED, (persona_id,)).fetchall())
        facts = self._load_where(connection, persona_id, "deleted_at IS NULL")
        return [
            fact.model_copy(update={"source_messages": list(map(UUID, json.loads(left[guid])))}) if guid in left else fact
            for fact, guid in ((fact, str(fact.guid)) for fact in facts)
        ]

    async def dormant_facts_of(self, persona_id: str) -> list[ExtractedFact]:
        """Return the facts of which no message is left that states them as they are."""
        return await self._facts_where(persona_id, "deleted_at IS NULL AND dormant = 1")

    @in_transaction
    def _facts_where(self, connection: sqlite3.Connection, persona_id: str, condition: str) -> list[ExtractedFact]:
        return self._load_where(connection, persona_id, condition)

    def _load_where(self, connection: sqlite3.Connection, persona_id: str, condition: str) -> list[ExtractedFact]:
        facts = FACTS.load(connection, f"WHERE persona_id = ? AND {condition} ORDER BY rowid DESC", (persona_id,))
        return sorted(facts, key=lambda fact: fact.last_seen, reverse=True)  # not as text: zones differ

    @in_transaction
    def successors_of(self, connection: sqlite3.Connection, messages: Collection[UUID]) -> dict[UUID, ExtractedFact]:
        """Return for each of these messages that states what no longer holds the fact that does."""
        rows = connection.execute(SELECT_OUTDATED, (json_list(messages),)).fetchall()
        wanted = json_list(successor for _message, successor in rows)
        is_valid = f"guid IN (SELECT value FROM json_each(?)) AND superseded = 0 AND in_story = 0 AND {IS_KNOWN}"
        valid_facts = {str(fact.guid): fact for fact in FACTS.load(connection, f"WHERE {is_valid}", (wanted,))}
        found = {UUID(message): valid_facts[successor] for message, successor in rows if successor in valid_facts}
        return {message: fact for message, fact in found.items() if message not in fact.source_messages}

    @in_transaction
    def owner_of(self, connection: sqlite3.Connection, guid: UUID) -> str:
        """Return the id of the persona that knows the fact. Raise StorageError."""
        row = connection.execute("SELECT persona_id FROM facts WHERE guid = ?", (str(guid),)).fetchone()
        if row is None:
            raise RecordMissing("This fact no longer exists.")
        return str(row[0])

    @in_transaction
    def forget_facts(
        self, connection: sqlite3.Connection, persona_id: str, guids: Sequence[UUID], tombstones: Sequence[Tombstone]
    ) -> None:
        """Move facts to the trash and store tombstones against learning them again.

        An existing tombstone with the same digest is extended by the messages of the new one.
        """
        moment = utc_text(now())
        connection.executemany(
            "UPDATE facts SET deleted_at = ? WHERE guid = ? AND persona_id = ? AND deleted_at IS NULL",
            [(moment, str(guid), persona_id) for guid in guids],
        )
        fact_validity.update_validity(connection, guids)
        for tombstone in tombstones:
            _save_tombstone(connection, persona_id, tombstone)

    @in_transaction
    def erase_facts(self, connection: sqlite3.Connection, persona_id: str, guids: Sequence[UUID]) -> None:
        """Delete facts for good; facts they superseded become valid again, and the same facts may be learnt again."""
        for guid in guids:
            fact_validity.erase_fact(connection, str(guid))

    @in_transaction
    def restore_fact(self, connection: sqlite3.Connection, persona_id: str, guid: UUID, digest: str) -> None:
        """Restore a fact from the trash and delete its tombstone; the lines that were withdrawn with it are read again."""
        connection.execute("UPDATE facts SET deleted_at = NULL WHERE guid = ? AND persona_id = ?", (str(guid), persona_id))
        fact_validity.update_validity(connection, [guid])
        connection.execute(RESTORE_LINES, (str(guid),))
        connection.execute("DELETE FROM forgotten_facts WHERE persona_id = ? AND digest = ?", (persona_id, digest))

    @in_transaction
    def tombstones_of(self, connection: sqlite3.Connection, persona_id: str) -> list[Tombstone]:
        """Return the tombstones of facts that must not be learnt again."""
        rows = connection.execute("SELECT digest, messages FROM forgotten_facts WHERE persona_id = ?", (persona_id,))
        return parse_rows(lambda row: Tombstone(row[0], tuple(UUID(id_) for id_ in read_json(row[1], ()))), rows)


# Functions for use inside the caller's transaction


def find_fact(connection: sqlite3.Connection, guid: UUID) -> ExtractedFact | None:
    """Return a fact; None if it does not exist, is in the trash or is dormant."""
    return FACTS.find(connection, f"WHERE guid = ? AND {IS_KNOWN}", (str(guid),))


def _save_tombstone(connection: sqlite3.Connection, persona_id: str, tombstone: Tombstone) -> None:
    """Store a tombstone. One without messages covers all present and future messages, so it also wins when two are combined."""
    key = (persona_id, tombstone.digest)
    row = connection.execute("SELECT messages FROM forgotten_facts WHERE persona_id = ? AND digest = ?", key).fetchone()
    messages = [str(id_) for id_ in tombstone.messages]
    if row is not None:
        known = read_json(row[0])
        messages = list(dict.fromkeys([*known, *messages])) if known and messages else []
    connection.execute(
        "INSERT OR REPLACE INTO forgotten_facts (persona_id, digest, messages) VALUES (?, ?, ?)", (*key, json.dumps(messages))
    )
