"""Queries for lists of sessions, made for thousands of sessions at once."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from uuid import UUID

from lethe_app.domain.chat import PartState, SessionPart, SessionSummary
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.list_items import DescriptionAuthor, SessionLine, search_text
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import parse_rows, read_json, select_by_values, unreadable_error

PREVIEW_CHARACTERS = 160
"""Characters of a preview."""

# The preview is nearly always that of the tip; the recursive query is needed only if the tip is hidden, deleted or says what
# the user wants forgotten. The first words, which a persona can be told, are of a message of which nothing was withdrawn, too.
SELECT_SUMMARIES = """
SELECT s.guid, s.persona_id, m.name, m.added, s.last_activity, s.message_count, s.archived, m.sticky, coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.id = s.tip_id AND t.deleted_at IS NULL AND t.hidden = 0 AND t.withdrawn = '{{}}'),
    (WITH RECURSIVE up (id, parent_id, unseen, shown) AS (
        SELECT id, parent_id, hidden OR deleted_at IS NOT NULL OR withdrawn <> '{{}}', shown FROM messages WHERE id = s.tip_id
        UNION ALL
        SELECT t.id, t.parent_id, t.hidden OR t.deleted_at IS NOT NULL OR t.withdrawn <> '{{}}', t.shown
        FROM up JOIN messages t ON t.id = up.parent_id WHERE up.unseen)
     SELECT substr(a.content, 1, :preview) FROM up JOIN alternatives a ON a.message_id = up.id AND a.position = up.shown
     WHERE NOT up.unseen),
    ''), coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'user' AND t.withdrawn = '{{}}'
     ORDER BY t.seq LIMIT 1),
    ''), s.guests, s.is_incognito
FROM sessions s JOIN memories m USING (guid)
WHERE {condition} AND m.deleted_at IS NULL AND (NOT s.is_incognito OR :incognito)
ORDER BY s.last_activity DESC, s.rowid DESC LIMIT :limit
"""
IS_EARLIER = """
s.guid IN (
    WITH older AS (
        SELECT e.guid, k.sticky, julianday(k.added) AS began FROM sessions e JOIN memories k USING (guid)
        WHERE e.persona_id = :persona AND e.guid <> :guid AND NOT e.is_incognito AND k.deleted_at IS NULL
            AND (began <= julianday(:moment) OR began > julianday(:now))
            AND EXISTS (SELECT 1 FROM messages t
                        WHERE t.session_id = e.guid AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'user'))
    SELECT guid FROM older WHERE sticky
    UNION SELECT guid FROM (SELECT guid FROM older ORDER BY began DESC LIMIT :recent))
"""
OF_PERSONA, IS_OPEN = "s.persona_id = :persona", "NOT s.archived"
"""Conditions of `summaries`. That of a persona is one of its own, because only with it the index by persona can be used."""


def summaries(
    connection: sqlite3.Connection,
    condition: str = "true",
    *,
    incognito: bool = False,
    limit: int | None = None,
    **values: str | int,
) -> list[SessionSummary]:
    """Return the sessions that fulfil a condition, by last activity, newest first, at most `limit`; `values` are those of the
    condition.
    """
    options = {"incognito": incognito, "preview": PREVIEW_CHARACTERS, "limit": -1 if limit is None else limit}
    rows = connection.execute(SELECT_SUMMARIES.format(condition=condition), {**options, **values})
    return parse_rows(_summary, rows)


def _summary(row: tuple[str, str, str, str, str, int, int, int, str, str, str, int]) -> SessionSummary:
    guid, persona_id, title, added, last_activity, count, archived, sticky, preview, first_words, guests, incognito = row
    try:
        return SessionSummary(
            UUID(guid),
            persona_id,
            title,
            _first_moment(added, last_activity),
            _first_moment(last_activity, added).astimezone(),
            count,
            bool(archived),
            bool(sticky),
            " ".join(preview.split()),
            " ".join(first_words.split()),
            tuple(read_json(guests, ())),
            bool(incognito),
        )
    except (TypeError, ValueError) as error:
        raise unreadable_error("conversation", error) from error


def _first_moment(*times: str) -> datetime:
    """Return the first of these times that can be read. Raise ValueError if there is none."""
    moments = parse_rows(datetime.fromisoformat, times)
    if not moments:
        raise ValueError(times[0])
    return moments[0]


TITLE_CHARACTERS = 80
"""Characters of the first message, shown for a session without title."""
FIRST_WORDS = """coalesce(
    (SELECT substr(a.content, 1, {length}) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = {session} AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'user' AND {condition}
     ORDER BY t.seq LIMIT 1),
    (SELECT substr(a.content, 1, {length}) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = {session} AND t.deleted_at IS NULL AND t.hidden = 0 AND {condition}
     ORDER BY t.seq LIMIT 1), '')"""
"""Expression of the beginning of a session's first message, preferably of the user's; `session` is its guid, `condition` one
for messages `t`.
"""
NOTHING_WITHDRAWN = "t.withdrawn = '{}'"
"""Condition: the user wants no part of the message forgotten."""


def shown_title(memory: str, condition: str = NOTHING_WITHDRAWN) -> str:
    """Return the SQL expression of the title under which a row of `memories` is listed: its name, for a session without one the
    beginning of its first message that fulfils a condition. `memory` is the alias of the table.
    """
    first_words = FIRST_WORDS.format(length=TITLE_CHARACTERS, session=f"{memory}.guid", condition=condition)
    return f"CASE WHEN {memory}.name = '' AND {memory}.category = 'chat_session' THEN {first_words} ELSE {memory}.name END"


# The parts of all sessions are read by one query and grouped in Python; 5,000 subqueries take longer.
SELECT_PARTS_OF_SESSIONS = "SELECT session_id, part, state, made_by FROM session_parts WHERE session_id"
SELECT_LINES = """
SELECT s.guid, m.name, m.content, m.keywords_main, m.added, s.last_activity, s.message_count, s.relevance, s.is_roleplay,
    m.sticky, m.protected, s.archived, CASE WHEN m.name <> '' THEN '' ELSE {first_words} END
