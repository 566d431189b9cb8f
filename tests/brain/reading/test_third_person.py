"""What somebody says of themselves becomes a sentence about them, with a name in place of “I” and verbs that agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.reading.third_person import rewrite_in_third_person


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("I'm allergic to peanuts", "Tomas is allergic to peanuts."),
        ("i am a nurse", "Tomas is a nurse."),
        ("I was born in Porto.", "Tomas was born in Porto."),
        ("I've never seen snow", "Tomas has never seen snow."),
        ("I have two sisters!", "Tomas has two sisters."),
        ("I don't eat meat", "Tomas doesn't eat meat."),
        ("i dont eat meat", "Tomas doesn't eat meat."),
        ("I can't swim", "Tomas can't swim."),
        ("I'll be in Lisbon in May", "Tomas will be in Lisbon in May."),
        ("I study law", "Tomas studies law."),
        ("I teach maths and coach a team", "Tomas teaches maths and coaches a team."),
        ("I always go by train", "Tomas always goes by train."),
        ("I ran a marathon", "Tomas ran a marathon."),
        ("I need glasses", "Tomas needs glasses."),
        ("I been wanting a boat", "Tomas has been wanting a boat."),
        ("I best get to bed", "Tomas had best get to bed."),
        ("I no longer work as a nurse", "Tomas no longer works as a nurse."),
        ("I still no longer have a car", "Tomas still no longer has a car."),
    ],
)
def test_verbs_agree_with_the_name(said: str, known: str):
    assert rewrite_in_third_person(said, "Tomas") == known


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("My sister Ana lives in Lisbon", "Tomas's sister Ana lives in Lisbon."),
        ("The blue boat is mine", "The blue boat is Tomas's."),
        ("My aunt raised me", "Tomas's aunt raised Tomas."),
        ("I live by myself", "Tomas lives alone."),
        ("My wife and I have a boat", "Tomas and their wife have a boat."),
        ("My wife and I sold our boat", "Tomas and their wife sold their boat."),
        ("I mend clocks, and I do The Times crossword", "Tomas mends clocks, and they do The Times crossword."),
        ("I moved to Porto and I love it", "Tomas moved to Porto and they love it."),
        ("My uncle is ill, and I do his shopping", "Tomas's uncle is ill, and Tomas does his shopping."),
        ("My dad drives and I'm scared of cars", "Tomas's dad drives and Tomas is scared of cars."),
        ("Last year Ana and I moved to Rome", "Last year Ana and Tomas moved to Rome."),
        ("I met my husband when I lived in Rome", "Tomas met their husband when they lived in Rome."),
        ("I ran my first marathon", "Tomas ran their first marathon."),
        ("I play my grandfather's cello", "Tomas plays their grandfather's cello."),
        ("I have my first exam in May", "Tomas has their first exam in May."),
        ("I have my sister's wedding in May", "Tomas has their sister's wedding in May."),
        ("I live with a friend of mine", "Tomas lives with a friend of theirs."),
        ("I've had insomnia since I was a kid", "Tomas has had insomnia since they were a kid."),
        ("I moved in with my aunts when I was six", "Tomas moved in with their aunts when Tomas was six."),
        (
            "My brother was born in my old room when I was six",
            "Tomas's brother was born in Tomas's old room when Tomas was six.",
        ),
        ("Fishing is my favourite hobby", "Fishing is Tomas's favourite hobby."),
        ("I read about the US in World War I", "Tomas reads about the US in World War I."),
    ],
)
def test_every_pronoun_gets_the_right_name(said: str, known: str):
    assert rewrite_in_third_person(said, "Tomas") == known


@pytest.mark.parametrize("said", ["Am I late?", "", "...", "I like you", "We're moving"])
def test_what_cannot_be_told_of_somebody_is_refused(said: str):
    assert rewrite_in_third_person(said, "Tomas") is None


@given(st.text(), st.sampled_from(["Tomas", "José", r"\1", "Ana (the first)"]))
def test_any_text_can_be_rewritten_or_refused(said: str, speaker: str):
    known = rewrite_in_third_person(said, speaker)

    assert known is None or (known.endswith(".") and "\n" not in known)
