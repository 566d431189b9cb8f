"""The texts on which models are tried, and whether good work passes and bad work does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from lethe_app.brain.fact_guard.checks import check_claim
from lethe_app.brain.fact_guard.claims import Claim, SupportLevel
from lethe_app.brain.fact_guard.grounding import coverage, find_invented_words
from lethe_app.brain.llm_schemas.qualification import (
    QualificationDialogue,
    QualificationScore,
    QualificationSnippet,
    has_already_failed,
    parse_utterances,
    score_facts,
    score_summary,
)
from lethe_app.brain.reading.dialogue_acts import read_parts

FOLDER = Path(__file__).parents[3] / "resources" / "selftest"
SNIPPETS = TypeAdapter(list[QualificationSnippet]).validate_json((FOLDER / "facts.json").read_bytes())
DIALOGUES = {
    each.name: each for each in TypeAdapter(list[QualificationDialogue]).validate_json((FOLDER / "dialogues.json").read_bytes())
}
SUMMARIES = json.loads(Path(__file__).with_name("summaries.json").read_text(encoding="utf-8"))
GOOD, UNFAITHFUL = SUMMARIES["good"], SUMMARIES["unfaithful"]
FREE = SUMMARIES["free"]
"""Faithful, in words of their own."""


def marks(name: str, *facts: str) -> QualificationScore:
    snippet = next(each for each in SNIPPETS if each.name == name)
    return score_facts(snippet, parse_utterances(snippet.lines, snippet.about), facts)


def supported(snippet: QualificationSnippet, fact: str) -> int:
    """The place of the line whose words support a fact best."""
    lines = parse_utterances(snippet.lines, snippet.about)
    parts = read_parts(lines)
    support = [check_claim(Claim(at, line.text, fact, snippet.about), lines, parts).support for at, line in enumerate(lines)]
    assert max(support) is not SupportLevel.NONE
    return support.index(max(support))


def test_there_are_enough_texts_and_about_half_hold_no_fact():
    without = sum(not each.facts for each in SNIPPETS)

    assert len(SNIPPETS) >= 12
    assert 0.4 <= without / len(SNIPPETS) <= 0.6
    assert len({each.name for each in [*SNIPPETS, *DIALOGUES.values()]}) == len(SNIPPETS) + len(DIALOGUES)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.name)
def test_the_facts_that_are_right_are_marked_right_and_pass_the_guard(snippet: QualificationSnippet):
    for each in snippet.facts:
        assert marks(snippet.name, each.fact).right, each.fact
        assert snippet.lines[supported(snippet, each.fact)]


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("small talk", "Nadia can hardly feel her fingers."),
        ("somebody else", "Samir plays the cello in an orchestra."),
        ("somebody else", "Lena plays the cello in an orchestra."),
        ("guitar", "Hugo plays the guitar."),
        ("plan for today", "Joel is going to take a nap."),
        ("moved", "Tangier and Leeds."),
    ],
)
def test_what_is_no_lasting_fact_of_that_speaker_is_marked_wrong(name: str, fact: str):
    assert (marks(name, fact).right, marks(name, fact).wrong) == (0, 1)


def test_different_right_facts_are_counted_once_each():
    found = marks("moved", "Samir grew up in Tangier.", "Samir moved to Leeds four years ago.", "Samir moved to Leeds.")

    assert (found.right, found.found) == (3, 2)


@pytest.mark.parametrize(("name", "summary"), [(name, text) for name, texts in FREE.items() for text in texts])
def test_a_faithful_summary_in_free_words_passes(name: str, summary: str):
    assert score_summary(DIALOGUES[name], summary).failed == ""


@pytest.mark.parametrize("name", UNFAITHFUL)
def test_a_summary_of_something_else_does_not_pass(name: str):
    assert score_summary(DIALOGUES[name], UNFAITHFUL[name]).failed != ""


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_good_summary_passes(name: str):
    assert score_summary(DIALOGUES[name], GOOD[name]).failed == ""


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (GOOD["boat"] + " They sailed to Lisbon.", "invented: Lisbon"),
        (GOOD["boat"].replace("on Sunday", "at 7 on Sunday"), "invented: 7"),
        ("The two of them had sold an old house and were sad about some plum trees near the garden.", "misses the point"),
        (
            (
                "Some paint on a boat reminded the grandchildren of jewels, insurance, taxes, divorces, horses, "
                "lawyers, earthquakes, "
                "volcanoes and rainy holidays."
            ),
            "of its words were said",
        ),
        ("Rosa asked Emre whether that is enough.", "misses the point"),
    ],
)
def test_a_bad_summary_does_not_pass(summary: str, why: str):
    assert why in score_summary(DIALOGUES["boat"], summary).failed


def test_a_summary_may_write_dates_for_the_days_that_were_named():
    dated = GOOD["boat"].replace("on Sunday", "on 5 January 2020")

    assert score_summary(DIALOGUES["boat"], dated).failed == ""
    assert "invented: 6" in score_summary(DIALOGUES["boat"], dated.replace("5 January", "6 January")).failed


def test_inventions_are_names_and_numbers_nobody_said():
    lines = ["Milo: She is nine.", "Dana: I saw Biscuit."]

    assert find_invented_words("Milo said that Biscuit is 9. Then Dana left.", lines) == []
    assert find_invented_words("Milo said that Whiskers is 12.", lines) == ["Whiskers", "12"]
    assert coverage("", lines) == 0


def test_trying_ends_when_the_outcome_is_certain():
    snippets, dialogues = SNIPPETS[:4], list(DIALOGUES.values())
    text = snippets[-1]

    assert not has_already_failed(text, {snippets[0].name: QualificationScore(right=1)}, snippets, dialogues)
    assert has_already_failed(text, {snippets[0].name: QualificationScore(wrong=9)}, snippets, dialogues)
    assert has_already_failed(dialogues[1], {dialogues[0].name: QualificationScore(failed="x")}, snippets, dialogues)
    assert not has_already_failed(dialogues[1], {dialogues[0].name: QualificationScore(right=1)}, snippets, dialogues)
