"""Return of pages that contain only zeros to the operating system (Linux).

llama.cpp clears the KV cache of a new context by writing zeros into it, so that all of it is in memory before the first token:
94 MB for the starter model with a context of 4k, a gigabyte for a model of 8 billion weights with 8k. A private page that was
given back reads as zeros again, and takes up memory only once something is written: a cache grows with its conversation.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

Range = tuple[int, int]
"""Address of the first byte and of the one after the last."""
CHUNK = 16 * mmap.PAGESIZE
"""Bytes that are examined and given back at once."""
MIN_LENGTH = 8 << 20
"""Minimum length in bytes of new memory that is examined; the KV cache is larger."""
SWITCH_SECONDS = 60.0
"""Interval of thread switches while pages are examined, which takes some hundredths of a second."""
FILLS_LATER = sys.platform.startswith("linux")
"""True if a new KV cache takes up memory only as it fills, so that free memory is partly spoken for."""
_MAPS = Path("/proc/self/maps")


@contextmanager
def release_zero_pages() -> Iterator[None]:
    """Give back the zero pages of memory that is mapped in this context; elsewhere than on Linux nothing happens.

    No other thread may write to that memory meanwhile. Threads of Python do not run while it is examined; those of llama.cpp
    have nothing to compute while a context is created.
    """
    if not FILLS_LATER:
        yield
        return
    before = list(_writable_ranges())
    yield
    with _only_this_thread():
        for start, end in subtract_ranges(_writable_ranges(), before):
            if end - start >= MIN_LENGTH:
                release_zeros(start, end)


def release_zeros(start: int, end: int) -> int:
    """Give back the chunks of private memory from `start` to `end` that contain only zeros; return their number of bytes."""
    library, zeros = _library(), ctypes.create_string_buffer(CHUNK)
    position, run_start, released = -(-start // CHUNK) * CHUNK, 0, 0
    while position + CHUNK <= end:
        is_zero = not library.memcmp(ctypes.c_void_p(position), zeros, CHUNK)
        if is_zero and not run_start:
            run_start = position
        elif not is_zero and run_start:
            released += _give_back(library, run_start, position)
            run_start = 0
        position += CHUNK
    return released + (_give_back(library, run_start, position) if run_start else 0)


def subtract_ranges(ranges: Iterable[Range], others: Iterable[Range]) -> Iterator[Range]:
    """Yield the parts of `ranges` that are in none of `others`; both are in ascending order without overlaps."""
    remaining = list(others)
    for start, end in ranges:
        position = start
        for other_start, other_end in remaining:
            if other_end <= position or other_start >= end:
                continue
            if position < other_start:
                yield position, other_start
            position = other_end
        if position < end:
            yield position, end


def _give_back(library: ctypes.PyDLL, start: int, end: int) -> int:
    failed = library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)
    return 0 if failed else end - start


def _writable_ranges() -> Iterator[Range]:
    """Yield the ranges of private anonymous memory that may be written, neighbours apart."""
    for line in _MAPS.read_text("ascii", "replace").splitlines():
        addresses, access, _offset, _device, inode, *path = line.split(maxsplit=5)
        if access == "rw-p" and inode == "0" and not path:
            start, end = addresses.split("-")
            yield int(start, 16), int(end, 16)


@contextmanager
def _only_this_thread() -> Iterator[None]:
    """Let no other thread of Python run, as long as the calls in this context hold the interpreter lock."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    time.sleep(2 * interval)  # a thread that already waits for its turn, with the former interval, gets it now
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


@cache
def _library() -> ctypes.PyDLL:
    """Return the C library, called without releasing the interpreter lock."""
    return ctypes.PyDLL(None)
