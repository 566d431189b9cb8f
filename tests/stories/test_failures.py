"""What the user sees and keeps when something breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from tests.stories.stage import Stage


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that was used before, on a machine without models of other programs."""
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    return tmp_path / "home"


def write_settings(home: Path, model: Path | str = "") -> None:
    """Mira is open, and this model is chosen."""
    home.mkdir(parents=True, exist_ok=True)
    settings = {"welcomed": True, "last_persona": "mira", "model_path": str(model)}
    (home / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def test_the_model_dies_in_mid_sentence(qapp: QApplication, home: Path, echo_model: Callable[..., Path]):
    write_settings(home, echo_model("The storm came from the east and", crash_after=4))
    kept: list[tuple[str, str]] = []

    async def story(stage: Stage) -> None:
        await stage.until(stage.messages, "the greeting is there")
        await stage.write("Tell me about the storm.")
        await stage.until(lambda: "stopped working" in stage.words(), "the window says that the model died")
        assert "The conversation so far is saved" in stage.words()
        await stage.until(lambda: not stage.is_answering, "the turn is over")
        kept.extend(stage.messages()[1:])
        echo_model("Fine again.")
        restart = next(button for button in stage.window.findChildren(QPushButton) if "Restart" in button.text())
        stage.click(restart)
        await stage.write("Are you there?")
        await stage.until(lambda: stage.messages()[-1][1] == "Fine again.", "the next message is answered")

    Stage(home, "echo").play(story)

    assert kept == [("Guest", "Tell me about the storm."), ("Mira", "The storm came from")]


def test_a_broken_model_file_is_named_and_everything_else_works(qapp: QApplication, home: Path, starter_model: Path):
    broken = home.parent / "broken.gguf"
    broken.write_bytes(starter_model.read_bytes()[:3_000_000])
    write_settings(home, broken)

    async def story(stage: Stage) -> None:
        await stage.until(stage.messages, "the greeting is there")
        await stage.until(lambda: "broken.gguf" in stage.words(), "the window names the file")
        await stage.write("Hello?")
        await stage.until(lambda: ("Guest", "Hello?") in stage.messages(), "what one says is kept all the same")

    Stage(home).play(story)


def test_a_full_disk_costs_no_word(qapp: QApplication, home: Path, echo_model: Callable[..., Path]):
    write_settings(home, echo_model("Yes."))
    long = "Remember this. " * 2000

    async def story(stage: Stage) -> None:
        await stage.until(stage.messages, "the greeting is there")
        await stage.fill_the_disk()
        stage.window.chat.composer.draft_field.setPlainText(long)
        stage.click(stage.window.chat.composer.send_button)
        await stage.until(lambda: "disk" in stage.words().casefold(), "the window says that the disk is full")
        await stage.until(lambda: not stage.is_answering, "nothing goes on")
        assert stage.window.chat.composer.draft_field.toPlainText().strip() == long.strip()
        assert len(stage.messages()) == 1

    Stage(home, "echo").play(story)


def test_a_persona_file_with_a_wrong_field_is_named_with_the_field_and_left_alone(qapp: QApplication, home: Path):
    write_settings(home)
    mine = home / "personas" / "mine.json"
    mine.parent.mkdir(parents=True)
    mine.write_text('{"name": "Ada", "first_messages": [7]}', encoding="utf-8")

    async def story(stage: Stage) -> None:
        await stage.until(stage.messages, "the greeting is there")
        await stage.until(lambda: "mine.json" in stage.words(), "the window names the file")
        assert "first_messages[0]" in stage.words()

    Stage(home).play(story)

    assert mine.read_text(encoding="utf-8") == '{"name": "Ada", "first_messages": [7]}'


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"this is no database at all" * 100, "not a database"), (b"", "")],
    ids=["some other file", "an empty file"],
)
def test_a_database_that_is_none(qapp: QApplication, home: Path, content: bytes, words: str):
    write_settings(home)
    database = home / "lethe.sqlite3"
    database.write_bytes(content)

    async def refused(stage: Stage) -> None:
        await stage.until(lambda: "lethe.sqlite3" in stage.words(), "the window names the file")

    async def fresh(stage: Stage) -> None:
        await stage.until(stage.messages, "an empty file is a fresh start")

    stage = Stage(home)
    stage.play(refused if words else fresh)

    assert stage.exit_code == (1 if words else 0)
    if words:
        assert database.read_bytes() == content


def test_settings_that_cannot_be_read_are_told_and_kept(qapp: QApplication, home: Path):
    home.mkdir()
    (home / "settings.json").write_text('{"font_size": 18', encoding="utf-8")

    async def story(stage: Stage) -> None:
        await stage.until(lambda: "settings.json" in stage.words(), "the window names the file")

    stage = Stage(home)
    stage.play(story)

    assert stage.exit_code == 1
    assert (home / "settings.json").read_text(encoding="utf-8") == '{"font_size": 18'
