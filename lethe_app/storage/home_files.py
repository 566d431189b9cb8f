"""Files of the home as a whole: private to its user, and without leftovers of writes that were killed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PRIVATE_UMASK, OTHERS = 0o077, 0o077
"""Permissions that new files lack, and those that no file of a home has: everything for group and others."""
LEFTOVER_SUFFIXES = (".partial", ".tmp")
"""Suffixes of files that are renamed once they are complete. Downloads, which can be resumed, have another one."""
SHARED_MODE = 0o666
_inherited_umask: list[int] = []
"""Umask of the process before `create_files_privately`."""


def create_files_privately() -> None:
    """Give every file and folder that this process creates from now on to its user alone; does nothing on Windows."""
    if sys.platform != "win32":
        previous = os.umask(PRIVATE_UMASK)
        if not _inherited_umask:
            _inherited_umask.append(previous)


def share_like_folder(file: Path) -> None:
    """Give a new file the permissions it would have had without `create_files_privately`, unless its folder is private: an
    export is as readable as other files beside it.
    """
    if _inherited_umask and file.parent.stat().st_mode & OTHERS:
        file.chmod(SHARED_MODE & ~_inherited_umask[0])


def make_private(*folders: Path) -> int:
    """Take all permissions of group and others from these folders and everything in them, links excepted; return how many
    files and folders were changed. What belongs to somebody else is left as it is, and so is a folder that holds more than
    Lethe: the user's own one, and that of a disk.
    """
    if sys.platform == "win32":
        return 0
    shared = {Path.home(), *(folder for folder in folders if folder.is_mount())}
    own = [folder for folder in folders if folder not in shared]
    return sum(_make_entry_private(path) for folder in own for path in (folder, *_entries(folder)))


def delete_leftovers(folder: Path, kept: Path) -> int:
    """Delete files below `folder` whose writing was killed, and return their number; nothing in the folder `kept` is touched.

    Only while no other process writes there.
    """
    leftovers = [path for path in _entries(folder) if path.suffix in LEFTOVER_SUFFIXES and not path.is_relative_to(kept)]
    files = [path for path in leftovers if path.is_file() and not path.is_symlink()]
    for path in files:
        with suppress(OSError):
            path.unlink()
    return len(files)


def _entries(folder: Path) -> Iterator[Path]:
    """Yield all files and folders below a folder; links are not followed, and what cannot be read is left out."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent, name)


def _make_entry_private(path: Path) -> bool:
    with suppress(OSError):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~OTHERS)
            return True
    return False
