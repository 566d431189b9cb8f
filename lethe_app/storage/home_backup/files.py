"""Files of a data folder that belong to a backup, by names relative to it; models, caches, logs and secrets do not."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
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
MAX_NAME_CHARACTERS = 1000


def is_backup_name(name: str) -> bool:
    """Return whether a name is that of a file of a backup: relative, below one of the folders, and valid on every system."""
    parts = name.split("/")
    if name in {DATABASE, SETTINGS}:
        return True
    if (
        len(name) > MAX_NAME_CHARACTERS
        or not name.isprintable()
        or not name.startswith(tuple(f"{item}/" for item in FILE_ITEMS))
    ):
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


def settings_without_secrets(path: Path) -> bytes:
    """Return a settings file without keys and passwords. Raise FileError."""
    return _dump({name: value for name, value in read_object(path).items() if not _is_secret(name)})


def with_secrets(restored: Path, current: Path) -> bytes:
    """Return a restored settings file with the secrets of the one in use, if that can be read. Raise FileError."""
    try:
        secrets = {name: value for name, value in read_object(current).items() if _is_secret(name)}
    except FileError:
        secrets = {}
    return _dump({**read_object(restored), **secrets})


def _is_secret(name: str) -> bool:
    return name in SECRET_SETTINGS or name.endswith(("_key", "_password", "_token"))


def _dump(values: dict[str, object]) -> bytes:
    return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode()
