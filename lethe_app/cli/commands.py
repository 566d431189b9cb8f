"""The same wishes from a terminal: `lethe` opens the window, the commands talk, recall, archive and check the set-up here."""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.errors import DatabaseLocked, LetheError
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
    from lethe_app.services.maintenance import single_instance

    was_open = single_instance.is_open(paths)
    note = single_instance.hand_over(paths, file)
    if not was_open:
        return False
    if not single_instance.was_taken(note, PATIENCE):
        raise DatabaseLocked(
            f"Lethe is already running with the folder {paths.home}, without a window that could ask you about {file.name}.",
            "Close it first, then open the file again.",
        )
    return True


if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

Build = Callable[[Paths], Awaitable["AppServices"]]
OpenWindow = Callable[[Paths], int]


def main(arguments: Sequence[str], build: Build, open_window: OpenWindow) -> int:
    """Carry out one command line; returns the exit code. `build` and `open_window` are app.py's."""
    write_what_can_be_written()
    words = list(arguments)
    file = file_in(words)
    wanted = parser().parse_args(words)
    paths = Paths.standard(wanted.home)
    try:
        if file is not None and handed_over(paths, file):
            return 0
        if wanted.command is None:
            return window_or_terminal(wanted, paths, build, open_window)
        return int(asyncio.run(wanted.run(wanted, paths, build)))
    except LetheError as error:
        print(f"lethe: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"       {error.remedy}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read along has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def write_what_can_be_written() -> None:
    """A terminal or pipe that knows few characters gets question marks instead of the program's end."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def parser() -> argparse.ArgumentParser:
    """The command line as `lethe --help` explains it."""
    top = argparse.ArgumentParser(prog="lethe", description="Chat with personas that remember, on models of your own.")
    top.add_argument("--home", type=Path, help="folder for all data (also: the variable LETHE_HOME)")
    top.set_defaults(command=None)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    chat = commands.add_parser("chat", help="talk with a persona in this terminal")
    chat.add_argument("--persona", help="its name or file name; without it, the last one or the first")
    chat.add_argument(
        "--say", action="append", default=[], metavar="TEXT", help="say this and print the reply; can be repeated"
    )
    chat.add_argument(
        "--model", type=Path, metavar="PATH", help="a GGUF file; without it, the one chosen before or found first"
    )
    chat.add_argument("--new", action="store_true", help="begin a new conversation instead of going on with the last one")
    chat.add_argument("--json", action="store_true", help="one JSON object per reply")
    chat.set_defaults(run=run_chat)

    recall = commands.add_parser("recall", help="show what a text would remind a persona of, and why")
    recall.add_argument("text", nargs="+", help="what would be said")
    recall.add_argument("--persona", help="its name or file name; without it, the last one or the first")
    recall.add_argument("--all", action="store_true", help="whatever is nearest, sure or not")
    recall.add_argument("--count", type=int, default=10, metavar="N", help="with --all: how many, up to 50")
    recall.add_argument("--json", action="store_true", help="one JSON object")
    recall.set_defaults(run=run_recall)

    archive = commands.add_parser("archive", help="end a persona's open conversations and remember them")
    archive.add_argument("--persona", help="its name or file name; without it, the last one or the first")
    archive.add_argument("--again", action="store_true", help="make anew what was archived before, too")
    archive.add_argument("--rules", action="store_true", help="by rules alone, without loading a model")
    archive.add_argument(
        "--model", type=Path, metavar="PATH", help="a GGUF file; without it, the one chosen before or found first"
    )
    archive.add_argument("--json", action="store_true", help="one JSON object per conversation")
    archive.set_defaults(run=run_archive)

    doctor = commands.add_parser("doctor", help="check the set-up and explain what is wrong")
    doctor.add_argument("--json", action="store_true", help="one JSON object")
    doctor.set_defaults(run=run_doctor)

    giving, meeting = add_to(commands)
    giving.set_defaults(run=run_export)
    meeting.set_defaults(run=run_import)

    for command in (chat, recall, archive, doctor, giving, meeting):
        command.add_argument("--home", type=Path, default=argparse.SUPPRESS, help="folder for all data")
    return top


async def run_chat(wanted: argparse.Namespace, paths: Paths, build: Build) -> int:
    """`lethe chat`."""
    from lethe_app.cli.chat import converse

    services = await build(paths)
    try:
        return await converse(services, wanted)
    finally:
        await services.close()


async def run_recall(wanted: argparse.Namespace, paths: Paths, build: Build) -> int:
    """`lethe recall`."""
    from lethe_app.cli.recall import recall

    services = await build(paths)
    try:
        return await recall(services, wanted)
    finally:
        await services.close()


async def run_archive(wanted: argparse.Namespace, paths: Paths, build: Build) -> int:
    """`lethe archive`."""
    from lethe_app.cli.archive import archive

    services = await build(paths)
    try:
        return await archive(services, wanted)
    finally:
        await services.close()


async def run_export(wanted: argparse.Namespace, paths: Paths, build: Build) -> int:
    """`lethe export`."""
    from lethe_app.cli.bundles import export

    services = await build(paths)
    try:
        return await export(services, wanted)
    finally:
        await services.close()


async def run_import(wanted: argparse.Namespace, paths: Paths, build: Build) -> int:
    """`lethe import`."""
    from lethe_app.cli.bundles import receive

    services = await build(paths)
    try:
        return await receive(services, wanted)
    finally:
        await services.close()


async def run_doctor(wanted: argparse.Namespace, paths: Paths, build: Build) -> int:
    """`lethe doctor`: exit code 0 when nothing essential is missing."""
    from lethe_app.cli.doctor import report_checks

    return await report_checks(paths, build, as_json=wanted.json)


def window_or_terminal(wanted: argparse.Namespace, paths: Paths, build: Build, open_window: OpenWindow) -> int:
    """Open the window; with no display, say so and go on in the terminal, if there is one."""
    if has_display():
        return open_window(paths)
    if not sys.stdin.isatty():
        print("lethe: there is no display to open a window on; use “lethe chat --say TEXT” here.", file=sys.stderr)
        return 1
    print("There is no display to open a window on, so we talk here.")
    chat = parser().parse_args(["chat"])
    chat.home = wanted.home
    return asyncio.run(run_chat(chat, paths, build))


def has_display() -> bool:
    """Can a window be shown? Asks only what the environment says."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
