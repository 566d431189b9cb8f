"""What several stories share: a clock of their own, and a home with the personas of the module."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lethe_app.domain.clock import use_clock
from lethe_app.paths import Paths
from tests.services.tasks import Clock


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with use_clock(clock):
        yield clock


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the PERSONAS of the module; nothing of this machine's own models is seen."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    write_personas(tmp_path / "home", request.module.PERSONAS)
    return tmp_path / "home"


def write_personas(home: Path, personas: dict[str, object]) -> None:
    """Write personas, by the names of their files, into a new home."""
    folder = Paths.standard(home).personas
    folder.mkdir(parents=True)
    for name, persona in personas.items():
        (folder / f"{name}.json").write_text(json.dumps(persona), encoding="utf-8")
