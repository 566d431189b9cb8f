"""A program that was frozen knows where it is; one that was not never looks beside the interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lethe_app.paths import Paths


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As in a bundle: this interpreter is the program, and nobody named a home."""
    program = tmp_path / "stick" / "lethe"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.delenv("LETHE_HOME", raising=False)
    return program


def test_a_folder_beside_the_program_is_its_home(program: Path):
    (program.parent / "lethe-home").mkdir()

    paths = Paths.standard()

    assert paths.home == program.parent / "lethe-home"
    assert paths.cache.is_relative_to(paths.home)


def test_without_that_folder_nothing_is_written_beside_the_program(program: Path):
    assert not Paths.standard().home.is_relative_to(program.parent)


def test_a_home_that_is_named_comes_first(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (program.parent / "lethe-home").mkdir()
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "named"))

    assert Paths.standard().home == tmp_path / "named"
    assert Paths.standard(tmp_path / "given").home == tmp_path / "given"


def test_on_a_mac_the_folder_lies_beside_what_the_user_sees(program: Path, monkeypatch: pytest.MonkeyPatch):
    binary = program.parent / "Lethe.app" / "Contents" / "MacOS" / "lethe"
    binary.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(binary))
    (program.parent / "lethe-home").mkdir()

    assert Paths.standard().home == program.parent / "lethe-home"


def test_run_from_its_source_it_does_not_look_beside_the_interpreter(program: Path, monkeypatch: pytest.MonkeyPatch):
    (program.parent / "lethe-home").mkdir()
    monkeypatch.delattr(sys, "frozen")

    assert Paths.standard().home != program.parent / "lethe-home"
