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
PIECE = 8 << 20
"""Bytes written between two checks whether to continue."""
LONGEST_DESCRIPTION = 1 << 20
"""Maximum size in bytes of the JSON description."""
MOST_TOKENS = 1 << 24
"""Maximum number of tokens in a state file."""
_START = struct.Struct("<8sIIQ")
"""File header: magic, bytes of the description, number of tokens, bytes of the cache."""
_SUM = struct.Struct("<I")


@dataclass(frozen=True)
class Head:
    """Tokens and seams of a saved state, without the cache."""

    tokens: list[int]
    joints: tuple[Seam, ...] = ()
    """Seams; restoring a state does not make it more exact than it was."""


@dataclass(frozen=True)
class SavedState(Head):
    """Tokens, seams and KV cache of one session."""

    data: bytes | bytearray = b""
    """State of the sequence in the format of llama.cpp; valid only for the same model, build and type of cache."""

    @property
    def size(self) -> int:
        """Approximate size of the file in bytes."""
        return len(self.data) + 4 * len(self.tokens) + 1024


def write(file: BinaryIO, mark: SavedState, identity: str, go_on: Callable[[], bool]) -> bool:
    """Write the state to `file`; returns False if `go_on` ended it before the end."""
    joints = [[joint.place, joint.changed] for joint in mark.joints]
    description = json.dumps({"identity": identity, "joints": joints}).encode()
    tokens = array("i", mark.tokens).tobytes()
    start = _START.pack(MAGIC, len(description), len(mark.tokens), len(mark.data)) + description + tokens
    file.write(start + _SUM.pack(zlib.crc32(start)))
    whole, total = memoryview(mark.data), 0
    for place in range(0, len(whole), PIECE):
        if not go_on():
            return False
        piece = whole[place : place + PIECE]
        total = zlib.crc32(piece, total)
        file.write(piece)
    file.write(_SUM.pack(total))
    return go_on()


def read_head(file: BinaryIO, identity: str) -> Head | None:
    """Read tokens and seams only; None if the file is damaged or of another model, build or type of cache."""
    found = _start(file, identity)
    return found[0] if found else None


def read(file: BinaryIO, identity: str) -> SavedState | None:
    """Read the whole state; None if the file is damaged or of another model, build or type of cache."""
    found = _start(file, identity)
    if found is None:
        return None
    head, length = found
    data = bytearray(length)
    # One byte more than the checksum is read, so that a file with something behind it is refused.
    if _fill(file, data) and file.read(_SUM.size + 1) == _SUM.pack(zlib.crc32(data)):
        return SavedState(head.tokens, head.joints, data)
    return None


def _start(file: BinaryIO, identity: str) -> tuple[Head, int] | None:
    """Read and verify tokens and seams; returns them with the number of cache bytes that follow, or None."""
    raw = file.read(_START.size)
    if len(raw) < _START.size:
        return None
    magic, description_length, count, data_length = _START.unpack(raw)
    if magic != MAGIC or description_length > LONGEST_DESCRIPTION or not 0 < count <= MOST_TOKENS:
        return None
    rest_length = description_length + 4 * count
    here = file.tell()
    if file.seek(0, io.SEEK_END) != here + rest_length + data_length + 2 * _SUM.size:
        return None  # the lengths contradict the file's own, so nothing is made room for
    file.seek(here)
    rest = file.read(rest_length)
    if file.read(_SUM.size) != _SUM.pack(zlib.crc32(raw + rest)):
        return None
    tokens = array("i")
    tokens.frombytes(rest[description_length:])
    try:
        description = json.loads(rest[:description_length])
        joints = tuple(Seam(int(place), int(changed)) for place, changed in description["joints"])
        is_ours = description["identity"] == identity and all(0 < joint.place < count for joint in joints)
    except (ValueError, KeyError, TypeError):
        return None
    return (Head(tokens.tolist(), joints), data_length) if is_ours else None


def _fill(file: BinaryIO, data: bytearray) -> bool:
    """Read from the file until `data` is full; returns False at an early end of the file."""
    whole, place = memoryview(data), 0
    while place < len(whole):
        count = file.readinto(whole[place:])  # type: ignore[attr-defined]
        if not count:
            return False
        place += count
    return True


def open_private(path: str | os.PathLike[str]) -> BinaryIO:
    """Create or truncate a file that only this user may read, because a saved state reveals the conversation."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")
