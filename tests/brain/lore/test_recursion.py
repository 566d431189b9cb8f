"""Entries that activate each other by what they say, and where that ends."""

from __future__ import annotations

from lethe_app.brain.lore.evaluation import LoreLimits
from lethe_app.domain.memory import WordLink
from tests.brain.scenes import entry, evaluate_worlds, names, reasons, turn, world


def chain(length: int, **fields: object):
    """Number 0 speaks of number 1, that of number 2 …"""
    return world(
        *(entry(f"link{number}", content=f"see link{number + 1}") for number in range(length)), recursive=True, **fields
    )


def test_an_entry_activates_another_by_its_text_and_that_is_told():
    evaluation = evaluate_worlds(chain(2), said="link0")

    second = evaluation.activated[1]
    assert names(evaluation) == ["link0", "link1"]
    assert (second.cause, second.key, second.activated_by, second.message_index) == ("recursion", "link1", "link0", None)


def test_a_world_that_is_not_recursive_activates_nothing_and_is_not_activated():
    plain = world(entry("king", content="see queen"), entry("knave"), name="plain")
    linked = world(entry("queen", content="see knave"), recursive=True, name="linked")

    assert names(evaluate_worlds(plain, linked, said="king")) == ["king"]
    assert names(evaluate_worlds(plain, linked, said="queen")) == ["queen"]


def test_recursive_worlds_activate_each_other():
    first = world(entry("king", content="see queen"), recursive=True, name="first")
    second = world(entry("queen"), recursive=True, name="second")

    assert names(evaluate_worlds(first, second, said="king")) == ["king", "queen"]


def test_rounds_are_limited_and_what_would_have_come_next_is_told():
    evaluation = evaluate_worlds(chain(9), said="link0", limits=LoreLimits(max_rounds=3))

    assert names(evaluation) == ["link0", "link1", "link2", "link3"]
    assert reasons(evaluation) == {"link4": "recursion limit"}


def test_without_rounds_nothing_recurs():
    evaluation = evaluate_worlds(chain(3), said="link0", limits=LoreLimits(max_rounds=0))

    assert names(evaluation) == ["link0"]
    assert reasons(evaluation) == {"link1": "recursion limit"}


def test_entries_that_name_each_other_come_once():
    book = world(entry("king", content="queen king"), entry("queen", content="king queen"), recursive=True)

    assert names(evaluate_worlds(book, said="king", limits=LoreLimits(max_rounds=1000))) == ["king", "queen"]


def test_an_entry_can_refuse_to_be_activated_or_to_activate():
    book = world(
        entry("king", content="see queen and knave"),
        entry("queen", exclude_recursion=True),
        entry("knave", content="see ace", prevent_recursion=True),
        entry("ace"),
        recursive=True,
    )

    assert names(evaluate_worlds(book, said="king")) == ["king", "knave"]
    assert names(evaluate_worlds(book, said="queen")) == ["queen"]


def test_an_entry_that_cannot_be_activated_by_texts_does_not_count_their_words_as_secondary_either():
    book = world(
        entry("king", content="crown"), entry("queen", keywords_secondary=["crown"], exclude_recursion=True), recursive=True
    )

    assert reasons(evaluate_worlds(book, said="king, queen")) == {"queen": "secondary"}


def test_a_text_can_bring_the_secondary_keyword_an_entry_was_missing():
    book = world(entry("king", content="His crown."), entry("queen", keywords_secondary=["crown"]), recursive=True)

    evaluation = evaluate_worlds(book, said="king and queen")

    assert names(evaluation) == ["king", "queen"]
    assert reasons(evaluation) == {}


def test_a_delayed_entry_comes_in_its_round_though_its_word_was_said_at_once():
    book = world(
        entry("king", content="nothing"),
        entry("late", "king", delay_until_recursion=2, content="see ace"),
        entry("ace"),
        recursive=True,
    )

    assert names(evaluate_worlds(book, said="king", limits=LoreLimits(max_rounds=3))) == ["ace", "king", "late"]
    too_few = evaluate_worlds(book, said="king", limits=LoreLimits(max_rounds=1))
    assert names(too_few) == ["king"]
    assert reasons(too_few) == {"late": "recursion limit"}


def test_a_delayed_entry_in_a_world_that_is_not_recursive_never_comes():
    evaluation = evaluate_worlds(world(entry("late", delay_until_recursion=1)), said="late")

    assert reasons(evaluation) == {"late": "recursion limit"}


def test_the_budget_serves_the_first_round_first():
    book = world(entry("king", content="see queen", priority=1), entry("queen", content="a b", priority=99), recursive=True)
    limits = LoreLimits(token_budget=2, count_tokens=lambda text: len(text.split()))

    evaluation = evaluate_worlds(book, said="king", limits=limits)

    assert names(evaluation) == ["king"]
    assert reasons(evaluation) == {"queen": "budget"}


def test_the_text_of_an_entry_that_was_skipped_activates_nothing():
    book = world(entry("king", content="see queen", trigger_chance=0), entry("queen"), recursive=True)

    assert names(evaluate_worlds(book, said="king")) == []


def test_macros_in_a_text_are_filled_in_before_it_activates_others():
    book = world(entry("king", content="see {{char}}"), entry("Mira"), recursive=True)
    here = turn(expand=lambda text: text.replace("{{char}}", "Mira"))

    assert names(evaluate_worlds(book, said="king", at=here)) == ["Mira", "king"]


def test_an_exception_heard_in_a_text_keeps_later_entries_inactive():
    book = world(
        entry("king", content="The queen plays chess."),
        entry("queen", keywords_secondary=["chess"], word_link=WordLink.NOT),
        recursive=True,
    )

    evaluation = evaluate_worlds(book, said="king")

    assert names(evaluation) == ["king"]
    assert reasons(evaluation) == {"queen": "secondary"}


def test_what_was_kept_inactive_by_another_rule_is_not_blamed_on_the_limit():
    book = world(entry("king", content="see queen"), entry("queen", trigger_chance=0), recursive=True)

    assert reasons(evaluate_worlds(book, said="king and queen", limits=LoreLimits(max_rounds=0))) == {"queen": "chance"}
