"""Reader of GGUF headers: takes milliseconds and refuses files whose numbers cannot be true."""

from __future__ import annotations

import os
import stat
import struct
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from lethe_app.errors import ModelMissing, ModelUnreadable

Value = int | float | bool | str | list[int] | list[bytes]
"""Value of a metadata key. Lists of floats and of booleans are typed as lists of integers."""

STRING, ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_UINT32 = struct.Struct("<I")
_UINT64 = struct.Struct("<Q")
_COUNTS = struct.Struct("<QQ")

# Name, elements per block and bytes per block of every tensor type of ggml; types that ggml has dropped are omitted.
TENSOR_TYPES: Mapping[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292), 16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18),
}  # fmt: skip

# Limits far above every existing model, yet low enough that a false number costs neither memory nor a noticeable delay.
MAX_KEYS = 20_000
MAX_TENSORS = 200_000
MAX_STRINGS = 4_000_000
MAX_KEY_BYTES = 65_535
MAX_STRING_BYTES = 32 << 20
MAX_HEADER_BYTES = 128 << 20
SMALL_ARRAY = 4096  # arrays of numbers up to this length (per-layer settings) are always read

_CHUNK = 1 << 20


@dataclass(frozen=True)
class GgufHeader:
    """Metadata and tensor summary of a GGUF file."""

    path: Path
    version: int
    file_size: int
    metadata: dict[str, Value]
    skipped: dict[str, int]
    """Number of elements of the arrays that were not read, by key."""
    parameters: int
    """Number of weights in this file."""
    needed_size: int
    """Bytes the file must have to contain every tensor that it lists."""
    type_bytes: dict[str, int] = field(default_factory=dict)
    """Bytes per tensor type, such as {"Q4_K": 3_900_000_000}."""

    def text(self, key: str, default: str = "") -> str:
        value = self.metadata.get(key)
        return value if isinstance(value, str) else default

    def number(self, key: str, default: int = 0) -> int:
        """Return a whole number; of a list, its largest element."""
        value = self.metadata.get(key)
        if isinstance(value, list):
            value = max((item for item in value if isinstance(item, int)), default=default)
        return int(value) if isinstance(value, int) else default

    def strings(self, key: str) -> list[bytes]:
        """Return an array of strings as raw UTF-8; empty if it was not read."""
        value = self.metadata.get(key)
        # GGUF arrays have one element type, so the first element suffices; checking each would cost as much as reading them.
        return value if isinstance(value, list) and value and isinstance(value[0], bytes) else []

    def integers(self, key: str) -> list[int]:
        value = self.metadata.get(key)
        return value if isinstance(value, list) and value and isinstance(value[0], int) else []


class _InvalidHeader(Exception):
    """Contradiction in the file; the message completes the sentence “<file> …”."""


class _Cursor:
    """Position in the file over a buffer that grows as needed; reading past the end raises _InvalidHeader."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size
        self.data = bytearray()
        self.pos = 0

    def ensure_buffered(self, end: int) -> None:
        """Read until `data` contains the bytes up to `end`. Raise _InvalidHeader."""
        if end <= len(self.data):
            return
        if end > self.size:
            raise _InvalidHeader("is incomplete: it ends inside its header")
        if end > MAX_HEADER_BYTES:
            raise _InvalidHeader("has an implausibly long header")
        missing = min(self.size, max(end, 2 * len(self.data), _CHUNK)) - len(self.data)
        self.data += self._file.read(missing)
        if end > len(self.data):
            raise _InvalidHeader("was truncated while it was read")

    def read_bytes(self, length: int) -> bytes:
        start = self.pos
        self.ensure_buffered(start + length)
        self.pos = start + length
        return bytes(self.data[start : self.pos])

    def read_uint32(self) -> int:
        return int(_UINT32.unpack(self.read_bytes(4))[0])

    def read_uint64(self) -> int:
        return int(_UINT64.unpack(self.read_bytes(8))[0])

    def read_string(self, max_length: int = MAX_STRING_BYTES) -> bytes:
        length = self.read_uint64()
        if length > max_length:
            raise _InvalidHeader(f"claims a text of {length} bytes in its header")
        return self.read_bytes(length)

    def skip_strings(self, count: int) -> None:
        """Skip `count` strings. The loop uses local variables only, because it is the main cost of scanning a large
        vocabulary.
        """
        data, pos, left = self.data, self.pos, iter(range(count))
        unpack = _UINT64.unpack_from
        while True:
            try:
                for _ in left:
                    pos += 8 + unpack(data, pos)[0]
                break
            except (struct.error, OverflowError):  # past the buffer; testing for that each time would double the cost
                self.ensure_buffered(pos + 8)
                pos += 8 + unpack(data, pos)[0]
        self.ensure_buffered(pos)
        self.pos = pos

    def read_strings(self, count: int) -> list[bytes]:
        start = self.pos
        self.skip_strings(count)
        data, unpack = bytes(self.data[start : self.pos]), _UINT64.unpack_from
        strings: list[bytes] = []
        pos = 0
        for _ in range(count):
            begin = pos + 8
            pos = begin + unpack(data, pos)[0]
            strings.append(data[begin:pos])
        return strings


def read_header(path: Path, *, arrays: Collection[str] = (), tensors: bool = True) -> GgufHeader:
    """Read the header of the GGUF at `path`; arrays of strings and long arrays are skipped unless named in `arrays`.

    Raise ModelMissing if there is no such file, and ModelUnreadable with the reason for everything else.
    """
    try:
        _check_is_file(path)
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return _parse(path, _Cursor(file, size), arrays, tensors)
    except FileNotFoundError:
        raise ModelMissing(f"There is no model file at {path}.") from None
    except _InvalidHeader as reason:
        raise ModelUnreadable(f"“{path.name}” {reason}.", "Download the file again.") from None
    except OSError as error:
        raise ModelUnreadable(f"“{path.name}” cannot be read: {error.strerror or error}.") from error


def _check_is_file(path: Path) -> None:
    """Raise _InvalidHeader for anything but a regular file: opening a pipe would block for ever."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise _InvalidHeader("is not a file")


