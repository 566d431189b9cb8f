"""At most one entry of a group is there: who it is, and what becomes of the others."""

from __future__ import annotations

from collections import Counter

from lethe_app.brain.lore.evaluation import LoreLimits
from lethe_app.brain.lore.state import LoreState
from tests.brain.scenes import entry, evaluate_worlds, names, one, reasons, turn, world

WEATHER = ("sun", "rain", "fog")


def member(name: str, **fields: object):
    return entry(name, "weather", groups=["Weather"], **fields)


def test_one_of_a_group_comes_and_the_others_are_told_who_it_was():
    evaluation = evaluate_worlds(world(*map(member, WEATHER)), said="weather")

    winner = one(evaluation).entry.name
    assert reasons(evaluation) == {name: "group" for name in WEATHER if name != winner}
    assert all(blocked.values["winner"] == winner for blocked in evaluation.blocked)


def test_names_of_groups_are_compared_loosely():
    book = world(
        entry("sun", "weather", groups=[" WEATHER", ""]), entry("rain", "weather", groups=["weather"]), entry("x", "weather")
    )

    assert len(evaluate_worlds(book, said="weather").activated) == 2


def test_weight_decides_how_often_each_is_drawn():
    book = world(member("sun", group_weight=300), member("rain", group_weight=100), member("never", group_weight=0))

    drawn = Counter(names(evaluate_worlds(book, said="weather", at=turn(number)))[0] for number in range(600))

    assert 0.68 < drawn["sun"] / 600 < 0.82
    assert drawn["never"] == 0


def test_the_draw_is_the_same_for_the_same_turn_however_the_book_is_sorted():
    book, turned = world(*map(member, WEATHER)), world(*map(member, reversed(WEATHER)))

    for number in range(20):
        assert names(evaluate_worlds(book, said="weather", at=turn(number))) == names(
            evaluate_worlds(turned, said="weather", at=turn(number))
        )


def test_without_any_weight_there_is_still_one():
    assert len(evaluate_worlds(world(*(member(name, group_weight=0) for name in WEATHER)), said="weather").activated) == 1


def test_override_comes_before_weight_and_among_several_the_highest_order():
    book = world(
        member("heavy", group_weight=10_000),
        member("low", group_override=True, order=1),
        member("high", group_override=True, order=2),
    )

    assert {tuple(names(evaluate_worlds(book, said="weather", at=turn(number)))) for number in range(20)} == {("high",)}


def test_the_member_that_is_still_active_wins_even_over_override():
    book = world(member("rain", duration=3), entry("sun", "sunny", groups=["weather"], group_override=True))

    first = evaluate_worlds(book, said="weather", at=turn(1))
    second = evaluate_worlds(book, said="sunny", at=turn(2), state=first.state)

    assert names(first) == names(second) == ["rain"]
    assert reasons(second) == {"sun": "group"}


def test_a_member_without_luck_leaves_its_place_to_others():
    book = world(member("sun", trigger_chance=0, group_override=True), member("rain"))

    assert names(evaluate_worlds(book, said="weather")) == ["rain"]


def test_a_winner_too_big_for_the_budget_leaves_its_place_to_a_rival():
    book = world(member("big", group_override=True, content="word " * 50), member("small", content="word"))

    evaluation = evaluate_worlds(
        book, said="weather", limits=LoreLimits(token_budget=5, count_tokens=lambda text: len(text.split()))
    )

    assert names(evaluation) == ["small"]
    assert reasons(evaluation) == {"big": "budget"}


def test_an_entry_of_two_groups_must_win_both_and_blocks_neither_when_it_loses():
    book = world(
        entry("both", "weather", groups=["a", "b"], group_override=True),
        entry("only a", "weather", groups=["a"]),
        entry("only b", "weather", groups=["b"], group_override=True, order=999),
    )

    evaluation = evaluate_worlds(book, said="weather")

    assert names(evaluation) == ["only a", "only b"]
    assert reasons(evaluation) == {"both": "group"}


def test_who_came_in_an_earlier_round_keeps_the_place():
    book = world(
        entry("king", content="The sun!", groups=["sky"]),
        entry("sun", groups=["sky"], group_override=True),
        recursive=True,
    )

    evaluation = evaluate_worlds(book, said="king", state=LoreState())

    assert names(evaluation) == ["king"]
    assert reasons(evaluation) == {"sun": "group"}


# By how many of their keywords were said


def scorer(name: str, *keys: str, **fields: object):
    return entry(name, "weather", *keys, groups=["Weather"], **{"group_scoring": True, **fields})


def test_among_those_that_score_the_one_with_the_most_keys_comes_every_time():
    book = world(scorer("sun", "bright", "hot"), scorer("rain", "wet", group_weight=10_000), scorer("fog"))

    for number in range(20):
        evaluation = evaluate_worlds(book, said="Bright weather, and hot!", at=turn(number))
        assert names(evaluation) == ["sun"]
    details = {blocked.entry.name: blocked.values for blocked in evaluation.blocked}
    assert details["rain"] == {"winner": "sun", "group": "weather", "more": 3, "fewer": 1}


def test_a_world_can_say_so_for_all_its_entries_and_an_entry_otherwise():
    def plain(name: str, *keys: str, **fields: object):
        return scorer(name, *keys, **{"group_scoring": None, **fields})

    book = world(plain("sun", "bright"), plain("rain"), group_scoring=True)
    assert {names(evaluate_worlds(book, said="bright weather", at=turn(number)))[0] for number in range(20)} == {"sun"}

    stubborn = world(plain("sun", "bright"), plain("rain", group_scoring=False), group_scoring=True)
    assert {names(evaluate_worlds(stubborn, said="bright weather", at=turn(number)))[0] for number in range(40)} == {
        "sun",
        "rain",
    }


def test_among_as_many_keys_chance_decides():
    book = world(scorer("sun", "bright"), scorer("rain", "wet"))

    drawn = {names(evaluate_worlds(book, said="bright, wet weather", at=turn(number)))[0] for number in range(40)}

    assert drawn == {"sun", "rain"}


def test_override_decides_only_among_those_with_the_most_keys():
    book = world(scorer("sun", "bright"), scorer("rain", "wet", group_override=True))

    assert names(evaluate_worlds(book, said="bright weather")) == ["sun"]
    assert names(evaluate_worlds(book, said="bright, wet weather")) == ["rain"]


def test_one_that_is_still_active_stays_however_few_of_its_keys_are_said():
    book = world(scorer("rain", duration=3), scorer("sun", "bright", "hot"))

    first = evaluate_worlds(world(scorer("rain", duration=3)), said="weather", at=turn(1))
    second = evaluate_worlds(book, said="bright, hot weather", at=turn(2), state=first.state)

    assert names(second) == ["rain"]


def test_secondary_keys_count_and_forbidden_ones_do_not():
    book = world(
        scorer("sun", keywords_secondary=["bright"], word_link="and"),
        scorer("rain", keywords_secondary=["dry", "hot"], word_link="not_all"),
    )

    evaluation = evaluate_worlds(book, said="bright, hot weather")

    assert names(evaluation) == ["sun"]
    assert reasons(evaluation) == {"rain": "group"}


def test_too_big_for_the_budget_it_leaves_its_place_to_one_with_fewer_keys():
    book = world(scorer("sun", "bright", content="word " * 50), scorer("rain", content="word"))

    evaluation = evaluate_worlds(
        book, said="bright weather", limits=LoreLimits(token_budget=5, count_tokens=lambda text: len(text.split()))
    )

    assert names(evaluation) == ["rain"]
