"""What is told anew replaces what it makes untrue, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from tests.retrieval.conftest import embed

HER = "mira-test"
FIRST = now() - timedelta(days=40)


@dataclass(frozen=True)
class Told:
    """One statement, as extraction hands it over."""

    text: str
    key: str = ""
    kind: FactKind = FactKind.OTHER
    subject: str = "Tomas"
    ends: tuple[str, ...] = field(default=())


def fact_of(reported: Told, day: int, session: UUID | None = None, **more: object) -> ExtractedFact:
    moment = FIRST + timedelta(days=day)
    values: dict[str, object] = {
        "fact": reported.text,
        "key": reported.key,
        "kind": reported.kind,
        "subject": reported.subject,
        "first_seen": moment,
        "last_seen": moment,
        "source_memories": [session or uuid4()],
        "source_messages": [uuid4()],
    }
    return ExtractedFact.model_validate({**values, **more})


async def tell(services: AppServices, *reported: Told, day: int = 0, **more: object) -> list[ExtractedFact]:
    """A conversation in which this was said."""
    session = uuid4()
    facts = [fact_of(one, day, session, **more) for one in reported]
    ends = {fact.guid: one.ends for fact, one in zip(facts, reported, strict=True)}
    await services.facts.learn(HER, facts, ends=ends)
    return facts


async def held(services: AppServices) -> set[str]:
    return {fact.fact for fact in await services.facts.facts_of(HER) if not fact.superseded}


@pytest.fixture(autouse=True, params=["by words", "by meaning"])
def embedder(request: pytest.FixtureRequest, services: AppServices) -> None:
    """Without an embedder facts are compared by their words; with one near facts meet as well."""
    if request.param == "by meaning":
        services.memory_index.set_embedder(embed, "words")


PLAN, HOME, WORK, PEOPLE = FactKind.PLAN, FactKind.HOME, FactKind.WORK, FactKind.PEOPLE
UPDATES = [
    (Told("Tomas lives in Porto.", "home", HOME), Told("Tomas lives in Lisbon.", "home", HOME)),
    (Told("Tomas works as a nurse at the clinic.", "job", WORK), Told("Tomas is a baker now.", "job", WORK)),
    (Told("Tomas is 34 years old.", "age"), Told("Tomas turned 35.", "age")),
    (Told("Tomas's favourite film is Alien.", "favourite film"), Told("Tomas's favourite film is Heat.", "favourite film")),
    (Told("Tomas's partner is called Ana.", "partner name"), Told("Tomas's partner is called Lena.", "partner name")),
    (Told("Tomas's car is a Fiat.", "car"), Told("Tomas drives a Skoda.", "car")),
    (Told("Tomas studies law in Leiden.", "studies"), Told("Tomas studies medicine in Ghent.", "studies")),
    (Told("Tomas's boss is called Karl.", "boss name"), Told("Tomas's boss is called Petra.", "boss name")),
    (Told("Tomas's sister Ines lives in Porto.", "sister home"), Told("Tomas's sister Ines lives in Faro.", "sister home")),
    (Told("Tomas's sister Ines is a nurse.", "sister job"), Told("Tomas's sister is a vet.", "sister job")),
    (Told("Tomas's daughter Mia is nine.", "mia age"), Told("Mia is ten.", "mia age")),
    (Told("Tomas's girlfriend is called Lena.", "partner name"), Told("Tomas's wife is called Ana.", "partner name")),
    (Told("Tomas's dog is called Rex.", "dog name"), Told("Tomas's dog is called Bruno now.", "dog name")),
    (Told("Tomas has two cats called Kiki and Momo.", "number of cats"), Told("Tomas has three cats.", "number of cats")),
    (Told("Tomas's daughter Mia is nine.", "daughter age"), Told("Tomas's daughter Mia is ten.", "daughter age")),
    (Told("Tomas is single.", "relationship"), Told("Tomas is engaged to Ana.", "relationship")),
    (Told("Tomas's phone is a Nokia.", "phone"), Told("Tomas's phone is a Pixel.", "phone")),
    (Told("Tomas plays the cello.", "instrument"), Told("Tomas plays the violin.", "instrument")),
    (Told("Tomas's wedding is on 3 May 2027.", "wedding date"), Told("Tomas's wedding is on 10 June 2027.", "wedding date")),
    (
        Told("Tomas wants to run the Berlin marathon in September.", kind=PLAN),
        Told("Tomas will run Poznan.", kind=PLAN, ends=("Tomas wants to run Berlin.",)),
    ),
    (Told("Tomas eats meat."), Told("Tomas is a vegetarian.", ends=("Tomas eats meat.",))),
    (Told("Tomas smokes cigarettes."), Told("Tomas quit smoking.", ends=("Tomas smokes cigarettes.",))),
    (
        Told("Tomas's daughter Mia is nine."),
        Told("Tomas's daughter Mia is ten.", ends=("Tomas's daughter Mia is nine.",)),
    ),
    (
        Told("Tomas plans to buy a house in Braga.", kind=PLAN),
        Told("Tomas rents a flat in Braga.", kind=HOME, ends=("Tomas plans to buy a house.",)),
    ),
    (Told("Tomas goes to the gym on Mondays."), Told("Tomas swims on Mondays.", ends=("Tomas goes to the gym.",))),
    (Told("Tomas is learning Polish."), Told("Tomas is learning Czech.", ends=("Tomas is learning Polish.",))),
    (Told("Tomas has two cats."), Told("Tomas has three cats now.")),
    (Told("Tomas is a vegetarian."), Told("Tomas is not a vegetarian anymore.")),
    (Told("Tomas's son Leo is four."), Told("Tomas's son Leo is five.")),
    (Told("Tomas can't drive."), Told("Tomas can drive.")),
    (Told("Tomas has a dog called Rex.", "dog name"), Told("Tomas hasn't Rex any more.", ends=("Tomas has Rex.",))),
    (Told("Tomas has a dog called Rex.", "dog name"), Told("Tomas has no dog any more.", ends=("Tomas has a dog.",))),
    (
        Told("Tomas's sister Ines lives in Porto.", "ines home"),
        Told("Tomas's sister left Porto.", "sister home", ends=("Tomas's sister lives in Porto.",)),
    ),
    (Told("Tomas doesn't like olives."), Told("Tomas likes olives now.", ends=("Tomas doesn't like olives.",))),
]


@pytest.mark.parametrize(("old", "new"), UPDATES, ids=[new.text for _old, new in UPDATES])
async def test_a_newer_statement_replaces_the_one_it_makes_untrue(services: AppServices, old: Told, new: Told):
    (before,) = await tell(services, old)
    (after,) = await tell(services, new, day=3)

    known = {fact.guid: fact for fact in await services.facts.facts_of(HER)}
    assert (known[before.guid].superseded, known[before.guid].superseded_by) == (True, after.guid)
    assert await held(services) == {new.text}


@pytest.mark.parametrize(("old", "new"), UPDATES, ids=[new.text for _old, new in UPDATES])
async def test_both_statements_in_one_conversation_leave_the_later_one(services: AppServices, old: Told, new: Told):
    await tell(services, old, new)

    assert await held(services) == {new.text}


BESIDE = [
    (Told("Tomas lives in Porto.", "home"), Told("Tomas's sister lives in Lisbon.", "sister home")),
    (Told("Tomas lives in Porto.", "home"), Told("Tomas's sister lives in Lisbon.", "home")),
    (Told("Tomas lives in Porto.", "home"), Told("Ana lives in Lisbon.", "home", subject="Ana")),
    (Told("Tomas's sister is called Ines.", "sister name"), Told("Tomas's sister is called Ana.", "sister name")),
    (Told("Tomas's cat is called Kiki.", "cat name"), Told("Tomas's cat is called Momo.", "cat name")),
    (Told("Tomas's sister Ines is a nurse.", "sister job"), Told("Tomas's sister Ana is a vet.", "sister job")),
    (Told("Tomas likes tea."), Told("Tomas likes coffee.")),
    (Told("Tomas wants to run Berlin."), Told("Tomas will run Poznan.", ends=("Tomas wants to swim in Berlin's lakes.",))),
    (Told("Tomas's brother smokes cigarettes."), Told("Tomas quit.", ends=("Tomas smokes cigarettes.",))),
    (Told("Tomas doesn't eat meat."), Told("Tomas eats fish.", ends=("Tomas eats meat.",))),
    (Told("Tomas was in Rome in 2019."), Told("Tomas was in Rome in 2022.")),
    (Told("Tomas is in Oslo on 3 May 2026."), Told("Tomas is in Oslo on 9 May 2026.")),
    (Told("Tomas's son Leo is four."), Told("Tomas's son Max is five.")),
    (Told("Tomas has two cats."), Told("Tomas's sister has three cats.")),
    (Told("Tomas ran 5 kilometres."), Told("Tomas ran 10 kilometres.")),
    (Told("Tomas has moved to York.", "home"), Told("Tomas doesn't live in Leeds any more.", "home")),
    (Told("Tomas works for Bosch.", "employer"), Told("Tomas doesn't work for Siemens any more.", "employer")),
    (Told("Tomas works for Bosch."), Told("Tomas doesn't work for Siemens any more.")),
    (Told("Tomas eats fish.", "diet"), Told("Tomas is not vegan any more.", "diet")),
    (Told("Tomas has a dog called Bruno.", "dog name"), Told("Tomas's dog died.", ends=("Tomas has a dog called Rex.",))),
    (
        Told("Tomas's sister Ana lives in Porto.", "ana home"),
        Told("Tomas's sister Ines left Porto.", "ines home", ends=("Tomas's sister Ines lives in Porto.",)),
    ),
    (Told("Tomas plays the cello in an old band with friends."), Told("Tomas sings.", ends=("Tomas plays.",))),
]


@pytest.mark.parametrize(("one", "other"), BESIDE, ids=[other.text for _one, other in BESIDE])
async def test_what_may_both_be_true_stands_side_by_side(services: AppServices, one: Told, other: Told):
    await tell(services, one)
    await tell(services, other, day=3)

    assert await held(services) == {one.text, other.text}


async def test_the_same_in_fewer_words_confirms_what_is_known(services: AppServices):
    (full,) = await tell(services, Told("Tomas lives in a flat by the river in Porto.", "home"))
    await tell(services, Told("Tomas lives in Porto.", "home"), day=3)

    (fact,) = [fact for fact in await services.facts.facts_of(HER) if not fact.superseded]
    assert (fact.guid, fact.fact, fact.reference_count) == (full.guid, full.fact, 2)


async def test_the_same_with_more_words_takes_over_the_count(services: AppServices):
    await tell(services, Told("Tomas lives in Porto.", "home"))
    await tell(services, Told("Tomas lives in a flat by the river in Porto.", "home"), day=3)

    (fact,) = [fact for fact in await services.facts.facts_of(HER) if not fact.superseded]
    assert (fact.fact, fact.reference_count) == ("Tomas lives in a flat by the river in Porto.", 2)


async def test_a_fact_that_replaces_another_is_sourced_only_from_where_it_was_said(services: AppServices):
    (nurse,) = await tell(services, Told("Tomas works as a nurse in Porto.", "job"))
    (baker,) = await tell(services, Told("Tomas works as a baker.", "job"), day=3)

    facts = {fact.fact: fact for fact in await services.facts.facts_of(HER)}
    assert facts[nurse.fact].superseded_by == baker.guid
    assert facts[nurse.fact].source_memories == nurse.source_memories
    assert facts[baker.fact].source_memories == baker.source_memories


async def test_what_is_pinned_gives_way_to_nothing_learnt(services: AppServices):
    await tell(services, Told("Tomas lives in Porto.", "home"), pinned=True)
    await tell(services, Told("Tomas lives in Lisbon.", "home"), day=3)

    assert "Tomas lives in Porto." in await held(services)
    core = await services.fact_lists.load_core_facts(HER)
    known = {fact.guid: fact.fact for fact in await services.facts.facts_of(HER)}
    assert {known[guid] for guid in core.facts} == {"Tomas lives in Porto."}


async def test_what_the_user_reworded_gives_way_to_what_is_told_later_and_can_be_restored(services: AppServices):
    (own,) = await tell(services, Told("Tomas lives in Porto.", "home"), made_by=MadeBy.USER)
    await tell(services, Told("Tomas lives in Lisbon.", "home"), day=3)
    assert await held(services) == {"Tomas lives in Lisbon."}

    await services.facts.restore(own.guid, replaces_successor=True)

    assert await held(services) == {"Tomas lives in Porto."}


async def test_somebody_who_moves_back_lives_there_again(services: AppServices):
    porto, lisbon = Told("Tomas lives in Porto.", "home"), Told("Tomas lives in Lisbon.", "home")
    for day, reported in enumerate((porto, lisbon, porto)):
        await tell(services, reported, day=day)

    assert await held(services) == {porto.text}


async def test_what_the_user_let_hold_again_is_not_replaced_by_reading_again(services: AppServices):
    (old,) = await tell(services, Told("Tomas lives in Porto.", "home"))
    (new,) = await tell(services, Told("Tomas lives in Lisbon.", "home"), day=3)
    await services.facts.restore(old.guid)

    await services.facts.learn(HER, [old, new])

    assert await held(services) == {old.fact, new.fact}


async def test_facts_learnt_without_keys_are_settled_when_they_are_read_again_with_them(services: AppServices):
    old, new = fact_of(Told("Tomas lives in Porto."), 0), fact_of(Told("Tomas lives in Lisbon."), 3)
    await services.facts.learn(HER, [old, new])
    assert await held(services) == {old.fact, new.fact}

    keyed = [fact.model_copy(update={"guid": uuid4(), "key": "home", "kind": HOME}) for fact in (old, new)]
    await services.facts.learn(HER, keyed)

    facts = {fact.fact: fact for fact in await services.facts.facts_of(HER)}
    assert {fact.key for fact in facts.values()} == {"home"}
    assert await held(services) == {new.fact}


async def test_a_fact_of_a_story_and_a_plain_one_never_touch(services: AppServices):
    plain, other = Told("Tomas lives in Porto.", "home"), Told("Tomas lives in a castle.", "home")
    await tell(services, plain)
    await tell(services, other, day=3, in_story=True)
    await tell(services, Told("Tomas lives in a tower.", "home"), day=5, in_story=True)

    assert await held(services) == {plain.text, other.text, "Tomas lives in a tower."}
