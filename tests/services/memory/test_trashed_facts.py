"""Facts go to the trash and come back with the conversations they were taken from."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lethe_app.brain.dreams.consolidation import merge_facts
from lethe_app.brain.facts.superseding import supersede
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy, SupersededBecause
from lethe_app.domain.recall import RecalledMemory, RecallLead, RecallWay, TurnMemory
from lethe_app.errors import StorageError
from tests.services.past_sessions import archive, hold
from tests.services.turns import MIRA, before_now, spoke

BEES = "Tomas keeps bees."


async def add_conversation(services: AppServices, *lines: str) -> tuple[ChatSession, list[Message]]:
    garden = ChatSession(persona_id=MIRA, name="The garden", added=before_now(days=3))
    session = await services.session_store.add_session(garden)
    return session, [await spoke(services, session, line, now()) for line in lines]


def learnt_in(*sessions: ChatSession, text: str = BEES, said: Sequence[Message] = (), **fields: object) -> ExtractedFact:
    sources = {"source_memories": [one.guid for one in sessions], "source_messages": [message.id for message in said]}
    return ExtractedFact(fact=text, **{**sources, **fields})


async def known(services: AppServices) -> list[str]:
    return [fact.fact for fact in await services.facts.facts_of(MIRA)]


async def found(services: AppServices) -> set[str]:
    """Texts of facts that a search can come upon."""
    rows = "SELECT text FROM passages WHERE kind = 'fact' AND owner = ?"
    return await services.database.run(lambda c: {text for (text,) in c.execute(rows, (MIRA,))})


async def core(services: AppServices) -> int:
    """How many stand in every prompt."""
    return len((await services.fact_lists.load_core_facts(MIRA)).facts)


async def test_a_fact_leaves_with_its_conversation_and_comes_back_with_it(services: AppServices):
    session, said = await add_conversation(services, "I keep bees.", "Two hives.")
    await services.facts.learn(MIRA, [learnt_in(session, said=said[:1])])
    assert (await known(services), await found(services), await core(services)) == ([BEES], {BEES}, 1)

    await services.sessions.delete(session.guid)
    assert (await known(services), await found(services), await core(services)) == ([], set(), 0)

    await services.sessions.restore(session.guid)
    assert (await known(services), await found(services), await core(services)) == ([BEES], {BEES}, 1)


async def test_what_was_said_in_another_conversation_too_stays_known(services: AppServices):
    session, other = (
        (await add_conversation(services, "I keep bees."))[0],
        (await add_conversation(services, "My bees are well."))[0],
    )
    await services.facts.learn(MIRA, [learnt_in(session, other)])

    await services.sessions.delete(session.guid)
    assert await known(services) == [BEES]
    await services.sessions.delete(other.guid)
    assert await known(services) == []
    await services.sessions.restore(session.guid)
    assert await known(services) == [BEES]


@pytest.mark.parametrize("fields", [{"pinned": True}, {"made_by": MadeBy.USER}], ids=["pinned", "the user's own"])
async def test_what_is_pinned_or_the_users_own_stays_known(services: AppServices, fields: dict[str, object]):
    session, _said = await add_conversation(services, "I keep bees.")
    await services.facts.learn(MIRA, [learnt_in(session, **fields)])

    await services.sessions.delete(session.guid)
    assert await known(services) == [BEES]
    await services.trash.erase(await services.trash.list_items())
    assert (await known(services), await found(services)) == ([BEES], {BEES})


async def test_said_again_meanwhile_it_is_the_same_fact(services: AppServices):
    session, said = await add_conversation(services, "I keep bees.")
    first = learnt_in(session, said=said)
    await services.facts.learn(MIRA, [first])
    await services.sessions.delete(session.guid)
    other, again = await add_conversation(services, "I keep bees, you know.")

    await services.facts.learn(MIRA, [learnt_in(other, said=again)])
    assert [fact.guid for fact in await services.facts.facts_of(MIRA)] == [first.guid]

    await services.sessions.restore(session.guid)
    assert await known(services) == [BEES]


async def test_written_by_the_user_meanwhile_it_is_theirs(services: AppServices):
    session, _said = await add_conversation(services, "I keep bees.")
    await services.facts.learn(MIRA, [learnt_in(session)])
    await services.sessions.delete(session.guid)

    await services.facts.add(MIRA, BEES)
    assert await known(services) == [BEES]

    await services.sessions.restore(session.guid)
    assert await known(services) == [BEES]


async def test_with_the_conversation_it_goes_for_good(services: AppServices):
    session, _said = await add_conversation(services, "I keep bees.")
    other, _said = await add_conversation(services, "I keep hens.")
    await services.facts.learn(MIRA, [learnt_in(session), learnt_in(session, other, text="Tomas keeps hens.")])
    await services.sessions.delete(session.guid)

    await services.trash.erase(await services.trash.list_items())

    assert await known(services) == ["Tomas keeps hens."]
    left = await services.database.run(lambda c: [text for (text,) in c.execute("SELECT fact FROM facts")])
    assert left == ["Tomas keeps hens."]


async def test_what_it_had_taken_the_place_of_holds_again_once_it_is_gone_for_good(services: AppServices):
    session, _said = await add_conversation(services, "I moved to Rome.")
    other, _said = await add_conversation(services, "I live in Paris.")
    rome, milan = (learnt_in(session, text=f"Tomas lives in {town}.") for town in ("Rome", "Milan"))
    paris = learnt_in(other, text="Tomas lives in Paris.", superseded=True, superseded_by=milan.guid)
    milan = milan.model_copy(update={"superseded": True, "superseded_by": rome.guid})
    await services.fact_store.save_facts(MIRA, paris, milan, rome)

    await services.sessions.delete(session.guid)
    await services.trash.erase(await services.trash.list_items())

    (fact,) = await services.facts.facts_of(MIRA)
    assert (fact.guid, fact.superseded, fact.superseded_by) == (paris.guid, False, None)
    assert await found(services) == {"Tomas lives in Paris."}


async def test_a_reply_written_anew_does_not_name_it(services: AppServices):
    session, said = await add_conversation(services, "I keep bees.")
    other, asked = await add_conversation(services, "What do I keep?")
    fact = learnt_in(session, said=said)
    await services.facts.learn(MIRA, [fact])
    lead = RecallLead(kind="fact", text=BEES, origin=fact.guid)
    one = RecalledMemory(memory=fact.guid, category="general", text=BEES, way=RecallWay.FACT, leads=[lead])
    turns = services.turn_memories
    await turns.save_turn(asked[0].id, TurnMemory(recalled=[one]))
    assert await turns.deleted_among([fact.guid]) == set()

    await services.sessions.delete(session.guid)

    assert await turns.deleted_among([fact.guid]) == {fact.guid}
    assert await turns.recall_counts([asked[0].id]) == {}
    assert other.guid != session.guid


async def test_nothing_can_be_done_with_it_meanwhile(services: AppServices):
    session, _said = await add_conversation(services, "I keep bees.")
    fact = learnt_in(session)
    await services.facts.learn(MIRA, [fact])
    await services.sessions.delete(session.guid)

    with pytest.raises(StorageError, match="no longer exists"):
        await services.facts.pin(fact.guid, pinned=True)


async def test_learnt_while_its_conversation_is_deleted_it_rests_at_once(services: AppServices):
    session, said = await add_conversation(services, "I keep bees.")
    await spoke(services, session, "How many hives?", now(), Role.ASSISTANT)
    await services.sessions.delete(session.guid)

    await services.facts.learn(MIRA, [learnt_in(session, said=said)])

    assert (await known(services), await found(services)) == ([], set())


BRAGA, WITH_ROSA = "Tomas's sister Ana lives in Braga.", "Tomas's sister Ana lives in Braga with her girlfriend Rosa."


async def tell(services: AppServices, text: str, **fields: object) -> ChatSession:
    """A conversation in which one fact about Ana's home was learnt."""
    session, said = await add_conversation(services, text)
    await services.facts.learn(MIRA, [learnt_in(session, text=text, said=said, key="sister home", **fields)])
    return session


