"""A world that wants some of its entries active looks for their words in older messages, and no farther than it may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.lore.compiled import LoreIndex
from lethe_app.brain.lore.evaluation import LoreLimits
from lethe_app.domain.worldinfo import World
from tests.brain.memories import quick
from tests.brain.scenes import entry, evaluate_worlds, names, one, reasons, turn, window, world

COURT = ("king", "queen", "page", "fool")
TALK = ("nothing", "the king", "nothing", "the queen", "the page", "the fool")
"""Newest first: the king at a distance of 2, the queen at 4."""


def court(*more: object, **fields: object):
    return world(*map(entry, COURT), *more, **{"scan_depth": 1, **fields})


def test_the_bench_is_told_where_the_word_was_said():
    assert one(evaluate_worlds(court(min_activations=1), said=window("Well?", *TALK))).message_index == 2


def test_it_looks_no_farther_than_it_may():
    book = court(min_activations=4, max_depth=4)

    assert set(names(evaluate_worlds(book, said=window("Well?", *TALK)))) == {"king", "queen"}
    assert LoreIndex([book]).max_scan_depth == 4


def test_an_entry_with_a_depth_of_its_own_keeps_to_it():
    book = court(entry("hermit", "queen", scan_depth=0), min_activations=4)

    assert "hermit" not in names(evaluate_worlds(book, said=window("Well?", *TALK)))


def test_it_activates_no_more_of_another_world():
    other = world(entry("jester", "queen"), scan_depth=1)

    assert "jester" not in names(evaluate_worlds(other, court(min_activations=4), said=window("Well?", *TALK)))


def test_a_secondary_word_may_stand_farther_back_than_the_first():
    book = court(entry("throne", "well", keywords_secondary=["queen"], word_link="and_all"), min_activations=3)

    assert set(names(evaluate_worlds(book, said=window("Well?", *TALK)))) == {"king", "queen", "throne"}


def test_what_activates_late_activates_others_by_its_text():
    book = world(
        entry("queen", content="Her falcon waits."), entry("falcon", "falcon"), scan_depth=1, min_activations=1, recursive=True
    )

    assert set(names(evaluate_worlds(book, said=window("Well?", *TALK)))) == {"queen", "falcon"}


def test_the_other_rules_hold_there_too():
    book = world(
        entry("king", enabled=False), entry("queen", content="word " * 50), entry("page"), scan_depth=1, min_activations=2
    )

    evaluation = evaluate_worlds(
        book, said=window("Well?", *TALK), limits=LoreLimits(token_budget=9, count_tokens=lambda text: len(text.split()))
    )

    assert names(evaluation) == ["page"]
    assert reasons(evaluation) == {"king": "disabled", "queen": "budget"}


def test_constant_entries_count():
    assert names(evaluate_worlds(court(entry("crown", sticky=True), min_activations=1), said=window("Well?", *TALK))) == [
        "crown"
    ]


@quick
@given(
    st.integers(0, 6), st.integers(0, 8), st.integers(0, 5), st.lists(st.sampled_from([*TALK, "king and queen"]), max_size=8)
)
def test_whatever_it_wants_it_gets_the_nearest_and_never_too_few(least: int, deepest: int, depth: int, conversation: list[str]):
    book = court(min_activations=least, max_depth=deepest, scan_depth=depth)

    active = set(names(evaluate_worlds(book, said=window("Well?", *conversation), at=turn())))

    places = {name: next((far for far, text in enumerate(conversation, 1) if name in text), 99) for name in COURT}
    near = {name for name, far in places.items() if far <= depth}
    within = {name for name, far in places.items() if far <= max(depth, deepest if least else 0)}
    assert near <= active <= within
    assert len(active) >= min(least, len(within))
    if active > near:  # the farthest was needed
        farthest = max(places[name] for name in active)
        assert len({name for name in active if places[name] < farthest}) < least


def test_files_of_earlier_versions_are_read_and_written_with_the_names_of_today():
    book = World.model_validate({"name": "Court", "least_awake": 3, "deepest_scan": 9})

    assert (book.min_activations, book.max_depth) == (3, 9)
    assert {"min_activations": 3, "max_depth": 9}.items() <= book.model_dump().items()
    assert World.model_validate(book.model_dump()) == book
