"""What several stories share: a clock of their own, homes with personas, and a program that is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lethe_app.domain.clock import use_clock
from lethe_app.paths import Paths, shipped_root
from tests.services.tasks import Clock

ROOT = Path(__file__).parent.parent.parent
PERSONAS: Mapping[str, Mapping[str, object]] = {
    "mira-test": {"name": "Mira", "bio": "She is the navigator of the Petrel."},
    "tomas": {"is_user": True, "name": "Tomas", "bio": "The captain."},
}


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with use_clock(clock):
        yield clock


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with Mira and Tomas; nothing of this machine's own models is seen."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    write_personas(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def no_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program comes without worlds: the starter embedder would read them for longer than a story takes."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    for part in ("personas", "resources"):
        (shipped / part).symlink_to(shipped_root() / part)
    monkeypatch.setattr("lethe_app.paths.shipped_root", lambda: shipped)


@pytest.fixture
def starter_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_worlds: None) -> Path:
    """A home that nobody has opened yet; models of this machine are no part of it. Aiko and Mira have told little of
    themselves, replies are short and prompts are read in small steps: on a busy machine that goes by a few tokens a second.
    """
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    told = {"bio": "{{char}} is an old friend of {{user}}.", "first_messages": ["“There you are.”"]}
    write_personas(tmp_path / "home", {name: {"name": name.title(), **told} for name in ("aiko", "mira")})
    settings = {"max_reply": 32, "threads": 1, "batch": 64}
    Paths.standard(tmp_path / "home").settings.write_text(json.dumps(settings), encoding="utf-8")
    return tmp_path / "home"


def write_personas(home: Path, personas: Mapping[str, Mapping[str, object]] = PERSONAS) -> None:
    """Write personas, by the names of their files, into a new home."""
    folder = Paths.standard(home).personas
    folder.mkdir(parents=True)
    for name, persona in personas.items():
        (folder / f"{name}.json").write_text(json.dumps(persona), encoding="utf-8")


async def kill_program(source: str, home: Path, when: str) -> None:
    """Run a Python program, with `home` as its argument, and kill it once it prints the line `when`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home.parent / "nobody")}
    command = (sys.executable, "-c", source, str(home))
    program = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.PIPE, cwd=ROOT)
    assert program.stdout is not None
    assert (await program.stdout.readline()).decode().strip() == when
    program.send_signal(signal.SIGKILL)
    await program.wait()
