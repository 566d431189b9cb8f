"""Files of the home as a whole: private to its user, and without leftovers of writes that were killed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

OTHERS, OTHERS_READ = 0o077, 0o044
"""Permissions of the group and of others: all, which no file of a home has, and those of reading."""
LEFTOVER_SUFFIXES = (".partial", ".tmp")
"""Suffixes of files that are renamed once they are complete. Downloads, which can be resumed, have another one."""


def create_files_privately() -> None:
    """Give every file and folder that this process creates from now on to its user alone."""
    os.umask(OTHERS)


def share_like_folder(file: Path) -> None:
    """Let those read a new file who can read the folder that it is in: an export is as readable as other files beside it."""
    file.chmod(stat.S_IRUSR | stat.S_IWUSR | file.parent.stat().st_mode & OTHERS_READ)


def make_private(*folders: Path) -> int:
    """Take all permissions of group and others from these folders and everything in them, links excepted; return how many
    files and folders were changed. What belongs to somebody else is left as it is, and so is a folder that holds more than
    Lethe: the user's own one, and that of a disk.
    """
    changed = 0
    own = [each for each in folders if sys.platform != "win32" and each != Path.home() and not each.is_mount()]
    for path in (path for folder in own for path in (folder, *_entries(folder))):
        with suppress(OSError):
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)
                changed += 1
    return changed


def delete_leftovers(folder: Path, kept: Path) -> None:
    """Delete files below `folder` whose writing was killed; nothing in the folder `kept` is touched.

    Only while no other process writes there.
    """
    for path in _entries(folder):
        if path.suffix in LEFTOVER_SUFFIXES and not path.is_relative_to(kept):
            with suppress(OSError):  # a folder
                path.unlink()


def _entries(folder: Path) -> Iterator[Path]:
    """Yield all files and folders below a folder; links are not followed, and what cannot be read is left out."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent, name)
