"""Documents in a terminal: read, searched, listed and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    path = tmp_path / "docs" / "Manual.md"
    path.parent.mkdir()
    path.write_text(
        "# Pump\n\nThe bilge pump is primed with seawater.\n\n# Galley\n\nThe cook fears geese.\n", encoding="utf-8"
    )
    return path


def test_a_folder_is_read_searched_and_forgotten(lethe, capsys: pytest.CaptureFixture[str], manual: Path):
    assert lethe("kb", "build", manual.parent) == 0
    assert "Manual: 2 passages\nAiko knows 1 document." in capsys.readouterr().out

    assert lethe("kb", "search", "how", "is", "the", "pump", "primed", "--json", "--count", "1") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["document"], found["heading"], found["text"]) == ("Manual", "Pump", "The bilge pump is primed with seawater.")

    manual.write_text("# Pump\n\nThe bilge pump is gone.\n", encoding="utf-8")
    assert lethe("kb", "build", "--json") == 0
    assert json.loads(capsys.readouterr().out)["documents"] == [{"title": "Manual", "passages": 1}]

    assert lethe("kb", "remove", "manual") == 0
    assert lethe("kb", "list") == 0
    assert "Aiko knows no documents." in capsys.readouterr().out
    assert manual.exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["build", "/nowhere/a.pdf"], "/nowhere/a.pdf: does not exist"),
        (["remove", "Nothing"], "Aiko knows no document called “nothing”."),
        (["list", "--world", "Atlantis"], "Atlantis: is not a world"),
    ],
)
def test_what_does_not_exist_is_told(lethe, capsys: pytest.CaptureFixture[str], words: list[str], problem: str):
    assert lethe("kb", *words) == 1
    assert problem in capsys.readouterr().err


def test_a_broken_file_does_not_stop_the_others(lethe, capsys: pytest.CaptureFixture[str], manual: Path):
    (manual.parent / "Broken.pdf").write_bytes(b"no PDF")

    assert lethe("kb", "build", manual.parent) == 1

    reported = capsys.readouterr().out
    assert "Manual: 2 passages" in reported
    assert "Not read: " in reported
    assert "Broken.pdf: is not a PDF that can be read" in reported


def test_a_world_has_documents_of_its_own(lethe, capsys: pytest.CaptureFixture[str], manual: Path):
    assert lethe("kb", "build", manual, "--world", "The Nineteen-Day Sea") == 0
    assert lethe("kb", "list") == 0
    assert "Aiko knows no documents." in capsys.readouterr().out
