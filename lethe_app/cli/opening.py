"""What the command line says of bundles; imports next to nothing, for the window waits for it."""

from __future__ import annotations

import argparse
from pathlib import Path

from lethe_app.errors import DatabaseLocked
from lethe_app.paths import Paths

ENDING = ".lethe"
PATIENCE = 5.0
"""Seconds in which an open window takes what it is handed."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """`lethe export` and `lethe import` as `--help` explains them; what each runs is set by the caller."""
    away = commands.add_parser("export", help="pack a persona into one file, to give away or to take along")
    away.add_argument("file", type=Path, metavar="FILE.lethe")
    away.add_argument("--persona", help="its name or file name; without it, the last one or the first")
    how_much = away.add_mutually_exclusive_group()
    how_much.add_argument("--memories", action="store_true", help="with what it remembers and knows")
    how_much.add_argument("--everything", action="store_true", help="with memories and all conversations")
    inwards = commands.add_parser("import", help="let a persona in from such a file")
    inwards.add_argument("file", type=Path, metavar="FILE.lethe")
    inwards.add_argument("--name", default="", help="what it is to be called here")
    for command in (away, inwards):
        command.add_argument("--json", action="store_true", help="one JSON object")
    return [away, inwards]


def file_in(arguments: list[str]) -> Path | None:
    """The bundle that was double-clicked: it stands last, and no command before it. It is taken out of the arguments."""
    *before, last = arguments or [""]
    homes = [place + 1 for place, word in enumerate(before) if word == "--home"]
    others = [word for place, word in enumerate(before) if not word.startswith("-") and place not in homes]
    if not last.lower().endswith(ENDING) or len(before) in homes or others:
        return None
    return Path(arguments.pop())


def handed_over(paths: Paths, file: Path) -> bool:
    """Give `file` to the window: True if one is open and has taken it, False if one is to be opened, which will find it.

    Raises DatabaseLocked where a Lethe without a window has this home.
    """
    from lethe_app.services import handing

    was_open = handing.is_open(paths)
    note = handing.hand_over(paths, file)
    if not was_open:
        return False
    if not handing.was_taken(note, PATIENCE):
        raise DatabaseLocked(
            f"Lethe is already running with the folder {paths.home}, without a window that could ask you about {file.name}.",
            "Close it first, then open the file again.",
        )
    return True
