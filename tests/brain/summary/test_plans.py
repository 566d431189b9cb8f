"""What somebody means to do, told from what is only said in that form."""

from __future__ import annotations

import pytest

from lethe_app.brain.summary.digest import build_digest
from tests.brain.conversations import PORTO, conversation


def goals(*lines: str) -> tuple[str, ...]:
    return build_digest(conversation(*lines)).goals


def test_plans_wishes_and_reminders_are_kept_with_their_speaker():
    assert build_digest(PORTO).goals == (
        "Tomas: I'm moving to Porto in May",
        "Tomas: we want to take the ferry together",
        "Mira: Shall we try the lighthouse tomorrow?",
        "Tomas: Remind me to bring the old camera",
    )


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Yeah, I think we should try the lighthouse tomorrow.", "we should try the lighthouse tomorrow"),
        ("I'll call my sister this weekend, so don't worry.", "I'll call my sister this weekend"),
        ("Can you remind me to water the tomatoes?! I'm planning a trip to Faro.", "I'm planning a trip to Faro"),
        ("I’d love to learn the violin but I have no time.", "I'd love to learn the violin"),
        ("Next time, let's bring the telescope.", "Next time, let's bring the telescope"),
        ("Ich werde die alte Kamera mitbringen.", "Ich werde die alte Kamera mitbringen"),
        ("Ich werde im Sommer die alte Kamera mitbringen…", "Ich werde im Sommer die alte Kamera mitbringen"),
        ("Je vais t’appeler demain pour cos et id", "Je vais t'appeler demain pour cos et id"),
        ("im moving to Porto in May…", "I'm moving to Porto in May"),
        ("明日、灯台に行きましょう", "明日、灯台に行きましょう"),
    ],
)
def test_a_goal_is_the_clause_that_says_it(text: str, goal: str):
    assert goals(f"Tomas: {text}") == (f"Tomas: {goal}",)


@pytest.mark.parametrize(
    "text",
    [
        "I'll be honest with you about the harbour.",
        "Let's see how the harbour looks.",
        "I'll definitely let you know about the harbour.",
        "That is the harbour I want to paint.",
        "Those songs remind me of the harbour in winter.",
        "I'm not going to the harbour today.",
        "Should I call the harbour tomorrow?",
        "We'll make it happen, let's do it!",
        "I have to say the harbour is lovely.",
    ],
)
def test_what_only_sounds_like_a_plan_is_none(text: str):
    assert goals(f"Tomas: {text}") == ()


def test_an_offer_counts_only_when_the_other_one_agrees():
    assert goals("Mira: Shall we visit the observatory?", "Tomas: Sure, why not.") == ("Mira: Shall we visit the observatory?",)
    assert goals("Mira: Shall we visit the observatory?", "Tomas: I'm tired.") == ()


def test_there_are_at_most_five_those_with_a_time_first_and_none_twice():
    many = [f"Tomas: I want to {verb} the {thing} of my uncle." for verb, thing in zip("abcdefg", "opqrstu", strict=True)]

    found = goals(*many, "Tomas: I'll paint the fence tomorrow.", "Tomas: Yes, I'll paint the fence tomorrow.")

    assert len(found) <= 5
    assert found.count("Tomas: I'll paint the fence tomorrow") == 1


def test_what_is_played_is_no_goal():
    assert goals("Tomas: *I'll burn down the tower tomorrow, he thinks*", "Mira: Hm.") == ()


def test_a_long_goal_is_cut_between_words():
    (goal,) = goals("Tomas: I'm going to " + "paint the northern harbour wall and " * 8 + "rest.")

    assert len(goal) < 125
    assert goal.endswith("…")
    assert " " not in goal[-2:]
