"""Which home a command works on, what happens without a display, and how trouble at the door is told."""

from __future__ import annotations

import io
import json
import sys
from functools import partial
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.cli import commands
from lethe_app.paths import Paths
from lethe_app.storage.lock import HomeLock
from tests.cli.conftest import Lethe
from tests.storage.damaged_pages import damage_pages


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


NOTHING_MUCH = ("chat", "--persona", "nobody", "--say", "Hello")
"""Opens the home and does nothing in it."""


def test_the_home_may_be_named_before_and_after_the_command(lethe: Lethe, tmp_path: Path):
    before, after = tmp_path / "before", tmp_path / "after"

    lethe(*NOTHING_MUCH, at=before)
    lethe(*NOTHING_MUCH, "--home", after, at=None)

    assert (before / "lethe.sqlite3").is_file()
    assert (after / "lethe.sqlite3").is_file()


def test_lethe_home_is_honoured_and_home_wins(lethe: Lethe, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    by_variable = tmp_path / "from-variable"
    monkeypatch.setenv("LETHE_HOME", str(by_variable))

    lethe(*NOTHING_MUCH)
    untouched = not by_variable.exists()
    lethe(*NOTHING_MUCH, at=None)

    assert untouched
    assert (home / "lethe.sqlite3").is_file()
    assert (by_variable / "lethe.sqlite3").is_file()


def test_doctor_ticks_off_what_is_in_order_line_by_line(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "settings.json").write_text(json.dumps({"model_path": str(script(home))}), encoding="utf-8")

    code = lethe("doctor")

    lines = capsys.readouterr().out.splitlines()
    titles = [line.removeprefix("✓ ").partition(":")[0] for line in lines if line.startswith("✓ ")]
    assert (code, len(titles)) == (0, len(lines))
    assert titles[:3] == ["Python", "Window", "Your data"]
    assert {"Bundled files", "Your files", "Starter models", "Models", "Engine"} <= set(titles)


def test_doctor_names_what_is_wrong_and_the_remedy_and_fails(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "personas" / "bad.json").write_text('{"name": 7}', encoding="utf-8")
    (home / "settings.json").write_text(json.dumps({"model_path": str(script(home))}), encoding="utf-8")

    code = lethe("doctor")
    lines = capsys.readouterr().out.splitlines()
    code_as_json = lethe("doctor", "--json")
    report = json.loads(capsys.readouterr().out)

    wrong = next(place for place, line in enumerate(lines) if line.startswith("✗"))
    (failed,) = [check for check in report["checks"] if not check["passed"]]
    assert (code, code_as_json, report["passed"]) == (1, 1, False)
    assert "bad.json" in lines[wrong]
    assert "name" in lines[wrong]
    assert lines[wrong + 1].startswith("  → Correct the field")
    assert failed["remedy"].startswith("Correct the field")
    assert not any(check["remedy"] for check in report["checks"] if check["passed"])


def test_doctor_finds_a_home_that_cannot_be_opened(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "lethe.sqlite3").write_bytes(b"something else" * 100)

    code = lethe("doctor")

    assert code == 1
    assert capsys.readouterr().out.startswith(f"✗ Your data: The database {home / 'lethe.sqlite3'}")


def test_doctor_repairs_a_damaged_home(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    assert lethe("chat", "--say", "Hello?") == 0
    data = bytearray((home / "lethe.sqlite3").read_bytes())
    data[:100] = bytes(100)
    (home / "lethe.sqlite3").write_bytes(data)
    (home / "settings.json").write_text("{", encoding="utf-8")
    capsys.readouterr()

    lethe("doctor", "--repair")

    out, reported = capsys.readouterr()
    assert f"✓ Your data: {home}" in out
    assert "Saved: 1 conversation and 3 messages." in reported
    assert "Everything could be read." in reported
    (kept,) = home.glob("settings.unreadable-*.json")
    assert kept.read_text() == "{"
    assert list((home / "backups").glob("*-replaced/lethe.sqlite3"))
    assert lethe("chat", "--say", "Are you there?") == 0


@pytest.mark.parametrize(("table", "told"), [("passages", "search index"), ("facts", "Saved: 1 conversation")])
def test_doctor_finds_and_repairs_damage_that_the_start_does_not_meet(
    lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str], table: str, told: str
):
    assert lethe("chat", "--say", "Hello?") == 0
    assert lethe("backup") == 0
    damage_pages(home / "lethe.sqlite3", table)
    capsys.readouterr()

    assert lethe("doctor") == 1
    assert "✗ Your data: " in capsys.readouterr().out
    assert lethe("backup") == 1
    assert "“lethe doctor --repair” repairs it" in capsys.readouterr().err
    lethe("doctor", "--repair")

    out, reported = capsys.readouterr()
    assert f"✓ Your data: {home}" in out
    assert told in reported
    assert bool(list((home / "backups").glob("*-replaced"))) is (table == "facts")
    assert lethe("backup") == 0


def test_doctor_without_repair_changes_nothing(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "settings.json").write_text("{", encoding="utf-8")

    assert lethe("doctor") == 1

    assert (home / "settings.json").read_text() == "{"
    assert not list(home.glob("settings.unreadable-*.json"))


def test_a_broken_settings_file_is_told_in_one_sentence(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "settings.json").write_text('{"font_size": 18,}', encoding="utf-8")

    code = lethe("chat", "--say", "Hello?")

    out, reported = capsys.readouterr()
    assert (code, out) == (1, "")
    assert reported.startswith(f"lethe: {home / 'settings.json'}: is not valid JSON (line 1, column 18)")


def test_a_setting_that_cannot_be_used_is_told_and_the_chat_goes_on(
    lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]
):
    (home / "settings.json").write_text('{"font_size": "huge"}', encoding="utf-8")

    code = lethe("chat", "--say", "Hello?")

    out, reported = capsys.readouterr()
    assert (code, bool(out)) == (0, True)
    assert "“Text size” must be a whole number, not the text “huge”" in reported


