"""Kind words are heard as whole words, however they are written, and not where they are turned round."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from lethe_app.brain.mood.dynamics import load_moodlets
from lethe_app.brain.mood.model import BUILTIN_MOODLETS, Moodlet
from lethe_app.brain.mood.sentiment import load_phrases, parse_phrases

SHIPPED = Path(__file__).parents[3] / "resources" / "mood"
PRAISE, HARSH = load_phrases([SHIPPED], "praise"), load_phrases([SHIPPED], "harsh")
WARM = Moodlet("warmth", "Warmth", "how warm", ())
NO_MOODLET = "warm"


@pytest.mark.parametrize("phrase", PRAISE.phrases)
def test_every_phrase_of_the_list_can_match(phrase: str):
    assert PRAISE.find(f"Well, {phrase}!")
    assert PRAISE.find(phrase.upper())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I appreciate it.", "i appreciate it"),
        ("I APPRECIATE IT", "i appreciate it"),
        ("You’re the best, Mira.", "you're the best"),
        ("you're   the\nbest", "you're the best"),
        ("Thanks!", "thanks"),
        ("*He nods.* “Well done.”", "well done"),
        ("It was not bad. Thank you.", "thank you"),
    ],
)
def test_praise_is_heard(text: str, found: str):
    assert PRAISE.find(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Thanksgiving is on Thursday.",
        "We went to Bravoura.",
        "You are not a good girl.",
        "That wasn't a great job.",
        "I never said well done.",
        "Good grief.",
        "",
    ],
)
def test_what_only_looks_like_praise_is_not(text: str):
    assert PRAISE.find(text) == ""


def test_unkind_words_are_heard_too():
    assert HARSH.find("Oh, shut up.") == "shut up"
    assert HARSH.find("You are not boring.") == ""


def test_another_language_is_another_file(tmp_path: Path):
    (tmp_path / "praise.de.txt").write_text("# Lob\n- nicht\ngut gemacht\n", encoding="utf-8")
    (tmp_path / "praise.ja.txt").write_text("すごい\n", encoding="utf-8")
    (tmp_path / "praise.broken.txt").write_bytes(b"\xff\xfe\xff")

    praise = load_phrases([SHIPPED, tmp_path], "praise")

    assert praise.find("Das hast du gut gemacht!") == "gut gemacht"
    assert praise.find("Nicht gut gemacht.") == ""
    assert praise.find("今日はすごいですね") == "すごい"
    assert praise.find("Thank you.") == "thank you"


def test_an_empty_list_hears_nothing():
    assert parse_phrases([]).find("Thank you.") == ""


def offered(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "lethe.moodlets")


def test_moodlets_of_other_packages_join_ours():
    found = load_moodlets([offered("warmth", f"{__name__}:WARM")])

    assert [one.id for one in found] == ["energy", "cheer", "curiosity", "warmth"]


@pytest.mark.parametrize(
    "value", ["nowhere.at.all:THING", f"{__name__}:MISSING", f"{__name__}:NO_MOODLET", "lethe_app.brain.mood.model:CHEER"]
)
def test_a_plug_in_that_cannot_be_used_is_left_out_and_told(value: str, quiet_log):
    assert load_moodlets([offered("odd", value)]) == list(BUILTIN_MOODLETS)
    assert "odd" in quiet_log.records[0].getMessage()
    quiet_log.records.clear()
