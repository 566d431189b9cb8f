"""Files of a data folder that belong to a backup, by names relative to it; models, caches, logs and secrets do not."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lethe_app.config.settings import SECRET_SETTINGS
from lethe_app.errors import FileError
from lethe_app.storage.database_header import sidecar_path
from lethe_app.storage.files.json_files import read_object

DATABASE, SETTINGS, MANIFEST = "lethe.sqlite3", "settings.json", "backup.json"
DATABASE_ITEMS = tuple(sidecar_path(Path(DATABASE), suffix).name for suffix in ("-wal", "-shm", "-journal", ""))
"""Files of the database. Its logs come first: left beside another database, SQLite would replay them into it."""
FOLDERS = ("personas", "worldinfo", "presets", "notebooks", "prompts", "translations", "subjects", "mood")
TRASH_FOLDERS = tuple(f"trash/{name}" for name in ("personas", "worldinfo", "presets", "notebooks"))
FILE_ITEMS = (SETTINGS, *FOLDERS, *TRASH_FOLDERS)
"""Files and folders that are restored together with the database, each as a whole."""
MAX_FILE_BYTES = 1 << 30
"""Maximum size of a file other than the database."""
SECRET = re.compile("|".join([*SECRET_SETTINGS, "_key$", "_password$", "_token$"]))
"""Names of settings that are in no backup: those that are masked on screen, and what a newer version may call so."""


def is_backup_name(name: str) -> bool:
    """Return whether a name is that of a file of a backup: relative, below one of the folders, and valid on every system."""
    parts = name.split("/")
    if name in {DATABASE, SETTINGS}:
        return True
    if not name.isprintable() or not name.startswith(tuple(f"{item}/" for item in FILE_ITEMS)):
        return False
    return not any(part in {"", ".", ".."} or set(part) & set("\\:") for part in parts)


def find_files(home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of `home` that belong to a backup with their names, the database and files in progress excluded."""
    if (home / SETTINGS).is_file():
        yield SETTINGS, home / SETTINGS
    for item in (*FOLDERS, *TRASH_FOLDERS):
        for folder, names, files in os.walk(home / item):
            names[:] = sorted(name for name in names if not name.startswith(".") or name.endswith(".change"))
            for file in sorted(files):
                path = Path(folder, file)
                if not file.startswith(".") and stat.S_ISREG(path.stat().st_mode if path.exists() else 0):
                    yield path.relative_to(home).as_posix(), path


def read_settings(path: Path, *, are_secret: bool) -> dict[str, object]:
    """Return the keys and passwords of a settings file, or all others. Raise FileError."""
    return {name: value for name, value in read_object(path).items() if bool(SECRET.search(name)) is are_secret}


def keep_secrets(restored: Path, current: Path) -> None:
    """Add the keys and passwords of the settings in use, if they can be read, to restored ones. Raise FileError."""
    values = read_settings(restored, are_secret=False)
    with suppress(FileError):
        values |= read_settings(current, are_secret=True)
    restored.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
