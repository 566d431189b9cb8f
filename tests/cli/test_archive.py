"""What was said in the terminal is archived there, and remembered there with its reasons."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lethe_app.cli.recall import format_recall
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from tests.cli.conftest import Lethe

SAID = (
    "My sister Ines sails a boat called the Heron.",
    "I am allergic to walnuts, by the way.",
    "We want to sail to Harrow Light in June.",
)
Output = pytest.CaptureFixture[str]


@pytest.fixture
def talked(lethe: Lethe, echo_model: Callable[..., Path], capsys: Output) -> Lethe:
    """Three turns with Mira lie behind the user."""
    lines = [word for line in SAID for word in ("--say", line)]
    code = lethe("chat", "--persona", "mira-test", "--model", echo_model("I see.", "Go on.", "That is far."), *lines)
    capsys.readouterr()
    assert code == 0
    return lethe


def objects(capsys: Output) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


def test_archiving_tells_every_part_and_who_made_it(talked: Lethe, capsys: Output):
    code = talked("archive", "--persona", "mira-test", "--rules", "--json")

    (reported,) = objects(capsys)
    assert code == 0
    assert reported["title"]
    assert "Heron" in reported["summary"]
    assert any("walnuts" in fact for fact in reported["facts"])
    assert {"title", "summary", "keywords", "goals", "relevance", "roleplay", "facts"} <= set(reported["parts"])
    assert {part["made_by"] for part in reported["parts"].values()} == {"rules"}
    assert {part["state"] for part in reported["parts"].values()} == {"done"}


def test_what_is_archived_is_not_archived_again_unless_that_is_asked_for(talked: Lethe, capsys: Output):
    talked("archive", "--persona", "mira-test", "--rules")
    assert "allergic" in capsys.readouterr().out

    talked("archive", "--persona", "mira-test", "--rules")
    assert "nothing to archive" in capsys.readouterr().out

    talked("archive", "--persona", "mira-test", "--rules", "--again", "--json")
    assert len(objects(capsys)) == 1


def test_recall_tells_what_comes_to_mind_and_why(talked: Lethe, capsys: Output):
    talked("archive", "--persona", "mira-test", "--rules")
    capsys.readouterr()

    code = talked("recall", "--persona", "mira-test", "What was the name of the boat that Ines sails?", "--json")

    (reported,) = objects(capsys)
    assert (code, reported["persona"], reported["by_meaning"]) == (0, "mira-test", False)
    assert any("Heron" in one["text"] for one in reported["recalled"])
    assert all(one["because"] for one in reported["recalled"])


def test_recall_prints_names_in_place_of_macros_and_no_markup():
    memory = TurnMemory(
        recalled=[
            RecalledMemory(
                memory=uuid4(),
                category=MemoryType.GENERAL,
                title="The oath",
                text="**{{char}}** swore it to {{user}}.",
                way=RecallWay.KEYWORD,
            )
        ]
    )

    assert "Mira swore it to Tomas." in format_recall("Mira", memory, user_name="Tomas")


def test_small_talk_recalls_nothing_and_everything_is_there_on_demand(talked: Lethe, capsys: Output):
    talked("archive", "--persona", "mira-test", "--rules")
    capsys.readouterr()

    talked("recall", "--persona", "mira-test", "haha ok")
    assert "recalls no memories of Mira" in capsys.readouterr().out

    talked("recall", "--persona", "mira-test", "walnuts", "--all", "--count", "3")
    reported = capsys.readouterr().out
    assert "walnuts" in reported
    assert "because" in reported


def test_an_unknown_persona_has_nothing_to_remember(lethe: Lethe, capsys: Output):
    assert lethe("recall", "--persona", "nobody", "boats") == 1
    assert "nobody" in capsys.readouterr().err
