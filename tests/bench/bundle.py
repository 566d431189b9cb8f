"""Size and start of what people install, against a bundle of a bare PySide6 window that is made in the same run.

`make package` must have been run. Both programs are started in turn on a screen of their own, and the clock stops when their
window is seen on it, so the time of the bootloader and of every library counts. `size_mb` is the bundle with starter models,
in millions of bytes; `start_ratio` is the ratio of the medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.report import Measured, run
from tests.packaging.desktop import screen

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "build" / "package"
BUNDLE = PACKAGE / "dist" / "lethe"
PYTHON = PACKAGE / "venv" / "bin" / "python"
BARE = """
import sys
from PySide6.QtCore import QStringListModel
from PySide6.QtWidgets import QApplication, QListView, QMainWindow
application = QApplication(sys.argv)
window = QMainWindow()
window.setWindowTitle("Lethe")
view = QListView()
view.setModel(QStringListModel([f"line {number}" for number in range(100)]))
window.setCentralWidget(view)
window.resize(1280, 800)
window.show()
sys.exit(application.exec())
"""


def bare_bundle(folder: Path) -> Path:
    """The program of a bundle that holds a window with a list and nothing else."""
    script = folder / "bare.py"
    script.write_text(BARE, encoding="utf-8")
    places = ("--distpath", folder / "dist", "--workpath", folder / "work", "--specpath", folder)
    command = [PYTHON, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", *places, script]
    subprocess.run([str(part) for part in command], check=True, stderr=subprocess.DEVNULL)
    return folder / "dist" / "bare" / "bare"


def start(program: Path, display: str, home: Path) -> float:
    """Seconds from before the process exists until its window is on the screen."""
    environment = {"LETHE_HOME": str(home), "LANG": "C.UTF-8", "PATH": os.environ["PATH"], "DISPLAY": display}
    looking = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "^Lethe$"]
    began = time.perf_counter()
    process = subprocess.Popen([program], env=environment, stderr=subprocess.DEVNULL)
    subprocess.run(looking, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
    seen = time.perf_counter() - began
    process.terminate()
    process.wait(120)
    return seen


def size_of(folder: Path) -> float:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir() or file.is_symlink()) / 1e6


def measure(runs: int) -> Measured:
    """Start both in turn."""
    if not BUNDLE.is_dir():
        sys.exit("There is no bundle yet; “make package” makes one.")
    bare, ours = [], []
    with tempfile.TemporaryDirectory() as folder, screen() as display:
        program = bare_bundle(Path(folder))
        for number in range(runs):
            home = Path(folder) / f"home{number}"
            home.mkdir()
            bare.append(start(program, display, home))
            ours.append(start(BUNDLE / "lethe", display, home))
        bare_size = size_of(program.parent)
    ratio = statistics.median(ours[1:]) / statistics.median(bare[1:])
    return [
        ("bare bundle, window seen [ms]", statistics.median(bare[1:]) * 1000),
        ("Lethe, window seen [ms]", statistics.median(ours[1:]) * 1000),
        ("ratio", ratio),
        ("bare bundle [MB]", bare_size),
        ("Lethe with starter models [MB]", size_of(BUNDLE)),
    ], {"size_mb": size_of(BUNDLE), "start_ratio": ratio}


if __name__ == "__main__":
    run(__doc__, lambda wanted: measure(wanted.runs), ("--runs", {"type": int, "default": 9}))
