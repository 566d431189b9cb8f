"""Files to be imported below the paths that the user chose or dropped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

MAX_FILES = 20_000
"""Maximum number of files looked at: the user folder of somebody with years of history holds some thousands."""
IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__"})
IGNORED_USER_FOLDERS = frozenset(
    {"thumbnails", "backups", "vectors", "extensions", "assets", "user", "backgrounds", "user avatars", "movingui"}
)
"""Folders of SillyTavern's user folder, in lower case, that hold pictures and copies; elsewhere the names mean nothing."""
USER_FOLDER_MARKS = frozenset({"characters", "chats"})
"""Folders of which SillyTavern's user folder has at least one."""
IMPORTED_SUFFIXES = (
    *(".png", ".apng", ".webp", ".jpg", ".jpeg", ".json", ".jsonl", ".yaml", ".yml", ".charx", ".byaf", ".brain", ".lorebook"),
)
"""Suffixes of files that may contain something to import."""
IGNORED_FILES = frozenset({"secrets.json", "stats.json", "content.log", "package.json", "package-lock.json"})


def list_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths`, and those below its folders whose suffix may be that of something to import.

    A file that was named itself is returned whatever its suffix. Links to folders are not followed. Blocks on the disk.
    """
    found: dict[Path, None] = {}
    for path in paths:
        for file in _files_below(path) if path.is_dir() else [path]:
            found.setdefault(file)
            if len(found) >= MAX_FILES:
                return list(found)
    return list(found)


def _files_below(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        is_user_folder = not USER_FOLDER_MARKS.isdisjoint(name.casefold() for name in folders)
        ignored = IGNORED_FOLDERS | IGNORED_USER_FOLDERS if is_user_folder else IGNORED_FOLDERS
        folders[:] = sorted(name for name in folders if name.casefold() not in ignored and not name.startswith("."))
        for name in sorted(names):
            if Path(name).suffix.lower() in IMPORTED_SUFFIXES and name.casefold() not in IGNORED_FILES:
                yield Path(root) / name
