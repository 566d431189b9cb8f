"""Header of a Whisper model in the ggml format of whisper.cpp: what it is, and whether the file is complete.

Layout: 11 numbers, the mel filters, the tokens, then for each tensor its number of dimensions, the length of its name, its
type, its dimensions, its name and its data; all numbers are 32-bit, little-endian. Source: `models/convert-pt-to-ggml.py` of
whisper.cpp.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lethe_app.errors import ModelUnreadable

MAGIC = b"lmgg"
HEADER_NUMBERS = 11
MULTILINGUAL_VOCABULARY = 51_865
"""Tokens of the smallest multilingual vocabulary; English models have one fewer."""
MAX_COUNT = 1 << 20
"""Number above which a count in the header is taken for damage."""
MODEL_SIZES = {4: "tiny", 6: "base", 12: "small", 24: "medium", 32: "large"}
"""Name of a model by the number of its audio layers."""
BLOCK_SIZES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)}
"""Values and bytes of a block by tensor type: F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0."""
OTHER_MODEL_ADVICE = "Choose a Whisper model in the ggml format, such as ggml-base.bin."


@dataclass(frozen=True)
class WhisperFile:
    """Whisper model on this computer."""

    path: Path
    size_name: str
    """One of `MODEL_SIZES`, or empty."""
    is_multilingual: bool
    size: int
    """Size of the file in bytes."""


def read_whisper_file(path: Path) -> WhisperFile:
    """Read the header of a model file and check that all of its tensors are in it. Raise ModelUnreadable."""
    try:
        with path.open("rb") as file:
            return _read(path, file)
    except (struct.error, UnicodeError, OverflowError) as error:
        raise _damaged(path) from error
    except OSError as error:
        raise ModelUnreadable(f"{path.name} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def _read(path: Path, file: BinaryIO) -> WhisperFile:
    if file.read(len(MAGIC)) != MAGIC:
        raise ModelUnreadable(f"{path.name} is not a Whisper model.", OTHER_MODEL_ADVICE)
    size = os.fstat(file.fileno()).st_size
    vocabulary, _audio_context, _state, _heads, audio_layers, *_rest = _numbers(file, HEADER_NUMBERS)
    filters, bands = _numbers(file, 2)
    _skip(path, file, 4 * filters * bands, size)
    (tokens,) = _numbers(file, 1)
    if tokens > MAX_COUNT:
        raise _damaged(path)
    for _ in range(tokens):
        _skip(path, file, _numbers(file, 1)[0], size)
    if file.tell() == size:
        raise _damaged(path)
    while file.tell() < size:
        dimensions, name_length, tensor_type = _numbers(file, 3)
        if not 1 <= dimensions <= 4 or tensor_type not in BLOCK_SIZES:
            raise _damaged(path)
        count = 1
        for dimension in _numbers(file, dimensions):
            count *= dimension
        values, block_size = BLOCK_SIZES[tensor_type]
        _skip(path, file, name_length + count // values * block_size, size)
    return WhisperFile(path, MODEL_SIZES.get(audio_layers, ""), vocabulary >= MULTILINGUAL_VOCABULARY, size)


def _numbers(file: BinaryIO, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}I", file.read(4 * count))


def _skip(path: Path, file: BinaryIO, length: int, size: int) -> None:
    """Move on in the file. Raise ModelUnreadable if it ends before."""
    if file.tell() + length > size:
        raise _damaged(path)
    file.seek(length, os.SEEK_CUR)


def _damaged(path: Path) -> ModelUnreadable:
    return ModelUnreadable(f"{path.name} is incomplete or damaged.", "Download it again, or choose another model.")
