"""Full-text search: in the word index, newest first and in batches, and directly in the texts the index omits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from itertools import starmap
from typing import NamedTuple
from uuid import UUID

from lethe_app.storage.chats.session_list import shown_title
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import Row, parse_rows, select_by_values, storable_text

MAX_PASSAGE_NUMBER = 2**62
"""Upper bound above every passage number."""
MAX_PASSAGES_PER_CALL, PASSAGES_PER_BATCH = 1_500, 60
"""Passages searched per call, and how many of them are read at once."""
MAX_UNINDEXED_PER_CALL = 250
"""Texts outside the index searched per call."""
MAX_HITS_PER_CALL = 40
"""Number of hits after which a call returns, because they fill a list."""
MAX_GREETINGS = 20
"""Maximum number of greetings found."""
SELECT_NUMBERS = """
SELECT rowid FROM passage_words WHERE passage_words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?
"""
SELECT_PASSAGES = """
SELECT p.kind, p.owner, p.source, p.origin, coalesce({title}, ''), u.category, p.speaker, p.time, p.text
FROM passages p LEFT JOIN memories u ON u.guid = p.source
WHERE p.kind <> 'world' AND p.number
""".format(title=shown_title("u"))
SELECT_SESSION_MESSAGES = """
SELECT 'message', s.persona_id, s.guid, t.id, {title}, u.category, t.speaker_name, t.time, coalesce(i.content, a.content)
FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
JOIN sessions s ON s.guid = t.session_id JOIN memories u ON u.guid = s.guid
LEFT JOIN incognito_texts i ON i.message_id = a.message_id AND i.position = a.position
WHERE t.session_id = ? AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.seq DESC
""".format(title=shown_title("u"))
SELECT_SUMMARY = """
SELECT 'summary', persona_id, guid, guid, {title}, category, '', added, name || char(10) || content FROM memories
WHERE guid = ? AND deleted_at IS NULL
""".format(title=shown_title("memories"))
SELECT_GREETINGS = """
SELECT 'message', s.persona_id, s.guid, t.id, {title}, u.category, t.speaker_name, t.time, a.content
FROM sessions s JOIN memories u USING (guid) JOIN messages t ON t.session_id = s.guid AND t.seq = 1
JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
WHERE u.deleted_at IS NULL AND t.deleted_at IS NULL AND t.hidden = 0 AND t.role = 'assistant'
    AND (?1 IS NULL OR s.persona_id = ?1) ORDER BY s.last_activity DESC LIMIT 1000
""".format(title=shown_title("u"))
SELECT_UNINDEXED = """
SELECT rowid, 'memory', persona_id, guid, guid, name, category, '', added,
    iif(name = '', content, name || ': ' || content)
FROM memories WHERE category <> 'chat_session' AND deleted_at IS NULL AND (?1 IS NULL OR persona_id = ?1)
    AND (enabled = 0 OR insertion IN ('none', 'user_return') OR category IN ('image', 'file')) AND rowid < ?2
