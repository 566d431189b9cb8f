"""Takes the words of what was erased for good out of what past turns and objections still hold of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from lethe_app.domain.recall import LOGGED

OBJECTIONS = "objections "
"""How the scopes begin in which copies of what did not belong wait to be taken back."""
TURNS = "SELECT message_id, value FROM turn_memories WHERE json_valid(value)"
COPIES = "SELECT scope, key, value FROM house_state WHERE substr(scope, 1, ?) = ? AND json_valid(value)"
GONE = """
SELECT value FROM json_each(?) WHERE value NOT IN (SELECT guid FROM memories) AND value NOT IN (SELECT guid FROM facts)
AND value NOT IN (SELECT id FROM messages)
"""
Recalled = dict[str, Any]
"""A recollection as it lies in a row."""


def clear(connection: sqlite3.Connection) -> None:
    """Inside the transaction that erases. What lies in the trash is still there, and keeps its words.

    That something came to mind, and was forgotten since, stays known. Entries of worlds lie elsewhere, and what was written
    into a conversation stands there.
    """
    turns = [(id_, json.loads(value)) for id_, value in connection.execute(TURNS)]
    kept = [(scope, key, json.loads(value)) for scope, key, value in connection.execute(COPIES, (len(OBJECTIONS), OBJECTIONS))]
    copies = [one for one in kept if isinstance(one[2], dict)]  # not the objections themselves, which quote nothing
    recalled = [one for _id, row in turns for one in _ours(row, "recalled")] + [copy for _scope, _key, copy in copies]
    named = {*_guids(recalled), *(str(one.get("memory")) for _id, row in turns for one in _ours(row, "blocked"))}
    gone = {guid for (guid,) in connection.execute(GONE, (json.dumps(sorted(named)),))}
    for message_id, row in turns:
        blanked = [_blank(one, gone) for one in (*_ours(row, "recalled"), *_ours(row, "blocked"))]
        if any(blanked):
            connection.execute("UPDATE turn_memories SET value = ? WHERE message_id = ?", (_text(row), message_id))
    for scope, key, copy in copies:
        if _blank(copy, gone):
            connection.execute("DELETE FROM house_state WHERE scope = ? AND key = ?", (scope, key))


def _ours(row: Recalled, which: str) -> list[Recalled]:
    """What came to mind in a turn, or was kept back, and is neither of a world nor a line of the conversation."""
    found = row.get("memory", {}).get(which, [])
    return [one for one in found if not one.get("world") and one.get("way") not in LOGGED]


def _blank(one: Recalled, gone: set[str]) -> bool:
    """All of it where it is gone itself, or else the lines that lead to what is gone; False where nothing was to be done."""
    leads = [lead for lead in one.get("leads", []) if lead.get("origin") in gone and lead.get("text")]
    lines = {" ".join(str(lead["text"]).split()) for lead in leads}
    for lead in leads:
        lead |= {"text": "", "words": []}
    if one.get("memory") not in gone:
        if not leads:
            return False
        text = str(one.get("text", "")).splitlines()
        one["text"] = "\n".join(line for line in text if " ".join(line.removeprefix("- ").split()) not in lines)
        return True
    told = [name for name in ("title", "text", "because") if one.get(name)]
    one |= {name: type(one[name])() for name in told}
    return bool(told or leads)


def _guids(recalled: list[Recalled]) -> Iterator[str]:
    for one in recalled:
        yield str(one.get("memory"))
        yield from (str(lead.get("origin")) for lead in one.get("leads", []))


def _text(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
