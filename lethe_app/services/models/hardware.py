"""Hardware of this computer, as far as it decides which models fit and how fast they write."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import psutil

from lethe_app.storage.key_value import AppState
from lethe_app.system_memory import available_memory, total_memory

SAMPLE_BYTES = 16 << 20
"""Bytes that each thread copies to measure the memory bandwidth; more than a processor's share of the cache."""
MAX_THREADS = 4
"""Maximum number of threads that copy: as many saturate the memory of a usual computer, and each needs two blocks."""
MIN_COPIES, MIN_UNDISTURBED = 8, 4
"""Copies after which the measurement ends, if so many of them were not interrupted by other programs."""
MAX_SECONDS = 0.5 if sys.platform == "win32" else 3.0
"""Seconds after which the measurement ends in any case; Windows counts the time of a thread too coarsely to recognise an
interruption.
"""
QUICK_SECONDS = 0.4
"""The same if the bandwidth of this computer is known from an earlier start."""
COPY_INTERVAL = 0.015
"""Seconds between two copies. Other programs take turns of some milliseconds, so spread copies meet a moment without them:
under a load of 19 on two cores ten measurements gave 29 to 36 GB per second; the fastest of three copies in a row gave 2 to 36.
"""
MAX_WAIT = 1.2
"""Elapsed time of a copy relative to the time the processor spent on it, up to which it counts as not interrupted."""
MAX_SKEW = 2.5
"""The same for all threads together, which do not begin at the same moment."""
MIN_GAIN = 1.25
"""A measurement replaces the stored one if it is this many times as high; less is the noise of two measurements, after which
the same model would be described by another speed.
"""
SCOPE, BANDWIDTH_KEY = "hardware", "bandwidth"
"""Scope and key of the app state for the best bandwidth so far, with the computer it was measured on."""
GPU_QUERY_TIMEOUT = 3.0
"""Seconds after which the query of the graphics driver is given up."""
UNIFIED_SHARE = 0.75
"""Share of the memory that a graphics processor may use where it shares the memory of the computer. Source: the default of
Metal's recommendedMaxWorkingSetSize.
"""
_GPU_BACKENDS = ("ggml-cuda", "ggml-vulkan", "ggml-hip", "ggml-metal", "ggml-sycl")


@dataclass(frozen=True)
class Hardware:
    """Memory and memory bandwidth of this computer, in bytes and bytes per second."""

    memory: int
    free_memory: int
    bandwidth: float
    """Bytes per second that all physical cores together read; 0 if it was not measured."""
    gpu_memory: int = 0
    """Memory of the largest graphics card that the engine can use; 0 if there is none."""
    cores: int = 0
    """Number of physical cores; 0 if it is not known."""
    computer: str = ""
    """Description of the processor and the memory, by which another computer is recognised."""


class HardwareProfile:
    """Hardware of this computer with a memory bandwidth that stays the same from start to start: the best one measured so far,
    because a measurement is only ever too low, by the load of the moment. It is measured anew on another computer.
    """

    def __init__(self, app_state: AppState, measure: Callable[[float], Hardware] | None = None) -> None:
        """Create the profile; `measure` is called outside the event loop, with the seconds that the measurement may take."""
        self._app_state = app_state
        self._measure = measure or measure_hardware
        self._seconds = MAX_SECONDS
        self._bandwidth: float | None = None
        self._lock = asyncio.Lock()

    async def current(self) -> Hardware:
        """Return the hardware, with the memory that is free now. The first call takes up to three seconds, and less than one if
        the bandwidth of this computer was measured by an earlier start.
        """
        async with self._lock:  # the stored bandwidth is read and written once
            if self._bandwidth is None:
                self._bandwidth = await self._update_best()
            hardware = await asyncio.to_thread(self._measure, self._seconds)
        return replace(hardware, bandwidth=self._bandwidth)

    async def _update_best(self) -> float:
        """Return the best bandwidth of this computer, after storing the one of this start if it is clearly better."""
        stored = await self._app_state.get(SCOPE, BANDWIDTH_KEY)
        self._seconds = QUICK_SECONDS if isinstance(stored, dict) else MAX_SECONDS
        hardware = await asyncio.to_thread(self._measure, self._seconds)
        best = 0.0
        if isinstance(stored, dict) and stored.get("computer") == hardware.computer:
            best = float(stored.get("bytes_per_second", 0.0))
        elif self._seconds < MAX_SECONDS:
            self._seconds = MAX_SECONDS
            hardware = await asyncio.to_thread(self._measure, self._seconds)
        if hardware.bandwidth < MIN_GAIN * best:
            return best
        values = {"computer": hardware.computer, "bytes_per_second": hardware.bandwidth}
        await self._app_state.set(SCOPE, BANDWIDTH_KEY, values)
        return hardware.bandwidth


