"""What is installed is pinned by hash, complete, and says nothing about where it was downloaded."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "packaging").glob("*.lock"))
PIN = re.compile(r"[A-Za-z0-9._-]+==[^\s*]+ ")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
PLACE = re.compile(r"://|\bindex-url\b|\bfind-links\b|\btrusted-host\b|\b\w+\.(org|com|net|io|dev)\b| @ ", re.IGNORECASE)
OF_THE_INSTALLER = {"pip"}
"""Comes with every environment."""


def requirements(lock: Path) -> list[str]:
    """Every requirement with its hashes on one line; comments are left out."""
    lines = [line for line in lock.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    return [line.strip() for line in "\n".join(lines).replace("\\\n", " ").splitlines() if line.strip()]


def pins(*names: str) -> dict[str, str]:
    """Package → version, of these locks together."""
    found: dict[str, str] = {}
    for name in names:
        for line in requirements(ROOT / "packaging" / f"{name}.lock"):
            package, _, version = line.split()[0].partition("==")
            found[canonicalize_name(package)] = version.rstrip(";")
    return found


def wanted_by(name: str) -> list[Requirement]:
    """The requirements of a `.in` file."""
    lines = (ROOT / "packaging" / f"{name}.in").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]


def dependencies() -> list[Requirement]:
    """Those of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in project["dependencies"]]


def test_there_is_a_lock_for_every_group():
    assert {lock.stem for lock in LOCKS} >= {"build", "runtime", "models", "dev"}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_requirement_is_one_version_with_a_hash(lock: Path):
    loose = [line[:80] for line in requirements(lock) if not (PIN.match(line) and HASH.search(line))]
    odd = [part for line in requirements(lock) for part in line.split() if part.startswith("-") and not HASH.fullmatch(part)]

    assert requirements(lock)
    assert (loose, odd) == ([], [])


@pytest.mark.parametrize("file", [*LOCKS, *sorted((ROOT / "packaging").glob("*.in"))], ids=lambda file: file.name)
def test_no_place_of_download_is_named(file: Path):
    assert PLACE.findall(file.read_text(encoding="utf-8")) == []


def test_every_dependency_of_the_program_is_locked_at_a_version_it_accepts():
    locked = pins("runtime")

    refused = [
        f"{wanted} ≠ {locked.get(canonicalize_name(wanted.name))}"
        for wanted in dependencies()
        if not wanted.specifier.contains(locked.get(canonicalize_name(wanted.name), "0"))
    ]

    assert refused == []


def test_the_lists_the_locks_are_made_from_ask_for_the_same():
    asked = {canonicalize_name(wanted.name): wanted.specifier for wanted in wanted_by("runtime")}

    assert set(asked) == {canonicalize_name(wanted.name) for wanted in dependencies()}
    assert [name for name, specifier in asked.items() if not specifier.contains(pins("runtime")[name])] == []


@pytest.mark.parametrize("group", ["build", "dev", "bundle"])
def test_every_tool_asked_for_is_locked(group: str):
    assert {canonicalize_name(wanted.name) for wanted in wanted_by(group)} <= set(pins(group))


@pytest.mark.parametrize("groups", [("runtime",), ("build",), ("build", "runtime", "dev")], ids=lambda groups: groups[-1])
def test_the_locks_are_complete_because_they_are_installed_without_further_search(groups: tuple[str, ...]):
    locked = pins(*groups)
    missing = {}
    for name in pins(groups[-1]):
        try:
            needed = [Requirement(line) for line in importlib.metadata.requires(name) or []]
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system
        lacking = [
            wanted.name
            for wanted in needed
            if (wanted.marker is None or wanted.marker.evaluate({"extra": ""}))
            and canonicalize_name(wanted.name) not in locked.keys() | OF_THE_INSTALLER
        ]
        if lacking:
            missing[name] = lacking

    assert missing == {}


def test_no_two_locks_disagree():
    groups = {lock.stem: pins(lock.stem) for lock in LOCKS}
    versions: dict[str, set[str]] = {}
    for locked in groups.values():
        for name, version in locked.items():
            versions.setdefault(name, set()).add(version)

    assert {name: found for name, found in versions.items() if len(found) > 1} == {}
