"""What fades, what is over, and what never goes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.recall.decay import count_recall, find_expired, find_faded
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from tests.brain.memories import MOMENT, forced, memories, memory, natural, quick

RULES = Settings()


def has_faded(held: MemoryUnit) -> bool:
    return find_faded([held], MOMENT, RULES) == [held]


def goal(days_old: float, **fields: object) -> MemoryUnit:
    return memory("a goal", days_old, category=MemoryType.GOAL, **fields)


@pytest.mark.parametrize("make", [natural, forced])
def test_what_waited_too_long_for_its_moment_fades(make: object):
    assert callable(make)
    assert has_faded(make("any", 15.01))
    assert not has_faded(make("any", 15))


@pytest.mark.parametrize(("priority", "days"), [(0, 10), (1, 20), (3, 40), (-1, 0), (-7, 0)])
def test_an_unused_memory_lives_longer_the_more_important_it_is(priority: int, days: int):
    assert not has_faded(goal(days, priority=priority))
    assert has_faded(goal(days + 0.01, priority=priority))


def test_each_use_adds_a_day_counted_from_the_last_one():
    used = {"trigger_count": 5, "priority": 1}

    assert not has_faded(goal(400, last_trigger=MOMENT - timedelta(days=25), **used))
    assert has_faded(goal(400, last_trigger=MOMENT - timedelta(days=25.01), **used))


def test_a_last_trigger_that_never_was_does_not_count():
    assert has_faded(goal(21, last_trigger=MOMENT))


@pytest.mark.parametrize("category", sorted(set(MemoryType) - {MemoryType.GOAL, MemoryType.WEB_SEARCH, MemoryType.REMINDER}))
def test_other_types_do_not_decay(category: MemoryType):
    assert not has_faded(memory("any", 4000, category=category))


@pytest.mark.parametrize("insertion", [MemoryInsertion.NONE, MemoryInsertion.USER_RETURN])
def test_what_waits_for_the_return_or_was_told_does_not_decay(insertion: MemoryInsertion):
    assert not has_faded(goal(4000, insertion=insertion))


def test_what_has_ended_is_over():
    ended = goal(3, end_time=MOMENT)

    assert find_expired([ended, goal(3), goal(3, end_time=MOMENT + timedelta(seconds=1))], MOMENT) == [ended]


def test_conversations_and_lore_are_never_over():
    held = [
        memory("any", category=category, end_time=MOMENT - timedelta(days=1))
        for category in (MemoryType.CHAT_SESSION, MemoryType.WORLD_INFO)
    ]

    assert find_expired(held, MOMENT) == []


def test_being_brought_up_is_counted_on_a_copy():
    before = memory("any", trigger_count=1)
    after = count_recall(before, MOMENT)

    assert (before.trigger_count, after.trigger_count, after.last_trigger) == (1, 2, MOMENT)


@quick
@given(memories(), st.floats(0, 100))
def test_what_has_faded_or_is_over_stays_so(held: list[MemoryUnit], days: float):
    later = MOMENT + timedelta(days=days)

    assert {each.guid for each in find_faded(held, MOMENT, RULES)} <= {each.guid for each in find_faded(held, later, RULES)}
    assert {each.guid for each in find_expired(held, MOMENT)} <= {each.guid for each in find_expired(held, later)}


@quick
@given(memories(), st.floats(0, 5000))
def test_what_is_protected_or_sticky_never_goes(held: list[MemoryUnit], days: float):
    later = MOMENT + timedelta(days=days)

    assert not [each for each in (*find_faded(held, later, RULES), *find_expired(held, later)) if each.protected or each.sticky]


@quick
@given(memories())
def test_what_was_just_brought_up_does_not_fade_at_once(held: list[MemoryUnit]):
    lively = [count_recall(each, MOMENT) for each in held if each.insertion is MemoryInsertion.TRIGGER]

    assert find_faded(lively, MOMENT, RULES) == []
