"""Making backups of a data folder while it is in use: one a day, on request, and into a file of the user's choice; and what a
data folder or backup contains.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections import Counter
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from lethe_app.domain.bundle import BackedUpConversation, BackupContents, BackupKind
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.errors import DiskFull, FileError, StorageError
from lethe_app.storage.atomic import delete_temporary_file
from lethe_app.storage.backup import Progress, backup_folder, backup_path, copy_verified, list_backups, rotate
from lethe_app.storage.chats.session_list import PREVIEW_CHARACTERS, shown_title
from lethe_app.storage.database_header import has_content, sidecar_path
from lethe_app.storage.error_translation import LOW_DISK_BYTES, disk_full_error, translate_errors
from lethe_app.storage.files.json_files import read_model
from lethe_app.storage.home_backup.archive import DATABASE, find_files, write_archive
from lethe_app.storage.migrations import schema_version

log = logging.getLogger(__name__)

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
SELECT s.persona_id, {title}, s.last_activity, s.message_count, coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.seq DESC LIMIT 1), '')
FROM sessions s JOIN memories m USING (guid) WHERE m.deleted_at IS NULL AND {is_kept}
ORDER BY s.last_activity DESC LIMIT :limit
"""
FILE_KINDS = {"worldinfo": "worlds", "presets": "presets", "notebooks": "notebooks"}
"""Kind of record by the folder of its files."""


def back_up_home(
    home: Path, target: Path, stop: threading.Event, on_progress: Progress = lambda _: None, *, moment: datetime | None = None
) -> BackupContents:
    """Write everything of a data folder that belongs to a backup into one file, also while it is in use.

    The copy of the database reads one snapshot while others continue to write; it is checked before it is packed. Raise
    DatabaseDamaged if that check fails, StorageError, and BackupCancelled if `stop` was set; then no file is left.
    """
    database = home / DATABASE
    if target.exists():
        raise StorageError(f"{target} exists already.", "Choose another name.")
    if not database.exists() and next(find_files(home), None) is None:
        raise StorageError(f"There is nothing to back up in the folder {home}.")
    with translate_errors(target):
        for folder in (backup_folder(database), target.parent):
            folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(folder).free < 2 * _size_of(home) + LOW_DISK_BYTES:
                raise disk_full_error(folder)
    # The copy never lies where the user wants the file, which may be a stick that is given away.
    copy = backup_folder(database) / f".{target.name}.database.partial"
    try:
        if database.exists():
            copy_verified(database, copy, stop, lambda done: on_progress(done / 2))
        contents = describe_home(home, copy).model_copy(update={"made": moment or now()})
        return write_archive(home, copy if copy.exists() else None, contents, target, lambda done: on_progress(0.5 + done / 2))
    finally:
        delete_temporary_file(copy)
        with suppress(OSError):  # which is of no use while there is no backup in it
            copy.parent.rmdir()


def back_up_daily(home: Path, keep: int | None, moment: datetime, stop: threading.Event, on_progress: Progress) -> Path | None:
    """Make the daily backup and return its path.

    Return None if there is one of today, nothing was written since the last, there are no memories yet, or too little disk
    space is free. Raise BackupCancelled if `stop` was set, and DatabaseDamaged if the copy of the database fails its check:
    then the database itself is damaged, and no older backup is deleted.
    """
    database = home / DATABASE
    folder = backup_folder(database)
    with translate_errors(database):
        if not _is_due(database, folder, moment) or not _has_memories(database):
            return None
    target = backup_path(folder, moment, BackupKind.DAILY)
    try:
        back_up_home(home, target, stop, on_progress, moment=moment)
    except DiskFull:
        log.info("No backup today: too little room on the disk that holds %s", folder)
        return None
    rotate(folder, BackupKind.DAILY, keep)
    return target


def _is_due(database: Path, folder: Path, moment: datetime) -> bool:
    """Return whether something was written since the newest backup and that backup is of another day.

    One whose date is still to come was made while the clock was wrong, and does not count.
    """
    newest = next((backup for backup in list_backups(folder) if backup.created <= moment), None)
    if newest is None:
        return True
    written = max(file.stat().st_mtime for file in (database, sidecar_path(database, "-wal")) if has_content(file))
    return newest.created.date() != moment.astimezone(newest.created.tzinfo).date() and written > newest.created.timestamp()


def _has_memories(database: Path) -> bool:
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        return reader.execute("SELECT 1 FROM memories LIMIT 1").fetchone() is not None


def _size_of(home: Path) -> int:
    """Return the number of bytes that a backup of `home` has without compression."""
    database = home / DATABASE
    files = [database, sidecar_path(database, "-wal"), *(path for _name, path in find_files(home))]
    return sum(path.stat().st_size for path in files if path.exists())


def describe_home(home: Path, database: Path | None = None, *, is_in_use: bool = False) -> BackupContents:
    """Return the contents of a data folder; `database` is a copy of its database, by default the one in it.

    Raise StorageError if the database cannot be read.
    """
    database = database or home / DATABASE
    contents = describe_database(database, is_in_use=is_in_use) if database.exists() else BackupContents(made=now())
    counts, names = _count_files(home)
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
        made=datetime.fromtimestamp(database.stat().st_mtime).astimezone(),
        schema_version=version,
        has_files=False,
        counts={"conversations": conversations, "messages": messages, **others},
        conversations=[_conversation(*row) for row in rows],
    )


def _count_files(home: Path) -> tuple[Counter[str], dict[str, str]]:
    """Return the number of records of each kind that are files, and the names of the personas by file name."""
    counts: Counter[str] = Counter()
    names = {}
    for name, path in find_files(home):
        folder = name.partition("/")[0]
        if folder in FILE_KINDS and path.suffix in {".json", ".md"}:
            counts[FILE_KINDS[folder]] += 1
        elif folder == "personas" and path.suffix == ".json":
            with suppress(FileError):
                persona = read_model(path, Persona)
                counts["user_personas" if persona.is_user else "personas"] += 1
                names[path.stem] = persona.name
    return counts, names


def _conversation(persona_id: str, title: str, last_activity: str, messages: int, last_words: str) -> BackedUpConversation:
    return BackedUpConversation(
        persona_id=persona_id,
        title=title,
        last_activity=datetime.fromisoformat(last_activity),
        messages=messages,
        last_words=" ".join(last_words.split()),
    )
