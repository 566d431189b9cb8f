"""What she brings up of her own accord, when, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, timezone
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.proactive.selection import (
    SHARED_WORD_BONUS,
    ChosenMemory,
    ProactiveEvidence,
    choose_memory,
    find_waiting,
    mark_used,
)
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS, ProactivePace
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import ReasonKind, RecallWay
from tests.brain.memories import MOMENT, forced, memories, memory, natural, quick

RULES = Settings()
RECENTLY = ProactivePace.start(MOMENT)
LONG_AGO = ProactivePace(messages=4, last_insert=MOMENT - timedelta(minutes=30))


def pick(
    *held: MemoryUnit,
    said: str = "Hello.",
    near: Mapping[str, float] | None = None,
    keywords: Mapping[str, str] | None = None,
    pace: ProactivePace = RECENTLY,
    rules: Settings = RULES,
) -> ChosenMemory | None:
    near, keywords = near or {}, keywords or {}
    evidence = {each.guid: ProactiveEvidence(near.get(each.name), keywords.get(each.name, "")) for each in held}
    return choose_memory(held, evidence, said, pace, rules, MOMENT)


def name_of(chosen: ChosenMemory | None) -> str | None:
    return chosen.memory.name if chosen else None


# --- which ones wait --------------------------------------------------------------------------------------------------------


def test_those_that_wait_are_the_natural_ones_newest_first():
    held = [natural("old", 9), memory("trigger"), forced("new", 1), memory("told", insertion=MemoryInsertion.NONE)]

    assert [each.name for each in find_waiting(held, MOMENT, RULES)] == ["new", "old"]


@pytest.mark.parametrize(
    ("held", "waits"),
    [
        (natural("stale", 15.1), False),
        (natural("just in time", 15), True),
        (natural("stale but protected", 40, protected=True), True),
        (natural("not yet", -0.1), False),
        (natural("over", 3, end_time=MOMENT), False),
        (natural("off", enabled=False), False),
    ],
    ids=lambda value: value.name if isinstance(value, MemoryUnit) else None,
)
def test_a_memory_waits_while_it_is_fresh_due_and_switched_on(held: MemoryUnit, waits: bool):
    assert (find_waiting([held], MOMENT, RULES) == [held]) is waits


def test_none_wait_where_they_are_switched_off():
    assert find_waiting([natural("any")], MOMENT, Settings(proactive_messages=False)) == []
    assert pick(forced("any"), said="Any news?", pace=LONG_AGO, rules=Settings(proactive_messages=False)) is None


# --- relevance --------------------------------------------------------------------------------------------------------------


def test_the_nearest_wins_although_a_newer_one_is_near_enough():
    chosen = pick(natural("newer", 1), natural("nearer", 5), near={"newer": 0.08, "nearer": 0.03})

    assert name_of(chosen) == "nearer"
    assert chosen.way is RecallWay.NATURAL
    assert [(reason.kind, reason.value) for reason in chosen.because] == [(ReasonKind.DISTANCE, 0.03)]


def test_a_keyword_beats_nearness():
    chosen = pick(natural("near"), natural("said"), near={"near": 0.0}, keywords={"said": "fog"})

    assert name_of(chosen) == "said"
    assert chosen.because[0].values["key"] == "fog"


def test_what_is_too_far_stays_silent():
    assert pick(natural("far"), near={"far": 0.0901}) is None
    assert name_of(pick(natural("at the limit"), near={"at the limit": 0.09})) == "at the limit"


def test_what_was_not_measured_is_not_near():
    assert pick(natural("unknown"), natural("broken"), near={"broken": float("nan")}) is None


def test_each_word_the_title_shares_brings_it_nearer():
    title = "The keepers of lighthouses"

    assert pick(natural(title), near={title: 0.12}) is None
    chosen = pick(natural(title), said="Did a keeper live in every lighthouse?", near={title: 0.12})
    assert name_of(chosen) == title
    assert [reason.values for reason in chosen.because[1:]] == [{"word": "keeper"}, {"word": "lighthous"}]


def test_small_words_in_a_title_bring_it_no_nearer():
    title = "What you and I should do with all of it"

    assert pick(natural(title), said="What should you and I do with all of it?", near={title: 0.1}) is None


def test_a_forced_one_needs_a_little_less():
    assert name_of(pick(forced("forced"), near={"forced": 0.11})) == "forced"
    assert pick(natural("natural"), near={"natural": 0.11}) is None


# --- time and news ----------------------------------------------------------------------------------------------------------


def test_the_most_important_forced_one_comes_after_enough_messages_and_minutes():
    chosen = pick(forced("minor"), forced("major", priority=3), natural("natural", priority=9), pace=LONG_AGO)

    assert name_of(chosen) == "major"
    assert chosen.way is RecallWay.FORCED


@pytest.mark.parametrize("pace", [
    ProactivePace(messages=3, last_insert=MOMENT - timedelta(days=9)),
    ProactivePace(messages=99, last_insert=MOMENT - timedelta(minutes=29)),
    RECENTLY,
])  # fmt: skip
def test_too_soon_nothing_is_forced(pace: ProactivePace):
    assert pick(forced("any"), pace=pace) is None


def test_a_clock_that_was_put_back_holds_nothing_up():
    assert name_of(pick(forced("any"), pace=ProactivePace(messages=4, last_insert=MOMENT + timedelta(days=400)))) == "any"


def test_the_pace_is_right_in_any_zone():
    tokyo = (MOMENT - timedelta(minutes=29)).astimezone(timezone(timedelta(hours=9)))

    assert not ProactivePace(messages=9, last_insert=tokyo).is_insertion_allowed(MOMENT, RULES)


def test_whoever_asks_for_news_gets_the_most_important_whatever_the_spacing():
    chosen = pick(forced("minor"), natural("major", priority=3), said="So, what’s new?", pace=RECENTLY)

    assert name_of(chosen) == "major"
    assert (chosen.way, chosen.because[0].values) == (RecallWay.NEWS, {"words": "whats new"})


def test_one_whose_time_has_come_goes_before_the_news():
    chosen = pick(forced("due"), natural("major", priority=3), said="Any news?", pace=LONG_AGO)

    assert name_of(chosen) == "due"


def test_nothing_comes_of_nothing():
    assert pick(said="Any news?", pace=LONG_AGO) is None


def test_the_pace_counts_messages_and_starts_anew():
    pace = ProactivePace.start(MOMENT).count_message().count_message()

    assert (pace.messages, pace.last_insert) == (2, MOMENT)
    assert ProactivePace.model_validate_json(pace.model_dump_json()) == pace


# --- afterwards -------------------------------------------------------------------------------------------------------------


def test_an_important_one_becomes_a_trigger_and_is_touched_once():
    after = mark_used(natural("any", priority=2, trigger_count=4), MOMENT)

    assert (after.insertion, after.trigger_count, after.last_trigger) == (MemoryInsertion.TRIGGER, 5, MOMENT)


@pytest.mark.parametrize("priority", [-1, 0, 1])
def test_an_unimportant_one_is_used_up(priority: int):
    assert mark_used(natural("any", priority=priority, category=MemoryType.GOAL), MOMENT) is None


@pytest.mark.parametrize("fields", [{"category": MemoryType.WEB_SEARCH}, {"protected": True}, {"sticky": True}])
def test_research_and_what_is_protected_survive_their_use(fields: dict[str, object]):
    after = mark_used(natural("any", priority=0, **fields), MOMENT)

    assert (after.insertion, after.trigger_count) == (MemoryInsertion.TRIGGER, 1)


# --- for all memories and messages --------------------------------------------------------------------------------------------

messages = st.sampled_from(["Hello.", "Is the lighthouse at the harbour?", "Any news?", "you and me", ""])
distances = st.none() | st.floats(0, 0.3)


@quick
@given(memories(), st.data())
def test_the_best_one_wins_in_whatever_order_they_come(held: list[MemoryUnit], data: st.DataObject):
    ready = find_waiting(held, MOMENT, RULES)
    evidence = {
        each.guid: ProactiveEvidence(data.draw(distances), data.draw(st.sampled_from(["", "", "fog"]))) for each in ready
    }
    said, pace = data.draw(messages), data.draw(st.sampled_from([RECENTLY, LONG_AGO]))
    shuffled = Random(data.draw(st.integers(0, 9))).sample(ready, len(ready))

    chosen = choose_memory(ready, evidence, said, pace, RULES, MOMENT)

    assert choose_memory(shuffled, evidence, said, pace, RULES, MOMENT) == chosen
    if chosen is None:
        assert not any(each.keyword for each in evidence.values())
        return
    assert chosen.memory in ready
    assert chosen.because
    if chosen.way is RecallWay.NATURAL:
        assert_best(chosen.memory, evidence)
    elif chosen.way is RecallWay.FORCED:
        assert chosen.memory.priority == max(each.priority for each in ready if each.insertion != MemoryInsertion.NATURAL)


def assert_best(best: MemoryUnit, evidence: Mapping[UUID, ProactiveEvidence]) -> None:
    """No other one has a keyword where it has none, or is nearer by more than titles and force can make up for."""
    own = evidence[best.guid]
    if any(each.keyword for each in evidence.values()):
        assert own.keyword
        return
    assert own.distance is not None
    most = 4 * SHARED_WORD_BONUS + 0.02
    assert all(each.distance is None or each.distance >= own.distance - most for each in evidence.values())


@quick
@given(memories())
def test_what_was_used_waits_no_more(held: list[MemoryUnit]):
    for each in find_waiting(held, MOMENT, RULES):
        after = mark_used(each, MOMENT)

        assert after is None or (after.insertion not in WAITING_INSERTIONS and after.trigger_count == each.trigger_count + 1)
        assert after is not None or not (each.protected or each.sticky)
