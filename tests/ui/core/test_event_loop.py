"""The event loop of the window and the threads that outlive it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lethe_app.ui.core.event_loop import WindowEventLoop

PROGRAM = """
import asyncio, sys, threading, time
from PySide6.QtWidgets import QApplication
from lethe_app.ui.core.event_loop import WindowEventLoop

application = QApplication([])
loop = WindowEventLoop(application)
asyncio.set_event_loop(loop)
refused = threading.Event()

def report_for_ever():
    while True:
        try:
            loop.call_soon_threadsafe(lambda: None)
        except RuntimeError:
            refused.set()
        time.sleep(0.00005)

async def run():
    for _ in range(4):
        threading.Thread(target=report_for_ever, daemon=True).start()
    await asyncio.sleep(0.1)

with loop:
    loop.run_until_complete(run())
assert refused.wait(60)
"""


def test_a_closed_loop_refuses_calls_of_threads_as_asyncio_does(qapp):
    loop = WindowEventLoop(qapp)
    loop.call_soon_threadsafe(lambda: None)
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon_threadsafe(lambda: None)


def test_threads_that_go_on_reporting_do_not_crash_the_program_at_its_end():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
