"""Opens the real window over a data folder, with a scripted model: `python -m tests.ui.screen_reader.window FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from lethe_app.app import build, run, show_first_window
from lethe_app.paths import Paths

if __name__ == "__main__":
    data = Paths.standard(Path(sys.argv[1]))
    application, main_window = show_first_window(data)
    main_window.build_panes()
    sys.exit(run(application, main_window, lambda: build(data, "echo")))
