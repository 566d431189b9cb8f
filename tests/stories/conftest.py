"""What several stories share: a clock of their own, homes with personas, and a program that is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lethe_app.domain.clock import use_clock
from tests.homes import ship_without_worlds, write_personas
from tests.services.tasks import Clock

ROOT = Path(__file__).parent.parent.parent
PERSONAS = {
    "mira-test": {"name": "Mira", "bio": "She is the navigator of the Petrel."},
    "tomas": {"is_user": True, "name": "Tomas", "bio": "The captain."},
}


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with use_clock(clock):
        yield clock


@pytest.fixture
def home(tmp_path: Path, no_worlds: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Mira and Tomas; nothing of this machine's own models is seen."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    write_personas(tmp_path / "home", PERSONAS)
    return tmp_path / "home"


@pytest.fixture
def no_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program comes without worlds: the starter embedder would read them for longer than a story takes."""
    shipped = ship_without_worlds(tmp_path)
    monkeypatch.setattr("lethe_app.paths.shipped_root", lambda: shipped)


@pytest.fixture
def starter_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_worlds: None) -> Path:
    """A home that nobody has opened yet; models of this machine are no part of it. Aiko and Mira have told little of
    themselves, replies are short and prompts are read in small steps: on a busy machine that goes by a few tokens a second.
    """
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    told = {"bio": "{{char}} is an old friend of {{user}}.", "first_messages": ["“There you are.”"]}
    paths = write_personas(tmp_path / "home", {name: {"name": name.title(), **told} for name in ("aiko", "mira")})
    settings = {"max_reply": 32, "threads": 1, "batch": 64}
    paths.settings.write_text(json.dumps(settings), encoding="utf-8")
    return paths.home


async def kill_program(source: str, home: Path, when: str) -> None:
    """Run a Python program, with `home` as its argument, and kill it once it prints the line `when`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home.parent / "nobody")}
    command = (sys.executable, "-c", source, str(home))
    program = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.PIPE, cwd=ROOT)
    assert program.stdout is not None
    assert (await program.stdout.readline()).decode().strip() == when
    program.send_signal(signal.SIGKILL)
    await program.wait()
