"""Erasing of messages for good with everything derived from them: those of a calendar day of a persona, or single ones."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.storage import redaction, trash
from lethe_app.storage.chats import messages
from lethe_app.storage.chats.archive_jobs import blank_session
from lethe_app.storage.memory import fact_validity
from lethe_app.storage.row_mapping import json_text, select_by_values, utc_text

IDS_OF_DAY = """
SELECT m.id, m.session_id FROM messages m JOIN sessions s ON s.guid = m.session_id
WHERE s.persona_id = ? AND substr(m.time, 1, 10) = ?
"""
"""Query: all messages of a day, hidden ones and those in the trash included."""
ALTERNATIVES_OF_DAY = """
SELECT a.message_id, a.position, m.session_id FROM alternatives a JOIN messages m ON m.id = a.message_id
JOIN sessions s ON s.guid = m.session_id
WHERE s.persona_id = ? AND substr(a.created, 1, 10) = ? AND substr(m.time, 1, 10) <> ?
ORDER BY a.message_id, a.position DESC
"""
"""Query: alternatives of that day of replies of other days."""
DELETE_DERIVED_MEMORIES = """
DELETE FROM memories WHERE persona_id = ?1 AND category <> 'chat_session' AND (
    (made_by <> '' AND category <> 'reminder' AND substr(added, 1, 10) = ?2)
    OR (made_by <> '' OR category = 'reminder')
        AND EXISTS (SELECT 1 FROM json_each(memories.sources) o WHERE o.value IN (SELECT value FROM json_each(?3))))
