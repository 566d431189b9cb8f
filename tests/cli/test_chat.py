"""Talking in a terminal: said beforehand or typed, in plain words or JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Lethe

Typed = Callable[..., None]
Model = Callable[..., Path]
MIRA = ("chat", "--persona", "mira-test")


def objects(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def stored(home: Path) -> list[str]:
    """Every wording ever stored, in the order in which it was."""
    with closing(sqlite3.connect(home / "lethe.sqlite3")) as connection:
        return [row[0] for row in connection.execute("SELECT content FROM alternatives ORDER BY rowid")]


def test_what_is_said_and_what_is_answered_stand_below_each_other(
    lethe: Lethe, echo_model: Model, capsys: pytest.CaptureFixture[str]
):
    code = lethe(*MIRA, "--say", "Good evening.", "--model", echo_model("“Evening, captain.”"))

    assert code == 0
    assert capsys.readouterr() == ("\n> Good evening.\n“Evening, captain.”\n", "")


def test_several_lines_are_said_in_order_and_each_answered_in_json(
    lethe: Lethe, echo_model: Model, capsys: pytest.CaptureFixture[str]
):
    code = lethe(
        *MIRA, "--say", "One?", "--say", "Two?", "--json", "--model", echo_model("First.", "<think>Hm.</think>Second.")
    )

    reported = objects(capsys)
    assert code == 0
    assert [(one["said"], one["reply"], one["thinking"]) for one in reported] == [
        ("One?", "First.", ""),
        ("Two?", "Second.", "Hm."),
    ]
    assert {one["persona"] for one in reported} == {"mira-test"}
    assert len({one["session"] for one in reported}) == 1
    assert {(one["model"], one["reason"]) for one in reported} == {("echo", "end")}
    assert reported[1]["evaluated_tokens"] < reported[1]["prompt_tokens"]


def test_json_is_plain_enough_for_any_pipe(lethe: Lethe, echo_model: Model, capsys: pytest.CaptureFixture[str]):
    lethe(*MIRA, "--say", "Ça va?", "--json", "--model", echo_model("“Oui” 👍"))

    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed)["reply"] == "“Oui” 👍"


@pytest.mark.parametrize("requested", ["mira-test", "MIRA-Test", "Ada", "ada lovelace"])
def test_a_persona_is_found_by_name_and_by_file_whatever_the_case(
    lethe: Lethe, home: Path, echo_model: Model, capsys: pytest.CaptureFixture[str], requested: str
):
    (home / "personas" / "ada.json").write_text('{"name": "Ada Lovelace"}', encoding="utf-8")

    code = lethe("chat", "--persona", requested, "--say", "Hello.", "--json", "--model", echo_model("Yes."))

    assert code == 0
    assert objects(capsys)[0]["persona"] == ("ada" if requested[0].casefold() == "a" else "mira-test")


def test_an_unknown_persona_is_told_with_those_there_are(lethe: Lethe, capsys: pytest.CaptureFixture[str]):
    code = lethe("chat", "--persona", "nobody", "--say", "Hello?")

    out, reported = capsys.readouterr()
    assert (code, out) == (1, "")
    assert reported.startswith("lethe: There is no persona called “nobody”.\n")
    assert "Mira" in reported.splitlines()[1]


def test_without_a_request_the_last_persona_answers(
    lethe: Lethe, home: Path, echo_model: Model, capsys: pytest.CaptureFixture[str]
):
    (home / "settings.json").write_text('{"last_persona": "mira-test"}', encoding="utf-8")

    lethe("chat", "--say", "Hello.", "--json", "--model", echo_model("Yes."))

    assert objects(capsys)[0]["persona"] == "mira-test"


def test_the_conversation_goes_on_unless_a_new_one_is_asked_for(
    lethe: Lethe, echo_model: Model, capsys: pytest.CaptureFixture[str]
):
    echo = echo_model("Yes.", "No.")
    for more in ((), (), ("--new",)):
        assert lethe(*MIRA, "--say", "Well?", "--json", "--model", echo, *more) == 0

    first, second, third = (one["session"] for one in objects(capsys))
    assert first == second != third


def test_a_model_named_is_remembered_wherever_the_terminal_stands(
    lethe: Lethe,
    home: Path,
    tmp_path: Path,
    echo_model: Model,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    echo = echo_model("Yes.")
    monkeypatch.chdir(echo.parent)
    lethe(*MIRA, "--say", "Well?", "--model", echo.name)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    code = lethe(*MIRA, "--say", "Still you?", "--json")

    assert code == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["model"] == "echo"
    assert json.loads((home / "settings.json").read_text(encoding="utf-8"))["model_path"] == str(echo)


def test_a_model_that_is_not_there_is_told_and_nothing_is_said(
    lethe: Lethe, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code = lethe(*MIRA, "--say", "Well?", "--model", tmp_path / "gone.gguf")

    out, reported = capsys.readouterr()
    assert (code, out) == (1, "")
    assert "gone.gguf" in reported
    assert stored(home) == ["“You are late.”"]


def test_what_goes_wrong_in_a_reply_is_told_after_what_came(
    lethe: Lethe, home: Path, echo_model: Model, capsys: pytest.CaptureFixture[str]
):
    code = lethe(*MIRA, "--say", "Well?", "--model", echo_model("one two three", crash_after=2))

    out, reported = capsys.readouterr()
    assert code == 1
    assert out.endswith("> Well?\none two")
    assert reported.startswith("lethe: The model stopped working")
    assert stored(home)[1:] == ["Well?", "one two"]


def test_one_sees_where_one_was_and_talks_until_the_input_ends(
    lethe: Lethe, home: Path, echo_model: Model, typed: Typed, capsys: pytest.CaptureFixture[str]
):
    typed("Good evening.", "Good night — до завтра.")

    code = lethe(*MIRA, "--model", echo_model("Evening.", "Night."))

    out, reported = capsys.readouterr()
    assert (code, reported) == (0, "")
    assert out.startswith("Mira: ship navigator\n")
    assert [out.index(words) for words in ("You are late", "Evening.", "Night.")] == sorted(
        out.index(words) for words in ("You are late", "Evening.", "Night.")
    )
    assert stored(home) == ["“You are late.”", "Good evening.", "Evening.", "Good night — до завтра.", "Night."]


def test_quit_leaves_at_once(lethe: Lethe, home: Path, echo_model: Model, typed: Typed):
    typed("/quit", "This is not said.")

    assert lethe(*MIRA, "--model", echo_model("Bye.")) == 0
    assert stored(home) == ["“You are late.”"]


def test_again_asks_for_another_wording_of_the_reply(lethe: Lethe, home: Path, echo_model: Model, typed: Typed):
    typed("Well?", "/again")

    lethe(*MIRA, "--model", echo_model("Yes.", "No."))

    with closing(sqlite3.connect(home / "lethe.sqlite3")) as connection:
        replies = connection.execute(
            "SELECT a.content, m.id FROM alternatives a JOIN messages m ON a.message_id = m.id WHERE m.role = 'assistant'"
            " ORDER BY a.rowid"
        ).fetchall()
    assert [words for words, _ in replies] == ["“You are late.”", "Yes.", "No."]
    assert replies[1][1] == replies[2][1]


def test_again_after_ones_own_words_is_refused_in_a_sentence_and_one_can_go_on(
    lethe: Lethe, home: Path, echo_model: Model, typed: Typed, capsys: pytest.CaptureFixture[str]
):
    typed("Well?", "/again", "Never mind.")

    code = lethe(*MIRA, "--model", echo_model("", "Good."))

    reported = capsys.readouterr().err
    assert code == 0
    assert "empty reply" in reported
    assert "Only replies of the persona" in reported
    assert stored(home)[-2:] == ["Never mind.", "Good."]


def test_new_begins_another_conversation(lethe: Lethe, echo_model: Model, typed: Typed, home: Path):
    typed("First.", "/new", "Second.")

    lethe(*MIRA, "--model", echo_model("One.", "Two."))

    with closing(sqlite3.connect(home / "lethe.sqlite3")) as connection:
        (sessions,) = connection.execute("SELECT count(DISTINCT session_id) FROM messages").fetchone()
    assert sessions == 2
    assert stored(home) == ["“You are late.”", "First.", "One.", "“You are late.”", "Second.", "Two."]


def test_an_unknown_command_is_answered_with_those_there_are_and_never_said(
    lethe: Lethe, home: Path, echo_model: Model, typed: Typed, capsys: pytest.CaptureFixture[str]
):
    typed("/dance")

    lethe(*MIRA, "--model", echo_model("Hm."))

    assert capsys.readouterr().out.count("/again regenerates the reply") == 2
    assert stored(home) == ["“You are late.”"]


def test_an_empty_line_lets_the_persona_speak_again(lethe: Lethe, home: Path, echo_model: Model, typed: Typed):
    typed("")

    lethe(*MIRA, "--model", echo_model("“Still there?”"))

    assert stored(home) == ["“You are late.”", "“Still there?”"]


def test_bytes_that_are_no_text_are_stored_as_well_as_they_can_be(
    lethe: Lethe, home: Path, tmp_path: Path, echo_model: Model, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "typed").write_bytes(b"caf\xe9 au lait\n")
    with (tmp_path / "typed").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        code = lethe(*MIRA, "--model", echo_model("Merci."))

    assert code == 0
    assert stored(home)[1:] == ["caf\ufffd au lait", "Merci."]