async def valid(services: AppServices) -> list[str]:
    return [fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded]


@pytest.mark.parametrize("afterwards", [(), (BRAGA,)], ids=["told last", "told shorter again"])
async def test_a_detail_leaves_with_the_last_message_that_states_it(services: AppServices, afterwards: Sequence[str]):
    await tell(services, BRAGA)
    await tell(services, BRAGA)
    secret = await tell(services, WITH_ROSA)
    for text in afterwards:
        await tell(services, text)
    assert await valid(services) == [WITH_ROSA]

    await services.sessions.delete(secret.guid)
    assert (await valid(services), await found(services)) == ([BRAGA], {BRAGA})

    await services.sessions.restore(secret.guid)
    assert await valid(services) == [WITH_ROSA]

    await services.sessions.delete(secret.guid)
    await services.trash.erase(await services.trash.list_items())
    assert (await known(services), await found(services)) == ([BRAGA], {BRAGA})


async def test_a_better_wording_leaves_with_the_message_it_was_taken_from(services: AppServices):
    await tell(services, BRAGA)
    secret = await tell(services, "Tomas's sister Ana lives in Braga, secretly.", made_by=MadeBy.MODEL)

    await services.sessions.delete(secret.guid)

    assert await valid(services) == [BRAGA]


@pytest.mark.parametrize("by_dream", [False, True], ids=["by hand", "in a dream"])
async def test_a_merged_fact_leaves_with_any_of_its_messages(services: AppServices, by_dream: bool):
    session, said = await add_conversation(services, "I keep bees.")
    secret, told = await add_conversation(services, "I see Rosa on Fridays.")
    bees, rosa = learnt_in(session, said=said), learnt_in(secret, text="Tomas sees Rosa on Fridays.", said=told)
    await services.facts.learn(MIRA, [bees, rosa])
    text = "Tomas keeps bees and sees Rosa."
    await merge(services, [bees, rosa], text, by_dream=by_dream)
    assert await valid(services) == [text]

    await services.sessions.delete(secret.guid)
    assert await valid(services) == [BEES]
    await services.sessions.restore(secret.guid)
    assert await valid(services) == [text]
    await services.sessions.delete(secret.guid)
    await services.trash.erase(await services.trash.list_items())
    assert await known(services) == [BEES]


