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
from lethe_app.paths import Paths
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
