"""Header of a Whisper model in the ggml format of whisper.cpp: what it is, and whether the file is complete.

Layout: 11 numbers, the mel filters, the tokens, then for each tensor its number of dimensions, the length of its name, its
type, its dimensions, its name and its data; all numbers are 32-bit, little-endian. Source: `models/convert-pt-to-ggml.py` of
whisper.cpp.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from lethe_app.errors import SpeechModelUnreadable

MAGIC = b"lmgg"
HEADER_NUMBERS = 11
MULTILINGUAL_VOCABULARY = 51_865
"""Tokens of the smallest multilingual vocabulary; English models have one fewer."""
MAX_COUNT = 1 << 20
"""Number above which a count in the header is taken for damage."""
MAX_DIMENSIONS = 4
BLOCK_SIZES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)}
"""Values and bytes of a block by tensor type: F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0."""
OTHER_MODEL_ADVICE = "Choose a Whisper model in the ggml format, such as ggml-base.bin."


@dataclass(frozen=True)
class WhisperFile:
    """Whisper model on this computer."""

    path: Path
    is_multilingual: bool
    size: int
    """Size of the file in bytes."""


def read_whisper_file(path: Path) -> WhisperFile:
    """Read the header of a model file and check that all of its tensors are in it. Raise SpeechModelUnreadable."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise SpeechModelUnreadable(f"{path.name} is not a Whisper model.", OTHER_MODEL_ADVICE)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:  # tens of thousands of tokens are passed over
                return _read(path, data)
    except (struct.error, OverflowError, ValueError) as error:
        raise SpeechModelUnreadable(
            f"{path.name} is incomplete or damaged.", "Download it again, or choose another model."
        ) from error
    except OSError as error:
        raise SpeechModelUnreadable(f"{path.name} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def _read(path: Path, data: mmap.mmap) -> WhisperFile:
    size, number = len(data), struct.Struct("<I").unpack_from
    vocabulary, *_rest = struct.unpack_from(f"<{HEADER_NUMBERS}I", data, 4)
    position = 4 + 4 * HEADER_NUMBERS
    filters, bands = struct.unpack_from("<2I", data, position)
    position += 8 + 4 * filters * bands
    (tokens,) = number(data, position)
    if tokens > MAX_COUNT:
        raise ValueError("the file contradicts itself")
    position += 4
    for _ in range(tokens):
        position += 4 + number(data, position)[0]
    if position >= size:
        raise ValueError("the file contradicts itself")
    while position < size:
        position = _end_of_tensor(data, position)
    if position != size:
        raise ValueError("the file contradicts itself")
    return WhisperFile(path, vocabulary >= MULTILINGUAL_VOCABULARY, size)


def _end_of_tensor(data: mmap.mmap, position: int) -> int:
    """Return the position after the tensor that begins at `position`."""
    dimensions, name_length, tensor_type = struct.unpack_from("<3I", data, position)
    if not 1 <= dimensions <= MAX_DIMENSIONS or tensor_type not in BLOCK_SIZES:
        raise ValueError("the file contradicts itself")
    values, block_size = BLOCK_SIZES[tensor_type]
    count: int = math.prod(struct.unpack_from(f"<{dimensions}I", data, position + 12))
    end: int = position + 12 + 4 * dimensions + name_length + count // values * block_size
    return end
