"""Tasks that come with other distributions: found where they are installed, and harmless where they are broken."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lethe_app.agents.registry import Registry, find_tasks
from lethe_app.agents.self_reflection import SelfReflection
from lethe_app.domain.persona import Persona

CODE = """
from lethe_app.agents.task import NOTHING, AgentTask

class Kites(AgentTask):
    name = "kites"
    title = "Flying kites"

    async def observe(self, sight):
        return True

    async def execute(self, scene):
        return NOTHING

class Rude(Kites):
    name = "thoughts"

class Nameless(Kites):
    name = "No Name!"

class Broken(Kites):
    def __init__(self):
        raise RuntimeError("the wind is gone")

class Quitter(Kites):
    def __init__(self):
        raise SystemExit(3)

class Panicking(Kites):
    def __init__(self):
        raise type("Panic", (BaseException,), {})("deep below")

kite = 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "kites_of_others.py").write_text(CODE, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("kites_of_others", None)


def install(folder: Path, **entries: str) -> None:
    """As an installer leaves it: metadata of a distribution beside its code."""
    info = folder / "lethe_kites-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lethe-kites\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[lethe.tasks]", *lines, ""]), encoding="utf-8")


def test_an_installed_task_is_found(folder: Path):
    install(folder, kites="kites_of_others:Kites")

    found, faults = find_tasks()

    assert [(one.value.name, one.distribution) for one in found] == [("kites", "lethe-kites")]
    assert not faults


def test_broken_ones_are_told_and_leave_the_good_one_alone(folder: Path):
    install(
        folder,
        a_number="kites_of_others:kite",
        broken="kites_of_others:Broken",
        gone="kites_of_others:Missing",
        kites="kites_of_others:Kites",
        nameless="kites_of_others:Nameless",
        panicking="kites_of_others:Panicking",
        quitter="kites_of_others:Quitter",
        unknown="no_such_module_at_all:Kites",
    )

    found, faults = find_tasks()

    assert [one.value.name for one in found] == ["kites"]
    assert len(faults) == 7
    assert "the wind is gone" in next(fault.reason for fault in faults if "broken" in fault.reason)


def test_a_plugin_cannot_take_the_name_of_one_of_ours(folder: Path):
    install(folder, rude="kites_of_others:Rude")

    registry = Registry([SelfReflection()])

    assert [(one.name, one.plugin) for one in registry.list_tasks()] == [("thoughts", "")]
    assert "already" in registry.errors[0].reason


def test_plugins_work_only_for_personas_for_whom_they_were_chosen(folder: Path):
    install(folder, kites="kites_of_others:Kites")
    registry = Registry([SelfReflection()])

    free = Persona(name="Mira", agent_mode=True, self_edit_tokens=100)
    choosy = free.model_copy(update={"agent_tasks": ["kites"]})

    assert [one.name for one in registry.tasks_of(free, [])] == ["thoughts"]
    assert [one.name for one in registry.tasks_of(choosy, [])] == ["kites"]
    assert not registry.tasks_of(choosy, ["kites"])
    assert not registry.tasks_of(choosy.model_copy(update={"agent_mode": False}), [])
