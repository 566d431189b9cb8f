"""The texts on which models are tried, and whether good work passes and bad work does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from lethe_app.brain.exam import Dialogue, Marks, Snippet, as_said, is_lost, mark_facts, mark_summary
from lethe_app.brain.faithfulness import coverage, invented

FOLDER = Path(__file__).parent.parent.parent / "resources" / "selftest"
SNIPPETS = TypeAdapter(list[Snippet]).validate_json((FOLDER / "facts.json").read_bytes())
DIALOGUES = {
    each.name: each for each in TypeAdapter(list[Dialogue]).validate_json((FOLDER / "dialogues.json").read_bytes())
}
GOOD = {
    "boat": "Rosa and Emre agreed to paint the boat on Sunday, now that it is dry. Emre has blue paint left for the hull, but "
    "they need white for the name. Rosa chose the name Heron, because her mother used to call her that.",
    "interview": "Karim was disappointed after being turned down for a job because another candidate speaks Danish. Ines "
    "offered to ask her neighbour Birte to teach him and planned an outing on Friday. Karim felt better.",
    "cat": "Milo was worried because his half-blind cat Biscuit, who is 9, had not come home. Dana had seen her on the window "
    "sill and given her tuna. Milo will come over with her basket.",
}


def marks(name: str, *facts: str, line: int) -> Marks:
    snippet = next(each for each in SNIPPETS if each.name == name)
    lines = as_said(snippet.lines, snippet.about)
    return mark_facts(snippet, lines, [(fact, lines[line - 1]) for fact in facts])


def test_there_are_enough_texts_and_about_half_hold_no_fact():
    without = sum(not each.facts for each in SNIPPETS)

    assert len(SNIPPETS) >= 12
    assert 0.4 <= without / len(SNIPPETS) <= 0.6
    assert len({each.name for each in [*SNIPPETS, *DIALOGUES.values()]}) == len(SNIPPETS) + len(DIALOGUES)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.name)
def test_the_facts_that_are_right_are_marked_right_on_the_line_that_says_them(snippet: Snippet):
    lines = as_said(snippet.lines, snippet.about)

    for each in snippet.facts:
        assert any(mark_facts(snippet, lines, [(each.fact, line)]).right for line in lines), each.fact


@pytest.mark.parametrize(
    ("name", "fact", "line"),
    [
        ("small talk", "Nadia can hardly feel her fingers.", 2),
        ("somebody else", "Samir plays the cello in an orchestra.", 1),
        ("somebody else", "Lena plays the cello in an orchestra.", 1),
        ("guitar", "Hugo plays the guitar.", 3),
        ("plan for today", "Joel is going to take a nap.", 2),
        ("moved", "Tangier and Leeds.", 2),
    ],
)
def test_what_is_no_lasting_fact_of_that_speaker_is_marked_wrong(name: str, fact: str, line: int):
    assert (marks(name, fact, line=line).right, marks(name, fact, line=line).wrong) == (0, 1)


def test_what_no_line_says_would_never_be_kept_and_counts_neither_way():
    assert marks("pharmacist", "Nadia is a famous surgeon.", line=2) == Marks()


def test_different_right_facts_are_counted_once_each():
    found = marks("moved", "Samir grew up in Tangier.", "Samir moved to Leeds four years ago.", "Samir moved to Leeds.", line=2)

    assert (found.right, found.found) == (3, 2)


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_good_summary_passes(name: str):
    assert mark_summary(DIALOGUES[name], GOOD[name]).failed == ""


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (GOOD["boat"] + " They sailed to Lisbon.", "invented: Lisbon"),
        (GOOD["boat"].replace("on Sunday", "at 7 on Sunday"), "invented: 7"),
        ("The two of them had sold an old house and were sad about some plum trees near the garden.", "of its words were said"),
        ("Rosa asked Emre whether that is enough.", "misses the point"),
    ],
)
def test_a_bad_summary_does_not_pass(summary: str, why: str):
    assert why in mark_summary(DIALOGUES["boat"], summary).failed


def test_inventions_are_names_and_numbers_nobody_said():
    lines = ["Milo: She is nine.", "Dana: I saw Biscuit."]

    assert invented("Milo said that Biscuit is 9. Then Dana left.", lines) == []
    assert invented("Milo said that Whiskers is 12.", lines) == ["Whiskers", "12"]
    assert coverage("", lines) == 0


def test_trying_ends_when_the_outcome_is_certain():
    snippets, dialogues = SNIPPETS[:4], list(DIALOGUES.values())
    text = snippets[-1]

    assert not is_lost(text, {snippets[0].name: Marks(right=1)}, snippets, dialogues)
    assert is_lost(text, {snippets[0].name: Marks(wrong=9)}, snippets, dialogues)
    assert is_lost(dialogues[1], {dialogues[0].name: Marks(failed="x")}, snippets, dialogues)
    assert not is_lost(dialogues[1], {dialogues[0].name: Marks(right=1)}, snippets, dialogues)