def measure_hardware(seconds: float = MAX_SECONDS) -> Hardware:
    """Measure the hardware, which takes up to `seconds` the first time. Call it outside the event loop."""
    cores = psutil.cpu_count(logical=False) or 1
    computer = f"{_processor_name()}, {cores} cores, {round(total_memory() / (1 << 30))} GB"
    return Hardware(total_memory(), available_memory(), _measure_bandwidth(seconds), _find_gpu_memory(), cores, computer)


@cache
def _processor_name() -> str:
    """Return the name of the processor; that of its architecture if the system does not state it."""
    with suppress(OSError):  # elsewhere than on Linux there is no such file
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@cache
def _measure_bandwidth(seconds: float) -> float:
    """Measure how many bytes per second the physical cores read and write when each of them copies a block: the fastest of
    several copies, until some were not interrupted or the seconds are over.
    """
    threads = min(psutil.cpu_count(logical=False) or 1, MAX_THREADS)
    blocks = [(ctypes.create_string_buffer(SAMPLE_BYTES), ctypes.create_string_buffer(SAMPLE_BYTES)) for _ in range(threads)]
    fastest, copies, undisturbed = 0.0, 0, 0
    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        while (copies < MIN_COPIES or undisturbed < MIN_UNDISTURBED) and time.perf_counter() - start < seconds:
            begin = time.perf_counter()
            times = list(pool.map(_copy_block, blocks))
            elapsed = time.perf_counter() - begin
            fastest = max(fastest, 2 * SAMPLE_BYTES * threads / elapsed)
            copies += 1
            was_interrupted = any(waited > MAX_WAIT * used for waited, used in times)
            undisturbed += not was_interrupted and elapsed <= MAX_SKEW * max(used for _waited, used in times)
            time.sleep(COPY_INTERVAL)
    return fastest


def _copy_block(blocks: tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_char]]) -> tuple[float, float]:
    """Copy a block, and return the elapsed time and the time of the processor in seconds."""
    begin, used = time.perf_counter(), time.thread_time()
    ctypes.memmove(blocks[0], blocks[1], SAMPLE_BYTES)  # a foreign call, so it runs without the GIL
    return time.perf_counter() - begin, time.thread_time() - used


@cache
def _find_gpu_memory() -> int:
    """Return the memory of the largest graphics card in bytes; 0 if there is none or the engine was built without support."""
    if not _has_gpu_backend():
        return 0
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return int(psutil.virtual_memory().total * UNIFIED_SHARE)
    return max([0, *_nvidia_memory(), *_amd_memory(Path("/sys/class/drm"))])


def _has_gpu_backend() -> bool:
    """Return whether the engine was built for graphics cards, without loading it into this process."""
    package = importlib.util.find_spec("llama_cpp")
    if package is None or package.origin is None:
        return False
    libraries = [path.name for path in (Path(package.origin).parent / "lib").glob("*ggml*")]
    return any(backend in name for backend in _GPU_BACKENDS for name in libraries)


def _nvidia_memory() -> list[int]:
    """Return the memory of each NVIDIA card in bytes, as its driver states it."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=GPU_QUERY_TIMEOUT, check=True)  # noqa: S603 - fixed arguments
    except (OSError, subprocess.SubprocessError):
        return []
    return [int(line) << 20 for line in answer.stdout.split() if line.isdecimal()]


def _amd_memory(devices: Path) -> list[int]:
    """Return the memory of each AMD card in bytes, as the Linux driver states it below `devices`."""
    sizes = []
    for path in devices.glob("card*/device/mem_info_vram_total"):
        with suppress(OSError, ValueError):  # a card that is switched off cannot be read
            sizes.append(int(path.read_text("ascii")))
    return sizes


def is_on_battery() -> bool:
    """Return whether the computer runs on its battery; False if it has none or the system does not report it."""
    sensor = getattr(psutil, "sensors_battery", None)  # some systems have none
    try:
        battery = sensor() if sensor is not None else None
    except (OSError, RuntimeError, ValueError):
        return False
    return battery is not None and battery.power_plugged is False
