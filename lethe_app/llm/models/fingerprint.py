"""Fingerprints of model files and llama.cpp builds, without reading the whole file."""

from __future__ import annotations

import hashlib
from pathlib import Path

ENDS = 1 << 20
"""Bytes hashed at each end of a file: for a model, all its metadata and some of its weights."""


def fingerprint(path: Path) -> list[int | str]:
    """Return size, modification time and a hash of both ends. Distinct files share all three only if made so on purpose.
    Raise OSError.
    """
    found = path.stat()
    with path.open("rb") as file:
        start = file.read(ENDS)
        file.seek(max(0, found.st_size - ENDS))
        ends = hashlib.blake2b(start + file.read(ENDS), digest_size=16)
    return [found.st_size, found.st_mtime_ns, ends.hexdigest()]
