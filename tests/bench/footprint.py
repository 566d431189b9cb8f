"""Memory, idle processor time and disk space of the whole program: the real window, starter models, a context of 4k.

One process is the program as it is started; a task in its event loop types 60 messages, starts a new conversation and lets the
program archive the old one. `pss_mb_first` is the proportional set size of every process together after the first reply, at
rest; `pss_mb_evening` after the evening and its archive; `rows` of the table say which process has how much of it.
`idle_cpu_percent` (of one core) and `wakeups_per_second` (voluntary context switches of all threads) are measured at rest after
the first reply. `disk_mb` is the program with its libraries and starter models, and the data folder. Linux only.

The row “shared with other programs” says how much the sum would be larger if no other program on this machine had the same
files in memory (another Lethe, another Python); read it together with the sum.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from itertools import cycle, islice
from pathlib import Path

import psutil
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from qasync import QEventLoop

from lethe_app.app import SWITCH_INTERVAL_S, WindowRunner, build, configure_log, show_first_window
from lethe_app.composition.app_services import AppServices
from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady
from lethe_app.ui.core.garbage_collection import GarbageCollector
from lethe_app.ui.shell.main_window import MainWindow
from tests.bench._setup import SMALL_TALK
from tests.bench.report import Measured, run
from tests.services.turns import until

ROOT = Path(__file__).parent.parent.parent
MESSAGES, CONTEXT, REPLY = 60, 4096, 64
REST_SHARE, REST_STEPS, STEP_SECONDS, MAX_REST_SECONDS = 0.02, 3, 10.0, 1800.0
"""The program is at rest once it has used less than this share of a core in so many steps in a row: the quality test of the
model, the daily backup, the read-ahead and the archive are over by then.
"""
IDLE_SECONDS = 60.0
TURN_SECONDS = 900.0
"""Maximum seconds of a turn, on a machine that is busy with something else."""
MB = 1_000_000
SHARED = "shared with other programs, not counted"


def processes() -> dict[str, psutil.Process]:
    """Return the program's processes by role: the window, the workers by the model file they map, and other children."""
    window = psutil.Process()
    roles = {Path(bundled.chat_model() or "").resolve(): "chat model", bundled.embedding_model().resolve(): "embedding model"}
    found = {"window": window}
    for child in window.children(recursive=True):
        mapped = {Path(mapping.path) for mapping in child.memory_maps()}
        found[next((role for path, role in roles.items() if path in mapped), f"helper {child.pid}")] = child
    return found


def memory() -> dict[str, float]:
    """Return the proportional set size of every process in MB, and what other programs' use of the same files takes off it."""
    running = processes()
    sizes = {name: process.memory_full_info().pss / MB for name, process in running.items()}
    files_of = {name: process.memory_maps() for name, process in running.items()}
    sharers = Counter(mapping.path for mappings in files_of.values() for mapping in mappings)
    hidden = sum(
        max(0.0, mapping.rss / sharers[mapping.path] - mapping.pss)
        for mappings in files_of.values()
        for mapping in mappings
        if mapping.path.startswith("/")
    )
    return sizes | {SHARED: hidden / MB}


def used() -> tuple[float, int]:
    """Return the processor seconds and the voluntary context switches of all threads so far."""
    seconds, switches = 0.0, 0
    for process in processes().values():
        times = process.cpu_times()
        seconds += times.user + times.system
        for status in Path(f"/proc/{process.pid}/task").glob("*/status"):
            found = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read_text(), re.MULTILINE)
            switches += int(found[1]) if found else 0
    return seconds, switches


async def wait_for(condition: Callable[[], object]) -> None:
    """Wait without keeping the processor busy."""
    await until(condition, TURN_SECONDS, 0.25)


async def rest() -> float:
    """Wait until the program is at rest; return the seconds that took."""
    began, quiet, (last, _switches) = time.monotonic(), 0, used()
    while quiet < REST_STEPS:
        assert time.monotonic() - began < MAX_REST_SECONDS, "the program does not come to rest"
        await asyncio.sleep(STEP_SECONDS)
        now, _switches = used()
        quiet = quiet + 1 if now - last < REST_SHARE * STEP_SECONDS else 0
        last = now
    return time.monotonic() - began - quiet * STEP_SECONDS


