"""Memories, sessions, people and places that were mentioned by word or name."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from uuid import uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.brain.lore.evaluation import EvaluationTurn
from lethe_app.brain.recall.keyword_recall import KeywordRecall, MentionedMemory, build_recollection
from lethe_app.brain.text.utterance import ScanWindow
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.domain.recall import BlockedMemory, Reason, ReasonKind, RecallWay
from tests.brain.memories import MOMENT, NAMES, memory, natural, quick
from tests.brain.scenes import turn, window

Heard = tuple[list[MentionedMemory], list[BlockedMemory]]


def keyed(name: str, *keywords: str, **fields: object) -> MemoryUnit:
    return memory(name, keywords_main=list(keywords) or [name], **{"days_old": 1, **fields})


def session(name: str, *keywords: str, **fields: object) -> ChatSession:
    added = MOMENT - timedelta(days=9)
    values = {"guid": uuid5(NAMES, name), "persona_id": "mara", "name": name, "content": "We talked.", "added": added}
    return ChatSession.model_validate({"keywords_main": keywords or [name], "enabled": True, **values, **fields})


def hear(
    *held: MemoryUnit, said: str | ScanWindow, at: EvaluationTurn | None = None, pool: KeywordRecall | None = None
) -> Heard:
    sessions = [each for each in held if isinstance(each, ChatSession)]
    others = [each for each in held if not isinstance(each, ChatSession)]
    received = window(said) if isinstance(said, str) else said
    return (pool or KeywordRecall()).find_mentioned(others, sessions, received, at or turn())


def names(outcome: Heard) -> list[str]:
    return [each.memory.name for each in outcome[0]]


def whys(outcome: Heard) -> dict[str, str]:
    return {each.title: each.why for each in outcome[1]}


def test_a_memory_comes_by_its_keyword_with_the_reason():
    ((found,), _blocked) = hear(keyed("the storm", "fog", "gale"), said="Such a Gale!")

    assert found.way is RecallWay.KEYWORD
    assert found.because == Reason(kind=ReasonKind.KEY, values={"key": "gale", "before": 0})


def test_the_last_message_counts_as_well_but_not_the_one_before():
    assert names(hear(keyed("fog"), said=window("Hm.", "Fog!"))) == ["fog"]
    assert names(hear(keyed("fog"), said=window("Hm.", "Well.", "Fog!"))) == []


def test_only_those_that_come_by_keyword_take_part():
    held = [
        keyed("waits", "fog", insertion=MemoryInsertion.NATURAL),
        keyed("there anyway", "fog", sticky=True),
        keyed("off", "fog", enabled=False),
        keyed("later", "fog", days_old=-1),
        keyed("over", "fog", end_time=MOMENT),
        keyed("empty", "fog", content=" "),
        memory("without words"),
        session("closed to words", "fog", enabled=False),
    ]

    outcome = hear(*held, said="fog")

    assert names(outcome) == []
    assert whys(outcome) == {"off": "disabled", "later": "not due", "over": "not due", "closed to words": "disabled"}


def test_chance_is_honoured_and_the_same_when_the_turn_is_played_again():
    held = keyed("fog", trigger_chance=0.5)
    luck = [names(hear(held, said="fog", at=turn(number))) for number in range(1, 60)]

    assert luck == [names(hear(held, said="fog", at=turn(number))) for number in range(1, 60)]
    assert 10 < sum(map(len, luck)) < 50


def test_both_lists_are_minded():
    held = keyed("fog", keywords_secondary=["sea"], word_link=WordLink.NOT)

    assert names(hear(held, said="fog on land")) == ["fog"]
    assert whys(hear(held, said="fog at sea")) == {"fog": "secondary"}


def test_an_edited_memory_is_heard_by_its_new_keywords():
    pool, held = KeywordRecall(), keyed("fog")
    hear(held, said="fog", pool=pool)
    held.keywords_main.append("mist")

    assert names(hear(held, said="mist", pool=pool)) == ["fog"]


# --- names ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("category", [MemoryType.PERSON, MemoryType.LOCATION])
@pytest.mark.parametrize(("said", "received"), [("Is ANNA BERG here?", True), ("Anna Bergman", False), ("Anna", False)])
def test_people_and_places_come_by_their_whole_name(category: MemoryType, said: str, received: bool):
    outcome = hear(memory("Anna Berg", category=category), said=said)

    assert [each.way for each in outcome[0]] == ([RecallWay.TITLE] if received else [])


def test_names_count_in_the_message_alone():
    assert names(hear(memory("Anna", category=MemoryType.PERSON), said=window("Hm.", "Anna!"))) == []


def test_other_memories_do_not_come_by_name():
    assert names(hear(memory("Anna", category=MemoryType.EVENT), said="Anna")) == []


def test_a_name_that_is_a_small_word_needs_its_capital():
    will = memory("Will", category=MemoryType.PERSON)

    assert names(hear(will, said="I will go.")) == []
    assert names(hear(will, said="I saw Will.")) == ["Will"]


def test_a_name_with_signs_is_found_and_one_like_a_pattern_is_no_pattern():
    place, odd = memory("C++ Café", category=MemoryType.LOCATION), memory("/a.*/", category=MemoryType.LOCATION)

    assert names(hear(place, odd, said="at the c++ café again")) == ["C++ Café"]


def test_one_that_is_called_by_name_and_keyword_comes_once():
    anna = memory("Anna", category=MemoryType.PERSON, keywords_main=["pilot"])

    assert names(hear(anna, said="Anna the pilot")) == ["Anna"]
    assert names(hear(anna, said="the pilot")) == names(hear(anna, said="Anna")) == ["Anna"]


# --- the three that come ----------------------------------------------------------------------------------------------------


def test_the_three_with_the_highest_priority_come_sessions_by_relevance():
    held = [keyed(f"memory {number}", "fog", priority=number) for number in (1, 9, 15, 14)]

    outcome = hear(*held, session("tea", "fog", priority=1, relevance=1), session("ball", "fog", relevance=2), said="fog")

    assert names(outcome) == ["ball", "memory 15", "memory 14"]
    assert whys(outcome) == dict.fromkeys(["tea", "memory 9", "memory 1"], "crowded out")


def test_it_goes_into_the_prompt_as_its_type_says():
    anna = memory("Anna", category=MemoryType.PERSON, position_index=2, priority=4)
    person, ball = hear(session("ball", "tea", relevance=1, priority=0), anna, said="Anna had tea")[0][::-1]

    one, other = (build_recollection(each, dates=True, session_depth=3) for each in (person, ball))

    assert (one.text, one.position_index, one.way, one.score) == ("Anna: About Anna.", 2, RecallWay.TITLE, 4)
    assert (other.text, other.position_index) == ("**ball** (Thursday, November 12th, 2026): We talked.", 3)


@quick
@given(st.lists(st.sampled_from(["fog", "sea", "tea"]), max_size=3), st.integers(0, 99))
def test_the_order_of_memories_means_nothing(said: list[str], seed: int):
    held = [
        keyed(f"memory {number}", ["fog", "sea", "tea"][number % 3], priority=number % 4, trigger_chance=0.8)
        for number in range(8)
    ]

    shuffled = Random(seed).sample(held, len(held))

    assert names(hear(*held, said=" ".join(said))) == names(hear(*shuffled, said=" ".join(said)))


# --- memories that wait -----------------------------------------------------------------------------------------------------


def test_keywords_of_waiting_memories_are_found_in_the_message():
    held = [natural("fog", keywords_main=["mist"], trigger_chance=0.0), natural("tea", keywords_main=["cup"]), natural("none")]

    assert KeywordRecall().match_waiting(held, window("Mist!", "A cup."), turn()) == {held[0].guid: "mist"}
