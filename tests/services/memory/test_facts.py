"""What she knows: learnt once however often it is read, put right by what is newer, and in the user's hands."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_app.brain.facts.same_meaning import is_said_by
from lethe_app.brain.text.fingerprint import compute_fingerprint
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import SessionPart
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy, SupersededBecause
from lethe_app.errors import LetheError, StorageError
from lethe_app.retrieval.fact_relation import FactRelation
from tests.retrieval.conftest import embed
from tests.services.past_sessions import NUTS, again, answers, hold, stated, trusted
from tests.services.turns import MIRA
from tests.sweep import examples

HER = "mira-test"
TAIL = "with his old friend from school, a dog, two parrots and a garden full of roses, apples and long grass behind it."
MONDAY = now() - timedelta(days=30)


def said(text: str, session: UUID | None = None, message: UUID | None = None, day: int = 0, **more: object) -> ExtractedFact:
    """A fact as it comes out of a conversation on that day."""
    moment = MONDAY + timedelta(days=day)
    sources = {"source_memories": [session or uuid4()], "source_messages": [message or uuid4()]}
    return ExtractedFact(fact=text, first_seen=moment, last_seen=moment, **{**sources, **more})


async def known(services: AppServices) -> dict[str, ExtractedFact]:
    """What holds, by its words."""
    return {fact.fact: fact for fact in await services.facts.facts_of(HER) if not fact.superseded}


async def test_the_same_words_from_another_conversation_are_the_same_fact_heard_again(services: AppServices):
    first, second = said("Tomas is allergic to peanuts."), said("Tomas is allergic to peanuts.", day=2)

    assert await services.facts.learn(HER, [first]) == 1
    assert await services.facts.learn(HER, [second]) == 1
    assert await services.facts.learn(HER, [first, second]) == 0

    (fact,) = await services.facts.facts_of(HER)
    assert (fact.guid, fact.reference_count) == (first.guid, 2)
    assert set(fact.source_memories) == {*first.source_memories, *second.source_memories}
    assert fact.last_seen == second.last_seen


async def test_two_conversations_learnt_from_at_once_give_one_fact(services: AppServices):
    await asyncio.gather(*(services.facts.learn(HER, [said("Tomas keeps bees.")]) for _conversation in range(5)))

    (fact,) = await services.facts.facts_of(HER)
    assert fact.reference_count == 5


async def test_with_an_embedder_other_words_for_the_same_are_the_same_fact(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    await services.facts.learn(HER, [said("Tomas owns a small white boat in Porto.")])

    await services.facts.learn(HER, [said("In Porto Tomas owns a small white vessel, a boat.", day=1)])

    (fact,) = [fact for fact in await services.facts.facts_of(HER) if not fact.superseded]
    assert fact.reference_count == 2


async def test_a_judge_decides_about_near_ones_and_silence_leaves_it_to_the_words(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    asked: list[tuple[str, str]] = []

    async def judge(old: str, new: str) -> FactRelation | None:
        asked.append((old, new))
        return FactRelation.UPDATE if "Leeds" in new else None

    await services.facts.learn(HER, [said(f"Tomas lives in York {TAIL}")], judge)
    await services.facts.learn(HER, [said(f"Tomas lives in Leeds {TAIL}", day=1)], judge)

    old, new = sorted(await services.facts.facts_of(HER), key=lambda fact: fact.first_seen)
    assert asked == [(old.fact, new.fact)]
    assert (old.superseded, old.superseded_by, new.superseded) == (True, new.guid, False)


@pytest.fixture
async def cats(services: AppServices) -> tuple[ExtractedFact, ExtractedFact]:
    services.memory_index.set_embedder(embed, "words")
    old, new = said(f"Tomas has 2 cats {TAIL}"), said(f"Tomas has 3 cats {TAIL}", day=1)

    async def judge(_old: str, _new: str) -> FactRelation:
        return FactRelation.UPDATE

    await services.facts.learn(HER, [old])
    await services.facts.learn(HER, [new], judge)
    facts = {fact.guid: fact for fact in await services.facts.facts_of(HER)}
    assert facts[old.guid].superseded
    return facts[old.guid], facts[new.guid]


@pytest.mark.parametrize("instead", [False, True])
async def test_what_was_superseded_is_kept_and_can_hold_again(
    services: AppServices, cats: tuple[ExtractedFact, ExtractedFact], instead: bool
):
    old, new = cats

    await services.facts.restore(old.guid, replaces_successor=instead)

    holds = await known(services)
    assert old.fact in holds
    assert (new.fact in holds) is not instead
    assert len(await services.facts.facts_of(HER)) == 2


async def test_a_forgotten_fact_does_not_come_back_in_the_words_of_a_model(services: AppServices, tmp_path: Path):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    await services.facts.forget_fact((await known(services))["Tomas is allergic to peanuts."].guid)
    allergy = stated(1, "I am allergic to peanuts", "Tomas has a peanuts allergy.")
    carpenter = stated(5, "I work as a carpenter", "Tomas earns his bread as a carpenter at the old shipyard.")
    await trusted(services, tmp_path / "model", answers=answers(facts={"facts": [allergy, carpenter]}))

    await again(services)

    assert any(fact.made_by is MadeBy.MODEL for fact in (await known(services)).values())
    assert not any("peanut" in fact for fact in await known(services))


async def test_what_was_forgotten_may_be_said_again(services: AppServices):
    first = said("Tomas keeps bees.")
    await services.facts.learn(HER, [first])
    await services.facts.forget_fact(first.guid)

    await services.facts.learn(HER, [said("Tomas keeps bees.", day=5)])

    assert "Tomas keeps bees." in await known(services)


async def test_a_forgotten_fact_can_be_brought_back_and_is_learnt_from_again(services: AppServices):
    fact = said("Tomas keeps bees.")
    await services.facts.learn(HER, [fact])
    await services.facts.forget_fact(fact.guid)

    await services.facts.restore(fact.guid)
    await services.facts.learn(HER, [said("Tomas keeps bees.", day=1)])

    (found,) = (await known(services)).values()
    assert (found.guid, found.reference_count) == (fact.guid, 2)


async def test_the_users_wording_survives_another_reading_of_the_same_talk(services: AppServices, tmp_path: Path):
    session = await hold(services, *NUTS)
    await services.archive_queue.archive_session(session.guid)
    old = (await known(services))["Tomas is allergic to peanuts."]

    await services.facts.edit(old.guid, "Tomas only dislikes peanuts.")
    await services.archive_queue.update(session.guid)
    allergy = stated(1, "I am allergic to peanuts", "Tomas has a peanuts allergy.")
    await trusted(services, tmp_path / "model", answers=answers(facts={"facts": [allergy]}))
    await again(services)

    about = {fact.fact: fact.made_by for fact in (await known(services)).values() if "peanut" in fact.fact}
    assert about == {"Tomas only dislikes peanuts.": MadeBy.USER}


async def test_a_model_and_rules_never_take_the_place_of_the_users_own_or_of_what_is_pinned(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    mine = await services.facts.add(HER, f"Tomas has 2 cats {TAIL}")
    pinned = said(f"Tomas sails a white boat {TAIL}")
    await services.facts.learn(HER, [pinned])
    await services.facts.pin(pinned.guid, pinned=True)

    async def judge(_old: str, _new: str) -> FactRelation:
        return FactRelation.UPDATE

    new = [
        said(f"Tomas has 3 cats {TAIL}", day=40, made_by=MadeBy.MODEL),
        said(f"Tomas sails a black boat {TAIL}", day=40, made_by=MadeBy.MODEL),
    ]
    await services.facts.learn(HER, new, judge)

    holds = await known(services)
    assert {mine.fact, pinned.fact} <= holds.keys()
    assert holds[mine.fact].made_by is MadeBy.USER


async def test_a_change_that_is_told_later_supersedes_a_reworded_fact_and_never_a_pinned_one(services: AppServices):
    his, hers = said("Tom works as a medic.", key="job", subject="Tom"), said("Ann works as a nurse.", key="job", subject="Ann")
    await services.facts.learn(HER, [his, hers])
    reworded = await services.facts.edit(his.guid, "Tom works as a medic in Leeds.")
    await services.facts.pin(hers.guid, pinned=True)
    later = [said(f"{name} works as a baker.", day=31, key="job", subject=name) for name in ("Tom", "Ann")]

    await services.facts.learn(HER, later)

    assert reworded.key == "job"
    assert set(await known(services)) == {"Tom works as a baker.", "Ann works as a nurse.", "Ann works as a baker."}


async def test_a_reworded_fact_is_about_the_person_it_begins_with(services: AppServices):
    job, cat = said("Friend works as a paramedic.", key="job", subject="Friend"), said("Daniel has a cat.", subject="Daniel")
    await services.facts.learn(HER, [job, cat])

    same = await services.facts.edit(job.guid, "Daniel works as a paramedic.")
    other = await services.facts.edit(job.guid, "Daniel keeps bees on the roof.")

    assert (same.subject, same.key) == ("Daniel", "job")
    assert (other.subject, other.key) == ("Daniel", "")


async def test_a_fact_added_twice_by_hand_is_one(services: AppServices):
    received = said("Tomas keeps bees.")
    await services.facts.learn(HER, [received])

    added = await services.facts.add(HER, "  Tomas keeps bees. ", pinned=True)

    (fact,) = await services.facts.facts_of(HER)
    assert (fact.guid, fact.made_by, fact.pinned) == (received.guid, MadeBy.USER, True)
    assert added.guid == received.guid


async def test_a_superseded_fact_added_by_hand_holds_again(services: AppServices, cats: tuple[ExtractedFact, ExtractedFact]):
    old, _new = cats

    await services.facts.add(HER, old.fact)

    assert (await known(services))[old.fact].guid == old.guid


async def test_editing_a_fact_into_the_words_of_another_leaves_one(services: AppServices):
    one, other = said("Tomas keeps bees."), said("Tomas keeps wasps.")
    await services.facts.learn(HER, [one, other])

    await services.facts.edit(other.guid, "Tomas keeps bees.")

    (fact,) = (await known(services)).values()
    assert fact.guid == other.guid


async def test_what_the_user_does_while_somebody_learns_is_not_lost(services: AppServices):
    services.memory_index.set_embedder(embed, "words")
    old = said(f"Tomas has 2 cats {TAIL}")
    await services.facts.learn(HER, [old])
    asked, answered = asyncio.Event(), asyncio.Event()

    async def judge(_old: str, _new: str) -> FactRelation:
        asked.set()
        await answered.wait()
        return FactRelation.SAME

    learning = asyncio.create_task(services.facts.learn(HER, [said(f"Tomas has 3 cats {TAIL}", day=1)], judge))
    await asyncio.wait_for(asked.wait(), 120)
    await services.facts.edit(old.guid, "Tomas has cats, and nobody knows how many.")
    answered.set()
    await learning

    assert (await known(services))["Tomas has cats, and nobody knows how many."].guid == old.guid


async def test_a_fact_needs_words_and_has_to_be_there(services: AppServices):
    fact = await services.facts.add(HER, "Tomas keeps bees.")

    for attempt in (services.facts.add(HER, " \n"), services.facts.edit(fact.guid, "")):
        with pytest.raises(LetheError):
            await attempt
    await services.facts.forget_fact(fact.guid)
    for gone in (
        services.facts.forget_fact(fact.guid),
        services.facts.edit(fact.guid, "x"),
        services.facts.forget_fact(uuid4()),
    ):
        with pytest.raises(StorageError):
            await gone


WORDS = ("Tomas has 2 cats.", "Tomas has 3 cats.", "Tomas keeps bees.", "Tomas is keeping bees.", "Ines lives in Porto.")
STEP = st.tuples(
    st.sampled_from(["learn", "learn", "again", "forget", "restore", "instead", "edit", "add", "pin"]), st.integers(0, 7)
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=3, max_size=14))
async def test_after_any_changes_the_stored_facts_are_consistent(services: AppServices, steps: list[tuple[str, int]]):
    persona, history, counts, forgotten = uuid4().hex, [], {}, {}
    service = services.facts
    for kind, number in steps:
        facts = sorted(await service.facts_of(persona), key=lambda fact: fact.guid)
        some = facts[number % len(facts)] if facts else None
        match kind:
            case "learn":
                history.append(said(WORDS[number % len(WORDS)], day=len(history)))
                await service.learn(persona, [history[-1]])
            case "again":
                await service.learn(persona, history)
            case "add":
                await service.add(persona, WORDS[number % len(WORDS)])
            case "forget" if some:
                await service.forget_fact(some.guid)
                forgotten[some.guid] = some
            case "restore" | "instead" if some:
                await service.restore(some.guid, replaces_successor=kind == "instead")
            case "restore" if forgotten:
                await service.restore(forgotten.popitem()[0])
            case "edit" if some:
                await service.edit(some.guid, WORDS[number % len(WORDS)])
            case "pin" if some:
                await service.pin(some.guid, pinned=bool(number % 2))
        everything = {fact.guid: fact for fact in await service.facts_of(persona)}
        holds = [fact for fact in everything.values() if not fact.superseded]
        assert len({compute_fingerprint(fact.fact) for fact in holds}) == len(holds)
        assert not any(fact.superseded_by for fact in holds)
        assert all(everything[guid].reference_count >= count for guid, count in counts.items() if guid in everything)
        assert not forgotten.keys() & everything.keys()
        counts = {guid: fact.reference_count for guid, fact in everything.items()}
    await service.learn(persona, history)
    assert await service.learn(persona, history) == 0


async def test_archiving_twice_counts_once_for_every_conversation(services: AppServices):
    sessions = [await hold(services, *NUTS) for _number in range(3)]
    for _time in range(2):
        for session in sessions:
            await services.archive_queue.update(session.guid)

    assert {fact.reference_count for fact in await services.facts.facts_of(HER)} == {3}
    assert SessionPart.FACTS in await services.archive_queue.parts(sessions[0].guid)


async def test_several_facts_become_one_with_all_their_sources_counts_and_the_earliest_day(services: AppServices):
    first, second, third = said("Tomas keeps bees."), said("Tomas has beehives.", day=3), said("Bees live with Tomas.", day=9)
    await services.facts.learn(HER, [first, second, third])

    merged = await services.facts.merge([third.guid, second.guid, first.guid], "Tomas has kept bees for years.")

    assert (merged.fact, merged.made_by, merged.reference_count) == ("Tomas has kept bees for years.", MadeBy.USER, 3)
    assert (merged.first_seen, merged.last_seen) == (first.first_seen, third.last_seen)
    assert set(merged.source_messages) == {id_ for each in (first, second, third) for id_ in each.source_messages}
    gone = {fact.guid: fact.superseded_by for fact in await services.facts.facts_of(HER) if fact.superseded}
    assert gone == dict.fromkeys((first.guid, second.guid, third.guid), merged.guid)
    assert await services.facts.learn(HER, [first, second, third]) == 0


@pytest.mark.parametrize("words", ["", "Tomas keeps bees."])
async def test_one_fact_alone_or_without_words_is_not_merged(services: AppServices, words: str):
    fact = said("Tomas keeps bees.")
    await services.facts.learn(HER, [fact])
    with pytest.raises(LetheError):
        await services.facts.merge([fact.guid, fact.guid], words)
    assert (await known(services))["Tomas keeps bees."].reference_count == 1


async def test_what_the_user_changed_can_be_put_back_just_as_it_was(services: AppServices):
    first, second, third = said("Tomas keeps bees."), said("Tomas has beehives.", day=3), said("Tomas reads.", day=4)
    await services.facts.learn(HER, [first, second, third])
    before = await services.facts.facts_of(HER)

    merged = await services.facts.merge([first.guid, second.guid], "Tomas has bees.")
    await services.facts.edit(third.guid, "Tomas writes.")
    await services.facts.forget_fact(third.guid)
    added = await services.facts.add(HER, "Tomas sings.")
    await services.facts.restore_facts(before, [merged.guid, added.guid])

    assert sorted(await services.facts.facts_of(HER), key=lambda fact: fact.guid) == sorted(before, key=lambda fact: fact.guid)
    assert await services.fact_store.tombstones_of(HER) == []


async def test_facts_follow_a_new_name_of_the_user(services: AppServices):
    facts = [
        ExtractedFact(fact="Tomas works as a paramedic.", subject="Tomas"),
        ExtractedFact(fact="Tomas's cat is called Biscuit.", subject="Tomas"),
        ExtractedFact(fact="Ruth is a friend of Tomas.", subject="Ruth"),
        ExtractedFact(fact="Tomasina sails.", subject="Tomas"),
    ]
    await services.fact_store.save_facts(MIRA, *facts)
    user = await services.library.persona("tomas")

    await services.library.save_persona(user.model_copy(update={"name": "Daniel"}))
    await services.facts.close()

    assert {(fact.fact, fact.subject) for fact in await services.facts.facts_of(MIRA)} == {
        ("Daniel works as a paramedic.", "Daniel"),
        ("Daniel's cat is called Biscuit.", "Daniel"),
        ("Ruth is a friend of Tomas.", "Ruth"),
        ("Tomasina sails.", "Tomas"),
    }


@pytest.mark.parametrize(
    "wordings",
    [
        ("is allergic to peanuts.", "has a peanut allergy.", "has got an allergy to peanuts.", "is still allergic to peanuts."),
        ("loves sailing.", "enjoys sailing.", "likes sailing a lot.", "is fond of sailing.", "really loves sailing."),
        ("works as a nurse.", "is employed as a nurse.", "is a nurse by profession.", "still works as a nurse."),
    ],
)
async def test_a_fact_in_other_words_of_the_same_meaning_is_one_fact(services: AppServices, wordings: tuple[str, ...]):
    for day, wording in enumerate(wordings):
        await services.facts.learn(HER, [said(f"Tomas {wording}", day=day, subject="Tomas")])

    assert list(await known(services)) == [f"Tomas {wordings[0]}"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tomas loves sailing.", "Tomas hates sailing."),
        ("Tomas likes tea.", "Tomas likes coffee."),
        ("Tomas's sister loves Ben.", "Tomas loves Ben."),
        ("Tomas is allergic to peanuts.", "Tomas is not allergic to peanuts."),
        ("Tomas has a dog.", "Tomas has a dog called Rex."),
        ("Tomas loves coffee ice cream.", "Tomas loves coffee."),
        ("Tomas wants to marry Jonas.", "Tomas marries Jonas."),
        ("Tomas used to live in Graz.", "Tomas lives in Graz."),
        ("Tomas hates flying alone.", "Tomas hates flying."),
        ("Tomas wants to learn Spanish dancing.", "Tomas wants to learn Spanish."),
        ("Tomas doesn't like driving at night.", "Tomas doesn't like driving."),
        ("Tomas never drinks coffee after noon.", "Tomas never drinks coffee."),
    ],
)
def test_a_fact_of_another_meaning_is_not_said_by_a_known_one(one: str, other: str):
    known_fact, new = (ExtractedFact(fact=text, subject="Tomas") for text in (one, other))
    assert not is_said_by(new, known_fact)


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        ("speaks French.", "speaks French and Dutch.", ["speaks French and Dutch."]),
        ("has a fear of spiders.", "still has a great fear of spiders.", ["still has a great fear of spiders."]),
        ("loves coffee.", "loves coffee ice cream.", ["loves coffee ice cream.", "loves coffee."]),
        ("plays the cello.", "wants to play the cello in a band.", ["plays the cello.", "wants to play the cello in a band."]),
        ("likes red wine.", "likes white wine.", ["likes red wine.", "likes white wine."]),
        ("hates flying.", "doesn't hate flying to Rome.", ["hates flying.", "doesn't hate flying to Rome."]),
        (
            "owes Karl 500 euros.",
            "said: “Karl owes me 500 euros.”",
            ["owes Karl 500 euros.", "said: “Karl owes me 500 euros.”"],
        ),
    ],
)
async def test_a_fact_without_an_attribute_is_extended_by_one_that_says_more(
    services: AppServices, old: str, new: str, holds: list[str]
):
    for day, text in enumerate((old, new)):
        await services.facts.learn(HER, [said(f"Tomas {text}", day=day, subject="Tomas")])
    facts = await services.facts.facts_of(HER)

    assert {fact.fact for fact in facts if not fact.superseded} == {f"Tomas {text}" for text in holds}
    assert {fact.superseded_because for fact in facts if fact.superseded} <= {SupersededBecause.EXTENDED}


async def test_a_denial_with_fewer_words_takes_the_place_of_one_with_more(services: AppServices):
    for day, text in enumerate(("Tomas doesn't eat fish on Fridays.", "Tomas doesn't eat fish.")):
        await services.facts.learn(HER, [said(text, day=day, subject="Tomas", key="diet")])

    facts = {fact.fact: fact.superseded_because for fact in await services.facts.facts_of(HER)}
    assert facts == {"Tomas doesn't eat fish on Fridays.": SupersededBecause.EXTENDED, "Tomas doesn't eat fish.": None}


async def test_a_fact_that_extends_one_of_an_attribute_states_that_attribute(services: AppServices):
    for day, text in enumerate(("Tomas drives a Volvo.", "Tomas still drives the old Volvo.", "Tomas drives a Fiat.")):
        await services.facts.learn(HER, [said(text, day=day, subject="Tomas", key="" if "still" in text else "car")])

    assert {fact.fact for fact in await services.facts.facts_of(HER) if not fact.superseded} == {"Tomas drives a Fiat."}
