"""Memory of this process that the allocator holds unused, and how it is returned to the operating system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_unused_memory() -> bool:
    """Return freed memory to the operating system, which takes a few milliseconds; return whether there was any.

    After large blocks are freed, glibc keeps what lies below blocks still in use; only `malloc_trim` gives back whole pages in
    between. Other allocators do so by themselves, and nothing happens.
    """
    trim = _malloc_trim()
    return trim is not None and bool(trim(0))


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
    return trim
