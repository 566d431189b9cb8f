"""What a list of sessions shows of each, read for thousands of them in one go."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from uuid import UUID

from lethe_app.domain.chat import SessionSummary
from lethe_app.errors import DatabaseDamaged

PREVIEW_CHARACTERS = 160

# The tip itself is nearly always what a preview shows; only when it is hidden or deleted the chain above it is climbed.
SUMMARIES = """
SELECT s.guid, s.persona_id, m.name, m.added, s.last_activity, s.message_count, s.archived, m.sticky, coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.id = s.tip_id AND t.deleted_at IS NULL AND t.hidden = 0),
    (WITH RECURSIVE up (id, parent_id, unseen, shown) AS (
        SELECT id, parent_id, hidden OR deleted_at IS NOT NULL, shown FROM messages WHERE id = s.tip_id
        UNION ALL
        SELECT t.id, t.parent_id, t.hidden OR t.deleted_at IS NOT NULL, t.shown
        FROM up JOIN messages t ON t.id = up.parent_id WHERE up.unseen)
     SELECT substr(a.content, 1, :preview) FROM up JOIN alternatives a ON a.message_id = up.id AND a.position = up.shown
     WHERE NOT up.unseen),
    ''), coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'user' ORDER BY t.seq LIMIT 1),
    ''), s.guests
FROM sessions s JOIN memories m USING (guid)
WHERE {which} AND (m.deleted_at IS NOT NULL) = :deleted
ORDER BY s.last_activity DESC, s.rowid DESC LIMIT :most
"""
EARLIER = """
s.guid IN (
    WITH older AS (
        SELECT e.guid, k.sticky, julianday(k.added) AS began FROM sessions e JOIN memories k USING (guid)
        WHERE e.persona_id = :persona AND e.guid <> :guid AND k.deleted_at IS NULL AND began <= julianday(:moment)
            AND EXISTS (SELECT 1 FROM messages t
                        WHERE t.session_id = e.guid AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'user'))
    SELECT guid FROM older WHERE sticky
    UNION SELECT guid FROM (SELECT guid FROM older ORDER BY began DESC LIMIT :near))
"""
WHICH = ("true", "s.persona_id = :persona", EARLIER, "NOT s.archived")
OF_ALL, OF_ONE, BEFORE, UNARCHIVED = (SUMMARIES.format(which=which) for which in WHICH)
"""Of all and of one are two questions, because only the second can follow the index from the newest on."""


def listed(connection: sqlite3.Connection, persona_id: str | None, deleted: bool, most: int | None) -> list[SessionSummary]:
    """Of one persona or of all, newest activity first, no more than `most`; those in the trash instead if `deleted`."""
    values = {
        "persona": persona_id,
        "deleted": deleted,
        "preview": PREVIEW_CHARACTERS,
        "most": -1 if most is None else most,
    }
    return [_summary(row) for row in connection.execute(OF_ALL if persona_id is None else OF_ONE, values)]


def before(connection: sqlite3.Connection, persona_id: str, guid: str, moment: str, most: int) -> list[SessionSummary]:
    """Those but `guid` that began up to a moment (to the millisecond) and in which the user said something.

    The newest `most` of them, and all sticky ones.
    """
    values = {"persona": persona_id, "guid": guid, "moment": moment, "near": most}
    common = {"deleted": False, "preview": PREVIEW_CHARACTERS, "most": -1}
    return [_summary(row) for row in connection.execute(BEFORE, values | common)]


def unarchived(connection: sqlite3.Connection) -> list[SessionSummary]:
    """Sessions of all personas that are not archived, newest activity first."""
    values = {"deleted": False, "preview": 0, "most": -1}
    return [_summary(row) for row in connection.execute(UNARCHIVED, values)]


def _summary(row: tuple[str, str, str, str, str, int, int, int, str, str, str]) -> SessionSummary:
    guid, persona_id, title, added, last_activity, count, archived, sticky, preview, first_words, guests = row
    try:
        return SessionSummary(
            UUID(guid),
            persona_id,
            title,
            datetime.fromisoformat(added),
            datetime.fromisoformat(last_activity).astimezone(),
            count,
            bool(archived),
            bool(sticky),
            " ".join(preview.split()),
            " ".join(first_words.split()),
            tuple(json.loads(guests)),
        )
    except (TypeError, ValueError) as error:
        raise DatabaseDamaged(
            f"The database holds a conversation that cannot be understood ({error}).",
            "Restore a backup, or delete what cannot be shown.",
        ) from error
