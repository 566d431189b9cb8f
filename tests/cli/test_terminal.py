"""The program in a real terminal: it needs no display, Ctrl+C stops a reply or the program, and nothing is left behind."""

from __future__ import annotations

import json
import os
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

if sys.platform == "win32":
    pytest.skip("terminals work in another way there", allow_module_level=True)

import pty

ROOT = Path(__file__).parents[2]
PATIENCE = 600.0
CTRL_C, CTRL_D = "\x03", "\x04"
# The program as it is, but for the engine.
WITH_ECHO = """
import sys
from functools import partial
from lethe_app import app
from lethe_app.cli import commands
sys.exit(commands.main(sys.argv[1:], build=partial(app.build, engine="echo"), open_window=app.open_window))
"""
# Makes the terminal on standard input the one whose keys send signals, and listens to Ctrl+C also where the tests themselves
# ignore it, as in the background of a shell; then becomes the program.
TAKE_OVER = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A program that believes a person sits in front of it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self._program = subprocess.Popen(
            [sys.executable, "-c", TAKE_OVER, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.screen = ""
        self._read_to = 0
        self._family: list[psutil.Process] = []

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, words: str) -> None:
        """Wait until `words` appear below what was waited for before."""
        ends = time.monotonic() + PATIENCE
        while (found := self.screen.find(words, self._read_to)) < 0:
            assert time.monotonic() < ends, f"waited in vain for {words!r}: {self.screen}"
            assert self._read(), f"ended before {words!r}: {self.screen}"
        self._read_to = found + len(words)
        self._family = psutil.Process(self._program.pid).children(recursive=True)

    def exit_code(self) -> int:
        """Wait for the end; none of the program's processes may outlive it."""
        ends = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < ends, f"did not end: {self.screen}"
        code = self._program.wait(PATIENCE)
        while left := [process for process in self._family if has_not_ended(process)]:
            assert time.monotonic() < ends, f"left behind: {left}"
            time.sleep(0.02)
        return code

    def close(self) -> None:
        if self._program.poll() is None:
            self._program.kill()
            self._program.wait()
        os.close(self._master)

    def _read(self) -> bool:
        """Take in what was printed; False at the end."""
        if not select.select([self._master], [], [], 0.1)[0]:
            return True
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # what Linux says when nobody holds the other end any more
            return False
        self.screen += piece.decode("utf-8", "replace")
        return bool(piece)


def has_not_ended(process: psutil.Process) -> bool:
    """What the system has yet to clear away has ended."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def terminal(home: Path) -> Iterator[Callable[..., Terminal]]:
    """Opens a terminal without any display."""
    opened: list[Terminal] = []
    without = {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY", "LETHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in without}

    def run(*arguments: object, start: tuple[str, ...] = ("-c", WITH_ECHO)) -> Terminal:
        command = [sys.executable, *start, "--home", str(home), *map(str, arguments)]
        opened.append(Terminal(command, {**environment, "PYTHONPATH": str(ROOT)}))
        return opened[-1]

    yield run
    for one in opened:
        one.close()


def replies(home: Path) -> list[tuple[str, bool]]:
    """What the persona said and whether she finished."""
    with closing(sqlite3.connect(home / "lethe.sqlite3")) as connection:
        rows = connection.execute(
            "SELECT a.content, a.complete FROM alternatives a JOIN messages m ON a.message_id = m.id"
            " WHERE m.role = 'assistant' ORDER BY a.rowid"
        ).fetchall()
    return [(words, bool(complete)) for words, complete in rows[1:]]


MIRA = ("chat", "--persona", "mira-test", "--model")


def test_without_a_display_the_program_goes_on_in_the_terminal(terminal: Callable[..., Terminal], home: Path):
    (home / "settings.json").write_text(
        json.dumps({"last_persona": "mira-test", "max_reply": 16, "threads": 1}), encoding="utf-8"
    )
    lethe = terminal(start=("-m", "lethe_app"))

    lethe.until("There is no display to open a window on, so the chat runs in this terminal.")
    lethe.until("You are late")
    lethe.until("\n> ")
    lethe.type("Good evening.\n")
    lethe.until("\n> ")
    lethe.type("/quit\n")

    assert lethe.exit_code() == 0
    ((reply, _complete),) = replies(home)
    assert reply
    assert "Loading SmolLM2" in lethe.screen
    assert "Traceback" not in lethe.screen


def test_ctrl_c_stops_the_reply_keeps_the_half_and_one_talks_on(
    terminal: Callable[..., Terminal], home: Path, echo_model: Callable[..., Path]
):
    slow = echo_model("one two three " + "and so on " * 1000, "Fine.", delay=0.02)
    lethe = terminal(*MIRA, slow)
    lethe.until("\n> ")

    lethe.type("Count.\n")
    lethe.until("three")
    lethe.type(CTRL_C)
    lethe.until("…")
    lethe.until("\n> ")
    lethe.type("Enough.\n")
    lethe.until("Fine.")
    lethe.until("\n> ")
    lethe.type(CTRL_D)

    assert lethe.exit_code() == 0
    half, whole = replies(home)
    assert half[0].startswith("one two three")
    assert not half[1]
    assert whole == ("Fine.", True)


@pytest.mark.parametrize("talked_before", [False, True], ids=["at once", "after a reply"])
def test_ctrl_c_at_the_prompt_ends_the_program_without_another_key(
    terminal: Callable[..., Terminal], home: Path, echo_model: Callable[..., Path], talked_before: bool
):
    lethe = terminal(*MIRA, echo_model("Evening."))
    lethe.until("\n> ")
    if talked_before:
        lethe.type("Good evening.\n")
        lethe.until("Evening.")
        lethe.until("\n> ")

    lethe.type(CTRL_C)

    assert lethe.exit_code() == 130
    assert "Traceback" not in lethe.screen
    assert replies(home) == ([("Evening.", True)] if talked_before else [])


def test_the_end_of_input_ends_the_program(terminal: Callable[..., Terminal], echo_model: Callable[..., Path]):
    lethe = terminal(*MIRA, echo_model("Evening."))
    lethe.until("\n> ")

    lethe.type(CTRL_D)

    assert lethe.exit_code() == 0


def test_a_reply_to_what_was_said_beforehand_is_kept_when_interrupted(
    terminal: Callable[..., Terminal], home: Path, echo_model: Callable[..., Path]
):
    lethe = terminal(*MIRA, echo_model("one two three " + "and so on " * 1000, delay=0.02), "--say", "Count.")
    lethe.until("three")

    lethe.type(CTRL_C)

    assert lethe.exit_code() == 130
    ((half, complete),) = replies(home)
    assert half.startswith("one two three")
    assert not complete
    assert "Traceback" not in lethe.screen


def test_a_model_that_dies_is_told_and_one_stays_in_the_conversation(
    terminal: Callable[..., Terminal], home: Path, echo_model: Callable[..., Path]
):
    lethe = terminal(*MIRA, echo_model("one two three four", crash_after=2))
    lethe.until("\n> ")

    lethe.type("Count.\n")
    lethe.until("one two")
    lethe.until("The model stopped working")
    lethe.until("\n> ")
    lethe.type("Again.\n")
    lethe.until("one two")
    lethe.until("The model stopped working")
    lethe.until("\n> ")
    lethe.type("/quit\n")

    assert lethe.exit_code() == 0
    assert [words for words, _complete in replies(home)] == ["one two", "one two"]
