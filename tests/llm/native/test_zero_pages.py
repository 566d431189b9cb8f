"""Zero pages go back to the system, and every byte of the memory stays what it was."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lethe_app.llm.native.zero_pages import CHUNK, Range, release_zero_pages, release_zeros, subtract_ranges

SIZE = 64 << 20
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are given back on Linux only")


@pytest.fixture
def memory() -> Iterator[mmap.mmap]:
    """Private memory that was written with zeros, so that all of it is resident."""
    block = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    block.write(bytes(SIZE))
    yield block
    block.close()


def address_of(block: mmap.mmap) -> int:
    view = ctypes.c_char.from_buffer(block)
    address = ctypes.addressof(view)
    del view  # or the memory could not be unmapped
    return address


def resident() -> int:
    return int(psutil.Process().memory_info().rss)


@on_linux
def test_only_zeros_are_given_back_and_every_byte_stays(memory: mmap.mmap):
    memory[0] = 1
    memory[SIZE // 2 + 5 : SIZE // 2 + 8] = b"abc"
    memory[SIZE - 1] = 2
    expected = memory[:]
    start, before = address_of(memory), resident()

    released = release_zeros(start, start + SIZE)

    assert SIZE - 4 * CHUNK <= released < SIZE
    assert before - resident() > SIZE // 2
    assert memory[:] == expected


@on_linux
def test_given_back_memory_can_be_written(memory: mmap.mmap):
    start = address_of(memory)
    release_zeros(start, start + SIZE)

    memory.seek(0)
    memory.write(b"\x07" * SIZE)

    assert memory[:] == b"\x07" * SIZE
    assert release_zeros(start, start + SIZE) == 0


@pytest.mark.parametrize(
    ("ranges", "others", "remaining"),
    [
        ([(0, 10)], [], [(0, 10)]),
        ([(0, 10)], [(0, 10)], []),
        ([(0, 10)], [(3, 5)], [(0, 3), (5, 10)]),
        ([(0, 10), (20, 30)], [(5, 25)], [(0, 5), (25, 30)]),
        ([(0, 10)], [(2, 4), (6, 20)], [(0, 2), (4, 6)]),
        ([(0, 10)], [(10, 20)], [(0, 10)]),
    ],
)
def test_new_memory_is_what_was_not_mapped_before(ranges: list[Range], others: list[Range], remaining: list[Range]):
    assert list(subtract_ranges(ranges, others)) == remaining


def test_the_interval_of_thread_switches_is_as_before():
    before = sys.getswitchinterval()

    with release_zero_pages():
        pass

    assert sys.getswitchinterval() == before


@on_linux
def test_the_cache_of_a_new_context_takes_up_no_memory(starter_model: Path):
    """A context of 8192 tokens of the starter model is 189 MB of zeros.

    Anonymous memory is counted alone: pages of the weights become this process's own when another one closes the same file.
    """
    code = f"""
from pathlib import Path
from lethe_app.domain.model import LoadOptions
from lethe_app.llm.engines.llama import LlamaEngine
from tests.llm.model_files import file_at

def anonymous_bytes():
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024

engine = LlamaEngine()
engine.load(file_at(Path({str(starter_model)!r})), LoadOptions(context=256), lambda _part: None)
small = anonymous_bytes()
engine.load(file_at(Path({str(starter_model)!r})), LoadOptions(context=8192), lambda _part: None)
print(anonymous_bytes() - small)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert int(run.stdout) < 60_000_000
