"""Atomic file writes: after a crash or on a full disk a file has either its old or its new content, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.home_files import share_like_folder

MAX_REPLACE_ATTEMPTS = 5
"""Attempts to rename the new file over the old one on Windows."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace the content of `path` and keep its permissions; on failure the old content remains. Raise StorageError."""
    with translate_errors(path):
        target = path.resolve()  # a link stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary_file = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            # The temporary file is in the same folder, because a rename is atomic only within one file system.
            _write(temporary_file, content)
            if target.exists():
                temporary_file.chmod(stat.S_IMODE(target.stat().st_mode))
            else:
                share_like_folder(temporary_file)
            _replace(temporary_file, target)
        except BaseException:
            delete_temporary_file(temporary_file)
            raise
        sync_folder(target.parent)


@contextlib.contextmanager
def complete_file(target: Path) -> Iterator[Path]:
    """Give the path of a new file beside `target`, which it replaces once the body has written it; it is deleted if the body
    raises.
    """
    draft = target.with_name(f".{target.name}.partial")
    draft.unlink(missing_ok=True)  # left by one that was killed
    try:
        yield draft
        sync_file(draft)
        draft.replace(target)
        sync_folder(target.parent)
    finally:
        delete_temporary_file(draft)


def delete_temporary_file(temporary_file: Path) -> None:
    """Delete a temporary file; an error here is suppressed in favour of the first one."""
    with contextlib.suppress(OSError):
        temporary_file.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Flush a file's content to the disk (fsync)."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk (fsync), so that a rename survives a power cut; Windows offers no such call and
    needs none.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(temporary_file: Path, content: bytes) -> None:
    with temporary_file.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _replace(temporary_file: Path, target: Path) -> None:
    """Rename the temporary file; retried on Windows, which refuses while a virus scanner has the file open."""
    for attempt in range(MAX_REPLACE_ATTEMPTS):
        try:
            temporary_file.replace(target)
        except PermissionError:
            if sys.platform != "win32" or attempt == MAX_REPLACE_ATTEMPTS - 1:
                raise
            time.sleep(0.05 * (attempt + 1))
        else:
            return
