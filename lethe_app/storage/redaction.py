"""Redaction of purged texts in the copies that recorded turns and objections hold."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from lethe_app.domain.recall import LOGGED, NOTEBOOK_WORLD, OUTDATED
from lethe_app.storage.chats.receipts import COUNT_DELETION
from lethe_app.storage.row_mapping import json_list, json_text

OBJECTION_SCOPES = "objections "
"""Prefix of the scopes with objections and the copies of rejected memories that undo restores."""
# A value that is not JSON is skipped, so that a damaged record cannot prevent a purge.
SELECT_TURNS = "SELECT message_id, value FROM turn_memories WHERE json_valid(value)"
SELECT_OBJECTIONS = "SELECT scope, key, value FROM app_state WHERE substr(scope, 1, ?) = ? AND json_valid(value)"
SELECT_MISSING_GUIDS = """
SELECT value FROM json_each(?) WHERE value NOT IN (SELECT guid FROM memories) AND value NOT IN (SELECT guid FROM facts)
AND value NOT IN (SELECT id FROM messages) AND value NOT IN (SELECT id FROM document_chunks)
"""
"""Query: those of the given guids that exist neither as memory, nor as fact, message or passage of a document."""
SELECT_NOTEBOOK_TURNS = f"""
SELECT t.message_id, t.value
FROM turn_memories t JOIN messages m ON m.id = t.message_id JOIN sessions s ON s.guid = m.session_id
WHERE s.persona_id = ? AND json_valid(t.value) AND instr(t.value, '"{NOTEBOOK_WORLD}"')
"""
ERASE_STATES = """
DELETE FROM session_state WHERE key IN ('stable_prefix', 'session_notes', 'subject')
AND session_id IN (SELECT guid FROM sessions WHERE persona_id = ?)
"""
_LINE = re.compile(r"- ((?:[^\\]|\\[^n])+?) \(\d{4}-\d\d-\d\d\)")
"""Line of a notebook in JSON, without its day."""
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Recalled = dict[str, Any]
"""A recalled memory as stored in JSON."""


def redact_purged(connection: sqlite3.Connection) -> None:
    """Remove purged texts from recorded turns and stored copies, inside the caller's transaction. Records in the trash keep
    their texts.

    The fact that a memory was recalled, and was purged since, stays recorded. World Info entries are stored in files and are
    not affected; neither are lines that were written into a session.
    """
    turns = [(id_, json.loads(value)) for id_, value in connection.execute(SELECT_TURNS)]
    stored = [
        (scope, key, json.loads(value))
        for scope, key, value in connection.execute(SELECT_OBJECTIONS, (len(OBJECTION_SCOPES), OBJECTION_SCOPES))
    ]
    copies = [item for item in stored if isinstance(item[2], dict)]  # not the objections themselves, which quote nothing
    records = [*(record for _id, row in turns for record in _records_in(row)), *(copy for *_key, copy in copies)]
    referenced_guids = (json_list(sorted(set(_guids(records)))),)
    purged_guids = {guid for (guid,) in connection.execute(SELECT_MISSING_GUIDS, referenced_guids)}
    for message_id, row in turns:
        changes = [_redact(record, purged_guids) for record in _records_in(row)]
        if any(changes):
            connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (json_text(row), message_id))
    _delete_objections(connection, [(scope, key, value) for scope, key, value in stored if isinstance(value, list)])
    for scope, key, copy in copies:
        if _redact(copy, purged_guids):
            connection.execute("DELETE FROM app_state WHERE scope = ? AND key = ?", (scope, key))


def _delete_objections(connection: sqlite3.Connection, stored: list[tuple[str, str, list[Any]]]) -> None:
    """Delete the objections made at messages that were purged, whose words they hold."""
    for scope, key, objections in stored:
        ids_json = json.dumps([str(one.get("message")) for one in objections if isinstance(one, dict)])
        query = "SELECT id FROM messages WHERE id IN (SELECT value FROM json_each(?))"
        existing = {id_ for (id_,) in connection.execute(query, (ids_json,))}
        kept = [one for one in objections if isinstance(one, dict) and one.get("message") in existing]
        if len(kept) < len(objections):
            query = "UPDATE app_state SET value = ? WHERE scope = ? AND key = ?"
            connection.execute(query, (json_text(kept), scope, key))


@contextmanager
def erasing(connection: sqlite3.Connection) -> Iterator[None]:
    """Redact the texts of the memories, sessions and facts that the block erases, as `redact_purged` does, and erase what
    contains them besides: recorded changes, which cannot be undone any more, the runs that made them, and the prompts and
    states of the persona.
    """
    before = _texts_of_records(connection)
    yield
    redact_purged(connection)
    left = _texts_of_records(connection)
    erased = {guid: record for guid, record in before.items() if guid not in left}
    if erased:
        _erase_runs(connection, erased.keys(), {text for _persona, text in erased.values()})
        for persona_id in {persona for persona, _text in erased.values()}:
            erase_states(connection, persona_id)


def erase_states(connection: sqlite3.Connection, persona_id: str) -> None:
    """Erase the states of a persona's sessions that contain summaries, notes and names of notebooks, the stored prompts, and
    the texts of notebooks from recorded turns.
    """
    for message_id, value in connection.execute(SELECT_NOTEBOOK_TURNS, (persona_id,)).fetchall():
        row = json.loads(value)
        for record in row.get("memory", {}).get("recalled", []):
            if record.get("world") == NOTEBOOK_WORLD:
                record |= {"title": "", "text": "", "leads": []}
        connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (json_text(row), message_id))
    connection.execute(ERASE_STATES, (persona_id,))
    connection.execute("DELETE FROM kept_prompts WHERE persona_id = ?", (persona_id,))
    connection.execute(COUNT_DELETION, (persona_id,))


def _texts_of_records(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Return persona and text of all memories, sessions and facts by id."""
    query = "SELECT guid, persona_id, content FROM memories UNION ALL SELECT guid, persona_id, fact FROM facts"
    return {guid: (persona_id, text) for guid, persona_id, text in connection.execute(query)}


