"""The command line over a house with the scripted engine, as the program itself would put it together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.cli import commands
from lethe_app.paths import Paths
from tests.homes import write_personas

MIRA = {"name": "Mira", "tagline": "ship navigator", "bio": "{{char}} is a navigator.", "first_messages": ["“You are late.”"]}
Lethe = Callable[..., int]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Mira is known here; of this machine's own models and data nothing is seen."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.delenv("LETHE_HOME", raising=False)
    return write_personas(tmp_path / "home", {"mira-test": MIRA}).home


@pytest.fixture
def lethe(home: Path) -> Lethe:
    """Runs one command line on that home and gives the exit code."""

    def run(*arguments: object, at: Path | None = home) -> int:
        named = ["--home", str(at)] if at else []
        return commands.main([*named, *map(str, arguments)], build=partial(build, engine="echo"), open_window=no_window)

    return run


def no_window(paths: Paths) -> int:
    raise AssertionError(f"a window was opened on {paths.home}")


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """What the user will type, and then the end of input."""
    with ExitStack() as opened:

        def write(*lines: str) -> None:
            file = tmp_path / "typed"
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            monkeypatch.setattr("sys.stdin", opened.enter_context(file.open(encoding="utf-8")))

        yield write