FROM sessions s JOIN memories m USING (guid)
WHERE s.persona_id = ?1 AND m.deleted_at IS NULL AND NOT s.is_incognito
ORDER BY s.last_activity DESC, s.rowid DESC LIMIT ?3
""".format(first_words=FIRST_WORDS.format(length="?2", session="s.guid", condition=NOTHING_WITHDRAWN))


class SessionLines(Store):
    """Rows of the session page. Every method is one transaction."""

    @in_transaction
    def sessions_of(self, connection: sqlite3.Connection, persona_id: str, limit: int | None = None) -> list[SessionLine]:
        """Return the sessions of a persona, newest activity first, at most `limit`."""
        values = (persona_id, TITLE_CHARACTERS, -1 if limit is None else limit)
        rows = connection.execute(SELECT_LINES, values).fetchall()
        parts = select_by_values(connection, SELECT_PARTS_OF_SESSIONS, (row[0] for row in rows))
        by_session: dict[str, list[tuple[str, str, str]]] = {}
        for guid, part, state, made_by in parts:
            by_session.setdefault(guid, []).append((part, state, made_by))
        return parse_rows(lambda row: _line(row, by_session.get(row[0], [])), rows)


def _line(row: tuple[str, ...], parts: list[tuple[str, str, str]]) -> SessionLine:
    guid, name, content, keywords, added, last, count, relevance, *flags, first = row
    is_roleplay, sticky, protected, archived = map(bool, flags)
    try:
        return SessionLine(
            guid,
            name,
            " ".join(first.split()),
            search_text(name, first, content, keywords),
            _first_moment(added, last).timestamp(),
            _first_moment(last, added).timestamp(),
            int(count),
            int(relevance),
            is_roleplay,
            sticky,
            protected,
            archived,
            _author(parts),
            sum(state == PartState.FAILED for _part, state, _by in parts),
            sum(state == PartState.PENDING for _part, state, _by in parts),
        )
    except (KeyError, ValueError) as error:
        raise unreadable_error("conversation", error) from error


AUTHORS = frozenset(MadeBy)


def _author(parts: list[tuple[str, str, str]]) -> DescriptionAuthor:
    """Return who wrote the summary; NOBODY for a session without archive parts."""
    makers = {part: made_by for part, _state, made_by in parts if made_by in AUTHORS}
    if not makers:
        return DescriptionAuthor.NOBODY
    authors = {MadeBy.USER: DescriptionAuthor.USER, MadeBy.MODEL: DescriptionAuthor.MODEL}
    return authors.get(MadeBy(makers.get(SessionPart.SUMMARY, MadeBy.RULES)), DescriptionAuthor.RULES)
