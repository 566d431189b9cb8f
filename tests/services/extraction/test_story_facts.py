"""What is said plainly is learnt wherever it is said; what is said in character stays in its story."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from lethe_app.brain.dreams.consolidation import can_change_fact
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, SessionPart
from lethe_app.domain.facts import ExtractedFact, FactKind, MadeBy
from lethe_app.services.indexing.service import of_fact
from tests.services.past_sessions import NUTS, answers, archive, hold, trusted

HER = "mira-test"
PLAYED = (
    "*He draws his sword slowly and bows.* I have a sister.",
    "*She steps back into the shadow of the old gate.* I have a brother.",
)
NUTS_FACT = "Tomas is allergic to peanuts."


async def sides(services: AppServices) -> dict[str, bool]:
    """Facts that hold, and whether they belong to a story."""
    return {fact.fact: fact.in_story for fact in await services.facts.facts_of(HER) if not fact.superseded}


async def archived(services: AppServices, *lines: str) -> ChatSession:
    session = await hold(services, *lines)
    assert await services.archive_queue.archive_session(session.guid)
    return session


async def tick(services: AppServices, session: ChatSession, value: bool) -> None:
    await services.archive_queue.write(session.guid, SessionPart.ROLEPLAY, value)


def fact_of(session: ChatSession | None, text: str, **more: object) -> ExtractedFact:
    values = {"fact": text, "source_memories": [session.guid] if session else [uuid4()], "source_messages": [uuid4()]}
    return ExtractedFact.model_validate({**values, **more})


async def test_what_is_said_plainly_in_a_scene_is_learnt_and_the_persona_is_not_believed(services: AppServices):
    session = await archived(services, *PLAYED * 4)

    assert (await services.sessions.open(session.guid)).is_roleplay
    assert await sides(services) == {"Tomas has a sister.": False}


async def test_the_persona_is_believed_where_the_user_wants_it(services: AppServices):
    await services.preferences.set(persona_facts=True)
    await archived(services, *PLAYED * 4)

    assert set(await sides(services)) == {"Tomas has a sister.", "Mira has a brother."}


@pytest.mark.parametrize("wanted", [False, True])
async def test_what_a_model_reads_in_the_personas_lines_is_learnt_only_where_it_is_wanted(
    services: AppServices, script: Path, wanted: bool
):
    await services.preferences.set(persona_facts=wanted)
    session = await hold(services, *NUTS[:3], "I am Mira, and I grow roses.", *NUTS[4:])
    roses = {"facts": [{"line": 4, "fact": "Mira grows roses."}]}
    await trusted(services, script, answers=answers(facts=[roses, {"facts": [{"line": 1, "fact": NUTS_FACT}]}]))

    await archive(services, session)

    assert ("Mira grows roses." in await sides(services)) is wanted
    assert NUTS_FACT in await sides(services)


async def test_kind_and_key_of_a_statement_reach_the_store(services: AppServices):
    await archived(services, "I live in Porto, near the harbour.", "A fine town.", "I do like it a lot.", "Good.")

    (fact,) = [fact for fact in await services.facts.facts_of(HER) if "lives in Porto" in fact.fact]
    assert (fact.key, fact.subject) == ("home", "Tomas")


async def test_without_facts_of_stories_ticking_unlearns_and_unticking_learns(services: AppServices):
    await services.preferences.set(facts_during_roleplay=False)
    session = await archived(services, *NUTS)

    await tick(services, session, True)
    assert await sides(services) == {}

    await tick(services, session, False)
    assert NUTS_FACT in await sides(services)


async def test_a_conversation_marked_before_it_is_over_is_read_as_a_story(services: AppServices):
    session = await hold(services, *NUTS)
    await tick(services, session, True)

    await services.archive_queue.archive_session(session.guid)

    assert (await sides(services))[NUTS_FACT] is True


async def test_facts_of_a_model_change_sides_too(services: AppServices, script: Path):
    session = await hold(services, *NUTS)
    await trusted(services, script, answers=answers())
    await archive(services, session)
    assert await sides(services) == {NUTS_FACT: False}

    await tick(services, session, True)
    assert await sides(services) == {NUTS_FACT: True}

    await tick(services, session, False)
    assert await sides(services) == {NUTS_FACT: False}
    assert {fact.made_by for fact in await services.facts.facts_of(HER)} == {MadeBy.MODEL}


async def test_what_was_also_said_elsewhere_stays_plain(services: AppServices):
    session, other = await archived(services, *NUTS), await archived(services, *NUTS)

    await tick(services, session, True)

    facts = {fact.in_story: fact for fact in await services.facts.facts_of(HER) if fact.fact == NUTS_FACT}
    assert facts[False].source_memories == [other.guid]
    assert facts[False].reference_count == 1
    assert facts[True].source_memories == [session.guid]


async def test_what_a_story_had_replaced_holds_again(services: AppServices):
    await archived(services, "I live in Porto, near the harbour.", "A fine town.", "I do like it a lot.", "Good.")
    story = await archived(services, "I live in Leeds, near the castle.", "A fine town.", "I do like it a lot.", "Good.")
    assert not any("Porto" in text for text in await sides(services))

    await tick(services, story, True)

    assert {("Porto" in text, in_story) for text, in_story in (await sides(services)).items()} >= {(True, False), (False, True)}


@pytest.mark.parametrize("more", [{"pinned": True}, {"made_by": MadeBy.USER}])
async def test_the_users_own_and_pinned_facts_stay_as_they_are(services: AppServices, more: dict[str, object]):
    session = await archived(services, *NUTS)
    (fact,) = [fact for fact in await services.facts.facts_of(HER) if fact.fact == NUTS_FACT]
    await services.facts.restore_facts([fact.model_copy(update=more)])

    await tick(services, session, True)

    assert any(one.fact == NUTS_FACT and not one.in_story for one in await services.facts.facts_of(HER))


async def test_a_fact_of_a_story_is_told_in_its_own_conversation_only(services: AppServices):
    story, other = await hold(services, *NUTS), await hold(services, *NUTS)
    secret = fact_of(story, "Tomas is the king of Elfland.", in_story=True)
    await services.facts.learn(HER, [secret, fact_of(None, "Tomas keeps bees.")])
    cast = await services.participants.load_for_session(story)

    inside, outside, page = [
        {one.text for one in await services.past_sessions.core(cast, 500, session)}
        for session in (story.guid, other.guid, None)
    ]

    assert inside == {"In this story: Tomas is the king of Elfland.", "Tomas keeps bees."}
    assert outside == page == {"Tomas keeps bees."}
    assert of_fact(HER, secret, [story]) == []
    assert not can_change_fact(secret)
    assert [one.fact.fact for one in (await services.fact_lists.load_timeline(HER)).items] == ["Tomas keeps bees."]


async def test_reading_again_withdraws_what_rules_no_longer_find(services: AppServices):
    session = await archived(services, *NUTS)
    line = (await services.sessions.outline(session.guid))[0].id
    stale = fact_of(session, "Tomas is satay.", key="food", source_messages=[line])
    pinned = fact_of(session, "Tomas is noted.", pinned=True)
    shared = fact_of(session, "Tomas is supper.")
    shared.source_memories.append(uuid4())
    older = fact_of(None, "Tomas is rice.", key="food", last_seen=stale.first_seen, first_seen=stale.first_seen)
    model = fact_of(session, "Tomas may sail in May.", made_by=MadeBy.MODEL)
    await services.facts.learn(HER, [older, stale, pinned, shared, model])
    assert older.fact not in await sides(services)

    await services.archive_queue.update(session.guid, [SessionPart.FACTS])

    known = await sides(services)
    assert stale.fact not in known
    assert {older.fact, pinned.fact, shared.fact, model.fact, NUTS_FACT} <= known.keys()


async def test_reading_again_gives_facts_from_before_their_kind_and_key(services: AppServices):
    session = await hold(services, "I live in Porto, near the harbour.", "A fine town.", "I do like it a lot.", "Good.")
    line = (await services.sessions.outline(session.guid))[0].id
    await services.archive_queue.archive_session(session.guid)
    (fact,) = [fact for fact in await services.facts.facts_of(HER) if "Porto" in fact.fact]
    assert fact.source_messages == [line]
    await services.facts.restore_facts([fact.model_copy(update={"kind": FactKind.OTHER, "key": "", "subject": ""})])

    await services.archive_queue.update(session.guid, [SessionPart.FACTS])

    (after,) = [fact for fact in await services.facts.facts_of(HER) if "Porto" in fact.fact]
    assert (after.guid, after.key, after.subject, after.reference_count) == (fact.guid, "home", "Tomas", 1)


async def test_what_the_user_had_forgotten_stays_forgotten_when_it_is_read_again(services: AppServices):
    session = await archived(services, *NUTS)
    (fact,) = [fact for fact in await services.facts.facts_of(HER) if fact.fact == NUTS_FACT]
    await services.facts.forget_fact(fact.guid)

    await services.archive_queue.update(session.guid, [SessionPart.FACTS])
    await tick(services, session, True)
    await tick(services, session, False)

    assert NUTS_FACT not in await sides(services)
