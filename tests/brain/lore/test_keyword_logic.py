"""What the links between main and secondary keywords mean, row by row."""

from __future__ import annotations

import pytest

from lethe_app.domain.memory import WordLink
from tests.brain.scenes import entry, evaluate_worlds, names, reasons, world

AND, AND_ALL, OR, NOT, NOT_ALL = WordLink.AND, WordLink.AND_ALL, WordLink.OR, WordLink.NOT, WordLink.NOT_ALL


@pytest.mark.parametrize(
    ("link", "said", "expected"),
    [
        (AND, "king", False),
        (AND, "king crown", True),
        (AND, "crown", False),
        (AND_ALL, "king crown", False),
        (AND_ALL, "king crown sceptre", True),
        (AND_ALL, "crown sceptre", False),
        (OR, "king", True),
        (OR, "sceptre", True),
        (OR, "cabbage", False),
        (NOT, "king", True),
        (NOT, "king sceptre", False),
        (NOT, "cabbage", False),
        (NOT_ALL, "king", True),
        (NOT_ALL, "king crown", True),
        (NOT_ALL, "king crown sceptre", False),
        (NOT_ALL, "crown", False),
    ],
)
def test_a_link_joins_two_lists_of_keywords(link: WordLink, said: str, expected: bool):
    book = world(entry("king", keywords_secondary=["crown", "sceptre"], word_link=link))

    assert names(evaluate_worlds(book, said=said)) == (["king"] if expected else [])


@pytest.mark.parametrize("link", WordLink)
@pytest.mark.parametrize("secondary", [[], ["", "  "]])
def test_without_secondary_keywords_every_link_is_no_condition(link: WordLink, secondary: list[str]):
    book = world(entry("king", keywords_secondary=secondary, word_link=link))

    assert names(evaluate_worlds(book, said="the king")) == ["king"]
    assert names(evaluate_worlds(book, said="the queen")) == []


@pytest.mark.parametrize(
    ("link", "activated_by"),
    [
        (AND, {"crown", "crown sceptre"}),
        (OR, {"crown", "crown sceptre"}),
        (AND_ALL, {"crown sceptre"}),
        (NOT, {"cabbage"}),
        (NOT_ALL, {"cabbage", "crown"}),
    ],
)
def test_secondary_keywords_alone_are_a_condition_of_their_own(link: WordLink, activated_by: set[str]):
    book = world(entry("regalia", keywords_main=[], keywords_secondary=["crown", "sceptre"], word_link=link))

    for said in ("cabbage", "crown", "crown sceptre"):
        assert bool(names(evaluate_worlds(book, said=said))) is (said in activated_by), said


def test_what_activates_because_something_was_not_said_says_so():
    book = world(entry("silence", keywords_main=[], keywords_secondary=["noise"], word_link=NOT))

    (activated,) = evaluate_worlds(book, said="nothing").activated

    assert (activated.cause, activated.key, activated.message_index) == ("absence", "", None)


@pytest.mark.parametrize("link", WordLink)
def test_an_entry_without_keywords_never_activates_by_words(link: WordLink):
    assert names(evaluate_worlds(world(entry("mute", keywords_main=[], word_link=link)), said="mute")) == []


def test_an_entry_held_back_by_its_secondary_keywords_is_reported():
    book = world(entry("king", keywords_secondary=["crown"]), entry("queen", keywords_secondary=["chess"], word_link=NOT))

    assert reasons(evaluate_worlds(book, said="king and queen play chess")) == {"king": "secondary", "queen": "secondary"}


def test_an_entry_nobody_mentioned_is_not_reported():
    book = world(entry("king", keywords_secondary=["crown"]), entry("queen", enabled=False))

    assert reasons(evaluate_worlds(book, said="a crown")) == {}
