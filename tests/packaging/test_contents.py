"""What a bundle carries besides the modules, which the bundler finds by itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def data() -> dict[str, str]:
    """Folder in the bundle by file or folder of this checkout."""
    spec = importlib.util.spec_from_file_location("contents_under_test", ROOT / "packaging" / "contents.py")
    contents = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(contents)
    return {
        PurePosixPath(file).relative_to(ROOT).as_posix(): folder
        for file, folder in contents.data()
        if file.startswith(str(ROOT)) and ".venv" not in file
    }


def test_every_file_that_a_module_reads_beside_itself_lies_there_in_the_bundle(data: dict[str, str]):
    read = [
        file.relative_to(ROOT)
        for file in (ROOT / "lethe_app").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".py"
    ]
    assert any(file.suffix == ".sql" for file in read), "the database cannot be created without its schema"
    assert {file.as_posix(): file.parent.as_posix() for file in read}.items() <= data.items()


def test_what_ships_is_there_under_its_own_name(data: dict[str, str]):
    assert {name: data[name] for name in ("personas", "worldinfo", "resources")} == {
        "personas": "personas",
        "worldinfo": "worldinfo",
        "resources": "resources",
    }
