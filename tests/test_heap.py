"""Freed memory goes back to the operating system, from whichever thread it came."""

from __future__ import annotations

import ctypes
import linecache
import platform
import subprocess
import sys

import psutil
import pytest

from lethe_app.heap import forget_source_lines, release_unused_memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other allocators return freed memory by themselves")
def test_freed_memory_between_blocks_in_use_goes_back_to_the_system():
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    blocks = [library.malloc(65_536) for _ in range(2_000)]  # each too small for a mapping of its own
    for block in blocks:
        ctypes.memset(block, 1, 65_536)
    for block in blocks[:-1]:
        library.free(ctypes.c_void_p(block))
    before = psutil.Process().memory_info().rss

    assert release_unused_memory()

    assert before - psutil.Process().memory_info().rss > 60_000_000
    library.free(ctypes.c_void_p(blocks[-1]))


THREADS_THAT_ALLOCATE = """
import ctypes, sys, threading
from lethe_app.heap import use_one_heap
if sys.argv[1:]:
    use_one_heap()
library, barrier = ctypes.CDLL(None), threading.Barrier(4)
def allocate():
    barrier.wait()
    library.malloc(10_000)
    barrier.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
library.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no heaps of threads")
@pytest.mark.parametrize(("arguments", "is_one"), [(["one"], True), ([], False)])
def test_threads_share_one_heap(arguments: list[str], is_one: bool):
    child = subprocess.run(
        [sys.executable, "-c", THREADS_THAT_ALLOCATE, *arguments], capture_output=True, text=True, check=True
    )

    assert (child.stderr.count("Arena ") == 1) is is_one


def test_the_source_lines_of_modules_are_forgotten_and_read_again():
    first = linecache.getlines(__file__)

    forget_source_lines()

    assert not linecache.cache
    assert linecache.getlines(__file__) == first
