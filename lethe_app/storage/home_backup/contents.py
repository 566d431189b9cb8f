"""Contents of a data folder or backup: how many records of each kind, names of personas, and the newest conversations."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path

from lethe_app.domain.bundle import BackedUpConversation, BackupContents
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError
from lethe_app.storage.chats.session_list import PREVIEW_CHARACTERS, shown_title
from lethe_app.storage.database_header import has_content, sidecar_path
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.files.json_files import read_model
from lethe_app.storage.home_backup.archive import DATABASE, find_files
from lethe_app.storage.migrations import schema_version

MAX_CONVERSATIONS = 200
"""Number of conversations that are listed of a backup."""
COUNTED = {
    "memories": "SELECT count(*) FROM memories WHERE category <> 'chat_session' AND deleted_at IS NULL",
    "facts": "SELECT count(*) FROM facts WHERE deleted_at IS NULL",
    "documents": "SELECT count(*) FROM documents",
}
"""Query of the number of records of a kind by its table, which older schema versions may lack."""
COUNT_CONVERSATIONS = """
SELECT count(*), coalesce(sum(message_count), 0) FROM sessions s JOIN memories m USING (guid)
WHERE m.deleted_at IS NULL AND {is_kept}
"""
SELECT_CONVERSATIONS = """
SELECT s.persona_id, {title}, m.added, s.last_activity, s.message_count, coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.seq DESC LIMIT 1), '')
FROM sessions s JOIN memories m USING (guid) WHERE m.deleted_at IS NULL AND {is_kept}
ORDER BY s.last_activity DESC LIMIT :limit
"""
FILE_KINDS = {"worldinfo": "worlds", "presets": "presets", "notebooks": "notebooks"}
"""Kind of record by the folder of its files."""


def describe_home(home: Path, database: Path | None = None, *, is_in_use: bool = False) -> BackupContents:
    """Return the contents of a data folder; `database` is a copy of its database, by default the one in it.

    Raise StorageError if the database cannot be read.
    """
    database = database or home / DATABASE
    contents = describe_database(database, is_in_use=is_in_use) if database.exists() else BackupContents(made=now())
    counts, names = count_files(find_files(home))
    return contents.model_copy(update={"has_files": True, "personas": names, "counts": {**counts, **contents.counts}})


def describe_database(database: Path, *, is_in_use: bool = False) -> BackupContents:
    """Return the contents of a database of any schema version. Raise StorageError."""
    # SQLite would create a log beside a database that is only looked at.
    is_immutable = not is_in_use and not has_content(sidecar_path(database, "-wal"))
    address = f"{database.absolute().as_uri()}?mode=ro{'&immutable=1' if is_immutable else ''}"
    with translate_errors(database), closing(sqlite3.connect(address, uri=True)) as reader:
        tables = {name for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        columns = {row[1] for row in reader.execute("PRAGMA table_info(sessions)")}
        is_kept = "NOT s.is_incognito" if "is_incognito" in columns else "true"
        conversations, messages = reader.execute(COUNT_CONVERSATIONS.format(is_kept=is_kept)).fetchone()
        others = {kind: reader.execute(query).fetchone()[0] for kind, query in COUNTED.items() if kind in tables}
        select = SELECT_CONVERSATIONS.format(title=shown_title("m"), is_kept=is_kept)
        rows = reader.execute(select, {"preview": PREVIEW_CHARACTERS, "limit": MAX_CONVERSATIONS}).fetchall()
        version = schema_version(reader)
    return BackupContents(
        made=now(),
        schema_version=version,
        has_files=False,
        counts={"conversations": conversations, "messages": messages, **others},
        conversations=[_conversation(*row) for row in rows],
    )


def count_files(files: Iterable[tuple[str, Path]]) -> tuple[Counter[str], dict[str, str]]:
    """Return the number of records of each kind that are files, and the names of the personas by file name."""
    counts: Counter[str] = Counter()
    names = {}
    for name, path in files:
        folder = name.partition("/")[0]
        if path.suffix not in {".json", ".md"}:
            continue
        if folder in FILE_KINDS:
            counts[FILE_KINDS[folder]] += 1
        elif folder == "personas" and (persona := _read_persona(path)) is not None:
            counts["user_personas" if persona.is_user else "personas"] += 1
            names[path.stem] = persona.name
    return counts, names


def _read_persona(path: Path) -> Persona | None:
    try:
        return read_model(path, Persona)
    except FileError:
        return None


def _conversation(
    persona_id: str, title: str, begun: str, last_activity: str, messages: int, last_words: str
) -> BackedUpConversation:
    return BackedUpConversation(
        persona_id=persona_id,
        title=title,
        begun=datetime.fromisoformat(begun),
        last_activity=datetime.fromisoformat(last_activity),
        messages=messages,
        last_words=" ".join(last_words.split()),
    )