def _parse(path: Path, cursor: _Cursor, arrays: Collection[str], tensors: bool) -> GgufHeader:
    version = _read_version(cursor)
    tensor_count, key_count = _COUNTS.unpack(cursor.read_bytes(16))
    if key_count > MAX_KEYS or tensor_count > MAX_TENSORS:
        raise _InvalidHeader(f"claims {key_count} settings and {tensor_count} tensors, so its header is damaged")
    metadata: dict[str, Value] = {}
    skipped: dict[str, int] = {}
    for _ in range(key_count):
        key = cursor.read_string(MAX_KEY_BYTES).decode("utf-8", "replace")
        if key in metadata or key in skipped:
            raise _InvalidHeader(f"has the setting “{key[:60]}” twice")
        _read_value(cursor, key, arrays, metadata, skipped)
    parameters, needed, sizes = (0, cursor.pos, Counter[str]())
    if tensors and tensor_count:
        parameters, needed, sizes = _read_tensors(cursor, tensor_count, metadata.get("general.alignment", 32))
    return GgufHeader(path, version, cursor.size, metadata, skipped, parameters, needed, dict(sizes))


def _read_version(cursor: _Cursor) -> int:
    if cursor.size == 0:
        raise _InvalidHeader("is empty")
    if cursor.size < 24:
        raise _InvalidHeader("is too short to be a GGUF model")
    if cursor.read_bytes(4) != b"GGUF":
        raise _InvalidHeader("is not a GGUF model")
    version = cursor.read_uint32()
    if version in (2, 3):
        return version
    # Version 2 or 3 in the other byte order has its low half zero.
    if version and version & 0xFFFF == 0:
        raise _InvalidHeader("is a big-endian GGUF for another type of processor")
    raise _InvalidHeader(f"has GGUF version {version}, but only versions 2 and 3 are supported")


def _read_value(
    cursor: _Cursor, key: str, arrays: Collection[str], metadata: dict[str, Value], skipped: dict[str, int]
) -> None:
    kind = cursor.read_uint32()
    if kind == STRING:
        metadata[key] = cursor.read_string().decode("utf-8", "replace")
    elif kind in _SCALARS:
        metadata[key] = _read_numbers(cursor, _SCALARS[kind], 1)[0]
    elif kind == ARRAY:
        _read_array(cursor, key, key in arrays, metadata, skipped)
    else:
        raise _InvalidHeader(f"has a setting “{key[:60]}” of unknown type {kind}")


def _read_array(cursor: _Cursor, key: str, is_requested: bool, metadata: dict[str, Value], skipped: dict[str, int]) -> None:
    kind, count = cursor.read_uint32(), cursor.read_uint64()
    if count > MAX_STRINGS:
        raise _InvalidHeader(f"claims {count} entries in “{key[:60]}”")
    if kind == STRING:
        cursor.ensure_buffered(cursor.pos + 8 * count)
        if is_requested:
            metadata[key] = cursor.read_strings(count)
        else:
            cursor.skip_strings(count)
            skipped[key] = count
        return
    if kind not in _SCALARS:
        raise _InvalidHeader(f"has a list “{key[:60]}” of unknown type {kind}")
    code = _SCALARS[kind]
    if is_requested or count <= SMALL_ARRAY:
        metadata[key] = _read_numbers(cursor, code, count)
    else:
        cursor.read_bytes(count * struct.calcsize(code))
        skipped[key] = count


def _read_numbers(cursor: _Cursor, code: str, count: int) -> list[int]:
    return list(struct.unpack(f"<{count}{code}", cursor.read_bytes(count * struct.calcsize(f"<{code}"))))


def _read_tensors(cursor: _Cursor, count: int, alignment: Value) -> tuple[int, int, Counter[str]]:
    """Return the number of weights, the bytes the file must have, and the bytes per tensor type."""
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise _InvalidHeader(f"has an impossible alignment of {alignment!r}")
    parameters, end, sizes = 0, 0, Counter[str]()
    for _ in range(count):
        weights, kind, offset = _read_tensor(cursor)
        parameters += weights
        # A type newer than this table counts as empty, so that the required size is a lower bound.
        name, block, block_bytes = TENSOR_TYPES.get(kind, (f"type {kind}", 1, 0))
        length = weights // block * block_bytes
        sizes[name] += length
        end = max(end, offset + length)
    start = (cursor.pos + alignment - 1) & -alignment
    return parameters, start + end, sizes


def _read_tensor(cursor: _Cursor) -> tuple[int, int, int]:
    """Return number of weights, type and offset of one tensor."""
    cursor.read_string(MAX_KEY_BYTES)
    dimensions = cursor.read_uint32()
    if dimensions > 8:
        raise _InvalidHeader(f"has a tensor of {dimensions} dimensions")
    weights = 1
    for _ in range(dimensions):
        weights *= cursor.read_uint64()
    if weights >= 1 << 62:
        raise _InvalidHeader("has a tensor of impossible size")
    kind, offset = cursor.read_uint32(), cursor.read_uint64()
    if offset >= 1 << 62:
        raise _InvalidHeader("has a tensor at an impossible place")
    return weights, kind, offset
