"""Personas go into files and come out of them in a terminal, too; and a file that is double-clicked reaches the window."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from lethe_app.cli import commands
from lethe_app.cli.commands import extract_opened_file
from lethe_app.errors import DatabaseLocked
from lethe_app.paths import Paths
from lethe_app.services.maintenance import single_instance
from lethe_app.storage.lock import HomeLock


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Mira.lethe"], "Mira.lethe"),
        (["--home", "h", "/x/MIRA.LETHE"], "/x/MIRA.LETHE"),
        (["export", "Mira.lethe"], None),
        (["import", "Mira.lethe"], None),
        (["--home", "h", "import", "Mira.lethe"], None),
        (["--home", "my.lethe"], None),
        (["--home=h", "Mira.lethe"], "Mira.lethe"),
        (["Vera.png"], "Vera.png"),
        (["--home=h", "chat.JSONL"], "chat.JSONL"),
        (["chat", "--model", "m.json"], None),
        (["Notes.txt"], None),
        ([], None),
        (["chat"], None),
    ],
)
def test_a_file_is_only_what_stands_alone(words: list[str], expected: str | None):
    left = list(words)

    file = extract_opened_file(left)

    assert file == (Path(expected) if expected else None)
    assert left == (words[:-1] if expected else words)


def test_a_persona_goes_out_and_comes_in(lethe, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert lethe("export", "--persona", "Mira", "--everything", tmp_path / "Mira.lethe") == 0
    assert "Mira was exported to Mira.lethe with 1 world" in capsys.readouterr().out

    assert lethe("import", tmp_path / "Mira.lethe") == 0
    reported = capsys.readouterr().out
    assert "Mira 2 was imported" in reported
    assert "A persona called Mira already exists, so this one is called Mira 2." in reported

    assert lethe("import", "--name", "Nerys", "--json", tmp_path / "Mira.lethe") == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Nerys"


def test_what_is_no_bundle_is_told_in_one_sentence(lethe, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "Mira.lethe").write_bytes(b"hello")

    assert lethe("import", tmp_path / "Mira.lethe") == 1

    assert capsys.readouterr().err == "lethe: Mira.lethe: is not a Lethe file, or is incomplete\n"


def test_without_a_window_the_note_waits_for_the_one_that_opens(tmp_path: Path):
    paths = Paths.standard(tmp_path)

    assert not commands.pass_file_to_window(paths, tmp_path / "Mira.lethe")

    assert single_instance.take_requested_files(paths) == [tmp_path / "Mira.lethe"]
    assert single_instance.take_requested_files(paths) == []


def test_an_open_window_takes_the_file_and_the_second_start_is_done(tmp_path: Path):
    paths, taken = Paths.standard(tmp_path), []
    lock = HomeLock(tmp_path)

    def window() -> None:
        while not taken:
            taken.extend(single_instance.take_requested_files(paths))
            time.sleep(0.01)

    thread = threading.Thread(target=window, daemon=True)
    thread.start()
    assert commands.pass_file_to_window(paths, tmp_path / "Mira.lethe")
    thread.join(5)
    lock.release()

    assert taken == [tmp_path / "Mira.lethe"]


def test_a_lethe_without_a_window_is_told_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(commands, "ACCEPT_TIMEOUT_SECONDS", 0.1)
    lock = HomeLock(tmp_path)

    with pytest.raises(DatabaseLocked, match="no window open"):
        commands.pass_file_to_window(Paths.standard(tmp_path), tmp_path / "Mira.lethe")

    lock.release()
    assert single_instance.take_requested_files(Paths.standard(tmp_path)) == []


def test_notes_that_are_old_or_make_no_sense_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    paths = Paths.standard(tmp_path)
    single_instance.request_open_file(paths, tmp_path / "Mira.lethe")
    (paths.inbox / "odd.json").write_text("[]")
    (paths.inbox / "broken.json").write_text("{")
    monkeypatch.setattr(single_instance, "STALE_SECONDS", -1.0)

    assert single_instance.take_requested_files(paths) == []
    assert list(paths.inbox.iterdir()) == []
