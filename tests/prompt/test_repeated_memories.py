"""A reply keeps its own words and loses those that only repeat the memory block of its prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.prompt.echo import EchoFilter

HEADING = "# Background: what Mira remembers of earlier conversations with Tomas"
TITLE = '**The storm** (Tuesday, March 3rd, 2026): Tomas said, "The mast broke." Mira asked, "Are you hurt?"'
BULLET = '- Tomas said, "I spent the night in the harbour office."'
PEANUTS = "Tomas is allergic to peanuts."
BLOCK = (HEADING, f"{TITLE}\n{BULLET}", PEANUTS)


def filtered(text: str, size: int = 3) -> str:
    echo = EchoFilter(BLOCK)
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    return "".join(map(echo.feed, pieces)) + echo.finish()


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    "copy",
    [
        HEADING,
        HEADING.removeprefix("# "),
        TITLE,
        TITLE.replace("**", ""),
        BULLET,
        BULLET.removeprefix("- "),
        BULLET.replace("harbour office", "old harbour"),
        "\n".join(BLOCK),
        "**The storm** (Tuesday, March 3rd, 2026)",
        "**A tale of the sea** (Monday, January 21st, 2027):",
        "## A tale of the sea (Monday, January 21st, 2027)",
        '**A tale of the sea** (Monday, January 21st, 2027):\n### A tale!\n- Tomas said, "The sea is a monster!"',
        '- Tomas asked, "What is the sea?"',
        f'{TITLE}\nTomas said, "The sea is a monster!"',
    ],
)
def test_a_copied_line_is_taken_out_and_the_reply_stays(copy: str, size: int):
    assert filtered(f"{copy}\nI am glad you are safe.", size) == "I am glad you are safe."
    assert filtered(f"“You are late.”\n{copy}", size).rstrip() == "“You are late.”"


def test_below_a_copied_line_one_that_the_end_of_the_reply_cuts_off_is_taken_out_as_well():
    assert not filtered(f"{HEADING}\nTomas is allergic")
    assert filtered(f"{HEADING}\nTomas is.") == "Tomas is."
    assert filtered(f"{HEADING}\nTomas") == "Tomas"
    assert filtered("Tomas is allergic") == "Tomas is allergic"


def test_a_reply_that_goes_on_behind_a_title_keeps_its_own_words():
    assert filtered("**The storm** (Tuesday, March 3rd, 2026): That night I was afraid for you.") == (
        "That night I was afraid for you."
    )


@pytest.mark.parametrize(
    "reply",
    [
        "You told me the mast broke. Were you hurt?",
        "Tomas, the storm was on a Tuesday, March 3rd. I remember.",
        "The storm! How could I forget?",
        "*She nods.* “You are allergic to peanuts.”\n\nNo satay for you, then.",
        "Tomas is allergic to peanuts.",
        "Tomas said, and I quote, that it was nothing.",
        "- first, the mast\n- then, the night in the office",
        "What Mira remembers is her own affair.",
        "**No.** I will not.",
        "“The mast broke,” you said, and laughed.",
        "**She shouts!** And then (it was in 1999) nothing.",
        "# A poem\n\nTomas said it was good.",
        'Tomas said, "Enough," and left.',
        "- Tomas is out\n- Mira is in",
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_speaking_of_the_same_things_is_no_copy(reply: str, size: int):
    assert filtered(reply, size) == reply


def test_a_plain_fact_is_a_copy_only_below_a_copied_line():
    assert filtered(f"{BULLET}\n{PEANUTS}\nSo, no satay.") == "So, no satay."


def test_words_are_held_back_only_while_they_may_be_a_copy():
    echo = EchoFilter(BLOCK)

    assert echo.feed("Tomas said") == ""
    assert echo.feed(", once upon") == "Tomas said, once upon"
    assert echo.feed(" a time") == " a time"


def test_without_a_block_everything_passes_at_once():
    assert EchoFilter(()).feed("- To") == "- To"


def test_a_continued_line_is_not_taken_for_the_beginning_of_one():
    echo = EchoFilter(BLOCK, at_line_start=False)

    assert echo.feed(f"{PEANUTS}\n") == f"{PEANUTS}\n"


@given(st.text(), st.integers(1, 9))
def test_whatever_is_written_without_the_words_of_the_block_is_shown(text: str, size: int):
    shown = filtered(text, size)

    assert shown == text or any(word in text.casefold() for word in ("tomas", "storm", "background", "the"))
