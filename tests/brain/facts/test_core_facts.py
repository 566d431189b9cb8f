"""The facts in every prompt: what matters for long is there, however much was said of other things since."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lethe_app.brain.facts.core_facts import calculate_rank, kind_at, select_candidates, select_core_facts
from lethe_app.domain.facts import ExtractedFact, FactKind
from tests.brain.memories import MOMENT

TOKENS = 14


def fact(text: str, kind: FactKind = FactKind.OTHER, days_old: float = 0, **more: object) -> ExtractedFact:
    seen = MOMENT - timedelta(days=days_old)
    return ExtractedFact.model_validate({"fact": text, "kind": kind, "first_seen": seen, "last_seen": seen, **more})


def chosen(facts: list[ExtractedFact], budget: int) -> list[str]:
    some = select_candidates(facts, MOMENT, 40)
    return [one.fact for one in select_core_facts(some, MOMENT, budget, {one.guid: TOKENS for one in some})]


LASTING = [
    fact("Tomas's birthday is on 4 March.", FactKind.IDENTITY, 300, key="birthday"),
    fact("Tomas was in hospital for his heart.", FactKind.HEALTH, 250),
    fact("Tomas's partner is called Ana.", FactKind.PEOPLE, 280, key="partner name"),
    fact("Tomas works as a carpenter at the shipyard.", FactKind.WORK, 290, key="job"),
    fact("Tomas lives in Porto.", FactKind.HOME, 290, key="home"),
]


def long_life() -> list[ExtractedFact]:
    """Fifteen hundred messages: a few things that matter, told once and long ago, and hundreds of others."""
    said = [(place % 20, 1 + place % 9) for place in range(170)]
    dishes = [fact(f"Tomas loves dish {days}-{times}.", FactKind.TASTE, days, reference_count=times) for days, times in said]
    people = [fact(f"Tomas met colleague number {place}.", FactKind.PEOPLE, place % 90) for place in range(60)]
    events = [fact(f"Tomas went to concert {place}.", FactKind.EVENT, place) for place in range(60)]
    plans = [fact(f"Tomas wants to see film {place}.", FactKind.PLAN, place) for place in range(60)]
    aches = [fact(f"Tomas had headache {place}.", FactKind.HEALTH, 260 + place) for place in range(20)]
    return [*dishes, *people, *events, *plans, *aches, *LASTING]


@pytest.mark.parametrize("budget", [512, 327, 163])
def test_after_hundreds_of_facts_the_core_holds_birthday_hospital_partner_job_and_home(budget: int):
    core = chosen(long_life(), budget)

    assert {one.fact for one in LASTING} <= set(core)
    assert len(core) * TOKENS <= budget


def test_dishes_take_no_more_than_their_share_while_others_want_theirs():
    core = chosen(long_life(), 512)

    assert 1 <= sum("dish" in text for text in core) <= 6


def test_what_other_kinds_leave_goes_to_those_that_are_there():
    dishes = [fact(f"Tomas loves dish {place}.", FactKind.TASTE) for place in range(17)]

    assert len(chosen(dishes, 17 * TOKENS)) == 17


def test_pinned_ones_come_first_and_superseded_ones_never():
    gone = fact("gone", FactKind.IDENTITY, reference_count=99, superseded=True)
    pinned, rare = fact("pinned", FactKind.TASTE, 300, pinned=True), fact("rare", days_old=9)

    assert chosen([rare, gone, pinned, *LASTING], 512)[0] == "pinned"
    assert "gone" not in chosen([rare, gone], 512)
    assert chosen([pinned, rare], 0) == []


def test_one_that_does_not_fit_is_skipped_and_smaller_ones_still_come():
    big, small = fact("big", FactKind.IDENTITY), fact("small", FactKind.TASTE)

    assert select_core_facts([big, small], MOMENT, 30, {big.guid: 500, small.guid: 10}) == [small]


def test_a_fact_counts_less_as_it_is_not_said_any_more_and_what_lasts_more_slowly():
    taste, health = fact("x", FactKind.TASTE, 60), fact("x", FactKind.HEALTH, 60)
    kept = [
        calculate_rank(one, MOMENT) / calculate_rank(one.model_copy(update={"last_seen": MOMENT}), MOMENT)
        for one in (taste, health)
    ]

    assert kept == [pytest.approx(0.25), pytest.approx(1 / 1.3)]


@pytest.mark.parametrize(
    ("text", "days_old", "is_over"),
    [
        ("Tomas flies to Lisbon on {past}.", 30, True),
        ("Tomas flies to Lisbon on {future}.", 30, False),
        ("Tomas wants to see the sea.", 30, False),
        ("Tomas wants to see the sea.", 90, True),
    ],
)
def test_a_plan_whose_day_has_passed_counts_as_an_event(text: str, days_old: int, is_over: bool):
    days = {name: MOMENT + timedelta(days=days) for name, days in (("past", -3), ("future", 3))}
    plan = fact(text.format(**{name: f"{day:%d %B %Y}" for name, day in days.items()}), FactKind.PLAN, days_old)

    assert kind_at(plan, MOMENT) is (FactKind.EVENT if is_over else FactKind.PLAN)


def test_of_two_that_contradict_each_other_only_the_later_one_stands_there():
    porto, lisbon = (fact(f"Tomas lives in {town}.", FactKind.HOME, key="home") for town in ("Porto", "Lisbon"))
    older = porto.model_copy(update={"last_seen": MOMENT - timedelta(days=9)})

    assert chosen([older, lisbon], 512) == ["Tomas lives in Lisbon."]
    assert chosen([older.model_copy(update={"pinned": True}), lisbon], 512) == ["Tomas lives in Porto."]
