"""Memory that this process has allocated and no longer uses, and its return to the operating system."""

from __future__ import annotations

import ctypes
import linecache
import sys
from functools import cache

_M_ARENA_MAX = -8
"""Option of glibc's `mallopt`: the maximum number of heaps."""


def use_one_heap() -> None:
    """Let all threads allocate from one heap; call it before there are threads.

    glibc gives each thread a heap of its own, and `malloc_trim` never gives back what is free at the end of those: 10 MB and
    more after an evening. Threads of Python seldom allocate at the same time, so sharing one costs them nothing.
    """
    library = _c_library()
    if library is not None and hasattr(library, "mallopt"):  # musl has neither
        library.mallopt(_M_ARENA_MAX, 1)


def release_unused_memory() -> bool:
    """Return freed memory to the operating system, which takes a few milliseconds; return whether there was any.

    After large blocks are freed, glibc keeps what lies below blocks still in use; only `malloc_trim` gives back whole pages in
    between. Other allocators do so by themselves, and nothing happens.
    """
    library = _c_library()
    return library is not None and hasattr(library, "malloc_trim") and bool(library.malloc_trim(0))


def forget_source_lines() -> None:
    """Drop the source lines in Python's cache, which are only needed for tracebacks and read again for those.

    PySide reads the source of every module that is imported after it, to look for the features it switches on: 25 MB of
    lines. Dropped early, they leave room for the objects that are made next instead of holes between those already there.
    """
    linecache.clearcache()


@cache
def _c_library() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if sys.platform.startswith("linux") else None
