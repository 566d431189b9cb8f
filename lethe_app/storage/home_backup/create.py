"""Making backups of a data folder, also while it is in use: what belongs to one, what it contains, and writing it to a file.

The archive contains relative names. Models, caches, logs and secrets are in none.
"""

from __future__ import annotations

import io
import json
import logging
import re
import shutil
import sqlite3
import threading
import zipfile
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path, PureWindowsPath
from typing import IO

from lethe_app.config.settings import SECRET_SETTINGS
from lethe_app.domain.bundle import BackedUpConversation, BackupContents, BackupKind
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.errors import DiskFull, FileError, StorageError
from lethe_app.storage.atomic import complete_file, delete_temporary_file
from lethe_app.storage.backup import PieceCopier, Progress, backup_folder, backup_path, copy_verified, list_backups, rotate
from lethe_app.storage.chats.session_list import PREVIEW_CHARACTERS, shown_title
from lethe_app.storage.database_header import has_content, sidecar_path
from lethe_app.storage.error_translation import LOW_DISK_BYTES, disk_full_error, translate_errors
from lethe_app.storage.files.json_files import read_model, read_object
from lethe_app.storage.home_files import LEFTOVER_SUFFIXES

log = logging.getLogger(__name__)

DATABASE, SETTINGS, WINDOW, MANIFEST = "lethe.sqlite3", "settings.json", "window.ini", "backup.json"
DATABASE_ITEMS = tuple(sidecar_path(Path(DATABASE), suffix).name for suffix in ("-wal", "-shm", "-journal", ""))
"""Files of the database. Its logs come first: left beside another database, SQLite would replay them into it."""
FOLDERS = (
    *("personas", "worldinfo", "presets", "notebooks", "prompts", "translations", "subjects", "mood"),
    *("trash/personas", "trash/worldinfo", "trash/presets", "trash/notebooks"),
)
FILE_ITEMS = (SETTINGS, WINDOW, *FOLDERS)
"""Files and folders that are restored together with the database, each as a whole. The window's file contains the drafts."""
SECRET = re.compile("|".join([*SECRET_SETTINGS, "_key$", "_password$", "_token$"]))
"""Names of settings that are in no backup: those that are masked on screen, and what a newer version may call so."""
LEVEL = 1
"""Compression of zlib: a quarter of the size of a database, at several times the speed of the default."""
MAX_CONVERSATIONS = 200
"""Number of conversations that are listed of a backup."""
KEPT_SESSIONS = "FROM sessions s JOIN memories m USING (guid) WHERE m.deleted_at IS NULL AND {is_kept}"
COUNTED = {
    "conversations": f"SELECT count(*) {KEPT_SESSIONS}",
    "messages": f"SELECT coalesce(sum(message_count), 0) {KEPT_SESSIONS}",
    "memories": "SELECT count(*) FROM memories WHERE category <> 'chat_session' AND deleted_at IS NULL",
    "facts": "SELECT count(*) FROM facts WHERE deleted_at IS NULL",
    "documents": "SELECT count(*) FROM documents",
}
"""Query of the number of records of each kind in the database."""
LATER_TABLES = frozenset({"facts", "documents"})
"""Tables that the first schema versions lack."""
SELECT_CONVERSATIONS = f"""
SELECT s.persona_id, {shown_title("m", "true")} AS title, s.last_activity, s.message_count AS messages, coalesce(
    (SELECT substr(a.content, 1, :preview) FROM messages t JOIN alternatives a ON a.message_id = t.id AND a.position = t.shown
     WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0 ORDER BY t.seq DESC LIMIT 1), '') AS last_words
{KEPT_SESSIONS} ORDER BY s.last_activity DESC LIMIT :limit
"""
FILE_KINDS = {"worlds": "worldinfo/*.json", "presets": "presets/**/*.json", "notebooks": "notebooks/*/*.md"}
"""Pattern of the files of each kind of record that is not in the database."""


def find_files(home: Path) -> dict[str, Path]:
    """Return the files of a data folder that belong to a backup, by name; those of writes in progress are left out."""
    found = [path for item in (*DATABASE_ITEMS, *FILE_ITEMS) for path in (home / item, *sorted((home / item).rglob("*")))]
    wanted = [path for path in found if path.is_file() and path.suffix not in LEFTOVER_SUFFIXES]
    return {path.relative_to(home).as_posix(): path for path in wanted}


def is_backup_name(name: str) -> bool:
    """Return whether a name is that of a file of a backup: relative, below one of the folders, and valid on every system."""
    path = PureWindowsPath(name)  # which separates by both slashes
    is_plain = path.as_posix() == name and ".." not in path.parts and ":" not in name and name.isprintable()
    return is_plain and (name in {DATABASE, SETTINGS, WINDOW} or name.startswith(tuple(f"{folder}/" for folder in FOLDERS)))