async def evening(runner: WindowRunner, window: MainWindow, services: AppServices) -> dict[str, object]:
    """Hold the evening in the running program and measure."""
    await wait_for(lambda: isinstance(services.models.state, ModelReady))
    controller = runner._controller
    field, messages = window.chat.composer.draft_field, controller.messages

    async def say(text: str) -> None:
        before = messages.rowCount()
        field.setPlainText(text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await wait_for(lambda: messages.rowCount() >= before + 2 and not runner.is_replying)

    talk = cycle(SMALL_TALK)
    await say(next(talk))
    busy = await rest()
    first, before = memory(), used()
    await asyncio.sleep(IDLE_SECONDS)
    seconds, switches = (after - earlier for after, earlier in zip(used(), before, strict=True))
    for text in islice(talk, MESSAGES - 1):
        await say(text)
    window.window_actions["new"].trigger()
    await wait_for(lambda: messages.rowCount() <= 1)
    await rest()
    return {
        "first": first,
        "evening": memory(),
        "cpu": seconds / IDLE_SECONDS,
        "wakeups": switches / IDLE_SECONDS,
        "busy": busy,
    }


def program(home: Path) -> None:
    """Run the program with the evening in its event loop, and print what was measured."""
    paths = Paths.standard(home)
    application, window = show_first_window(paths)
    configure_log(paths)
    window.build_panes()
    application.setQuitOnLastWindowClosed(False)
    sys.setswitchinterval(SWITCH_INTERVAL_S)

    built: list[AppServices] = []

    async def make_services() -> AppServices:
        services = await build(paths)
        built.append(services)
        chosen = {"model_path": str(bundled.chat_model()), "context": CONTEXT, "max_reply": REPLY}
        await services.preferences.set(welcomed=True, last_persona="mira", **chosen)
        return services

    async def run_window() -> None:
        runner = WindowRunner(window, make_services)
        collector = GarbageCollector(lambda: runner.is_replying)
        serving = asyncio.ensure_future(runner.run())
        try:
            await wait_for(lambda: runner._controller is not None)
            print(json.dumps(await evening(runner, window, built[0])), flush=True)
        finally:
            window.close()
            await serving
            collector.close()

    loop = QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(run_window())


def program_size() -> float:
    """Return the size of the program, its locked libraries and the starter models in MB."""
    locks = ((ROOT / "packaging" / f"{lock}.lock").read_text() for lock in ("runtime", "models"))
    names = re.findall(r"^([\w.-]+)==", "\n".join(locks), re.MULTILINE)
    own = (path for part in ("lethe_app", "resources") for path in (ROOT / part).rglob("*"))
    size = sum(path.stat().st_size for path in own if path.is_file())
    for name in names:
        try:
            located = [Path(str(entry.locate())) for entry in files(name) or ()]
        except PackageNotFoundError:  # for another system
            continue
        size += sum(path.stat().st_size for path in located if path.is_file())
    return size / MB


def measure() -> Measured:
    """Run the program in a process of its own, and add up what it measured."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
        # Not with `-m`: a worker process loads the main module of the program again, which has to be as light as Lethe's own.
        command = [sys.executable, "-c", "import tests.bench.footprint as it; it.program(it.Path(it.sys.argv[1]))", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
        measured = json.loads(done.stdout.splitlines()[-1])
        data = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / MB
    figures = {
        "pss_mb_first": sum(size for name, size in measured["first"].items() if name != SHARED),
        "pss_mb_evening": sum(size for name, size in measured["evening"].items() if name != SHARED),
        "idle_cpu_percent": measured["cpu"] * 100,
        "wakeups_per_second": measured["wakeups"],
        "disk_mb": program_size() + data,
    }
    parts = [(f"{when}, {name} [MB]", size) for when in ("first", "evening") for name, size in measured[when].items()]
    return [*parts, ("busy after the first reply [s]", measured["busy"]), ("data folder [MB]", data)], figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