ORDER BY rowid DESC LIMIT ?3
"""
SELECT_SUPERSEDED = """
SELECT rowid, 'fact', persona_id, guid, guid, '', NULL, '', last_seen, fact FROM facts
WHERE superseded = 1 AND deleted_at IS NULL AND (?1 IS NULL OR persona_id = ?1) AND rowid < ?2
ORDER BY rowid DESC LIMIT ?3
"""
SELECT_TERMS = """
SELECT term, doc FROM passage_terms WHERE term >= ?1 AND term < ?2 AND length(term) BETWEEN ?3 AND ?4
"""
SELECT_TEXT_OF_TERM = """
SELECT p.text FROM passage_places v JOIN passages p ON p.number = v.doc WHERE v.term = ? LIMIT 1
"""
MAX_LENGTH_DIFFERENCE = 2
"""Maximum difference in letters between a misspelled word and the word that was meant."""


class TextHit(NamedTuple):
    """Text that the index proposes as a hit."""

    kind: str
    owner: str
    source: str
    origin: str
    title: str
    category: str | None
    """Category of the memory or session it belongs to; None if it belongs to neither."""
    speaker: str
    time: str
    text: str
    other_sources: tuple[str, ...] = ()
    """Further sessions that begin with the same greeting."""

    @property
    def moment(self) -> datetime:
        """Return the time, which is stored as text."""
        return datetime.fromisoformat(self.time)


HitFilter = Callable[[TextHit], bool]
"""Filter that decides whether a text is a hit. It runs in the storage thread, so that it does not block the event loop."""


class FullTextSearch(Store):
    """Full-text queries. Every method is one transaction."""

    @in_transaction
    def list_terms(self, connection: sqlite3.Connection, word: str) -> dict[str, int]:
        """Return the terms of the index that begin with the same letter and are about as long as `word`, with the number of
        passages of each.
        """
        first = storable_text(word[:1])
        lengths = (len(word) - MAX_LENGTH_DIFFERENCE, len(word) + MAX_LENGTH_DIFFERENCE)
        parameters = (first, chr(ord(first) + 1), *lengths)
        return dict(connection.execute(SELECT_TERMS, parameters).fetchall())

    @in_transaction
    def find_text_with(self, connection: sqlite3.Connection, term: str) -> str:
        """Return a text that contains a term of the index; empty if none does any more."""
        row = connection.execute(SELECT_TEXT_OF_TERM, (term,)).fetchone()
        return str(row[0]) if row is not None else ""

    @in_transaction
    def search_passages(
        self, connection: sqlite3.Connection, match: str, owner: str | None, below: int, is_hit: HitFilter
    ) -> tuple[list[TextHit], int]:
        """Return hits among a number of passages below `below`, newest first, and the number to continue below; 0 at the
        end.
        """
        query = storable_text(match)
        numbers = [number for (number,) in connection.execute(SELECT_NUMBERS, (query, below, MAX_PASSAGES_PER_CALL))]
        # Passages of memories with natural insertion and of documents have owners of their own: see `WAITING_PREFIX` and
        # `DOCUMENTS_PREFIX` of the indexing.
        owners = {owner, f"waiting:{owner}", f"documents:{owner}"}
        hits, read = list[TextHit](), 0
        while read < len(numbers) and len(hits) < MAX_HITS_PER_CALL:
            batch = numbers[read : read + PASSAGES_PER_BATCH]
            texts = starmap(TextHit, select_by_values(connection, SELECT_PASSAGES, batch))
            hits += [hit for hit in texts if (owner is None or hit.owner in owners) and is_hit(hit)]
            read += len(batch)
        hits.sort(key=lambda hit: hit.time, reverse=True)
        return hits, numbers[read - 1] if read < len(numbers) or len(numbers) == MAX_PASSAGES_PER_CALL else 0

    @in_transaction
    def search_session(self, connection: sqlite3.Connection, session: UUID, is_hit: HitFilter) -> list[TextHit]:
        """Return hits in all visible messages of a session, on any branch, and in its summary, newest first."""
        values = (str(session),)
        rows = [*connection.execute(SELECT_SUMMARY, values), *connection.execute(SELECT_SESSION_MESSAGES, values)]
        return [hit for hit in starmap(TextHit, rows) if is_hit(hit)]

    @in_transaction
    def search_greetings(self, connection: sqlite3.Connection, owner: str | None, is_hit: HitFilter) -> list[TextHit]:
        """Return hits in greetings, which the index omits because many sessions begin alike; of equal ones only the newest,
        with the other sessions.
        """
        hits: dict[str, TextHit] = {}
        for hit in starmap(TextHit, connection.execute(SELECT_GREETINGS, (owner,))):
            if hit.text in hits:
                newest = hits[hit.text]
                hits[hit.text] = newest._replace(other_sources=(*newest.other_sources, hit.source))
            elif len(hits) < MAX_GREETINGS and is_hit(hit):
                hits[hit.text] = hit
        return list(hits.values())

    async def search_unindexed(self, owner: str | None, below: int, is_hit: HitFilter) -> tuple[list[TextHit], int]:
        """Return hits in memories that are never recalled by their content, in batches as `search_passages` does."""
        return await self._search_batch(SELECT_UNINDEXED, owner, below, is_hit)

    async def search_superseded(self, owner: str | None, below: int, is_hit: HitFilter) -> tuple[list[TextHit], int]:
        """Return hits in superseded facts, which the index omits, in batches as `search_passages` does."""
        return await self._search_batch(SELECT_SUPERSEDED, owner, below, is_hit)

    @in_transaction
    def _search_batch(
        self, connection: sqlite3.Connection, query: str, owner: str | None, below: int, is_hit: HitFilter
    ) -> tuple[list[TextHit], int]:
        rows = connection.execute(query, (owner, below, MAX_UNINDEXED_PER_CALL)).fetchall()
        hits = [hit for hit in parse_rows(_parse_hit, rows) if is_hit(hit)]
        return hits, rows[-1][0] if len(rows) == MAX_UNINDEXED_PER_CALL else 0


def _parse_hit(row: Row) -> TextHit:
    """Return the hit of a row, which begins with its number. Raise ValueError if its time cannot be read."""
    hit = TextHit(*row[1:])
    datetime.fromisoformat(hit.time)
    return hit
