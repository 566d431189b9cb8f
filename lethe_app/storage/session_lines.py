"""Reads all conversations of a persona for a long list, with what was made of each and by whom."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from lethe_app.domain.archive import PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.listing import folded
from lethe_app.domain.session_line import Maker, SessionLine
from lethe_app.errors import DatabaseDamaged
from lethe_app.storage.database import Database
from lethe_app.storage.records import of_values

FIRST_WORDS = 80
# Who made what is read in one go and put together here: 5,000 small questions cost more.
PARTS = """
SELECT p.session_id, p.part, p.state, p.made_by FROM session_parts p JOIN sessions s ON s.guid = p.session_id
WHERE s.persona_id = ?
"""
PARTS_OF_SOME = "SELECT session_id, part, state, made_by FROM session_parts WHERE session_id"
LINES = """
SELECT s.guid, m.name, m.content, m.keywords_main, m.added, s.last_activity, s.message_count, s.relevance, s.is_roleplay,
    m.sticky, m.protected, s.archived, CASE WHEN m.name <> '' THEN '' ELSE coalesce(
        (SELECT substr(a.content, 1, ?3) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
         WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'user' ORDER BY t.seq LIMIT 1),
        (SELECT substr(a.content, 1, ?3) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
         WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.seq LIMIT 1), '') END
FROM sessions s JOIN memories m USING (guid)
WHERE s.persona_id = ?1 AND (?2 IS NULL OR s.guid = ?2) AND m.deleted_at IS NULL
ORDER BY s.last_activity DESC, s.rowid DESC LIMIT ?4
"""


class SessionLines:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, persona_id: str, only: str | None = None, most: int | None = None) -> list[SessionLine]:
        """Newest activity first, no more than `most`; with `only` just that one."""

        def work(connection: sqlite3.Connection) -> list[SessionLine]:
            rows = connection.execute(LINES, (persona_id, only, FIRST_WORDS, -1 if most is None else most)).fetchall()
            if only is None and most is None:
                parts = connection.execute(PARTS, (persona_id,)).fetchall()
            else:
                parts = of_values(connection, PARTS_OF_SOME, [row[0] for row in rows])
            made: dict[str, list[tuple[str, str, str]]] = {}
            for guid, part, state, made_by in parts:
                made.setdefault(guid, []).append((part, state, made_by))
            return [_line(row, made.get(row[0], [])) for row in rows]

        return await self._database.run(work)


def _line(row: tuple[str, ...], parts: list[tuple[str, str, str]]) -> SessionLine:
    guid, name, content, keywords, added, last, count, relevance, *flags, first = row
    is_roleplay, sticky, protected, archived = map(bool, flags)
    try:
        return SessionLine(
            guid,
            name,
            " ".join(first.split()),
            folded(name, first, content, keywords),
            datetime.fromisoformat(added).timestamp(),
            datetime.fromisoformat(last).timestamp(),
            int(count),
            int(relevance),
            is_roleplay,
            sticky,
            protected,
            archived,
            _maker(parts),
            sum(state == PartState.FAILED for _part, state, _by in parts),
            sum(state == PartState.PENDING for _part, state, _by in parts),
        )
    except (KeyError, ValueError) as error:
        raise DatabaseDamaged(
            f"The database holds a conversation that cannot be understood ({error}).",
            "Restore a backup, or delete what cannot be shown.",
        ) from error


def _maker(parts: list[tuple[str, str, str]]) -> Maker:
    """Who told of it: the user if they wrote anything, else the model if it made the summary."""
    by = {part: made_by for part, _state, made_by in parts}
    if not by:
        return Maker.NOBODY
    if MadeBy.USER in by.values():
        return Maker.USER
    return Maker.MODEL if by.get(SessionPart.SUMMARY) == MadeBy.MODEL else Maker.RULES
