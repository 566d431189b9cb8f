"""What stands in a notebook is never lost, whatever is added, merged or parted; small talk opens none."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks.document import Conclusion, Notebook, NotebookIndexEntry, to_line
from lethe_app.brain.notebooks.matching import (
    DistanceLimits,
    NotebookEvidence,
    build_vocabulary,
    choose_notebook,
    find_evidence,
    majority_notebook,
)
from lethe_app.brain.notebooks.splitting import pieces_from_proposal, render_pieces, split_without_model
from lethe_app.brain.notebooks.subjects import SubjectStems
from lethe_app.brain.reading.corrections import is_confirmed
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

COOKING = """# Cooking

Things I must not forget.

- Tomas prefers bomba rice for paella (2026-02-12)
- Broth is always homemade, never from cubes (2026-02-12)
  even on Sundays
* Tomas is allergic to tree nuts
"""
GARDEN = "# The allotment\n\n- Tomas planted quinces behind the shed (2026-03-01)\n- The well runs dry in August (2026-03-02)\n"
NEVER = DistanceLimits(0.0, 0.0)
DAY = date(2026, 4, 1)
SMALL_TALK = Path(__file__).parents[2] / "bench" / "smalltalk.txt"
words = st.text(st.sampled_from("abc -*#(2026-01)\n|é"), max_size=40)
line_texts = st.lists(st.text(st.sampled_from("abcd "), min_size=1, max_size=20).map("x{}".format), min_size=6, max_size=90)
book_titles = st.sampled_from(["Cooking", "A: " + "b" * 52, "Cooking at home " * 4])
proposals = st.lists(st.tuples(st.sampled_from(["a", "b", "c" * 70]), st.lists(st.integers(-2, 99), max_size=40)), max_size=10)


def book(*lines: str, title: str = "Cooking") -> Notebook:
    made = [to_line(Conclusion(text, DAY + timedelta(days=place))) for place, text in enumerate(lines)]
    return Notebook("cooking", title, f"# {title}\n\n", tuple(made))


def test_a_notebook_is_a_title_and_dated_lines():
    read = writing.parse_notebook("cooking", COOKING)

    assert read.title == "Cooking"
    assert [(line.text, line.day) for line in read.lines] == [
        ("Tomas prefers bomba rice for paella", date(2026, 2, 12)),
        ("Broth is always homemade, never from cubes", date(2026, 2, 12)),
        ("Tomas is allergic to tree nuts", None),
    ]


@given(words)
def test_what_is_read_can_be_spelled_to_the_letter(text: str):
    assert writing.render_notebook(writing.parse_notebook("any", text)) == text


@given(words, st.lists(st.text(st.sampled_from("abc "), max_size=12), max_size=4))
def test_adding_leaves_everything_where_it_is(text: str, new: list[str]):
    after = writing.append_conclusions(text, "any", [Conclusion(each, DAY) for each in new if each.strip()])

    assert after.startswith(text.rstrip("\n"))
    assert writing.append_conclusions(after, "any", [Conclusion(each, DAY) for each in new if each.strip()]) == after


def test_what_a_notebook_says_already_is_not_added_again():
    new = [Conclusion("Tomas prefers bomba rice for paella.", DAY), Conclusion("New.", DAY)]
    after = writing.append_conclusions(COOKING, "cooking", new)

    assert after == COOKING + "- New. (2026-04-01)\n"


@given(words, words, words)
def test_a_merge_of_two_wordings_keeps_every_line_of_both(base: str, mine: str, theirs: str):
    merged = writing.merge_edits(base, mine, theirs)

    rows = Counter(row for row in merged.split("\n") if row.strip())
    new = Counter(row for row in theirs.split("\n") if row.strip()) - Counter(base.split("\n"))
    if mine != base:
        assert not Counter(row for row in mine.split("\n") if row.strip()) - rows
    assert not new - rows


def test_a_line_that_both_changed_is_there_in_both_wordings():
    merged = writing.merge_edits("- Rice (2026-01-01)\n", "- Long rice (2026-01-01)\n", "- Round rice (2026-01-01)\n")

    assert merged == "- Long rice (2026-01-01)\n- Round rice (2026-01-01)\n"


def test_a_fact_is_said_by_a_line_that_has_all_the_words_that_carry_it():
    read = writing.parse_notebook("cooking", COOKING)

    assert writing.contains_statement(read, "Tomas prefers bomba rice.")
    assert not writing.contains_statement(read, "Tomas prefers basmati rice.")
    assert not writing.contains_statement(read, "Tomas.")


def test_only_the_newest_lines_are_told_where_there_is_little_room():
    reported = writing.render_for_model(writing.parse_notebook("cooking", COOKING), 1)

    assert reported.splitlines()[1:] == ["(the newest 1 of 3 lines)", "- Tomas is allergic to tree nuts"]


def test_the_index_holds_the_twenty_newest_subjects_and_survives_foreign_lines():
    start = datetime(2026, 2, 1, tzinfo=UTC)
    recents = [NotebookIndexEntry(start + timedelta(days=day), f"topic-{day}", f"a | b {day}") for day in range(25)]

    text = writing.render_index(writing.update_index([], recents)) + "nonsense\n2026-13-01|x|y\n"
    read = writing.parse_index(text)

    assert [one.name for one in read] == [f"topic-{day}" for day in range(24, 4, -1)]
    assert read[0].summary == "a / b 24"


@pytest.mark.parametrize(
    ("days", "words_"),
    [(0, "today"), (1, "yesterday"), (3, "3 days ago"), (7, "a week ago"), (13, "13 days ago"), (15, "2 weeks ago"),
     (31, "a month ago"), (70, "2 months ago"), (400, "a year ago"), (800, "2 years ago")],
)  # fmt: skip
def test_the_past_is_told_as_somebody_would_say_it(days: int, words_: str):
    present = datetime(2026, 4, 30, 12, tzinfo=UTC)

    assert writing.format_days_ago(present - timedelta(days=days), present) == words_


# Parting


@given(line_texts, proposals, book_titles)
def test_whatever_a_model_proposes_every_line_lands_exactly_once(
    lines: list[str], parts: list[tuple[str, list[int]]], title: str
):
    notebook = book(*lines, title=title)

    pieces = pieces_from_proposal(notebook, parts)

    if pieces is not None:
        assert Counter(line.raw for piece in pieces for line in piece.lines) == Counter(line.raw for line in notebook.lines)
        assert len({piece.title for piece in pieces}) == len(pieces) > 1


@given(line_texts, st.integers(3, 60), book_titles)
def test_without_a_model_every_line_lands_exactly_once_too(lines: list[str], longest: int, title: str):
    notebook = book(*lines, title=title)

    pieces = split_without_model(notebook, longest, SubjectStems())

    assert Counter(line.raw for piece in pieces for line in piece.lines) == Counter(line.raw for line in notebook.lines)
    assert len({piece.title for piece in pieces}) == len(pieces) > 1
    assert all(len(piece.lines) < len(notebook.lines) for piece in pieces)


def test_what_has_nothing_in_common_is_parted_by_its_days():
    lines = ["Apples", "Boats", "Clouds", "Doors", "Elks", "Fires", "Gulls", "Hats"]
    made = tuple(to_line(Conclusion(text, date(2026, 1 + place, 1))) for place, text in enumerate(lines))

    pieces = split_without_model(Notebook("odds", "Odds", "# Odds\n\n", made), 8, SubjectStems())

    assert [piece.title for piece in pieces] == ["Odds, January 2026 to April 2026", "Odds, May 2026 to August 2026"]


def test_parts_of_one_month_are_numbered():
    lines = ["Apples", "Boats", "Clouds", "Doors", "Elks", "Fires", "Gulls", "Hats"]
    made = tuple(to_line(Conclusion(text, date(2026, 1, 1))) for text in lines)

    pieces = split_without_model(Notebook("odds", "Odds", "# Odds\n\n", made), 8, SubjectStems())

    assert [piece.title for piece in pieces] == ["Odds (1)", "Odds (2)"]

    pieces = split_without_model(Notebook("odds", "Odds" * 15, "# Odds\n\n", made), 8, SubjectStems())

    assert [piece.title for piece in pieces] == [f"{'Odds' * 13}Odd… ({number})" for number in (1, 2)]


def test_what_the_user_wrote_above_the_lines_is_kept_when_a_notebook_is_parted():
    read = writing.parse_notebook("cooking", COOKING)
    pieces = [
        type(piece)(piece.title, piece.lines)
        for piece in split_without_model(book("a", "b", "c", "d", "e", "f"), 5, SubjectStems())
    ]

    assert "Things I must not forget." in render_pieces(read, pieces)[0]


# Which one a message is about


def scores(text: str, opened: str = "") -> str:
    books = [writing.parse_notebook("cooking", COOKING), writing.parse_notebook("garden", GARDEN)]
    return choose_notebook(find_evidence(text, build_vocabulary(books), ("Mira", "Tomas")), NEVER, opened)


def test_a_word_of_the_title_or_two_of_the_lines_open_a_notebook():
    assert scores("I am cooking tonight, any wishes?") == "cooking"
    assert scores("Shall I make the paella with broth?") == "cooking"
    assert scores("The quinces behind the shed are ripe.") == "garden"
    assert scores("Is there any rice left?") == ""


def test_small_talk_opens_none():
    conversation = SMALL_TALK.read_text(encoding="utf-8").splitlines()

    assert [line for line in conversation if line.strip() and scores(line)] == []


def test_the_open_notebook_stays_until_another_one_is_clearly_meant():
    assert scores("Good morning!", opened="cooking") == "cooking"
    assert scores("The rice by the well is fine.", opened="cooking") == "cooking"
    assert scores("The well and the quinces of the allotment need me.", opened="cooking") == "garden"
    assert scores("Good morning!", opened="gone") == ""


def test_meaning_counts_where_words_are_missing_and_one_near_line_is_not_enough():
    limits = DistanceLimits(nearest=0.4, near_by=0.6)

    assert choose_notebook({"a": NotebookEvidence(0.0, (), (0.3, 0.5, 0.6))}, limits) == "a"
    assert choose_notebook({"a": NotebookEvidence(0.0, (), (0.3, 0.9, 0.9))}, limits) == ""
    assert choose_notebook({"a": NotebookEvidence(1.0, ("rice",), (0.3, 0.9, 0.9))}, limits) == "a"


def test_what_a_single_word_means_opens_none():
    limits = DistanceLimits(nearest=0.4, near_by=0.6)

    assert choose_notebook({"a": NotebookEvidence(0.0, (), (0.1, 0.1, 0.1), word_count=1)}, limits) == ""
    assert choose_notebook({"a": NotebookEvidence(0.0, (), (0.1, 0.1, 0.1), word_count=2)}, limits) == "a"


def test_what_was_concluded_goes_where_half_of_it_belongs():
    assert majority_notebook(["a", "", "a", "b"]) == "a"
    assert majority_notebook(["a", "", "", "b"]) == ""
    assert majority_notebook([]) == ""


# Who decided


def said(*texts_: str) -> list[Utterance]:
    roles = (Role.USER, Role.ASSISTANT)
    return [Utterance(uuid4(), roles[place % 2], "", text, datetime.now(UTC)) for place, text in enumerate(texts_)]


def test_what_the_other_side_says_counts_only_if_the_user_agrees():
    assert is_confirmed(0, said("I sell the boat.", "You should paint it."))
    assert is_confirmed(1, said("I sell the boat.", "Paint it green first.", "Yes, good idea."))
    assert not is_confirmed(1, said("I sell the boat.", "Paint it green first.", "No."))
    assert not is_confirmed(1, said("I sell the boat.", "Paint it green first."))
