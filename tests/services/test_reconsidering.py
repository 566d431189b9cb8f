"""What stood behind a reply is told with its source, and can be pinned, rewritten, forgotten, objected to, and taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.errors import LetheError
from lethe_app.services.chat.reply_sources import ReplySources, SourceKind, Surfaced
from lethe_app.storage.chats.sessions import Chats
from tests.services.stage import MIRA, Played, before_now, change_persona, keep, now_held, say, write_world

KNOWN = "Tomas's grandfather kept the light on Skerry Point."
GRANDFATHER = "Did my grandfather keep the light on Skerry Point?"
ASKED = "Shall we walk to the lighthouse?"


@pytest.fixture
async def session(house: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 60)
    await house.preferences.set(recall_without_match=0, session_handling="current_only", session_memory_system=False)
    await house.preferences.set(core_facts_tokens=0)
    return await house.sessions.new(MIRA)


async def behind(house: AppServices, played: Played) -> ReplySources:
    found = await house.reconsidering.behind(played.reply.id)
    assert found is not None
    return found


async def only(house: AppServices, played: Played) -> Surfaced:
    (one,) = (await behind(house, played)).surfaced
    return one


async def learnt(house: AppServices) -> tuple[ChatSession, Message]:
    """A fact, and the message of some days ago that says it."""
    chats = Chats(house._database)
    old = await chats.add_session(ChatSession(persona_id=MIRA, name="First night", added=before_now(days=3)))
    said = [Alternative(content="My grandfather kept the light on Skerry Point.", created=old.added)]
    message = Message(session_id=old.guid, role=Role.USER, speaker_name="Tomas", time=old.added, alternatives=said)
    await chats.add_message(message)
    fact = ExtractedFact(fact=KNOWN, source_memories=[old.guid], source_messages=[message.id])
    await house.knowing.learn(MIRA, [fact])
    return old, message


async def test_a_fact_is_told_with_the_message_that_says_it(house: AppServices, session: ChatSession):
    old, message = await learnt(house)

    played = await say(house, session, "Did my grandfather keep the light on Skerry Point?")

    one = await only(house, played)
    assert (one.kind, one.text) == (SourceKind.FACT, KNOWN)
    assert one.whence is not None
    assert (one.whence.session, one.whence.message, one.whence.title) == (old.guid, message.id, "First night")


async def test_a_fact_that_is_forgotten_does_not_come_back_until_that_is_taken_back(house: AppServices, session: ChatSession):
    await learnt(house)
    question = "Did my grandfather keep the light on Skerry Point?"
    one = await only(house, await say(house, session, question))

    await house.reconsidering.forget_memory(one, MIRA)
    again = await behind(house, await say(house, session, question))
    await house.reconsidering.restore(one)
    later = await behind(house, await say(house, session, question))

    assert [each.kind for each in again.surfaced if each.kind is SourceKind.FACT] == []
    assert SourceKind.FACT in {each.kind for each in later.surfaced}


async def test_a_memory_can_be_pinned_and_rewritten(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"])
    one = await only(house, await say(house, session, ASKED))
    assert (one.kind, one.pinned, one.text) == (SourceKind.MEMORY, False, "It is dark since May.")

    await house.reconsidering.pin(one, pinned=True)
    await house.reconsidering.write(one, "  It burns again.  ")

    held = await now_held(house, memory)
    assert held is not None
    assert (held.sticky, held.content) == (True, "It burns again.")
    with pytest.raises(LetheError):
        await house.reconsidering.write(one, " ")


async def test_a_conversation_can_be_pinned_and_forgotten(house: AppServices, session: ChatSession):
    fields = {"name": "The storm", "content": "The mast broke.", "keywords_main": ["squall"], "enabled": True}
    old = await Chats(house._database).add_session(ChatSession(persona_id=MIRA, added=before_now(days=3), **fields))
    one = await only(house, await say(house, session, "Remember the squall?"))
    assert (one.kind, one.subject) == (SourceKind.CONVERSATION, old.guid)

    await house.reconsidering.pin(one, pinned=True)
    assert (await house.sessions.open(old.guid)).sticky
    await house.reconsidering.forget_memory(one, MIRA)

    assert (await behind(house, await say(house, session, "Remember the squall?"))).surfaced == ()


async def test_an_entry_of_a_world_is_only_looked_at_here(house: AppServices, session: ChatSession):
    write_world(house, "bay", {"name": "The buoy", "content": "It rings.", "keywords_main": ["buoy"]})
    await change_persona(house, worlds=["bay"])
    one = await only(house, await say(house, session, "Hear the buoy?"))

    assert one.kind is SourceKind.WORLD
    assert {one.can_be_pinned, one.can_be_edited, one.can_be_forgotten} == {False}
    with pytest.raises(LetheError):
        await house.reconsidering.forget_memory(one, MIRA)


async def test_what_does_not_belong_leaves_the_turn_and_can_be_brought_back(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"])
    played = await say(house, session, ASKED)
    before = await behind(house, played)

    await house.reconsidering.object_to(memory.guid, before)
    without = await behind(house, played)
    await house.reconsidering.withdraw(memory.guid, without)
    after = await behind(house, played)

    assert without.surfaced == ()
    assert [one.memory for one in without.unwanted] == [memory.guid]
    assert after == before


async def test_what_does_not_belong_is_sifted_out_of_what_the_same_words_bring_up(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"])
    played = await say(house, session, ASKED)
    await house.reconsidering.object_to(memory.guid, await behind(house, played))

    objecting = house.reconsidering._objecting
    coming, back = await objecting.sifted(MIRA, played.memory.recalled, ASKED)

    assert coming == []
    assert [one.memory for one in back] == [memory.guid]


async def test_what_does_not_belong_does_not_stay_for_the_turns_to_come(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"], duration=4)
    write_world(house, "bay", {"name": "The buoy", "content": "It rings.", "keywords_main": ["lighthouse"], "duration": 4})
    await change_persona(house, worlds=["bay"])
    first = await behind(house, await say(house, session, ASKED))
    staying = await behind(house, await say(house, session, "Good."))
    assert {one.kind for one in staying.surfaced} == {SourceKind.MEMORY, SourceKind.WORLD}

    for one in first.surfaced:
        await house.reconsidering.object_to(one.recollection.memory, first)

    assert (await behind(house, await say(house, session, "Fine."))).surfaced == ()
    again = await behind(house, await say(house, session, "Who painted the old lighthouse white, and for what money?"))
    assert memory.guid in {one.subject for one in again.surfaced}


async def test_no_copy_of_what_was_forgotten_waits_to_be_taken_back(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"])
    played = await say(house, session, ASKED)
    before = await behind(house, played)
    await house.reconsidering.object_to(memory.guid, before)

    await house.reconsidering.forget_memory(before.surfaced[0], MIRA)

    kept = await house._database.run(lambda c: c.execute("SELECT value FROM house_state").fetchall())
    assert not any("dark since May" in value for (value,) in kept)


async def test_a_greeting_answers_nobody(house: AppServices, session: ChatSession):
    (greeting,) = await house.sessions.page(session.guid, 0, 9)
    found = await house.reconsidering.behind(greeting.id)
    assert found is not None
    assert (found.asked, found.is_known, found.surfaced) == (None, False, ())


async def test_memories_are_counted_for_many_messages_at_once_without_what_was_forgotten(
    house: AppServices, session: ChatSession
):
    memory = await keep(house, keywords_main=["lighthouse"])
    told = await keep(house, "The letter came.", name="Letter", insertion=MemoryInsertion.NATURAL, keywords_main=["lighthouse"])
    one, other = await say(house, session, ASKED), await say(house, session, "Good.")
    ids = [one.asked.id, other.asked.id]

    counted = await house.reconsidering.counts(ids)
    await house.brain.forget_memory(memory.guid)
    fewer = await house.reconsidering.counts(ids)

    assert await now_held(house, told) is None  # it was told, and is used up
    assert counted == {one.asked.id: 2}
    assert fewer == {one.asked.id: 1}


async def test_what_was_not_relevant_stays_away_from_the_same_words_and_comes_at_others(
    house: AppServices, session: ChatSession
):
    await keep(house, keywords_main=["lighthouse"])
    first = await behind(house, await say(house, session, ASKED))
    (one,) = first.surfaced

    await house.reconsidering.object_to(one.subject, first)
    again = await behind(house, await say(house, session, ASKED))
    other = await behind(house, await say(house, session, "Who paints the lighthouse white every spring?"))
    await house.reconsidering.withdraw(one.subject, first)
    later = await behind(house, await say(house, session, ASKED))

    assert [each.subject for each in again.surfaced] == []
    assert one.subject in {held.memory for held in again.unwanted}
    assert [each.subject for each in other.surfaced] == [one.subject]
    assert [each.subject for each in later.surfaced] == [one.subject]


async def test_objections_are_listed_with_the_words_on_both_sides_and_taken_back(house: AppServices, session: ChatSession):
    await learnt(house)
    played = await say(house, session, GRANDFATHER)
    one = await only(house, played)
    news: list[str] = []
    house.objecting.changed.add(news.append)
    await house.reconsidering.object_to(one.recollection.memory, await behind(house, played))

    (listed,) = await house.objecting.describe_objections(MIRA)
    assert (listed.title, listed.text) == (one.recollection.title, one.recollection.text)
    assert (listed.said, listed.session) == (GRANDFATHER, session.guid)
    assert news == [MIRA]

    await house.objecting.withdraw(MIRA, listed.objection.memory, listed.objection.message)
    assert await house.objecting.describe_objections(MIRA) == []
    assert [each.recollection.memory for each in (await behind(house, played)).surfaced] == [one.recollection.memory]

    await house.objecting.repeat(MIRA, listed.objection)
    assert await house.objecting.describe_objections(MIRA) == [listed]
    assert (await behind(house, played)).surfaced == ()


async def test_an_objection_outlives_the_message_it_was_made_at(house: AppServices, session: ChatSession):
    await learnt(house)
    played = await say(house, session, GRANDFATHER)
    memory = (await only(house, played)).recollection.memory
    seen = await behind(house, played)
    await house.reconsidering.object_to(memory, seen)
    await house.chat.delete(session.guid, seen.asked.id)

    (listed,) = await house.objecting.describe_objections(MIRA)

    assert (listed.said, listed.session) == ("", None)
    assert KNOWN in listed.text


async def test_a_conversation_that_she_reads_whole_is_named_behind_the_reply(house: AppServices, session: ChatSession):
    await house.preferences.set(session_handling="fit_all")
    await say(house, session, "My sister's boat is called the Heron.")
    await house.sessions.rename(session.guid, "Boats")
    following = await house.sessions.new(MIRA)

    played = await say(house, following, "What is it called?")

    assert (await behind(house, played)).word_for_word == ("Boats",)


async def test_a_conversation_she_reads_nothing_of_is_not_named(house: AppServices, session: ChatSession):
    await say(house, session, "My sister's boat is called the Heron.")
    following = await house.sessions.new(MIRA)

    assert (await behind(house, await say(house, following, "What is it called?"))).word_for_word == ()


async def test_what_was_forgotten_elsewhere_is_not_read_out_among_what_did_not_belong(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"])
    played = await say(house, session, ASKED)
    await house.reconsidering.object_to(memory.guid, await behind(house, played))

    await house.browsing.forget_memories(MIRA, [memory.guid])
    (gone,) = await house.objecting.describe_objections(MIRA)
    await house.browsing.restore(MIRA, [memory.guid])
    (back,) = await house.objecting.describe_objections(MIRA)

    assert (gone.title, gone.text) == ("", "")
    assert "dark since May" in back.text


async def test_nothing_holds_the_words_of_what_was_deleted_for_good(house: AppServices, session: ChatSession):
    await learnt(house)
    memory = await keep(house, keywords_main=["lighthouse"])
    first, second = await say(house, session, GRANDFATHER), await say(house, session, ASKED)
    again = await say(house, session, "And the lighthouse, does it burn?")
    await house.reconsidering.object_to(memory.guid, await behind(house, second))
    (fact,) = (one for one in await house.knowing.all(MIRA) if one.fact == KNOWN)

    await house.knowing.forget_fact(fact.guid)
    await house.browsing.forget_memories(MIRA, [memory.guid])
    kept = await everything(house)
    assert KNOWN in kept
    assert "dark since May" in kept
    await house.trash.erase(await house.trash.all())

    kept = await everything(house)
    assert KNOWN not in kept
    assert "dark since May" not in kept
    assert all(KNOWN not in one.text for one in (await behind(house, first)).surfaced)
    assert (await behind(house, again)).forgotten == 1


async def everything(house: AppServices) -> str:
    """All that is kept of turns and of the house."""
    question = "SELECT value FROM house_state UNION ALL SELECT value FROM turn_memories"
    return "\n".join(value for (value,) in await house._database.run(lambda c: c.execute(question).fetchall()))


async def test_a_fact_whose_words_are_taken_back_is_whose_it_was(house: AppServices, session: ChatSession):
    await learnt(house)
    (before,) = await house.knowing.all(MIRA)
    one = await only(house, await say(house, session, GRANDFATHER))

    take_back = await house.reconsidering.write(one, "Tomas's grandfather kept bees.")
    (written,) = await house.knowing.all(MIRA)
    await house.knowing.pin(written.guid, pinned=True)
    await take_back()

    (after,) = await house.knowing.all(MIRA)
    assert after == before.model_copy(update={"pinned": True})
    assert await house.knowing._facts.tombstones(MIRA) == []


async def test_a_memory_whose_words_are_taken_back_is_whose_it_was(house: AppServices, session: ChatSession):
    memory = await keep(house, keywords_main=["lighthouse"], made_by="journal")
    one = await only(house, await say(house, session, ASKED))

    take_back = await house.reconsidering.write(one, "It burns again.")
    assert (await house.browsing.memory(memory.guid)).content == "It burns again."
    await take_back()

    after = await house.browsing.memory(memory.guid)
    assert (after.content, after.made_by) == (memory.content, "journal")
