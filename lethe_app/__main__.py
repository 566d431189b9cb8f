"""Entry point of `python -m lethe_app` and of the `lethe` command."""

from __future__ import annotations

import multiprocessing
import sys


def main() -> int:
    """Run the command line; without a command it opens the window."""
    # Before all other imports: worker processes of a frozen bundle start this program again, and must not load all of it.
    multiprocessing.freeze_support()
    from lethe_app import app
    from lethe_app.cli import commands

    return commands.main(sys.argv[1:], build=app.build, open_window=app.open_window)


if __name__ == "__main__":
    sys.exit(main())