"""
"""Statement that deletes the memories that tasks and tools wrote on a day, and with the reminders of messages those from these
sources. The time of a reminder is when it is due.
"""

FACTS_OF_DAY_WITHOUT_MESSAGES = """
SELECT guid FROM facts WHERE persona_id = ? AND made_by <> 'user' AND pinned = 0 AND substr(first_seen, 1, 10) = ?
AND source_messages = '[]' AND lapsed_sources = '[]'
"""


@dataclass(frozen=True)
class ErasedDay:
    """What was erased, and what has to be made again."""

    messages: int
    changed_sessions: tuple[UUID, ...]
    """Sessions that go on without the messages of the day."""
    erased_sessions: tuple[UUID, ...]
    """Sessions that had no other messages."""


def erase_day(connection: sqlite3.Connection, persona_id: str, day: str) -> ErasedDay:
    """Erase the messages of a day, the sessions that had no others, and what was derived: facts that are known from them
    alone, memories of tasks and tools, key moments, summaries, recorded recalls, prompts, changes and runs.
    """
    rows = connection.execute(IDS_OF_DAY, (persona_id, day)).fetchall()
    ids, sessions = [id_ for id_, _session in rows], dict.fromkeys(session for _id, session in rows)
    with redaction.erasing(connection):
        for message_id, position, session in connection.execute(ALTERNATIVES_OF_DAY, (persona_id, day, day)).fetchall():
            if connection.execute("SELECT count(*) FROM alternatives WHERE message_id = ?", (message_id,)).fetchone()[0] > 1:
                messages.remove_alternative(connection, message_id, position)
                sessions[session] = None
        trash.erase_messages(connection, ids)
        for (fact,) in connection.execute(FACTS_OF_DAY_WITHOUT_MESSAGES, (persona_id, day)).fetchall():
            fact_validity.erase_fact(connection, fact)
        with_messages = select_by_values(connection, "SELECT DISTINCT session_id FROM messages WHERE session_id", sessions)
        changed = [guid for guid in sessions if (guid,) in with_messages]
        erased = [guid for guid in sessions if guid not in changed]
        marked = [(utc_text(now()), guid) for guid in erased]
        connection.executemany("UPDATE memories SET deleted_at = coalesce(deleted_at, ?) WHERE guid = ?", marked)
        trash.erase_memories(connection, erased)
        sources = json.dumps([*(f"message:{id_}" for id_ in ids), *(f"session:{guid}" for guid in erased)])
        connection.execute(DELETE_DERIVED_MEMORIES, (persona_id, day, sources))
        for guid in changed:
            blank_session(connection, guid)
        _erase_records(connection, persona_id, day, [*ids, *sessions])
        _blank_recalls(connection, set(sessions))
    return ErasedDay(len(ids), tuple(map(UUID, changed)), tuple(map(UUID, erased)))


def erase_traces(connection: sqlite3.Connection, ids: Sequence[str]) -> list[UUID]:
    """Remove what was made of the sessions of messages that are about to be erased; return those sessions, whose parts have to
    be made again. Incognito sessions have no traces.
    """
    query = "SELECT DISTINCT s.persona_id, s.guid FROM messages m JOIN sessions s ON s.guid = m.session_id WHERE m.id = ?"
    sessions = {row: None for id_ in ids for row in connection.execute(query, (id_,)).fetchall()}
    for persona_id in dict.fromkeys(persona for persona, _guid in sessions):
        connection.execute(DELETE_DERIVED_MEMORIES, (persona_id, "", json.dumps([f"message:{id_}" for id_ in ids])))
        redaction.erase_states(connection, persona_id)
    guids = [guid for _persona, guid in sessions]
    for guid in guids:
        blank_session(connection, guid)
    _blank_recalls(connection, set(guids))
    return [UUID(guid) for guid in guids]


def _erase_records(connection: sqlite3.Connection, persona_id: str, day: str, ids: Sequence[str]) -> None:
    """Erase what is recorded besides: states with summaries and notes, working memory, prompts, and what tasks did on that day
    or with these records.
    """
    redaction.erase_states(connection, persona_id)
    connection.executemany("DELETE FROM working_memory WHERE namespace = ?", [(f"session/{id_}",) for id_ in ids])
    query = "DELETE FROM working_memory WHERE persona_id = ? AND date(stored, 'localtime') = ?"
    connection.execute(query, (persona_id, day))
    query = "SELECT id, summary || made, date(began, 'localtime') FROM task_runs WHERE persona_id = ?"
    runs = connection.execute(query, (persona_id,)).fetchall()
    stale = [id_ for id_, text, began in runs if began == day or any(other in text for other in ids)]
    # Before the runs, whose deletion would clear the reference to them.
    connection.executemany("DELETE FROM changes WHERE run_id = ?", [(id_,) for id_ in stale])
    # The recorded change of a notebook contains its whole text.
    later = "persona_id = ? AND what = 'notebook' AND date(at, 'localtime') >= ?"
    written = connection.execute(f"DELETE FROM changes WHERE {later} RETURNING run_id", (persona_id, day)).fetchall()
    connection.executemany("DELETE FROM task_runs WHERE id = ?", [*written, *((id_,) for id_ in stale)])


def _blank_recalls(connection: sqlite3.Connection, sessions: set[str]) -> None:
    """Remove the texts recalled from these sessions from the record of all turns, and the notes on them from their own."""
    own = {id_ for (id_,) in select_by_values(connection, "SELECT id FROM messages WHERE session_id", sessions)}
    for message_id, value in connection.execute(redaction.SELECT_TURNS).fetchall():
        row: dict[str, Any] = json.loads(value)
        memory = row.get("memory", {})
        recalled = [one for one in memory.get("recalled", []) if one.get("memory") in sessions]
        for one in recalled:
            leads = [{**lead, "text": "", "words": []} for lead in one.get("leads", [])]
            one |= {"title": "", "text": "", "because": [], "leads": leads}
        # Earlier versions called the notes `scratch`.
        notes = [name for name in ("session_notes", "scratch") if message_id in own and memory.get(name)]
        memory |= dict.fromkeys(notes, "")
        if not recalled and not notes:
            continue
        connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (json_text(row), message_id))
