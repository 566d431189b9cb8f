"""Writes a file whole or not at all, so that neither a crash nor a full disk ever leaves half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import time
from pathlib import Path

from lethe_app.storage.error_translation import translated

REPLACE_TRIES = 5


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` in the place of `path`, keeping its permissions; on failure what was there before is untouched."""
    with translated(path):
        target = path.resolve()  # a link stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            _write(draft, content)
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            _replace(draft, target)
        except BaseException:
            remove_draft(draft)
            raise
        sync_folder(target.parent)


def remove_draft(draft: Path) -> None:
    """Take away what was not put in place; if that fails too, the first failure is the one to tell."""
    with contextlib.suppress(OSError):
        draft.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Wait until the disk has the file's content."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the folder's list of names; Windows does so by itself and offers no call."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(draft: Path, content: bytes) -> None:
    with draft.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _replace(draft: Path, target: Path) -> None:
    """Windows refuses while a virus scanner looks at the file, which passes in a moment."""
    for attempt in range(REPLACE_TRIES):
        try:
            draft.replace(target)
        except PermissionError:
            if sys.platform != "win32" or attempt == REPLACE_TRIES - 1:
                raise
            time.sleep(0.05 * (attempt + 1))
        else:
            return