@pytest.mark.parametrize("by_dream", [False, True], ids=["by hand", "in a dream"])
async def test_a_merged_fact_survives_that_a_conversation_of_it_is_read_again_and_follows_an_edit_and_its_undo(
    services: AppServices, by_dream: bool
):
    sessions = [await hold(services, line, "The tide was slow.") for line in ("I keep bees.", "I am allergic to latex.")]
    for session in sessions:
        await archive(services, session)
    parts, text = await services.facts.facts_of(MIRA), "Tomas keeps bees and is allergic to latex."
    await merge(services, parts, text, by_dream=by_dream)
    said = (await services.sessions.page(sessions[1].guid, 0, 1))[0]

    await services.archive_queue.update(sessions[1].guid)
    await services.archive_queue.finish()
    assert await valid(services) == [text]
    await services.message_editing.edit(said.id, "I am fond of honey.")
    assert await valid(services) == [BEES]
    await services.archive_queue.finish()
    await services.message_editing.undo_edit(said)
    await services.archive_queue.finish()
    assert await valid(services) == [text]


async def merge(services: AppServices, facts: Sequence[ExtractedFact], text: str, *, by_dream: bool) -> None:
    """The user or a dream makes one fact of several."""
    if not by_dream:
        await services.facts.merge([fact.guid for fact in facts], text)
        return
    merged = merge_facts(facts, text)
    parts = [supersede(fact, merged, SupersededBecause.MERGED)[0] for fact in facts]
    await services.fact_store.save_facts(MIRA, merged, *parts)


async def test_the_older_fact_is_valid_while_the_newer_conversation_is_in_the_trash(services: AppServices):
    await tell(services, BRAGA)
    newer = await tell(services, "Tomas's sister Ana lives in Porto.")
    assert await valid(services) == ["Tomas's sister Ana lives in Porto."]

    await services.sessions.delete(newer.guid)
    assert (await valid(services), await found(services)) == ([BRAGA], {BRAGA})
    await services.sessions.restore(newer.guid)
    assert await valid(services) == ["Tomas's sister Ana lives in Porto."]


async def test_what_was_only_extended_or_said_again_is_not_called_outdated(services: AppServices):
    first, said = await add_conversation(services, "Ana lives in Braga.")
    await services.facts.learn(MIRA, [learnt_in(first, text=BRAGA, said=said, key="sister home")])
    await tell(services, WITH_ROSA)
    assert await services.fact_store.successors_of([said[0].id]) == {}

    await tell(services, "Tomas's sister Ana lives in Porto.")

    assert [fact.fact for fact in (await services.fact_store.successors_of([said[0].id])).values()] == [
        "Tomas's sister Ana lives in Porto."
    ]


async def test_forgetting_a_fact_forgets_what_it_only_extends(services: AppServices):
    await tell(services, BRAGA)
    await tell(services, WITH_ROSA)
    fact = next(fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded)

    await services.facts.forget_fact(fact.guid)

    assert (await known(services), await found(services)) == ([], set())


async def test_a_merged_fact_of_a_deleted_line_stays_dormant_when_a_part_of_it_is_said_again(services: AppServices):
    session, (peanuts, milk) = await add_conversation(services, "I am allergic to peanuts.", "I am allergic to milk.")
    facts = [learnt_in(session, text=f"Tomas is allergic to {what}.", said=[line], subject="Tomas")
             for what, line in (("peanuts", peanuts), ("milk", milk))]  # fmt: skip
    await services.facts.learn(MIRA, facts)
    await services.facts.merge([fact.guid for fact in facts], "Tomas is allergic to peanuts and milk.")
    await services.message_editing.delete(session.guid, milk.id)
    assert await known(services) == [facts[0].fact]

    again, lines = await add_conversation(services, "I am allergic to peanuts.")
    await services.facts.learn(MIRA, [learnt_in(again, text="Tomas has a peanut allergy.", said=lines, subject="Tomas")])

    assert not any("milk" in fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded)
    assert any("peanuts" in fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded)
