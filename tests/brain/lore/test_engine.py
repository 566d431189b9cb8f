"""Which entries fire in a turn, and what every one of them, fired or blocked, tells about why."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from lethe_app.brain.lore.evaluation import LoreLimits
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import Alternative, Message, Role
from lethe_app.domain.memory import MemoryInsertion
from tests.brain.scenes import MOMENT, entry, evaluate_worlds, names, one, reasons, the_block, turn, window, world


def message(text: str, role: Role = Role.USER, *, hidden: bool = False) -> Message:
    return Message(session_id=uuid4(), role=role, hidden=hidden, alternatives=[Alternative(content=text)])


# --- where words are looked for -------------------------------------------------------------------------------------------


def test_the_first_message_of_a_session_is_searched():
    assert names(evaluate_worlds(world(entry("king")), said=ScanWindow.from_history([], "Tell me of the king"))) == ["king"]


def test_the_greeting_is_searched_when_nothing_was_sent():
    greeting = message("The king greets you", Role.ASSISTANT)

    assert names(evaluate_worlds(world(entry("king")), said=ScanWindow.from_history([greeting]))) == ["king"]


def test_hidden_and_system_messages_are_not_searched_and_take_no_depth():
    history = [
        message("the king", Role.ASSISTANT),
        message("a queen", Role.SYSTEM),
        message("a queen", Role.TOOL),
        message("a queen", Role.USER, hidden=True),
    ]
    book = world(entry("king"), entry("queen"), scan_depth=1)

    assert names(evaluate_worlds(book, said=ScanWindow.from_history(history, "hello"))) == ["king"]


@pytest.mark.parametrize(("depth", "expected"), [(0, []), (1, []), (2, ["king"]), (3, ["king"])])
def test_a_world_says_how_many_messages_are_searched(depth: int, expected: list[str]):
    assert names(evaluate_worlds(world(entry("king"), scan_depth=depth), said=window("hello", "hm", "the king"))) == expected


def test_an_entry_may_look_farther_or_less_far_than_its_world():
    book = world(entry("far", "king", scan_depth=2), entry("near", "king", scan_depth=0), entry("king"), scan_depth=1)

    assert names(evaluate_worlds(book, said=window("hello", "hm", "the king"))) == ["far"]


def test_the_alternative_on_display_is_what_was_said():
    reply = message("the king", Role.ASSISTANT)
    reply.alternatives.append(Alternative(content="the queen"))
    reply.shown = 1

    assert names(evaluate_worlds(world(entry("king"), entry("queen")), said=ScanWindow.from_history([reply]))) == ["queen"]


def test_what_fired_tells_which_keyword_in_which_message():
    history = [message("the monarch"), message("A KING", Role.ASSISTANT)]
    book = world(entry("king", "Monarch", "King"), scan_depth=4)

    activated = one(evaluate_worlds(book, said=ScanWindow.from_history(history, "hm")))

    assert (activated.key, activated.message_index, activated.message_id, activated.cause) == ("King", 1, history[1].id, "key")
    assert activated.world is book


def test_a_keyword_in_the_text_being_sent_has_index_nought_and_no_stored_message():
    activated = one(evaluate_worlds(world(entry("king")), said=window("king", "king")))

    assert (activated.message_index, activated.message_id) == (0, None)


def test_a_text_being_sent_that_is_stored_already_is_named():
    sent = message("king")

    assert one(evaluate_worlds(world(entry("king")), said=ScanWindow.from_history([], sent))).message_id == sent.id


# --- which entries take part ----------------------------------------------------------------------------------------------


def test_a_constant_entry_needs_no_word():
    activated = one(evaluate_worlds(world(entry("law", sticky=True, keywords_secondary=["x"]))))

    assert (activated.cause, activated.key) == ("constant", "")


def test_an_entry_switched_off_is_reported_only_when_mentioned():
    book = world(entry("king", enabled=False), entry("queen", enabled=False))

    assert reasons(evaluate_worlds(book, said="king")) == {"king": "disabled"}


def test_an_entry_waits_for_its_time_and_ends_with_it():
    later, past = MOMENT + timedelta(minutes=1), MOMENT - timedelta(minutes=1)
    book = world(
        entry("not yet", "king", added=later),
        entry("over", "king", end_time=past),
        entry("just over", "king", end_time=MOMENT),
        entry("just begun", "king", added=MOMENT, end_time=later),
        entry("constant", sticky=True, added=later),
    )

    evaluation = evaluate_worlds(book, said="king")

    assert names(evaluation) == ["just begun"]
    assert reasons(evaluation) == dict.fromkeys(("not yet", "over", "just over", "constant"), "not due")


def test_only_entries_inserted_by_trigger_take_part():
    book = world(*(entry(kind.value, "king", insertion=kind) for kind in MemoryInsertion))

    assert names(evaluate_worlds(book, said="king")) == ["trigger"]


def test_several_worlds_are_one_and_a_repeated_entry_counts_once():
    mine = world(entry("king", content="mine"), name="mine")
    theirs = world(entry("king", content="theirs"), entry("queen"), name="theirs")

    evaluation = evaluate_worlds(mine, theirs, mine, said="king and queen")

    assert names(evaluation) == ["king", "queen"]
    assert evaluation.activated[0].entry.content == "mine"


def test_entries_stand_by_order_and_then_the_more_important_later():
    book = world(
        entry("last", "king", order=200, priority=0),
        entry("third", "king", priority=9),
        entry("second", "king", priority=3),
        entry("first", "king", order=1, priority=99),
    )

    assert names(evaluate_worlds(book, said="king")) == ["first", "second", "third", "last"]


# --- chance, delay --------------------------------------------------------------------------------------------------------


def test_chance_falls_the_same_for_the_same_turn_and_otherwise_as_often_as_it_should():
    book = world(entry("king", trigger_chance=0.3))
    turns = [turn(number) for number in range(1, 601)]

    activated = [bool(evaluate_worlds(book, said="king", at=each).activated) for each in turns]

    assert activated == [bool(evaluate_worlds(book, said="king", at=each).activated) for each in turns]
    assert 0.24 < sum(activated) / len(activated) < 0.36
    assert activated != [
        bool(evaluate_worlds(book, said="king", at=turn(each.number, seed="another")).activated) for each in turns
    ]


def test_chance_does_not_depend_on_what_else_is_in_the_book():
    alone = [
        names(evaluate_worlds(world(entry("king", trigger_chance=0.5)), said="king", at=turn(number))) for number in range(40)
    ]
    others = [entry(f"page {number}", "king", trigger_chance=0.5) for number in range(5)]
    crowd = world(*others, entry("king", trigger_chance=0.5))

    assert alone == [
        [name for name in names(evaluate_worlds(crowd, said="king", at=turn(number))) if name == "king"] for number in range(40)
    ]


def test_entries_have_luck_of_their_own_and_a_message_that_replaces_another_has_new_luck():
    book = world(*(entry(str(number), "king", trigger_chance=0.5) for number in range(40)))

    lucky = names(evaluate_worlds(book, said="king", at=turn(1)))

    assert 8 < len(lucky) < 32
    assert lucky != names(evaluate_worlds(book, said="king", at=turn(1, id="another message")))
    assert lucky == names(evaluate_worlds(book, said="king", at=turn(2, id="turn 1")))


def test_an_entry_without_a_chance_is_never_active_and_says_so():
    block = the_block(evaluate_worlds(world(entry("king", trigger_chance=0)), said="king"))

    assert block.reason == "chance"
    assert block.key == "king"
    assert block.values["chance"] == 0


@pytest.mark.parametrize(("message_count", "is_activated"), [(0, False), (4, False), (5, True), (6, True)])
def test_a_delayed_entry_waits_until_enough_was_said(message_count: int, is_activated: bool):
    evaluation = evaluate_worlds(world(entry("king", delay=5)), said="king", at=turn(1, message_count=message_count))

    assert bool(evaluation.activated) is is_activated
    assert reasons(evaluation) == ({} if is_activated else {"king": "delay"})


# --- problems -------------------------------------------------------------------------------------------------------------


def test_a_broken_keyword_leaves_the_others_of_the_entry_alone():
    assert names(evaluate_worlds(world(entry("king", "/(/", "king")), said="the king")) == ["king"]


# --- budget ---------------------------------------------------------------------------------------------------------------


def words(count: int) -> str:
    return " ".join(["word"] * count)


def by_words(tokens: int | None) -> LoreLimits:
    return LoreLimits(token_budget=tokens, count_tokens=lambda text: len(text.split()))


def test_an_entry_too_big_is_skipped_and_smaller_ones_still_come():
    book = world(
        entry("important", "king", priority=9, content=words(5)),
        entry("big", "king", priority=8, content=words(50)),
        entry("small", "king", priority=1, content=words(5)),
    )

    evaluation = evaluate_worlds(book, said="king", limits=by_words(10))

    assert names(evaluation) == ["small", "important"]
    assert evaluation.tokens == 10
    assert the_block(evaluation).reason == "budget"
    assert the_block(evaluation).values == {"cost": 50, "left": 5}


def test_constant_entries_are_paid_for_first_then_by_priority_then_by_order():
    book = world(
        entry("later", "king", order=200, content=words(5)),
        entry("earlier", "king", order=100, content=words(5)),
        entry("constant", sticky=True, priority=0, content=words(5)),
    )

    assert names(evaluate_worlds(book, said="king", limits=by_words(10))) == ["constant", "later"]
    assert names(evaluate_worlds(book, said="king", limits=by_words(5))) == ["constant"]


def test_an_entry_may_be_above_the_budget():
    book = world(entry("free", "king", ignore_budget=True, content=words(99)), entry("king", content=words(5)))

    evaluation = evaluate_worlds(book, said="king", limits=by_words(5))

    assert set(names(evaluation)) == {"free", "king"}
    assert evaluation.tokens == 104


def test_a_world_has_a_budget_of_its_own_within_the_common_one():
    small = world(entry("a", "king", content=words(5)), entry("b", "king", content=words(5)), name="small", token_budget=5)
    other = world(entry("c", "king", content=words(5)), name="other")

    assert len(names(evaluate_worlds(small, other, said="king", limits=by_words(None)))) == 2
    assert len(names(evaluate_worlds(small, other, said="king", limits=by_words(5)))) == 1


def test_without_a_budget_all_come():
    assert evaluate_worlds(world(entry("king", content=words(10_000))), said="king").tokens > 10_000