def test_a_home_that_is_in_use_is_told(lethe: Lethe, home: Path, capsys: pytest.CaptureFixture[str]):
    window = HomeLock(home)

    code = lethe("chat", "--say", "Hello")
    window.release()

    out, reported = capsys.readouterr()
    assert (code, out) == (1, "")
    assert reported.startswith(f"lethe: Lethe is already running and uses the folder {home}.\n       Close its window")


def test_with_a_display_the_window_opens_on_that_home(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    opened: list[Path] = []

    def window(paths: Paths) -> int:
        opened.append(paths.home)
        return 7

    code = commands.main(["--home", str(home)], build=partial(build, engine="echo"), open_window=window)

    assert (code, opened) == (7, [home])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_display_and_terminal_one_is_told_what_works(
    lethe: Lethe, no_display: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdin", io.StringIO("Hello"))

    code = lethe()

    out, reported = capsys.readouterr()
    assert (code, out) == (1, "")
    assert reported == "lethe: there is no display to open a window on; use “lethe chat --say TEXT” instead.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("DISPLAY", ":0", True),
        ("WAYLAND_DISPLAY", "wayland-0", True),
        ("QT_QPA_PLATFORM", "offscreen", True),
        ("DISPLAY", "", False),
    ],
)
def test_a_display_is_what_the_environment_says(
    no_display: None, monkeypatch: pytest.MonkeyPatch, name: str, value: str, found: bool
):
    monkeypatch.setenv(name, value)

    assert commands.has_display() is found


def test_a_terminal_of_few_characters_gets_question_marks_and_no_crash(
    lethe: Lethe, home: Path, monkeypatch: pytest.MonkeyPatch
):
    narrow = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(narrow, encoding="ascii"))

    code = lethe("chat", "--persona", "mira-test", "--say", "Ça va?", "--model", script(home, "“Oui” 👍"))

    sys.stdout.flush()
    assert code == 0
    assert narrow.getvalue().decode("ascii").split() == [">", "?a", "va?", "?Oui?", "?"]


@pytest.mark.parametrize("arguments", [["--help"], ["chat", "--help"], ["doctor", "--help"]])
def test_help_is_given(lethe: Lethe, arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        lethe(*arguments)

    assert left.value.code == 0
    assert "--home" in capsys.readouterr().out


def test_an_unknown_word_is_refused_with_the_usage(lethe: Lethe, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        lethe("dance")

    assert left.value.code == 2
    assert "usage: lethe" in capsys.readouterr().err


def script(home: Path, reply: str = "Yes.") -> Path:
    """A model that answers."""
    path = home / "echo.json"
    path.write_text(json.dumps({"replies": [reply]}), encoding="utf-8")
    return path
