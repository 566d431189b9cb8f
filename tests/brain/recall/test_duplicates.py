"""Whether something new to remember is new."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given

from lethe_app.brain.proactive.selection import find_waiting
from lethe_app.brain.recall.decay import find_faded
from lethe_app.brain.recall.duplicates import add_search, deduplicate, is_recent_search, merge_memory
from lethe_app.config.settings import Settings
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from tests.brain.memories import MOMENT, memories, memory, natural, quick

ANNA = memory("Anna Berg", 30, category=MemoryType.PERSON, content="A pilot.")


@pytest.mark.parametrize(
    ("name", "fields", "known"),
    [
        ("Anna Berg", {"category": MemoryType.PERSON}, ANNA.model_copy(update={"category": MemoryType.LOCATION})),
        ("Tea", {"category": MemoryType.EVENT}, memory("Tea", category=MemoryType.EVENT)),
        ("Anna Berg", {"category": MemoryType.PERSON}, ANNA.model_copy(update={"protected": True})),
    ],
)
def test_a_namesake_of_another_type_an_event_or_what_is_protected_stays(
    name: str, fields: dict[str, object], known: MemoryUnit
):
    new = memory(name, 0, **fields)

    assert deduplicate(new, known, None) == new


@pytest.mark.parametrize(("distance", "replaced"), [(0.0699, True), (0.07, False), (1.3, False)])
def test_what_says_nearly_the_same_is_replaced(distance: float, replaced: bool):
    old, new = memory("fog"), memory("fog again", content="Fog, more of it.")

    kept = deduplicate(new, None, (old, distance))

    assert kept.content == new.content
    assert kept.guid == (old if replaced else new).guid


def test_a_merge_keeps_identity_life_and_the_users_own_settings():
    old = memory("fog", 90, priority=4, trigger_count=7, sticky=True, keywords_main=["Fog", "mist"], duration=3, enabled=False)
    new = memory("Fog!", 1, priority=2, keywords_main=["fog", "haze"], reason="asked", content="New.")

    after = merge_memory(old, new)

    assert (after.guid, after.added, after.priority, after.trigger_count) == (old.guid, old.added, 4, 7)
    assert (after.sticky, after.duration, after.enabled) == (True, 3, False)
    assert (after.name, after.content, after.reason) == ("Fog!", "New.", "asked")
    assert after.keywords_main == ["Fog", "mist", "haze"]


def test_fresh_research_on_an_old_topic_waits_as_if_it_were_new():
    rules = Settings()
    old = memory("fog", 40, category=MemoryType.WEB_SEARCH, trigger_count=1)
    fresh = natural("fog", 0, category=MemoryType.WEB_SEARCH)

    after = merge_memory(old, fresh)

    assert find_waiting([after], MOMENT, rules) == [after]
    assert find_faded([after], MOMENT, rules) == []


def test_a_new_date_of_a_reminder_counts():
    tomorrow = MOMENT + timedelta(days=1)
    reminder = {"category": MemoryType.REMINDER, "insertion": MemoryInsertion.USER_RETURN}

    assert merge_memory(memory("call", 9, **reminder), memory("call", added=tomorrow, **reminder)).added == tomorrow


@quick
@given(memories(), memories())
def test_a_merge_loses_nothing(olds: list[MemoryUnit], news: list[MemoryUnit]):
    for old, new in zip(olds, news, strict=False):
        after = merge_memory(old, new)

        assert after.guid == old.guid
        assert after.content == new.content
        assert after.priority >= max(old.priority, new.priority)
        assert after.trigger_count >= old.trigger_count
        assert (after.protected, after.sticky) == (old.protected or new.protected, old.sticky or new.sticky)
        MemoryUnit.model_validate(after.model_dump())


def test_a_topic_is_searched_if_its_words_or_its_meaning_were():
    recent = ["Tidal  power", "Fog"]

    assert is_recent_search(recent, "tidal power", {})
    assert is_recent_search(recent, "mist", {"Fog": 0.0749})
    assert not is_recent_search(recent, "mist", {"Fog": 0.075})
    assert is_recent_search(recent, "mist", {"Fog": 0.08}, limit=0.085)
    assert not is_recent_search([], "mist", {})


def test_only_the_last_twenty_topics_count():
    recent: list[str] = []
    for number in range(25):
        recent = add_search(recent, f"topic {number}")

    assert len(recent) == 20
    assert not is_recent_search(recent, "topic 4", {})
    assert add_search(recent, "TOPIC 5")[-1] == "TOPIC 5"
    assert len(add_search(recent, "TOPIC 5")) == 20
