"""Time to first paint of the real program against a bare PySide6 window with a list, processes started in turn.

Both processes print the moment their first paint has ended; the clock starts before the process does. `first_paint_ratio` is
the ratio of the medians. It also lists which heavy libraries were imported before the first paint; there must be none.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.report import Measured, Row, run

BARE = """
import sys, time
from PySide6.QtCore import QStringListModel
from PySide6.QtWidgets import QApplication, QListView, QMainWindow
application = QApplication(sys.argv)
window = QMainWindow()
view = QListView()
view.setModel(QStringListModel([f"line {number}" for number in range(100)]))
window.setCentralWidget(view)
window.resize(1280, 800)
window.show()
application.processEvents()
print(time.time(), time.time(), flush=True)
"""
OURS = """
import sys, time
from pathlib import Path
from lethe_app.app import show_first_window
from lethe_app.paths import Paths
application, window = show_first_window(Paths.standard(Path(sys.argv[1])))
painted, heavy = time.time(), " ".join(name for name in HEAVY if name in sys.modules)
window.build_panes()
application.processEvents()
print(painted, time.time(), heavy, flush=True)
"""
HEAVY = ["pydantic", "numpy", "llama_cpp", "hnswlib", "tiktoken", "jinja2", "sqlite3", "markdown_it", "asyncio", "gguf"]


def first_paint(code: str, home: Path) -> tuple[float, float, str]:
    """Seconds from before the process exists until its first paint and until it is furnished, and what else it printed."""
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    began = time.time()
    command = [sys.executable, "-c", f"HEAVY = {HEAVY!r}\n{code}", str(home)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    painted, furnished, *rest = run.stdout.split()
    return float(painted) - began, float(furnished) - began, " ".join(rest)


def measure(runs: int) -> Measured:
    """Start both in turn."""
    bare, ours, whole, heavy = [], [], [], ""
    with tempfile.TemporaryDirectory() as folder:
        for _run in range(runs):
            bare.append(first_paint(BARE, Path(folder))[0])
            painted, furnished, heavy = first_paint(OURS, Path(folder))
            ours.append(painted)
            whole.append(furnished)
    ratio = statistics.median(ours[1:]) / statistics.median(bare[1:])
    rows: list[Row] = [
        ("bare window, first paint [ms]", statistics.median(bare[1:]) * 1000),
        ("Lethe, first paint [ms]", statistics.median(ours[1:]) * 1000),
        ("ratio", ratio),
        ("Lethe, furnished [ms]", statistics.median(whole[1:]) * 1000),
        ("heavy imports before first paint", heavy or "none"),
    ]
    figures = {"first_paint_ratio": ratio, "furnished_ratio": statistics.median(whole[1:]) / statistics.median(bare[1:])}
    return rows, figures


if __name__ == "__main__":
    run(__doc__, lambda wanted: measure(wanted.runs), ("--runs", {"type": int, "default": 15}))
