"""Redaction of purged texts in the copies that recorded turns and objections hold."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from lethe_app.domain.recall import LOGGED, OUTDATED

OBJECTIONS = "objections "
"""Prefix of the scopes in which copies of rejected recalls are kept for undo."""
# A value that is not JSON is skipped, so that a damaged record cannot prevent a purge.
TURNS = "SELECT message_id, value FROM turn_memories WHERE json_valid(value)"
COPIES = "SELECT scope, key, value FROM house_state WHERE substr(scope, 1, ?) = ? AND json_valid(value)"
GONE = """
SELECT value FROM json_each(?) WHERE value NOT IN (SELECT guid FROM memories) AND value NOT IN (SELECT guid FROM facts)
AND value NOT IN (SELECT id FROM messages)
"""
"""Query: those of the given guids that exist neither as memory, nor as fact, nor as message."""
Recalled = dict[str, Any]
"""A recalled memory as stored in JSON."""


def redact_purged(connection: sqlite3.Connection) -> None:
    """Remove purged texts from recorded turns and stored copies, inside the caller's transaction. Records in the trash keep
    their texts.

    The fact that a memory was recalled, and was purged since, stays recorded. World Info entries are stored in files and are
    not affected; neither are lines that were written into a session.
    """
    turns = [(id_, json.loads(value)) for id_, value in connection.execute(TURNS)]
    kept = [(scope, key, json.loads(value)) for scope, key, value in connection.execute(COPIES, (len(OBJECTIONS), OBJECTIONS))]
    copies = [one for one in kept if isinstance(one[2], dict)]  # not the objections themselves, which quote nothing
    recalled = [one for _id, row in turns for one in _own_entries(row, "recalled")] + [copy for _scope, _key, copy in copies]
    named = {*_guids(recalled), *(str(one.get("memory")) for _id, row in turns for one in _own_entries(row, "blocked"))}
    gone = {guid for (guid,) in connection.execute(GONE, (json.dumps(sorted(named)),))}
    for message_id, row in turns:
        blanked = [_redact(one, gone) for one in (*_own_entries(row, "recalled"), *_own_entries(row, "blocked"))]
        if any(blanked):
            connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (_json_text(row), message_id))
    for scope, key, copy in copies:
        if _redact(copy, gone):
            connection.execute("DELETE FROM house_state WHERE scope = ? AND key = ?", (scope, key))


def _own_entries(row: Recalled, which: str) -> list[Recalled]:
    """Return the recalled or blocked memories of a turn, without World Info entries and lines written into the session."""
    found = row.get("memory", {}).get(which, [])
    return [one for one in found if not one.get("world") and one.get("way") not in LOGGED]


def _redact(one: Recalled, gone: set[str]) -> bool:
    """Blank a recalled memory if it is purged itself, else those of its lines that lead to purged records; return whether
    it changed.
    """
    leads = [lead for lead in one.get("leads", []) if lead.get("origin") in gone and lead.get("text")]
    lines = {" ".join(str(lead["text"]).split()) for lead in leads}
    for lead in leads:
        lead |= {"text": "", "words": []}
    if one.get("memory") not in gone:
        if not leads:
            return False
        text = str(one.get("text", "")).splitlines()
        one["text"] = "\n".join(line for line in text if _plain_line(line) not in lines)
        return True
    names = [name for name in ("title", "text", "because") if one.get(name)]
    one |= {name: type(one[name])() for name in names}
    return bool(names or leads)


def _plain_line(line: str) -> str:
    """Return a line of a memory's text without its list mark and its mark as outdated."""
    return " ".join(line.removeprefix("- ").removesuffix(OUTDATED).split())


def _guids(recalled: list[Recalled]) -> Iterator[str]:
    for one in recalled:
        yield str(one.get("memory"))
        yield from (str(lead.get("origin")) for lead in one.get("leads", []))


def _json_text(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