def back_up_home(
    home: Path, target: Path | None, stop: threading.Event, on_progress: Progress, moment: datetime | None = None
) -> Path:
    """Write everything of a data folder that belongs to a backup into one file, also while it is in use, and return its path:
    `target`, or if that is a folder, a new one in it; by default among the backups. Files that cannot be read are left out and
    named in the contents.

    The copy of the database reads one snapshot while others continue to write; it is checked before it is packed. Raise
    DatabaseDamaged if that check fails, StorageError, and WorkCancelled if `on_progress` does; then no file is left.
    """
    own_folder = backup_folder(home / DATABASE)
    if target is None or target.is_dir():
        target = backup_path(target or own_folder, now(), BackupKind.MANUAL)
    # The copy never lies where the user wants the file, which may be a stick that is given away.
    copy = own_folder / f".{target.name}.database.partial"
    with translate_errors(target):
        files = find_files(home)
        if target.exists():
            raise StorageError(f"{target} exists already.", "Choose another name.")
        if not files:
            raise StorageError(f"There is nothing to back up in the folder {home}.")
        for folder in (own_folder, target.parent):
            folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(folder).free < 2 * sum(path.stat().st_size for path in files.values()) + LOW_DISK_BYTES:
                raise disk_full_error(folder)
    packed = {name: path for name, path in files.items() if name not in DATABASE_ITEMS}
    try:
        if DATABASE in files:
            copy_verified(home / DATABASE, copy, stop, lambda done: on_progress(done / 2))
            packed[DATABASE] = copy
        contents = describe_home(home, copy).model_copy(update={"made": moment or now()})
        _write_archive(packed, contents, target, lambda done: on_progress(0.5 + done / 2))
    finally:
        delete_temporary_file(copy)
    return target


def _write_archive(files: dict[str, Path], contents: BackupContents, target: Path, on_progress: Progress) -> None:
    """Write files into an archive by name. Those that cannot be read are added to `left_out` of the contents."""
    with translate_errors(target), complete_file(target) as draft:
        copier = PieceCopier(sum(path.stat().st_size for path in files.values()), on_progress)
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
            for name, path in files.items():
                try:
                    with _open_file(name, path) as source, archive.open(name, "w", force_zip64=True) as member:
                        copier.copy(source, member)
                except (FileError, FileNotFoundError, PermissionError):
                    contents.left_out.append(name)
            archive.writestr(MANIFEST, contents.model_dump_json())


def _open_file(name: str, path: Path) -> IO[bytes]:
    """Open a file to be backed up, the settings without secrets. Raise FileError if it cannot be in a backup."""
    if not is_backup_name(name):
        raise FileError(path, "has a name that other systems do not allow")
    if name == SETTINGS:
        values = {key: value for key, value in read_object(path).items() if not SECRET.search(key)}
        return io.BytesIO(json.dumps(values, indent=2).encode())
    return path.open("rb")


def back_up_daily(home: Path, keep: int | None, moment: datetime, stop: threading.Event, on_progress: Progress) -> Path | None:
    """Make the daily backup and return its path.

    Return None if there is one of today, nothing was written since the last, there are no memories yet, or too little disk
    space is free. Raise WorkCancelled if `on_progress` does, and DatabaseDamaged if the copy of the database fails its check:
    then the database itself is damaged, and no older backup is deleted.
    """
    folder = backup_folder(home / DATABASE)
    with translate_errors(home / DATABASE):
        if not _is_due(home / DATABASE, folder, moment):
            return None
    target = backup_path(folder, moment, BackupKind.DAILY)
    try:
        back_up_home(home, target, stop, on_progress, moment)
    except DiskFull:
        log.info("No backup today: too little room on the disk that holds %s", folder)
        return None
    rotate(folder, BackupKind.DAILY, keep)
    return target


def _is_due(database: Path, folder: Path, moment: datetime) -> bool:
    """Return whether something was written since the newest backup and that backup is of another day; without a backup,
    whether there is anything to back up.

    One whose date is still to come was made while the clock was wrong, and does not count.
    """
    newest = next((backup for backup in list_backups(folder) if backup.created <= moment), None)
    if newest is None:
        return any(describe_database(database).counts.values())
    written = max(file.stat().st_mtime for file in (database, sidecar_path(database, "-wal")) if has_content(file))
    return newest.created.date() != moment.astimezone(newest.created.tzinfo).date() and written > newest.created.timestamp()


def describe_home(home: Path, database: Path | None = None) -> BackupContents:
    """Return the contents of a data folder, also while it is in use; `database` is a copy of its database, by default the one
    in it. Raise StorageError if the database cannot be read.
    """
    database = database or home / DATABASE
    contents = describe_database(database) if database.exists() else BackupContents(made=now())
    for path in (home / "personas").glob("*.json"):
        with suppress(FileError):
            contents.personas[path.stem] = read_model(path, Persona).name
    files = {kind: len(list(home.glob(pattern))) for kind, pattern in FILE_KINDS.items()}
    contents.counts = {"personas": len(contents.personas), **files, **contents.counts}
    return contents


def describe_database(database: Path) -> BackupContents:
    """Return the contents of a database of any schema version. Raise StorageError."""
    address = f"{database.absolute().as_uri()}?mode=ro"
    with translate_errors(database), closing(sqlite3.connect(address, uri=True)) as reader:
        reader.row_factory = sqlite3.Row
        tables = {name for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        columns = {row["name"] for row in reader.execute("PRAGMA table_info(sessions)")}
        is_kept = "NOT s.is_incognito" if "is_incognito" in columns else "true"
        queries = {kind: query for kind, query in COUNTED.items() if kind not in LATER_TABLES - tables}
        select = SELECT_CONVERSATIONS.format(is_kept=is_kept)
        rows = reader.execute(select, {"preview": PREVIEW_CHARACTERS, "limit": MAX_CONVERSATIONS}).fetchall()
        return BackupContents(
            made=datetime.fromtimestamp(database.stat().st_mtime).astimezone(),
            counts={kind: reader.execute(query.format(is_kept=is_kept)).fetchone()[0] for kind, query in queries.items()},
            conversations=[BackedUpConversation.model_validate(dict(row)) for row in rows],
        )
