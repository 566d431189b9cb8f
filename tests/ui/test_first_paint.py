"""On a real desktop, which takes its time to frame a window, ours is painted before anything behind it is loaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.desktop import screen, until

TOOLS = ("Xvfb", "openbox", "xdotool")
OPENING = """
import sys
from pathlib import Path
from lethe_app import app
from lethe_app.paths import Paths
from lethe_app.ui.shell.skeleton import Skeleton

painted = []
paint = Skeleton.paintEvent
Skeleton.paintEvent = lambda self, event: (painted.append(True), paint(self, event))[1]
application, window = app.show_first_window(Paths.standard(Path(sys.argv[1])))
print(bool(painted), window.windowHandle().isExposed())
"""


def is_framing(surroundings: dict[str, str]) -> bool:
    """Is there somebody who answers what a window manager is asked?"""
    asked = subprocess.run(["xdotool", "get_num_desktops"], capture_output=True, env=surroundings, check=False)
    return asked.returncode == 0


@pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs a desktop of its own: {', '.join(TOOLS)}")
def test_the_first_window_is_on_the_screen_when_the_rest_begins_to_load(tmp_path: Path):
    with screen() as display:
        surroundings = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        opening = [sys.executable, "-c", OPENING, str(tmp_path)]
        desktop = subprocess.Popen(["openbox"], env=surroundings, stderr=subprocess.DEVNULL)
        try:
            until(lambda: is_framing(surroundings), "no desktop")
            run = subprocess.run(opening, capture_output=True, text=True, check=True, env=surroundings, timeout=120)
        finally:
            desktop.terminate()
            desktop.wait()

    assert run.stdout.split() == ["True", "True"]
