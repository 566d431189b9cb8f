"""The entry point: `python -m lethe_app` and the `lethe` command."""

from __future__ import annotations

import multiprocessing
import sys


def main() -> int:
    """Run the command line; with no command it opens the window."""
    multiprocessing.freeze_support()
    from lethe_app import app
    from lethe_app.cli import commands

    return commands.main(sys.argv[1:], build=app.build, open_window=app.open_window)


if __name__ == "__main__":
    sys.exit(main())
