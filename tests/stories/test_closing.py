"""The program is told to end by the terminal or the system: it closes as if the user had closed the window."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

PATIENCE = 600.0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("requested", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl+C", "the system's wish to end"])
def test_it_closes_in_order(tmp_path: Path, requested: signal.Signals):
    home = tmp_path / "home"
    environment = {**os.environ, "LETHE_HOME": str(home), "HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    program = subprocess.Popen([sys.executable, "-m", "lethe_app"], env=environment, stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + PATIENCE
    while not (home / "lethe.sqlite3-wal").exists():
        assert time.monotonic() < ends, "the home was never opened"
        time.sleep(0.05)

    program.send_signal(requested)
    _out, complaints = program.communicate(timeout=PATIENCE)

    assert program.returncode == 0, complaints
    assert not (home / "lethe.sqlite3-wal").exists()
    with closing(sqlite3.connect(home / "lethe.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
