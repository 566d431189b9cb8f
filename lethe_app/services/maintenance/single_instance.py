"""Communication with the instance that has the home open: it receives a file to open, or is asked to show its window.

A request is a small file in the home's inbox folder, which the open window polls and deletes.
"""

from __future__ import annotations

import json
import secrets
import time
from pathlib import Path

from lethe_app.errors import DatabaseLocked
from lethe_app.paths import Paths
from lethe_app.storage.atomic import write_atomically
from lethe_app.storage.error_translation import translate_errors
from lethe_app.storage.home_files import create_files_privately
from lethe_app.storage.lock import HomeLock

STALE_SECONDS = 600.0
"""Seconds after which a file request is ignored, because the process that wrote it no longer waits for an answer."""


def is_open(paths: Paths) -> bool:
    """Return whether another instance has this home open, by trying to take its lock. A new home is private from the start."""
    create_files_privately()
    with translate_errors(paths.home):
        paths.home.mkdir(parents=True, exist_ok=True)
    try:
        HomeLock(paths.home).release()
    except DatabaseLocked:
        return True
    return False


def request_open_file(paths: Paths, file: Path) -> Path:
    """Write a request to open `file` and return its path; the window deletes the request when it takes it. Raise
    StorageError.
    """
    request_file = paths.inbox / f"{secrets.token_hex(8)}.json"
    write_atomically(request_file, json.dumps({"file": str(file.expanduser().absolute())}).encode())
    return request_file


def wait_until_taken(request_file: Path, timeout: float) -> bool:
    """Wait up to `timeout` seconds until a window has taken the request and return whether it did; otherwise delete the
    request.
    """
    deadline = time.monotonic() + timeout
    while request_file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    if not request_file.exists():
        return True
    request_file.unlink(missing_ok=True)
    return False


def request_window(paths: Paths, timeout: float) -> bool:
    """Request that the open window comes to the front, and return whether it did within `timeout` seconds. Raise
    StorageError.
    """
    request_file = paths.inbox / f"{secrets.token_hex(8)}.call"
    write_atomically(request_file, b"")
    return wait_until_taken(request_file, timeout)


def take_window_requests(paths: Paths) -> bool:
    """Return whether another instance has requested the window since the last call, and delete its requests."""
    request_files = list(paths.inbox.glob("*.call")) if paths.inbox.is_dir() else []
    for request_file in request_files:
        request_file.unlink(missing_ok=True)
    return bool(request_files)


def take_requested_files(paths: Paths) -> list[Path]:
    """Return the files of all pending requests, oldest first, and delete the requests. Stale and unreadable ones are
    dropped.
    """
    request_files = sorted(paths.inbox.glob("*.json"), key=lambda path: path.stat().st_mtime) if paths.inbox.is_dir() else []
    files = []
    for request_file in request_files:
        is_fresh = time.time() - request_file.stat().st_mtime < STALE_SECONDS
        try:
            request = json.loads(request_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            request = None
        request_file.unlink(missing_ok=True)
        if is_fresh and isinstance(request, dict) and isinstance(request.get("file"), str):
            files.append(Path(request["file"]))
    return files
