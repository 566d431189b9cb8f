"""Documents of personas and worlds, with the passages into which their texts are cut."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from lethe_app.domain.passage import Document, DocumentChunk
from lethe_app.errors import StorageError
from lethe_app.storage import redaction
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import json_list, parse_rows, storable_text

_SELECT = """
SELECT d.guid, d.owner, d.title, d.path, d.digest, d.size, d.added, d.trouble,
    (SELECT count(*) FROM document_chunks c WHERE c.document = d.guid)
FROM documents d
"""
_SELECT_CHUNKS = """
SELECT c.id, c.document, d.owner, d.title, c.text, d.added, c.heading, c.page
FROM document_chunks c JOIN documents d ON d.guid = c.document
"""
_DELETE_OTHERS = "DELETE FROM document_chunks WHERE document = ? AND id NOT IN (SELECT value FROM json_each(?))"
_SAVE_CHUNK = """
INSERT INTO document_chunks (id, document, position, heading, page, text) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET position = excluded.position, page = excluded.page
"""
_SAVE = """
INSERT INTO documents (guid, owner, title, path, digest, size, added, trouble) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (guid) DO UPDATE SET title = excluded.title, path = excluded.path, digest = excluded.digest, size = excluded.size,
    trouble = excluded.trouble
"""


class DocumentStore(Store):
    """Tables of documents and their passages. A removed document leaves no word in the database."""

    @in_transaction
    def save(self, connection: sqlite3.Connection, document: Document, chunks: Sequence[DocumentChunk]) -> None:
        """Insert a document, or replace its text; passages that are unchanged keep their vectors."""
        guid = str(document.guid)
        texts = (guid, document.owner, document.title, document.path, document.digest)
        values = (*map(storable_text, texts), document.size, document.added.isoformat(), storable_text(document.trouble))
        connection.execute(_SAVE, values)
        deleted = connection.execute(_DELETE_OTHERS, (guid, json_list(chunk.id for chunk in chunks))).rowcount
        connection.executemany(
            _SAVE_CHUNK,
            [
                (str(chunk.id), guid, index, storable_text(chunk.heading), chunk.page, storable_text(chunk.text))
                for index, chunk in enumerate(chunks)
            ],
        )
        if deleted:
            redaction.redact_purged(connection)

    @in_transaction
    def set_trouble(self, connection: sqlite3.Connection, guid: UUID, trouble: str) -> None:
        """Store why the changed file of a document could not be read; empty if it could."""
        values = (storable_text(trouble), str(guid))
        connection.execute("UPDATE documents SET trouble = ? WHERE guid = ?", values)

    @in_transaction
    def get(self, connection: sqlite3.Connection, guid: UUID) -> Document:
        """Return a document. Raise StorageError if it does not exist."""
        row = connection.execute(f"{_SELECT} WHERE d.guid = ?", (str(guid),)).fetchone()
        if row is None:
            raise StorageError("This document no longer exists.")
        return _to_document(row)

    @in_transaction
    def documents_of(self, connection: sqlite3.Connection, owners: Iterable[str]) -> list[Document]:
        """Return the documents of these owners, by title."""
        where = "WHERE d.owner IN (SELECT value FROM json_each(?)) ORDER BY d.title COLLATE NOCASE, d.added"
        return parse_rows(_to_document, connection.execute(f"{_SELECT} {where}", (json_list(owners),)))

    @in_transaction
    def chunks(self, connection: sqlite3.Connection, ids: Sequence[UUID]) -> dict[UUID, DocumentChunk]:
        """Return those of these passages that exist."""
        where = "WHERE c.id IN (SELECT value FROM json_each(?))"
        rows = connection.execute(f"{_SELECT_CHUNKS} {where}", (json_list(ids),))
        return {chunk.id: chunk for chunk in parse_rows(_to_chunk, rows)}

    @in_transaction
    def chunks_of(
        self, connection: sqlite3.Connection, guid: UUID, limit: int, first: UUID | None = None
    ) -> list[DocumentChunk]:
        """Return passages of a document, in their order, from its beginning or from the passage `first`."""
        from_first = "c.position >= coalesce((SELECT position FROM document_chunks WHERE id = ?), 0)"
        query = f"{_SELECT_CHUNKS} WHERE c.document = ? AND {from_first} ORDER BY c.position LIMIT ?"
        return parse_rows(_to_chunk, connection.execute(query, (str(guid), str(first), limit)))

    async def scrub(self) -> None:
        """Remove what was deleted from the files of the database."""
        await self._database.scrub()

    @in_transaction
    def delete(self, connection: sqlite3.Connection, guids: Sequence[UUID]) -> None:
        """Delete documents with everything that was recalled of them."""
        connection.executemany("DELETE FROM documents WHERE guid = ?", [(str(guid),) for guid in guids])
        redaction.redact_purged(connection)


def _to_document(row: tuple[Any, ...]) -> Document:
    guid, owner, title, path, digest, size, added, trouble, chunks = row
    return Document(UUID(guid), owner, title, path, digest, size, datetime.fromisoformat(added), chunks, trouble)


def _to_chunk(row: tuple[Any, ...]) -> DocumentChunk:
    id_, document, owner, title, text, added, heading, page = row
    return DocumentChunk(UUID(id_), UUID(document), owner, title, text, datetime.fromisoformat(added), heading, page)
