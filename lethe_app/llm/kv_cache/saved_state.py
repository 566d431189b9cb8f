"""File format of a saved KV cache: tokens, seams and cells, all verified by length and checksum before use."""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from lethe_app.llm.kv_cache.edits import Seam

MAGIC = b"LETHEKV1"
CHUNK_SIZE = 8 << 20
"""Bytes written between two checks whether to continue."""
MAX_DESCRIPTION_BYTES = 1 << 20
"""Maximum size in bytes of the JSON description."""
MAX_TOKENS = 1 << 24
"""Maximum number of tokens in a state file."""
_HEADER = struct.Struct("<8sIIQ")
"""File header: magic, bytes of the description, number of tokens, bytes of the cache."""
_CHECKSUM = struct.Struct("<I")


@dataclass(frozen=True)
class SavedStateHeader:
    """Tokens and seams of a saved state, without the cache."""

    tokens: list[int]
    seams: tuple[Seam, ...] = ()
    """Seams; restoring a state does not make it more exact than it was."""


@dataclass(frozen=True)
class SavedState(SavedStateHeader):
    """Tokens, seams and KV cache of one session."""

    data: bytes | bytearray = b""
    """State of the sequence in the format of llama.cpp; valid only for the same model, build and type of cache."""

    @property
    def size(self) -> int:
        """Approximate size of the file in bytes."""
        return len(self.data) + 4 * len(self.tokens) + 1024


def write(file: BinaryIO, state: SavedState, identity: str, should_continue: Callable[[], bool]) -> bool:
    """Write the state to `file`; returns False if `should_continue` ended it before the end."""
    seams = [[seam.position, seam.changed_tokens] for seam in state.seams]
    description = json.dumps({"identity": identity, "joints": seams}).encode()
    tokens = array("i", state.tokens).tobytes()
    header = _HEADER.pack(MAGIC, len(description), len(state.tokens), len(state.data)) + description + tokens
    file.write(header + _CHECKSUM.pack(zlib.crc32(header)))
    view, checksum = memoryview(state.data), 0
    for offset in range(0, len(view), CHUNK_SIZE):
        if not should_continue():
            return False
        chunk = view[offset : offset + CHUNK_SIZE]
        checksum = zlib.crc32(chunk, checksum)
        file.write(chunk)
    file.write(_CHECKSUM.pack(checksum))
    return should_continue()


def read_head(file: BinaryIO, identity: str) -> SavedStateHeader | None:
    """Read tokens and seams only; None if the file is damaged or of another model, build or type of cache."""
    header = _read_header(file, identity)
    return header[0] if header else None


def read(file: BinaryIO, identity: str) -> SavedState | None:
    """Read the whole state; None if the file is damaged or of another model, build or type of cache."""
    header = _read_header(file, identity)
    if header is None:
        return None
    head, length = header
    data = bytearray(length)
    # One byte more than the checksum is read, so that a file with trailing bytes is refused.
    if _read_into(file, data) and file.read(_CHECKSUM.size + 1) == _CHECKSUM.pack(zlib.crc32(data)):
        return SavedState(head.tokens, head.seams, data)
    return None


def _read_header(file: BinaryIO, identity: str) -> tuple[SavedStateHeader, int] | None:
    """Read and verify tokens and seams; returns them with the number of cache bytes that follow, or None."""
    raw = file.read(_HEADER.size)
    if len(raw) < _HEADER.size:
        return None
    magic, description_length, count, data_length = _HEADER.unpack(raw)
    if magic != MAGIC or description_length > MAX_DESCRIPTION_BYTES or not 0 < count <= MAX_TOKENS:
        return None
    body_length = description_length + 4 * count
    header_end = file.tell()
    if file.seek(0, io.SEEK_END) != header_end + body_length + data_length + 2 * _CHECKSUM.size:
        return None  # the declared lengths contradict the size of the file; nothing is allocated
    file.seek(header_end)
    body = file.read(body_length)
    if file.read(_CHECKSUM.size) != _CHECKSUM.pack(zlib.crc32(raw + body)):
        return None
    tokens = array("i")
    tokens.frombytes(body[description_length:])
    try:
        description = json.loads(body[:description_length])
        seams = tuple(Seam(int(position), int(changed)) for position, changed in description["joints"])
        is_valid = description["identity"] == identity and all(0 < seam.position < count for seam in seams)
    except (ValueError, KeyError, TypeError):
        return None
    return (SavedStateHeader(tokens.tolist(), seams), data_length) if is_valid else None


def _read_into(file: BinaryIO, data: bytearray) -> bool:
    """Read from the file until `data` is full; returns False at an early end of the file."""
    view, filled = memoryview(data), 0
    while filled < len(view):
        count = file.readinto(view[filled:])  # type: ignore[attr-defined]
        if not count:
            return False
        filled += count
    return True


def open_private(path: str | os.PathLike[str]) -> BinaryIO:
    """Create or truncate a file that only this user may read, because a saved state reveals the conversation."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")
