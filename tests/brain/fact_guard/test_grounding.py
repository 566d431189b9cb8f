"""A fact may say nothing that its sources do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.fact_guard.grounding import is_grounded

NAMES = ("Tomas", "Mira")


@pytest.mark.parametrize(
    ("fact", "source"),
    [
        ("Tomas is allergic to peanuts.", "btw I'm allergic to peanuts!"),
        ("Tomas lives in Lisbon.", "I've been living in Lisbon for a while."),
        ("Tomas doesn't eat meat.", "i dont eat meat"),
        ("Tomas has three brothers.", "I have 3 brothers"),
        ("Tomas ran a marathon on 10 March 2025.", "I ran a marathon yesterday."),
        ("Tomas's cat is called Whiskers.", "My cat? Whiskers."),
        ("Tomas's exam is on 14 June 2025.", "My exam is on the fourteenth of June."),
    ],
)
def test_what_was_said_is_grounded(fact: str, source: str):
    assert is_grounded(fact, [source], NAMES)


@pytest.mark.parametrize(
    ("fact", "source"),
    [
        ("Tomas is allergic to walnuts.", "I'm allergic to peanuts."),
        ("Tomas is a surgeon in Lisbon.", "I live in Lisbon."),
        ("Tomas eats meat.", "I don't eat meat."),
        ("Tomas does not eat meat.", "I eat meat."),
        ("Tomas moved on 10 March 2025.", "I moved."),
        ("Tomas's exam is on 15 June 2025.", "My exam is on the fourteenth of June."),
        ("Tomas.", "I'm Tomas."),
        ("Tomas likes tea.", ""),
    ],
)
def test_what_was_not_said_is_not_grounded(fact: str, source: str):
    assert not is_grounded(fact, [source], NAMES)


def test_several_sources_may_share_a_fact():
    sources = ["What's your cat called?", "Whiskers."]

    assert is_grounded("Tomas's cat is called Whiskers.", sources, NAMES)
    assert not is_grounded("Tomas's cat is called Whiskers.", sources[:1], NAMES)


def test_a_denial_elsewhere_does_not_turn_a_fact_round():
    sources = ["I don't eat meat. I love cheese."]

    assert is_grounded("Tomas loves cheese.", sources, NAMES)
    assert not is_grounded("Tomas doesn't love cheese.", sources, NAMES)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_can_be_judged(fact: str, sources: list[str]):
    assert is_grounded(fact, sources, NAMES) in {True, False}
