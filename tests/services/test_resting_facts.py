"""Facts go to the trash and come back with the conversations they were taken from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.recall import RecallLead, RecallWay, Recollection, TurnMemory
from lethe_app.errors import StorageError
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.turn_memories import TurnMemories
from tests.services.stage import MIRA, before_now, spoke

BEES = "Tomas keeps bees."


async def talk(house: AppServices, *lines: str) -> tuple[ChatSession, list[Message]]:
    garden = ChatSession(persona_id=MIRA, name="The garden", added=before_now(days=3))
    session = await Chats(house._database).add_session(garden)
    return session, [await spoke(house, session, line, now()) for line in lines]


def learnt_in(*sessions: ChatSession, text: str = BEES, said: Sequence[Message] = (), **fields: object) -> ExtractedFact:
    sources = {"source_memories": [one.guid for one in sessions], "source_messages": [message.id for message in said]}
    return ExtractedFact(fact=text, **{**sources, **fields})


async def known(house: AppServices) -> list[str]:
    return [fact.fact for fact in await house.knowing.all(MIRA)]


async def found(house: AppServices) -> set[str]:
    """Texts of facts that a search can come upon."""
    rows = "SELECT text FROM passages WHERE kind = 'fact' AND owner = ?"
    return await house._database.run(lambda c: {text for (text,) in c.execute(rows, (MIRA,))})


async def core(house: AppServices) -> int:
    """How many stand in every prompt."""
    return len((await house.browsing.core(MIRA)).facts)


async def test_a_fact_leaves_with_its_conversation_and_comes_back_with_it(house: AppServices):
    session, said = await talk(house, "I keep bees.", "Two hives.")
    await house.knowing.learn(MIRA, [learnt_in(session, said=said[:1])])
    assert (await known(house), await found(house), await core(house)) == ([BEES], {BEES}, 1)

    await house.sessions.delete(session.guid)
    assert (await known(house), await found(house), await core(house)) == ([], set(), 0)

    await house.sessions.restore(session.guid)
    assert (await known(house), await found(house), await core(house)) == ([BEES], {BEES}, 1)


async def test_the_window_hears_of_it(house: AppServices):
    session, _said = await talk(house, "I keep bees.")
    await house.knowing.learn(MIRA, [learnt_in(session)])
    heard: list[str] = []
    house.knowing.changed.add(heard.append)

    await house.sessions.delete(session.guid)

    assert heard == [MIRA]


async def test_what_was_said_in_another_conversation_too_stays_known(house: AppServices):
    session, other = (await talk(house, "I keep bees."))[0], (await talk(house, "My bees are well."))[0]
    await house.knowing.learn(MIRA, [learnt_in(session, other)])

    await house.sessions.delete(session.guid)
    assert await known(house) == [BEES]
    await house.sessions.delete(other.guid)
    assert await known(house) == []
    await house.sessions.restore(session.guid)
    assert await known(house) == [BEES]


@pytest.mark.parametrize("fields", [{"pinned": True}, {"made_by": MadeBy.USER}], ids=["pinned", "the user's own"])
async def test_what_is_pinned_or_the_users_own_stays_known(house: AppServices, fields: dict[str, object]):
    session, _said = await talk(house, "I keep bees.")
    await house.knowing.learn(MIRA, [learnt_in(session, **fields)])

    await house.sessions.delete(session.guid)
    assert await known(house) == [BEES]
    await house.trash.erase(await house.trash.all())
    assert (await known(house), await found(house)) == ([BEES], {BEES})


async def test_said_again_meanwhile_it_is_the_same_fact(house: AppServices):
    session, said = await talk(house, "I keep bees.")
    first = learnt_in(session, said=said)
    await house.knowing.learn(MIRA, [first])
    await house.sessions.delete(session.guid)
    other, again = await talk(house, "I keep bees, you know.")

    await house.knowing.learn(MIRA, [learnt_in(other, said=again)])
    assert [fact.guid for fact in await house.knowing.all(MIRA)] == [first.guid]

    await house.sessions.restore(session.guid)
    assert await known(house) == [BEES]


async def test_written_by_the_user_meanwhile_it_is_theirs(house: AppServices):
    session, _said = await talk(house, "I keep bees.")
    await house.knowing.learn(MIRA, [learnt_in(session)])
    await house.sessions.delete(session.guid)

    await house.knowing.add(MIRA, BEES)
    assert await known(house) == [BEES]

    await house.sessions.restore(session.guid)
    assert await known(house) == [BEES]


async def test_with_the_conversation_it_goes_for_good(house: AppServices):
    session, _said = await talk(house, "I keep bees.")
    other, _said = await talk(house, "I keep hens.")
    await house.knowing.learn(MIRA, [learnt_in(session), learnt_in(session, other, text="Tomas keeps hens.")])
    await house.sessions.delete(session.guid)

    await house.trash.erase(await house.trash.all())

    assert await known(house) == ["Tomas keeps hens."]
    left = await house._database.run(lambda c: [text for (text,) in c.execute("SELECT fact FROM facts")])
    assert left == ["Tomas keeps hens."]


async def test_what_it_had_taken_the_place_of_holds_again_once_it_is_gone_for_good(house: AppServices):
    session, _said = await talk(house, "I moved to Rome.")
    other, _said = await talk(house, "I live in Paris.")
    rome, milan = (learnt_in(session, text=f"Tomas lives in {town}.") for town in ("Rome", "Milan"))
    paris = learnt_in(other, text="Tomas lives in Paris.", superseded=True, superseded_by=milan.guid)
    milan = milan.model_copy(update={"superseded": True, "superseded_by": rome.guid})
    await FactStore(house._database).save_facts(MIRA, paris, milan, rome)

    await house.sessions.delete(session.guid)
    await house.trash.erase(await house.trash.all())

    (fact,) = await house.knowing.all(MIRA)
    assert (fact.guid, fact.superseded, fact.superseded_by) == (paris.guid, False, None)
    assert await found(house) == {"Tomas lives in Paris."}


async def test_gone_for_good_by_itself_the_conversation_takes_it_along(house: AppServices):
    session, _said = await talk(house, "I keep bees.")
    await house.knowing.learn(MIRA, [learnt_in(session)])
    await house.sessions.delete(session.guid)

    await Chats(house._database).purge(days=1, moment=now() + timedelta(days=2))

    assert await house._database.run(lambda c: c.execute("SELECT count(*) FROM facts").fetchone()) == (0,)


async def test_a_reply_written_anew_does_not_name_it(house: AppServices):
    session, said = await talk(house, "I keep bees.")
    other, asked = await talk(house, "What do I keep?")
    fact = learnt_in(session, said=said)
    await house.knowing.learn(MIRA, [fact])
    lead = RecallLead(kind="fact", text=BEES, origin=fact.guid)
    one = Recollection(memory=fact.guid, category="general", text=BEES, way=RecallWay.FACT, leads=[lead])
    turns = TurnMemories(house._database)
    await turns.save_turn(asked[0].id, TurnMemory(recalled=[one]))
    assert await turns.forgotten([fact.guid]) == set()

    await house.sessions.delete(session.guid)

    assert await turns.forgotten([fact.guid]) == {fact.guid}
    assert await turns.counts([asked[0].id]) == {}
    assert other.guid != session.guid


async def test_nothing_can_be_done_with_it_meanwhile(house: AppServices):
    session, _said = await talk(house, "I keep bees.")
    fact = learnt_in(session)
    await house.knowing.learn(MIRA, [fact])
    await house.sessions.delete(session.guid)

    with pytest.raises(StorageError, match="no longer known"):
        await house.knowing.pin(fact.guid, pinned=True)


async def test_learnt_while_its_conversation_is_deleted_it_rests_at_once(house: AppServices):
    session, said = await talk(house, "I keep bees.")
    await spoke(house, session, "How many hives?", now(), Role.ASSISTANT)
    await house.sessions.delete(session.guid)

    await house.knowing.learn(MIRA, [learnt_in(session, said=said)])

    assert (await known(house), await found(house)) == ([], set())
