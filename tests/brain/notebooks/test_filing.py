"""Notebooks are called by their matter, and what a conversation came to is sorted by it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from lethe_app.brain.notebooks.document import Conclusion, Notebook, to_line
from lethe_app.brain.notebooks.filing import assign_conclusions
from lethe_app.brain.notebooks.splitting import split_without_model
from lethe_app.brain.notebooks.subjects import SubjectStems, load_subjects, parse_subjects

MATTERS = load_subjects([Path(__file__).parents[3] / "resources" / "subjects"])
NAMES = ("Tomas", "Mira")
DAY = date(2026, 4, 1)
CALLED = {
    "Cooking": ["Tomas prefers bomba rice for paella.", "Tomas uses homemade broth.", "Tomas is allergic to tree nuts."],
    "Paella": ["Tomas loves quiet paella boats.", "Tomas owns a cold paella lamp.", "Tomas hates bright paella nets."],
    "Family": ["Tomas has a sister called Ines.", "Tomas's brother Otto lives in Porto.", "His grandmother kept a bakery."],
    "Ines": ["Ines sails a boat called the Heron.", "Ines works as a nurse in Porto.", "Ines has two dogs."],
    "Travel": ["Tomas will fly to Lisbon in May.", "He has booked a hotel in Sintra.", "Tomas needs a new passport."],
    "Health": ["Tomas has asthma.", "His doctor told him to lose weight.", "Tomas takes tablets in the morning."],
    "Work": ["Tomas has a new boss called Greta.", "Tomas got a promotion in March.", "His office moved to Bergen."],
    "Animals": ["Tomas has a dog called Pip.", "His cat is fourteen years old.", "The vet says Pip is too heavy."],
    "Garden": ["Tomas grows tomatoes on the balcony.", "Tomas wants to plant roses.", "The compost smells."],
    "Music": ["Tomas plays the violin.", "Tomas sings in a choir.", "Tomas never heard an opera."],
    "Boats": ["The anchor of the Petrel is rusty.", "Tomas wants to paint the mast.", "The harbour is closed on Mondays."],
    "Home": ["Tomas moved to a flat in Riga.", "The kitchen has no window.", "The rent is too high."],
    "About Tomas": ["Tomas is thirty-four.", "Tomas is afraid of heights.", "Tomas speaks Spanish."],
    "Family and work": ["His sister is called Ines.", "His mother is ill.", "Tomas hates his job.", "His boss shouts."],
    "Needle": ["The Needle holds much water.", "The Needle was built by monks.", "Nobody may enter the Needle."],
    "": ["It rained.", "Nobody came.", "The door is blue."],
}


@pytest.mark.parametrize(("title", "lines"), CALLED.items(), ids=CALLED)
def test_a_notebook_is_called_by_its_matter(title: str, lines: list[str]):
    assert MATTERS.build_title(lines, NAMES) == title


def test_a_title_does_not_deny_what_one_of_the_lines_is_about():
    lines = ["Tomas is a baker in Porto.", "Tomas's sister is a teacher.", "Tomas turned forty."]
    assert MATTERS.build_title(lines, NAMES) == "Work"

    assert MATTERS.build_title([*lines[:2], "Tomas's cat is called Plum."], NAMES) == "About Tomas"
    of_ines = ["Tomas's sister Ines is a teacher.", "Tomas misses his sister.", "Tomas is a baker in Porto."]
    assert MATTERS.build_title(of_ines[:2], NAMES) == "Sister"
    assert MATTERS.build_title([*of_ines, "Tomas's cat is called Plum."], NAMES) == "About Tomas"


def test_words_in_which_every_fact_is_told_are_no_title():
    lines = ["Tomas loves the rain.", "Mira loves silence.", "Otto loves her."]

    assert MATTERS.build_title(lines, NAMES) == ""


def test_lists_of_ones_own_count_as_well(tmp_path: Path):
    (tmp_path / "subjects.de.txt").write_text("# Meine\nBienen: Biene Honig Imker\n", encoding="utf-8")
    (tmp_path / "subjects.xx.txt").write_bytes(b"\xff\xfe broken")

    assert load_subjects([tmp_path]).build_title(["Der Honig ist hell.", "Der Imker kommt morgen."], ()) == "Bienen"
    assert parse_subjects(["no colon", ": nothing", "#x: y"]) == SubjectStems({})


def concluded(*texts: str) -> list[Conclusion]:
    return [Conclusion(text, DAY) for text in texts]


def book(title: str, *texts: str) -> Notebook:
    return Notebook(title.lower(), title, f"# {title}\n\n", tuple(map(to_line, concluded(*texts))))


COOKING = book("Cooking", *CALLED["Cooking"])


def test_what_speaks_of_something_else_alone_does_not_follow_the_conversation():
    found = concluded("Tomas cooks rice on Sundays.", "His aunt Greta moved to Bergen.", "He adds two lemons.", "Nuts are out.")

    result = assign_conclusions(found, ["cooking", "cooking", "", ""], "cooking", [COOKING], MATTERS)

    assert [one.text for one in result.by_notebook["cooking"]] == [found[0].text, found[2].text, found[3].text]
    assert not result.new_groups


def test_each_goes_where_its_matter_is():
    family = book("Family", "Ines is his sister.")
    found = concluded("Tomas bakes bread.", "His brother Otto sings.", "His uncle is ninety.")

    result = assign_conclusions(found, ["cooking", "cooking", ""], "cooking", [COOKING, family], MATTERS)

    assert {name: len(lines) for name, lines in result.by_notebook.items()} == {"cooking": 1, "family": 2}


def test_three_of_one_matter_make_a_notebook_even_where_another_was_open():
    found = concluded(*CALLED["Music"], "Tomas bakes bread.")

    result = assign_conclusions(found, ["cooking"] * 4, "cooking", [COOKING], MATTERS)

    assert [[one.text for one in group] for group in result.new_groups] == [CALLED["Music"]]
    assert [one.text for one in result.by_notebook["cooking"]] == ["Tomas bakes bread."]


def test_what_has_no_matter_makes_one_notebook_together():
    result = assign_conclusions(concluded("It rained.", "Nobody came.", "The door is blue."), ["", "", ""], "", [], MATTERS)

    assert [len(group) for group in result.new_groups] == [3]
    assert assign_conclusions(concluded("It rained."), [""], "", [], MATTERS).new_groups == []


def test_a_long_notebook_is_parted_by_matter():
    lines = [f"His sister has {number} hens." for number in range(20)] + [f"He works {number} hours." for number in range(20)]
    whole = book("About Tomas", *lines, *(f"He is {number}." for number in range(11)))

    pieces = split_without_model(whole, 50, MATTERS)

    assert sum(len(piece.lines) for piece in pieces) == len(whole.lines)
    assert [piece.title for piece in pieces] == ["About Tomas: family", "About Tomas: work", "About Tomas, in general"]
