"""`lethe backup` and `lethe restore`, here, on another computer, and of data that cannot be opened."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lethe_app.storage.lock import HomeLock
from tests.cli.conftest import Lethe


def output(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.fixture
def written(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A home with one conversation and a setting."""
    (home / "settings.json").write_text('{"font_size": 18}', encoding="utf-8")
    (home / "echo.json").write_text('{"replies": ["Yes."]}', encoding="utf-8")
    assert lethe("chat", "--persona", "mira-test", "--say", "Do you know me?", "--model", home / "echo.json") == 0
    capsys.readouterr()
    return home


def test_a_backup_is_restored_on_another_computer(
    lethe: Lethe, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file, elsewhere = tmp_path / "all.lethebackup", tmp_path / "elsewhere"
    assert lethe("backup", file) == 0
    assert "1 persona, 1 conversation and 3 messages" in capsys.readouterr().out

    assert lethe("restore", file, at=elsewhere) == 0

    assert "font_size" in (elsewhere / "settings.json").read_text(encoding="utf-8")
    if sys.platform != "win32":
        assert {path.stat().st_mode & 0o077 for path in (file, *elsewhere.rglob("*"))} == {0}
    assert (elsewhere / "personas" / "mira-test.json").is_file()
    assert "What was there" not in capsys.readouterr().out
    assert lethe("export", elsewhere / "all.jsonl", "--persona", "mira-test", at=elsewhere) == 0
    assert "Do you know me?" in (elsewhere / "all.jsonl").read_text(encoding="utf-8")


def test_backups_are_listed_and_restored_by_number_and_by_name(lethe: Lethe, written: Path, capsys: pytest.CaptureFixture[str]):
    assert lethe("backup") == 0
    (written / "personas" / "mira-test.json").unlink()
    capsys.readouterr()

    assert lethe("restore") == 0
    listed = capsys.readouterr().out
    assert lethe("restore", "1") == 0
    words = capsys.readouterr().out.split()

    assert "manual" in listed
    assert "1 conversation and 3 messages" in listed
    assert (written / "personas" / "mira-test.json").is_file()
    assert lethe("restore", "7") == 1
    assert "There are 2 backups" in capsys.readouterr().err
    assert lethe("restore", words[-1]) == 0
    assert not (written / "personas" / "mira-test.json").exists()


@pytest.mark.parametrize("name", ["lethe.sqlite3", "settings.json"])
def test_data_that_cannot_be_opened_are_restored(
    lethe: Lethe, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
):
    assert lethe("backup", tmp_path, "--json") == 0
    file = output(capsys)["file"]
    (written / name).write_text("{ broken", encoding="utf-8")

    assert lethe("restore", file) == 0

    assert lethe("recall", "--persona", "mira-test", "me") == 0


def test_there_may_be_no_backups_and_nothing_to_back_up(lethe: Lethe, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert lethe("restore", at=tmp_path / "nowhere") == 0
    assert "There are no backups" in capsys.readouterr().out
    assert lethe("restore", "--json", at=tmp_path / "nowhere") == 0
    assert output(capsys) == {"backups": []}
    assert lethe("backup", tmp_path / "x", at=tmp_path / "nowhere") == 1
    assert "nothing to back up" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing", "text"])
def test_a_file_that_is_no_backup_is_refused_in_a_sentence(
    lethe: Lethe, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
):
    (tmp_path / "text").write_text("x")

    assert lethe("restore", tmp_path / name) == 1

    assert str(tmp_path / name) in capsys.readouterr().err
    assert (written / "personas" / "mira-test.json").is_file()


def test_nothing_is_restored_while_lethe_is_running(lethe: Lethe, written: Path, capsys: pytest.CaptureFixture[str]):
    assert lethe("backup") == 0
    lock = HomeLock(written)

    assert lethe("backup") == 0
    assert lethe("restore", "1") == 1

    lock.release()
    assert "already running" in capsys.readouterr().err
