"""The file that a download grows into: opened where it was broken off, written piece by piece, named when it is checked."""

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

PIECE = 1 << 20
SPARE = 256 << 20
"""Bytes that stay free on the disk."""
STOPPED_ADVICE = "What came so far is kept; the next try goes on from there."


def check_room(part: Path, missing: int) -> None:
    """Raises DiskFull."""
    free = shutil.disk_usage(part.parent).free
    if missing > 0 and free < missing + SPARE:
        needed = f"{(missing + SPARE) / 1e9:.1f} GB"
        raise DiskFull(f"There is not enough room in {part.parent}: {needed} are needed, {free / 1e9:.1f} GB are free.")


@contextmanager
def opened(part: Path, start: int) -> Iterator[FileIO]:
    """The file from `start` on: what stands behind it is cut off."""
    with on_disk(part):
        file = part.open("r+b" if part.exists() else "w+b", buffering=0)  # else what is left fails to be written at the close
    with file:
        with on_disk(part):
            file.truncate(start)
            file.seek(start)
        yield file


@contextmanager
def on_disk(path: Path) -> Iterator[None]:
    """Raises StorageError where the system refuses."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error


class Sink:
    """Gathers what comes into pieces worth a write, and loses none of it."""

    def __init__(self, file: FileIO, start: int) -> None:
        self._file, self._held = file, bytearray()
        self.done = start

    def take(self, piece: bytes) -> bool:
        """Is it time to write?"""
        self._held += piece
        self.done += len(piece)
        return len(self._held) >= PIECE

    def begins_with(self, magic: bytes, piece: bytes) -> bool:
        """Could this be the beginning? The first piece may be shorter than that."""
        have = bytes(self._held) + piece
        return self.done != len(self._held) or magic.startswith(have[: len(magic)])

    def flush(self) -> None:
        """Raises DiskFull."""
        held, self._held = memoryview(self._held), bytearray()
        try:
            while held:
                held = held[self._file.write(held) :]
        except OSError as error:
            raise DiskFull(f"The download stopped: {(error.strerror or str(error)).lower()}.", STOPPED_ADVICE) from error


def size_of(path: Path) -> int:
    """Bytes; 0 where it is not there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_whole(path: Path, sha256: str) -> bool:
    """By its hash; where nobody has told one, by what the file says of itself."""
    if sha256:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    try:
        header = read_header(path)
    except ModelUnreadable:
        return False
    return header.file_size >= header.needed_size


def finish_file(part: Path, target: Path) -> None:
    """It gets its name only when the disk has it."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(target)
