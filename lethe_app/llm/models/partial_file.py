"""Partial file of a download: opened at the resume offset, written in pieces, renamed when verified."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from lethe_app.errors import DiskFull, ModelUnreadable, StorageError
from lethe_app.llm.models.gguf_header import read_header

WRITE_SIZE = 1 << 20
"""Bytes buffered before a write."""
MIN_FREE_DISK = 256 << 20
"""Bytes that stay free on the disk."""
STOPPED_ADVICE = "The part downloaded so far is kept, and the next attempt continues from there."


def check_disk_space(part: Path, missing: int) -> None:
    """Raise DiskFull if the missing bytes do not fit on the disk."""
    free = shutil.disk_usage(part.parent).free
    if missing > 0 and free < missing + MIN_FREE_DISK:
        needed = f"{(missing + MIN_FREE_DISK) / 1e9:.1f} GB"
        raise DiskFull(f"There is not enough disk space in {part.parent}: {needed} are needed, {free / 1e9:.1f} GB is free.")


@contextmanager
def open_partial(part: Path, start: int) -> Iterator[FileIO]:
    """Open the partial file at `start`; bytes after it are cut off. Raise StorageError."""
    with translate_os_errors(part):
        file = part.open("r+b" if part.exists() else "w+b", buffering=0)  # else what is left fails to be written at the close
    with file:
        with translate_os_errors(part):
            file.truncate(start)
            file.seek(start)
        yield file


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Context manager that turns OSError into StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error


class PartialFileWriter:
    """Buffer that gathers received bytes into larger writes; `bytes_done` counts all bytes, written or not."""

    def __init__(self, file: FileIO, start: int) -> None:
        self._file, self._buffer = file, bytearray()
        self.bytes_done = start

    def add_chunk(self, chunk: bytes) -> bool:
        """Buffer a piece and return whether it is time to flush."""
        self._buffer += chunk
        self.bytes_done += len(chunk)
        return len(self._buffer) >= WRITE_SIZE

    def can_begin_with(self, magic: bytes, chunk: bytes) -> bool:
        """Return whether the file may begin with `magic`; the first piece may be shorter than that."""
        beginning = bytes(self._buffer) + chunk
        return self.bytes_done != len(self._buffer) or magic.startswith(beginning[: len(magic)])

    def flush(self) -> None:
        """Write the buffered bytes. Raise DiskFull."""
        remaining, self._buffer = memoryview(self._buffer), bytearray()
        try:
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except OSError as error:
            raise DiskFull(f"The download stopped: {(error.strerror or str(error)).lower()}.", STOPPED_ADVICE) from error


def file_size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_complete(path: Path, sha256: str) -> bool:
    """Verify a file by its hash; if none is known, by the size its GGUF header demands."""
    if sha256:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    try:
        header = read_header(path)
    except ModelUnreadable:
        return False
    return header.file_size >= header.needed_size


def finish_file(part: Path, target: Path) -> None:
    """Rename the partial file once it is flushed to disk; a crash must not leave an incomplete file under the final name."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(target)
