"""Durations and cooldowns from turn to turn, and that looking changes nothing."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.brain.lore.compiled import LoreIndex
from lethe_app.brain.lore.engine import evaluate
from lethe_app.brain.lore.evaluation import Evaluation, LoreLimits
from lethe_app.brain.lore.state import LoreState
from lethe_app.domain.memory import WordLink
from lethe_app.domain.worldinfo import World, WorldEntry
from tests.brain.scenes import LONG_AGO, MOMENT, entry, evaluate_worlds, names, one, reasons, turn, window, world
from tests.sweep import examples


def run_turn(book: World, *said: str, first: int = 1) -> list[Evaluation]:
    """One turn for each text, the state handed on."""
    state, evaluations = LoreState(), []
    for number, text in enumerate(said, first):
        evaluations.append(evaluate_worlds(book, said=text, at=turn(number), state=state))
        state = evaluations[-1].state
    return evaluations


def fired_in(evaluations: list[Evaluation]) -> list[bool]:
    return [bool(evaluation.activated) for evaluation in evaluations]


def test_an_entry_stays_for_its_duration_without_being_mentioned_again():
    evaluations = run_turn(world(entry("king", duration=3)), "king", "hm", "hm", "hm")

    assert fired_in(evaluations) == [True, True, True, False]
    assert [one(each).cause for each in evaluations[:3]] == ["key", "active", "active"]
    assert [one(each).active_until for each in evaluations[:3]] == [3, 3, 3]


def test_an_active_entry_is_not_rolled_again():
    book = world(entry("king", trigger_chance=0.5, duration=50))
    first_luck = next(number for number in range(1, 100) if names(evaluate_worlds(book, said="king", at=turn(number))))

    evaluations = run_turn(book, *["king"] * 50, first=first_luck)

    assert all(fired_in(evaluations))


def test_an_entry_rests_for_its_cooldown_after_its_duration():
    evaluations = run_turn(world(entry("king", duration=2, cooldown=2)), *["king"] * 7)

    assert fired_in(evaluations) == [True, True, False, False, True, True, False]
    assert reasons(evaluations[2]) == {"king": "cooldown"}
    assert evaluations[2].blocked[0].values == {"until": 4, "turn": 3}


def test_an_ordinary_entry_leaves_nothing_to_remember():
    assert evaluate_worlds(world(entry("king")), said="king").state == LoreState()


def test_what_did_not_fire_is_not_remembered():
    book = world(entry("king", trigger_chance=0, duration=5), entry("big", "king", duration=5, content="word " * 99))

    assert evaluate_worlds(book, said="king", limits=LoreLimits(token_budget=1)).state.entries == {}


def test_an_entry_skipped_for_the_budget_while_active_is_still_active_later():
    book = world(entry("king", duration=3))
    first = evaluate_worlds(book, said="king", at=turn(1))

    poor = evaluate_worlds(book, at=turn(2), state=first.state, limits=LoreLimits(token_budget=0))
    rich = evaluate_worlds(book, at=turn(3), state=poor.state)

    assert reasons(poor) == {"king": "budget"}
    assert names(rich) == ["king"]


@pytest.mark.parametrize("change", [{"content": "new"}, {"keywords_main": ["queen"]}, {"duration": 9}, {"name": "King"}])
def test_an_edited_entry_is_no_longer_active(change: dict[str, object]):
    before = evaluate_worlds(world(entry("king", duration=3)), said="king", at=turn(1))
    edited = entry("king", duration=3).model_copy(update=change)

    after = evaluate_worlds(world(edited), at=turn(2), state=before.state)

    assert (after.activated, after.state.entries) == ([], {})


def test_being_brought_up_is_no_edit():
    king = entry("king", duration=3)
    before = evaluate_worlds(world(king), said="king", at=turn(1))
    touched = king.model_copy(update={"trigger_count": 5, "last_trigger": MOMENT})

    assert names(evaluate_worlds(world(touched), at=turn(2), state=before.state)) == ["king"]


def test_an_active_entry_that_is_switched_off_or_over_is_silent():
    king = entry("king", duration=5, end_time=MOMENT + timedelta(minutes=1))
    state = evaluate_worlds(world(king), said="king", at=turn(1)).state

    off = evaluate_worlds(world(king.model_copy(update={"enabled": False})), at=turn(2), state=state)
    over = evaluate_worlds(world(king), at=turn(2, moment=MOMENT + timedelta(hours=1)), state=state)

    assert reasons(off) == {"king": "disabled"}
    assert reasons(over) == {"king": "not due"}


def test_the_state_of_a_world_that_is_absent_for_a_turn_is_kept():
    book = world(entry("king", duration=3))
    state = evaluate_worlds(book, said="king", at=turn(1)).state

    away = evaluate_worlds(world(entry("queen")), at=turn(2), state=state)

    assert names(evaluate_worlds(book, at=turn(3), state=away.state)) == ["king"]


def test_a_regenerated_reply_sees_the_same_entries_from_the_state_before_or_after():
    book = world(*(entry(f"page {number}", "king", trigger_chance=0.5, duration=2, cooldown=3) for number in range(20)))
    state = evaluate_worlds(book, said="king", at=turn(1)).state

    first = evaluate_worlds(book, said="king", at=turn(2), state=state)
    again = evaluate_worlds(book, said="king", at=turn(2), state=first.state)

    assert names(first) == names(again)
    assert again.state == evaluate_worlds(book, said="king", at=turn(2), state=again.state).state


def test_a_turn_played_again_with_other_words_forgets_what_the_first_words_woke():
    book = world(entry("king", duration=3), entry("queen", duration=3))
    state = evaluate_worlds(book, said="king", at=turn(1)).state

    again = evaluate_worlds(book, said="queen", at=turn(1), state=state)

    assert names(again) == ["queen"]
    assert names(evaluate_worlds(book, at=turn(2), state=again.state)) == ["queen"]


def test_going_back_in_a_conversation_undoes_what_woke_later():
    book = world(entry("king", duration=9))
    state = evaluate_worlds(book, said="king", at=turn(8)).state

    assert names(evaluate_worlds(book, at=turn(5), state=state)) == []


def test_the_state_survives_as_json():
    book = world(entry("king", duration=3, cooldown=2))
    state = evaluate_worlds(book, said="king", at=turn(1)).state

    restored = LoreState.model_validate_json(state.model_dump_json())

    assert restored == state
    assert names(evaluate_worlds(book, at=turn(2), state=restored)) == ["king"]


# --- for all worlds and conversations -------------------------------------------------------------------------------------

quick = settings(max_examples=examples(80), database=None)
WORDS = ["king", "queen", "crown", "fog"]
lists = st.lists(st.sampled_from(WORDS), max_size=2)


@st.composite
def entries(draw: st.DrawFn) -> list[WorldEntry]:
    return [
        WorldEntry(
            guid=UUID(int=number),
            name=f"entry {number}",
            added=LONG_AGO,
            content=" ".join(draw(lists)),
            keywords_main=draw(lists),
            keywords_secondary=draw(lists),
            word_link=draw(st.sampled_from(WordLink)),
            trigger_chance=draw(st.sampled_from([0.0, 0.5, 1.0, 1.0])),
            duration=draw(st.integers(1, 3)),
            cooldown=draw(st.integers(0, 2)),
            delay=draw(st.integers(0, 2)),
            delay_until_recursion=draw(st.sampled_from([0, 0, 0, 1])),
            groups=draw(st.lists(st.sampled_from("ab"), max_size=1)),
            group_override=draw(st.booleans()),
            sticky=draw(st.sampled_from([False, False, False, True])),
            enabled=draw(st.sampled_from([True, True, True, False])),
        )
        for number in range(draw(st.integers(1, 6)))
    ]


conversations = st.lists(lists.map(" ".join), min_size=1, max_size=7)


@quick
@given(entries(), conversations, st.sampled_from([None, 0, 3, 8]))
def test_looking_changes_nothing_and_looking_again_sees_the_same(book: list[WorldEntry], said: list[str], tokens: int | None):
    lore, limits = LoreIndex([world(*book, recursive=True)]), LoreLimits(token_budget=tokens)
    state = LoreState()
    for number, text in enumerate(said, 1):
        before = state.model_dump_json()
        now = turn(number, message_count=number)
        first = evaluate(lore, window(text), state, now, limits)
        second = evaluate(lore, window(text), state, now, limits)
        afterwards = evaluate(lore, window(text), first.state, now, limits)
        anew = evaluate(LoreIndex(lore.worlds), window(text), state, now, limits)

        assert first == second == anew
        assert afterwards.activated == first.activated
        assert state.model_dump_json() == before
        state = first.state


@quick
@given(entries(), conversations, st.sampled_from([None, 0, 3, 8]))
def test_what_is_active_keeps_all_the_rules(book: list[WorldEntry], said: list[str], tokens: int | None):
    state = LoreState()
    for number, text in enumerate(said, 1):
        result = evaluate_worlds(
            world(*book, recursive=True),
            said=text,
            at=turn(number, message_count=number),
            state=state,
            limits=LoreLimits(tokens),
        )
        activated = [each.entry for each in result.activated]
        groups = [group for each in activated for group in each.groups]

        assert all(each.enabled and (each.trigger_chance > 0) and each.delay <= number for each in activated)
        assert len(groups) == len(set(groups))
        assert tokens is None or result.tokens <= tokens
        assert not {each.guid for each in activated} & {each.entry.guid for each in result.blocked}
        assert len({each.entry.guid for each in result.blocked}) == len(result.blocked)
        state = result.state


@quick
@given(st.integers(1, 4), st.integers(0, 4), st.lists(st.booleans(), max_size=20))
def test_durations_and_cooldowns_are_counted_as_on_fingers(duration: int, cooldown: int, mentioned: list[bool]):
    evaluations = run_turn(
        world(entry("king", duration=duration, cooldown=cooldown)), *("king" if each else "hm" for each in mentioned)
    )

    active, rest, expected = 0, 0, []
    for mention in mentioned:
        if active == rest == 0 and mention:
            active, rest = duration, cooldown
            expected.append(True)
            active -= 1
        elif active:
            expected.append(True)
            active -= 1
        else:
            expected.append(False)
            rest = max(0, rest - 1)
    assert fired_in(evaluations) == expected


def test_turns_that_were_never_evaluated_count_too():
    state = evaluate_worlds(world(entry("king", duration=3)), said="king", at=turn(1)).state

    assert names(evaluate_worlds(world(entry("king", duration=3)), at=turn(4), state=state)) == []
