"""Reaches the window of this home from another start, by a note laid into the home: hands it a file, or calls it forward."""

from __future__ import annotations

import json
import secrets
import time
from pathlib import Path

from lethe_app.errors import DatabaseLocked
from lethe_app.paths import Paths
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translated
from lethe_app.storage.lock import HomeLock

STALE = 600.0
"""Seconds after which nobody waits for an answer any more."""


def is_open(paths: Paths) -> bool:
    """Does another Lethe have this home now?"""
    with translated(paths.home):
        paths.home.mkdir(parents=True, exist_ok=True)
    try:
        HomeLock(paths.home).release()
    except DatabaseLocked:
        return True
    return False


def hand_over(paths: Paths, file: Path) -> Path:
    """Lay down a note of `file`; it is gone as soon as a window has taken it. Raises StorageError."""
    note = paths.inbox / f"{secrets.token_hex(8)}.json"
    write_atomically(note, json.dumps({"file": str(file.expanduser().absolute())}).encode())
    return note


def was_taken(note: Path, patience: float) -> bool:
    """Did a window take it within so many seconds? Otherwise the note is taken back."""
    end = time.monotonic() + patience
    while note.exists() and time.monotonic() < end:
        time.sleep(0.05)
    if not note.exists():
        return True
    note.unlink(missing_ok=True)
    return False


def call(paths: Paths, patience: float) -> bool:
    """Does the window that has this home come to the front within so many seconds? Raises StorageError."""
    note = paths.inbox / f"{secrets.token_hex(8)}.call"
    write_atomically(note, b"")
    return was_taken(note, patience)


def was_called(paths: Paths) -> bool:
    """Does another start want to see the window? It is told once."""
    notes = list(paths.inbox.glob("*.call")) if paths.inbox.is_dir() else []
    for note in notes:
        note.unlink(missing_ok=True)
    return bool(notes)


def take(paths: Paths) -> list[Path]:
    """The files that were handed over, oldest first; their notes are gone afterwards."""
    notes = sorted(paths.inbox.glob("*.json"), key=lambda note: note.stat().st_mtime) if paths.inbox.is_dir() else []
    files = []
    for note in notes:
        is_fresh = time.time() - note.stat().st_mtime < STALE
        try:
            told = json.loads(note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            told = None
        note.unlink(missing_ok=True)
        if is_fresh and isinstance(told, dict) and isinstance(told.get("file"), str):
            files.append(Path(told["file"]))
    return files
