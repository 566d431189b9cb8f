"""Corrections are heard as corrections, and what is told, asked or played is not."""

from __future__ import annotations

import pytest

from lethe_app.brain.dreams.corrections import UNNAMED_BEHAVIOUR, CorrectionStrength, find_corrections, is_alike

STRONG, MILD, CASUAL = CorrectionStrength.STRONG, CorrectionStrength.MILD, CorrectionStrength.CASUAL


@pytest.mark.parametrize(
    ("said", "strength", "unwanted"),
    [
        ("Don't do that.", MILD, UNNAMED_BEHAVIOUR),
        ("Stop it!", MILD, UNNAMED_BEHAVIOUR),
        ("I told you not to.", STRONG, UNNAMED_BEHAVIOUR),
        ("I told you not to call me Tommy!", STRONG, "call me Tommy"),
        ("I've already asked you not to call me that.", STRONG, "call me that"),
        ("Please don’t call me Tommy.", MILD, "call me Tommy"),
        ("Stop calling me Tommy, call me Tom instead.", MILD, "go on calling me Tommy"),
        ("Enough with the poetry.", STRONG, "go on with the poetry"),
        ("Never ask me about my father again.", STRONG, "ask me about my father again"),
        ("DON'T CALL ME TOMMY", STRONG, "CALL ME TOMMY"),
        ("I hate it when you apologise.", STRONG, "apologise"),
        ("I don't like it when you apologise so much.", MILD, "apologise so much"),
        ("Could you not use emojis?", CASUAL, "use emojis"),
        ("I'd prefer shorter answers.", CASUAL, ""),
        ("Maybe a bit shorter next time.", CASUAL, ""),
        ("Keep it short.", MILD, ""),
        ("I told you to keep it short.", STRONG, ""),
    ],
)
def test_a_correction_is_heard_with_what_it_forbids_and_how_it_was_said(said: str, strength: CorrectionStrength, unwanted: str):
    (one,) = find_corrections(f"The tea is cold. {said}")

    assert (one.strength, one.unwanted) == (strength, unwanted)


@pytest.mark.parametrize(
    "said",
    [
        "Don't worry.",
        "Don't go!",
        "Don't you think so?",
        "He said “don't do that” and left.",
        "*Don't say that*, she thinks.",
        "I prefer tea.",
        "Call me tomorrow.",
        "The weather is nice.",
        "Don't make me laugh.",
        "I stopped calling him.",
    ],
)
def test_what_is_no_preference_about_the_conversation_is_ignored(said: str):
    assert find_corrections(said) == []


def test_what_is_wanted_in_its_place_is_heard_too():
    (one,) = find_corrections("Don't use emojis, just words.")

    assert (one.unwanted, one.instead) == ("use emojis", "words")


def test_two_ask_for_the_same_where_they_share_the_words_that_carry_them():
    short, shorter, tommy, named, poetry = (
        find_corrections(said)[0]
        for said in (
            "Keep it short.",
            "Maybe shorter answers next time.",
            "Don't call me Tommy.",
            "Stop calling me Tommy!",
            "No more poetry please.",
        )
    )

    assert is_alike(short, shorter)
    assert is_alike(tommy, named)
    assert not is_alike(short, poetry)
    assert not is_alike(tommy, poetry)


def test_two_complaints_that_name_nothing_are_not_the_same():
    one, other = find_corrections("Don't do that. Stop it!")

    assert not is_alike(one, other)
