"""Vectors as they are stored: bytes that another version, a damaged disk or a killed program may have left unusable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)
FLOAT_BYTES = np.dtype(np.float32).itemsize


def usable_vectors(found: Mapping[Key, bytes], size: int = 0) -> dict[Key, bytes]:
    """Return those of these vectors (float32) that have `size` bytes, by default as many as most, and only finite numbers."""
    sizes = Counter(len(vector) for vector in found.values() if vector and len(vector) % FLOAT_BYTES == 0)
    size = size or max(sizes, key=lambda length: (sizes[length], length), default=0)
    alike = {key: vector for key, vector in found.items() if vector and len(vector) == size}
    if not alike:
        return {}
    rows = np.frombuffer(b"".join(alike.values()), np.float32).reshape(len(alike), -1)
    is_finite = np.atleast_1d(np.isfinite(rows).all(axis=1))
    return {key: vector for (key, vector), is_usable in zip(alike.items(), is_finite, strict=True) if is_usable}
