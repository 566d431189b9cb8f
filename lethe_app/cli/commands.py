"""Command line: `lethe` opens the window; subcommands chat, recall, archive, export, import, keep
documents, back up, restore and check the installation.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.errors import DatabaseDamaged, DatabaseLocked, LetheError
from lethe_app.paths import Paths
from lethe_app.services.imports.plan import IMPORTED_SUFFIXES

BUNDLE_SUFFIX = ".lethe"
ACCEPT_TIMEOUT_SECONDS = 5.0
"""Seconds within which a running window must accept a file."""


def add_bundle_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """Add `lethe export` and `lethe import` to the parser; return their parsers."""
    export_parser = commands.add_parser(
        "export",
        help="export a persona to a .lethe file or to a character card (.png, .json, .charx), or its conversations to a"
        " .jsonl file or into a folder",
    )
    export_parser.add_argument("file", type=expanded_path, metavar="FILE")
    export_parser.add_argument("--world", metavar="NAME", help="export this world as World Info instead")
    add_persona_option(export_parser)
    scope_options = export_parser.add_mutually_exclusive_group()
    scope_options.add_argument("--memories", action="store_true", help="include memories, facts and notebooks")
    scope_options.add_argument("--everything", action="store_true", help="include memories and all conversations")
    import_parser = commands.add_parser(
        "import", help="import personas, worlds, chats and presets: .lethe files, and files and folders of other programs"
    )
    import_parser.add_argument("files", type=expanded_path, nargs="+", metavar="PATH")
    import_parser.add_argument("--name", default="", help="name of the persona imported from a .lethe file")
    import_parser.add_argument("--preview", action="store_true", help="show what would be imported, without storing anything")
    import_parser.add_argument("--copies", action="store_true", help="import again what was imported before, as copies")
    for command in (export_parser, import_parser):
        command.add_argument("--json", action="store_true", help="print one JSON object")
    return [export_parser, import_parser]


def add_document_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """Add `lethe kb build`, `search`, `list` and `remove` to the parser; return their parsers."""
    group = commands.add_parser("kb", help="add, search, list and remove the documents that a persona or a world knows")
    actions = group.add_subparsers(dest="kb_command", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="read documents and folders of documents, and those again that have changed")
    build.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; without any, changed ones are read again")
    search = actions.add_parser("search", help="show the passages that answer a question")
    search.add_argument("text", nargs="+", help="question")
    search.add_argument("--count", type=int, default=0, metavar="N", help="number of passages, 1 to 50 (default: 3)")
    listing = actions.add_parser("list", help="list the documents")
    remove = actions.add_parser("remove", help="remove documents with everything stored of them; the files remain")
    remove.add_argument("titles", nargs="+", metavar="TITLE", help="title as listed")
    parsers = [build, search, listing, remove]
    for parser in parsers:
        add_persona_option(parser)
        parser.add_argument("--world", metavar="NAME", help="documents of this world instead of a persona")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parsers


def add_backup_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """Add `lethe backup` and `lethe restore` to the parser; return their parsers."""
    backup = commands.add_parser(
        "backup", help="write everything but models, caches and keys into one file, from which another computer can restore it"
    )
    backup.add_argument("file", type=expanded_path, nargs="?", metavar="FILE", help="new file (default: among the backups)")
    restore = commands.add_parser(
        "restore", help="list the backups, or restore one; what was there becomes a backup itself, so this can be undone"
    )
    restore.add_argument("backup", nargs="?", default="", metavar="FILE", help="number or name from the list, or a file")
    for command in (backup, restore):
        command.add_argument("--json", action="store_true", help="print one JSON object")
    return [backup, restore]


def add_persona_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the persona that a command is about."""
    parser.add_argument("--persona", help="name or file name of the persona (default: the last one used, otherwise the first)")


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the model that a command uses."""
    text = "GGUF file to use (default: the last one chosen, otherwise the first one found)"
    parser.add_argument("--model", type=expanded_path, metavar="PATH", help=text)


def expanded_path(text: str) -> Path:
    """Return the absolute path of a command line argument, in which ~ stands for the home folder."""
    return Path(text).expanduser().absolute()


def extract_opened_file(arguments: list[str]) -> Path | None:
    """Return the file to import that was opened by a double click: the last argument, without a command before it. It is
    removed from the arguments.
    """
    *before, last = arguments or [""]
    home_positions = [index + 1 for index, word in enumerate(before) if word == "--home"]
    others = [word for index, word in enumerate(before) if not word.startswith("-") and index not in home_positions]
    if not last.lower().endswith((BUNDLE_SUFFIX, *IMPORTED_SUFFIXES)) or len(before) in home_positions or others:
        return None
    return Path(arguments.pop())


def pass_file_to_window(paths: Paths, file: Path) -> bool:
    """Pass `file` to a running window: True if it accepted the file, False if none is open; the next window will find it.

    Raise DatabaseLocked if an instance without a window uses this data folder.
    """
    from lethe_app.services.maintenance import single_instance

    was_open = single_instance.is_open(paths)
    request_file = single_instance.request_open_file(paths, file)
    if not was_open:
        return False
    if not single_instance.wait_until_taken(request_file, ACCEPT_TIMEOUT_SECONDS):
        raise DatabaseLocked(
            f"Lethe is already using the folder {paths.home}, but has no window open that could import {file.name}.",
            "Close the running Lethe, then open the file again.",
        )
    return True


if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

Build = Callable[[Paths], Awaitable["AppServices"]]
OpenWindow = Callable[[Paths], int]


def main(arguments: Sequence[str], build: Build, open_window: OpenWindow) -> int:
    """Run one command line and return the exit code. `build` and `open_window` are the functions of app.py."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal or pipe that cannot encode a character gets a question mark
            stream.reconfigure(errors="replace")
    remaining_arguments = list(arguments)
    file = extract_opened_file(remaining_arguments)
    options = build_parser().parse_args(remaining_arguments)
    paths = Paths.standard(options.home)
    try:
        if file is not None and pass_file_to_window(paths, file):
            return 0
        if options.command is None:
            return open_window_or_terminal(options, paths, build, open_window)
        return asyncio.run(run_command(options, paths, build))
    except LetheError as error:
        print(f"lethe: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"       {error.remedy}", file=sys.stderr)
        if isinstance(error, DatabaseDamaged):
            print("       “lethe doctor --repair” repairs it, “lethe restore” lists the backups.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has ended
        # The interpreter flushes stdout at exit, which would raise again on the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def build_parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    top = argparse.ArgumentParser(prog="lethe", description="Chat with personas that remember, using your own local models.")
    top.add_argument("--home", type=Path, help="folder for all data (or set the environment variable LETHE_HOME)")
    top.set_defaults(command=None)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    chat = commands.add_parser("chat", help="chat with a persona in this terminal")
    add_persona_option(chat)
    chat.add_argument(
        "--say", action="append", default=[], metavar="TEXT", help="send this message and print the reply; can be repeated"
    )
    add_model_option(chat)
    chat.add_argument("--new", action="store_true", help="start a new conversation instead of continuing the last one")
    chat.add_argument("--json", action="store_true", help="print one JSON object per reply")

    recall = commands.add_parser("recall", help="show which memories a text would recall, and why")
    recall.add_argument("text", nargs="+", help="text of the message")
    add_persona_option(recall)
    recall.add_argument("--all", action="store_true", help="show the nearest memories, relevant or not")
    recall.add_argument("--count", type=int, default=10, metavar="N", help="with --all: number of memories, up to 50")
    recall.add_argument("--json", action="store_true", help="print one JSON object")

    archive = commands.add_parser("archive", help="end the open conversations of a persona and archive them")
    add_persona_option(archive)
    archive.add_argument("--again", action="store_true", help="also archive conversations again that were archived before")
    archive.add_argument("--rules", action="store_true", help="use rules only, without loading a model")
    add_model_option(archive)
    archive.add_argument("--json", action="store_true", help="print one JSON object per conversation")

    doctor = commands.add_parser("doctor", help="check the setup and explain any problems")
    doctor.add_argument("--json", action="store_true", help="print one JSON object")
    doctor.add_argument(
        "--repair",
        action="store_true",
        help="save what can be read of a damaged database, and set unreadable settings aside; the damaged files are kept",
    )

    bundle_commands = add_bundle_commands(commands)
    document_commands = [*add_document_commands(commands), *add_backup_commands(commands)]
    for command in (chat, recall, archive, doctor, *bundle_commands, *document_commands):
        command.add_argument("--home", type=Path, default=argparse.SUPPRESS, help="folder for all data")
    return top


async def run_command(options: argparse.Namespace, paths: Paths, build: Build) -> int:
    """Run a command with the services of the data folder, and close them. Return its exit code."""
    if options.command == "doctor":  # it reports a data folder that cannot be opened
        from lethe_app.cli.doctor import report_checks

        return await report_checks(paths, build, as_json=options.json, repairs=3 if options.repair else 0)
    if options.command in {"backup", "restore"}:  # also of a data folder that cannot be opened
        from lethe_app.cli.backups import run_backup, run_restore

        return await (run_backup if options.command == "backup" else run_restore)(paths, options)
    services = await build(paths)
    for notice in services.notices:
        print(f"lethe: {notice}", file=sys.stderr)
    try:
        return await run_with_services(services, options)
    finally:
        await services.close()


async def run_with_services(services: AppServices, options: argparse.Namespace) -> int:
    """Run a command; its module is loaded now, so that no command waits for those of others. Return its exit code."""
    match options.command:
        case "chat":
            from lethe_app.cli.chat import run_chat_session

            return await run_chat_session(services, options)
        case "recall":
            from lethe_app.cli.recall import recall

            return await recall(services, options)
        case "archive":
            from lethe_app.cli.archive import archive

            return await archive(services, options)
        case "export":
            from lethe_app.cli.bundles import export, export_for_others, is_for_others

            return await (export_for_others if is_for_others(options) else export)(services, options)
        case "import":
            from lethe_app.cli.bundles import import_bundle, import_files

            bundles = [file for file in options.files if file.suffix.lower() == BUNDLE_SUFFIX]
            others = [file for file in options.files if file not in bundles]
            codes = [await import_bundle(services, file, options) for file in bundles]
            return max([*codes, await import_files(services, others, options) if others else 0])
        case _:
            from lethe_app.cli.documents import run_kb

            return await run_kb(services, options)


def open_window_or_terminal(options: argparse.Namespace, paths: Paths, build: Build, open_window: OpenWindow) -> int:
    """Open the window; without a display report that and chat in the terminal, if it is interactive."""
    if has_display():
        return open_window(paths)
    if not sys.stdin.isatty():
        print("lethe: there is no display to open a window on; use “lethe chat --say TEXT” instead.", file=sys.stderr)
        return 1
    print("There is no display to open a window on, so the chat runs in this terminal.")
    chat = build_parser().parse_args(["chat"])
    chat.home = options.home
    return asyncio.run(run_command(chat, paths, build))


def has_display() -> bool:
    """Return whether a window can be shown, judging by the environment variables only."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
