"""The desktop knows our bundles: their type, their drawing, and the program that opens them."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.interchange.packed import archive, members

ROOT = Path(__file__).parents[2]
LINUX = ROOT / "packaging" / "linux"
TYPE = "application/vnd.lethe.persona+zip"


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {', '.join(missing)} here")


def run_command(*command: object, home: Path, **variables: str) -> str:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "XDG_DATA_DIRS": "/usr/share", **variables}
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=True, env=environment, timeout=600).stdout


def recipe() -> dict[str, Any]:
    """`packaging/linux/portable.py`, which is a recipe and no module of ours."""
    return runpy.run_path(str(LINUX / "portable.py"))


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """What lies beside the program in the portable archive, in a folder with a difficult name."""
    folder = tmp_path / "my $tick's place"
    for name, source in recipe()["BESIDE"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, folder / name)
    (folder / "lethe").write_text('#!/bin/sh\necho "opened $1" >"$HOME/opened"\n', encoding="utf-8")
    (folder / "lethe").chmod(0o755)
    return folder


@needs("desktop-file-validate")
def test_the_desktop_entry_is_valid(tmp_path: Path):
    run_command("desktop-file-validate", LINUX / "lethe.desktop", home=tmp_path)


@needs("appstreamcli")
def test_what_is_told_to_software_shops_is_valid(tmp_path: Path):
    text = (LINUX / "app.lethe.Lethe.metainfo.xml").read_text(encoding="utf-8")
    filled = tmp_path / "app.lethe.Lethe.metainfo.xml"
    filled.write_text(text.replace("@VERSION@", "0.1.0").replace("@DATE@", "2026-03-03"), encoding="utf-8")

    run_command("appstreamcli", "validate", "--no-net", filled, home=tmp_path)

    assert f"<mediatype>{TYPE}</mediatype>" in text


@needs("update-mime-database", "gio", "desktop-file-validate")
def test_the_portable_program_enters_the_menu_and_opens_bundles_by_double_click(tmp_path: Path, unpacked: Path):
    home = tmp_path / "home"
    home.mkdir()
    said = run_command(unpacked / "add-to-menu", home=home)
    bundle, unnamed = home / "Mira.lethe", home / "no ending"
    for file in (bundle, unnamed):
        file.write_bytes(archive(dict(reversed(members().items()))))  # as we write it, with the persona first

    entry = home / ".local/share/applications/lethe.desktop"
    assert "Lethe is in the menu" in said
    assert f"{TYPE}" in run_command("gio", "info", "-a", "standard::content-type", bundle, home=home)
    assert f"{TYPE}" in run_command("gio", "info", "-a", "standard::content-type", unnamed, home=home)
    card = home / "Vera.charx"
    card.write_bytes(archive(members()))
    assert "application/x-character-card+zip" in run_command("gio", "info", "-a", "standard::content-type", card, home=home)
    run_command("desktop-file-validate", entry, home=home)
    run_command("gio", "launch", entry, bundle, home=home)
    for _ in range(200):
        if (home / "opened").exists() and (home / "opened").read_text():
            break
        subprocess.run(["sleep", "0.05"], check=True)
    assert (home / "opened").read_text(encoding="utf-8") == f"opened {bundle}\n"


@needs("update-mime-database", "gio")
def test_it_leaves_the_menu_without_a_trace(tmp_path: Path, unpacked: Path):
    home = tmp_path / "home"
    home.mkdir()
    run_command(unpacked / "add-to-menu", home=home)

    run_command(unpacked / "add-to-menu", "--remove", home=home)

    left = [file for file in (home / ".local/share").rglob("*") if file.is_file() and b"lethe" in file.read_bytes().lower()]
    assert left == []


def test_the_archive_holds_all_that_adding_to_the_menu_asks_for(tmp_path: Path):
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "lethe").write_bytes(b"\x7fELF" + bytes(14) + bytes([62]))

    made = recipe()["build"](bundle, tmp_path / "out", "1.2")

    with tarfile.open(made) as packed:
        names = set(packed.getnames())
        runs = {member.name for member in packed if member.mode & 0o100 and member.isfile()}
    expected = ("add-to-menu", "READ ME.txt", "desktop/lethe.desktop", "desktop/lethe.xml", "desktop/lethe.svg")
    assert names >= {f"lethe-1.2/{name}" for name in expected}
    assert "lethe-1.2/add-to-menu" in runs