def _erase_runs(connection: sqlite3.Connection, guids: Collection[str], texts: Collection[str]) -> None:
    """Erase the recorded changes and the runs that contain one of these ids, the changes of notebooks of which one of these
    texts is a line, and the runs that made all these changes.
    """
    lines = {json_text(text)[1:-1] for text in texts}
    changes = connection.execute("SELECT id, run_id, before || after FROM changes").fetchall()
    runs = connection.execute("SELECT id, summary || made FROM task_runs").fetchall()

    def is_stale(text: str) -> bool:
        return not set(_GUID.findall(text)).isdisjoint(guids)

    stale = [(id_, run) for id_, run, text in changes if is_stale(text) or not set(_LINE.findall(text)).isdisjoint(lines)]
    # Before the runs, whose deletion would clear the reference to them.
    connection.executemany("DELETE FROM changes WHERE id = ?", [(id_,) for id_, _run in stale])
    stale_runs = {run for _id, run in stale} | {id_ for id_, text in runs if is_stale(text)}
    connection.executemany("DELETE FROM task_runs WHERE id = ?", [(id_,) for id_ in stale_runs])


def _records_in(row: Recalled) -> list[Recalled]:
    """Return the recalled and blocked memories of a turn, without World Info entries and lines written into the session."""
    memory = row.get("memory", {})
    records = [*memory.get("recalled", []), *memory.get("blocked", [])]
    return [record for record in records if not record.get("world") and record.get("way") not in LOGGED]


def _redact(record: Recalled, purged_guids: set[str]) -> bool:
    """Blank a recalled memory if it is purged itself, else those of its lines that lead to purged records; return whether
    it changed.
    """
    leads = [lead for lead in record.get("leads", []) if lead.get("origin") in purged_guids and lead.get("text")]
    lines = {" ".join(str(lead["text"]).split()) for lead in leads}
    for lead in leads:
        lead |= {"text": "", "words": []}
    if record.get("memory") not in purged_guids:
        if not leads:
            return False
        text = str(record.get("text", "")).splitlines()
        record["text"] = "\n".join(line for line in text if _strip_list_marks(line) not in lines)
        return True
    names = [name for name in ("title", "text", "because") if record.get(name)]
    record |= {name: type(record[name])() for name in names}
    return bool(names or leads)


def _strip_list_marks(line: str) -> str:
    """Return a line of a memory's text without its list mark and its mark as outdated."""
    return " ".join(line.removeprefix("- ").removesuffix(OUTDATED).split())


def _guids(records: list[Recalled]) -> Iterator[str]:
    for record in records:
        yield str(record.get("memory"))
        yield from (str(lead.get("origin")) for lead in record.get("leads", []))
