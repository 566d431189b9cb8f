"""Fingerprints of model files and llama.cpp builds, without reading the whole file."""

from __future__ import annotations

import hashlib
from pathlib import Path

END_BYTES = 1 << 20
"""Bytes hashed at each end of a file: for a model, all its metadata and some of its weights."""


def fingerprint(path: Path) -> list[int | str]:
    """Return size, modification time and a hash of both ends. Distinct files share all three only if made so on purpose.
    Raise OSError.
    """
    file_stat = path.stat()
    with path.open("rb") as file:
        start = file.read(END_BYTES)
        file.seek(max(0, file_stat.st_size - END_BYTES))
        digest = hashlib.blake2b(start + file.read(END_BYTES), digest_size=16)
    return [file_stat.st_size, file_stat.st_mtime_ns, digest.hexdigest()]
