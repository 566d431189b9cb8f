"""What stood behind a reply is told with its source, and can be pinned, rewritten, forgotten, objected to, and taken back."""

from __future__ import annotations

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.recall import RecallCounts
from lethe_app.errors import LetheError
from lethe_app.services.chat.reply_source_reader import ReplyMemory, ReplySources, SourceKind
from tests.services.turns import MIRA, Talk, TurnOutcome, add_memory, before_now, change_persona, say

SETTINGS = {
    "recall_without_match": 0,
    "session_handling": "current_only",
    "session_memory_system": False,
    "core_facts_tokens": 0,
}

KNOWN = "Tomas's grandfather kept the light on Skerry Point."
GRANDFATHER = "Did my grandfather keep the light on Skerry Point?"
ASKED = "Shall we walk to the lighthouse?"


async def behind(services: AppServices, outcome: TurnOutcome) -> ReplySources:
    found = await services.reply_sources.sources_of(outcome.reply.id)
    assert found is not None
    return found


async def only(services: AppServices, outcome: TurnOutcome) -> ReplyMemory:
    (one,) = (await behind(services, outcome)).recalled
    return one


async def learnt(services: AppServices) -> tuple[ChatSession, Message]:
    """A fact, and the message of some days ago that says it."""
    chats = services.session_store
    old = await chats.add_session(ChatSession(persona_id=MIRA, name="First night", added=before_now(days=3)))
    said = [Alternative(content="My grandfather kept the light on Skerry Point.", created=old.added)]
    message = Message(session_id=old.guid, role=Role.USER, speaker_name="Tomas", time=old.added, alternatives=said)
    await chats.add_message(message)
    fact = ExtractedFact(fact=KNOWN, source_memories=[old.guid], source_messages=[message.id])
    await services.facts.learn(MIRA, [fact])
    return old, message


async def test_a_fact_is_told_with_the_message_that_says_it(talk: Talk):
    old, message = await learnt(talk.services)

    outcome = await talk.say("Did my grandfather keep the light on Skerry Point?")

    one = await only(talk.services, outcome)
    assert (one.kind, one.text) == (SourceKind.FACT, KNOWN)
    assert (one.origin.session, one.origin.message, one.origin.title) == (old.guid, message.id, "First night")


async def test_a_fact_that_is_forgotten_does_not_come_back_until_that_is_taken_back(talk: Talk):
    services = talk.services
    await learnt(services)
    question = "Did my grandfather keep the light on Skerry Point?"
    one = await only(services, await talk.say(question))

    await services.reply_actions.forget_memory(one, MIRA)
    again = await behind(services, await talk.say(question))
    await services.reply_actions.restore(one)
    later = await behind(services, await talk.say(question))

    assert [each.kind for each in again.recalled if each.kind is SourceKind.FACT] == []
    assert SourceKind.FACT in {each.kind for each in later.recalled}


async def test_a_memory_can_be_pinned_and_rewritten(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(keywords_main=["lighthouse"])
    one = await only(services, await talk.say(ASKED))
    assert (one.kind, one.pinned, one.text) == (SourceKind.MEMORY, False, "It is dark since May.")

    await services.reply_actions.pin(one, pinned=True)
    await services.reply_actions.write(one, "  It burns again.  ")

    held = await talk.load_memory(memory)
    assert (held.sticky, held.content) == (True, "It burns again.")
    with pytest.raises(LetheError):
        await services.reply_actions.write(one, " ")


async def test_a_conversation_can_be_pinned_and_forgotten(talk: Talk):
    services = talk.services
    fields = {"name": "The storm", "content": "The mast broke.", "keywords_main": ["squall"], "enabled": True}
    old = await services.session_store.add_session(ChatSession(persona_id=MIRA, added=before_now(days=3), **fields))
    one = await only(services, await talk.say("Remember the squall?"))
    assert (one.kind, one.subject) == (SourceKind.CONVERSATION, old.guid)

    await services.reply_actions.pin(one, pinned=True)
    assert (await services.sessions.open(old.guid)).sticky
    await services.reply_actions.forget_memory(one, MIRA)

    assert (await behind(services, await talk.say("Remember the squall?"))).recalled == ()


async def test_an_entry_of_a_world_is_only_looked_at_here(talk: Talk):
    talk.write_world("bay", {"name": "The buoy", "content": "It rings.", "keywords_main": ["buoy"]})
    await change_persona(talk.services, worlds=["bay"])
    one = await only(talk.services, await talk.say("Hear the buoy?"))

    assert one.kind is SourceKind.WORLD
    assert {one.can_be_pinned, one.can_be_edited, one.can_be_forgotten} == {False}
    with pytest.raises(LetheError):
        await talk.services.reply_actions.forget_memory(one, MIRA)


async def test_what_does_not_belong_leaves_the_turn_and_can_be_brought_back(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(keywords_main=["lighthouse"])
    outcome = await talk.say(ASKED)
    before = await behind(services, outcome)

    await services.reply_actions.object_to(memory.guid, before)
    without = await behind(services, outcome)
    await services.reply_actions.withdraw_objection(memory.guid, without)
    after = await behind(services, outcome)

    assert without.recalled == ()
    assert [one.memory for one in without.unwanted] == [memory.guid]
    assert after == before


async def test_what_does_not_belong_does_not_stay_for_the_turns_to_come(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(keywords_main=["lighthouse"], duration=4)
    talk.write_world("bay", {"name": "The buoy", "content": "It rings.", "keywords_main": ["lighthouse"], "duration": 4})
    await change_persona(services, worlds=["bay"])
    first = await behind(services, await talk.say(ASKED))
    staying = await behind(services, await talk.say("Good."))
    assert {one.kind for one in staying.recalled} == {SourceKind.MEMORY, SourceKind.WORLD}

    for one in first.recalled:
        await services.reply_actions.object_to(one.recollection.memory, first)

    assert (await behind(services, await talk.say("Fine."))).recalled == ()
    again = await behind(services, await talk.say("Who painted the old lighthouse white, and for what money?"))
    assert memory.guid in {one.subject for one in again.recalled}


async def test_no_copy_of_what_was_forgotten_waits_to_be_taken_back(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(keywords_main=["lighthouse"])
    outcome = await talk.say(ASKED)
    before = await behind(services, outcome)
    await services.reply_actions.object_to(memory.guid, before)

    await services.reply_actions.forget_memory(before.recalled[0], MIRA)

    kept = await services.database.run(lambda c: c.execute("SELECT value FROM app_state").fetchall())
    assert not any("dark since May" in value for (value,) in kept)


async def test_a_greeting_answers_nobody(talk: Talk):
    (greeting,) = await talk.services.sessions.page(talk.session.guid, 0, 9)
    found = await talk.services.reply_sources.sources_of(greeting.id)
    assert (found.user_message, found.is_known, found.recalled) == (None, False, ())


async def test_memories_are_counted_for_many_messages_at_once_without_what_was_forgotten(talk: Talk):
    services = talk.services
    await services.preferences.set(accumulated_memories=0)
    memory = await talk.add_memory(keywords_main=["lighthouse"])
    reported = await add_memory(
        services, "The letter came.", name="Letter", insertion=MemoryInsertion.NATURAL, keywords_main=["lighthouse"]
    )
    one, other = await talk.say(ASKED), await talk.say("Good.")
    ids = [one.asked.id, other.asked.id]

    counted = await services.reply_sources.recalled_counts(ids)
    await services.memory.forget_memory(memory.guid)
    fewer = await services.reply_sources.recalled_counts(ids)

    assert await talk.load_memory(reported) is None  # it was told, and is used up
    assert counted == {one.asked.id: RecallCounts(memories=2)}
    assert fewer == {one.asked.id: RecallCounts(memories=1)}


async def test_what_was_not_relevant_stays_away_from_the_same_words_and_comes_at_others(talk: Talk):
    services = talk.services
    await talk.add_memory(keywords_main=["lighthouse"])
    first = await behind(services, await talk.say(ASKED))
    (one,) = first.recalled

    await services.reply_actions.object_to(one.subject, first)
    again = await behind(services, await talk.say(ASKED))
    other = await behind(services, await talk.say("Who paints the lighthouse white every spring?"))
    await services.reply_actions.withdraw_objection(one.subject, first)
    later = await behind(services, await talk.say(ASKED))

    assert [each.subject for each in again.recalled] == []
    assert one.subject in {held.memory for held in again.blocked}
    assert again.unwanted == ()  # it was not recalled there
    assert [each.subject for each in other.recalled] == [one.subject]
    assert [each.subject for each in later.recalled] == [one.subject]


async def test_objections_are_listed_with_the_words_on_both_sides_and_taken_back(talk: Talk):
    services = talk.services
    await learnt(services)
    outcome = await talk.say(GRANDFATHER)
    one = await only(services, outcome)
    news: list[str] = []
    services.objections.changed.add(news.append)
    await services.reply_actions.object_to(one.recollection.memory, await behind(services, outcome))

    (listed,) = await services.objections.describe_objections(MIRA)
    assert (listed.title, listed.text) == (one.recollection.title, one.recollection.text)
    assert (listed.said, listed.session) == (GRANDFATHER, talk.session.guid)
    assert news == [MIRA]

    await services.objections.withdraw_objection(MIRA, listed.objection.memory, listed.objection.message)
    assert await services.objections.describe_objections(MIRA) == []
    assert [each.recollection.memory for each in (await behind(services, outcome)).recalled] == [one.recollection.memory]

    await services.objections.save_objection(MIRA, listed.objection)
    assert await services.objections.describe_objections(MIRA) == [listed]
    assert (await behind(services, outcome)).recalled == ()


async def test_an_objection_outlives_the_message_it_was_made_at(talk: Talk):
    services = talk.services
    await learnt(services)
    outcome = await talk.say(GRANDFATHER)
    memory = (await only(services, outcome)).recollection.memory
    seen = await behind(services, outcome)
    await services.reply_actions.object_to(memory, seen)
    await services.message_editing.delete(talk.session.guid, seen.user_message.id)

    (listed,) = await services.objections.describe_objections(MIRA)

    assert (listed.said, listed.session) == ("", None)
    assert KNOWN in listed.text


async def test_a_conversation_contained_in_full_is_named_after_the_reply(talk: Talk):
    services = talk.services
    await services.preferences.set(session_handling="fit_all")
    await talk.say("My sister's boat is called the Heron.")
    await services.sessions.rename(talk.session.guid, "Boats")
    following = await services.sessions.new(MIRA)

    outcome = await say(services, following, "What is it called?")

    assert (await behind(services, outcome)).full_session_titles == ("Boats",)


async def test_what_was_forgotten_elsewhere_is_not_read_out_among_what_did_not_belong(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(keywords_main=["lighthouse"])
    outcome = await talk.say(ASKED)
    await services.reply_actions.object_to(memory.guid, await behind(services, outcome))

    await services.memory_lists.forget_memories(MIRA, [memory.guid])
    (gone,) = await services.objections.describe_objections(MIRA)
    await services.memory_lists.restore_memories(MIRA, [memory.guid])
    (back,) = await services.objections.describe_objections(MIRA)

    assert (gone.title, gone.text) == ("", "")
    assert "dark since May" in back.text


async def test_nothing_holds_the_words_of_what_was_deleted_for_good(talk: Talk):
    services = talk.services
    await learnt(services)
    memory = await talk.add_memory(keywords_main=["lighthouse"])
    first, second = await talk.say(GRANDFATHER), await talk.say(ASKED)
    again = await talk.say("And the lighthouse, does it burn?")
    await services.reply_actions.object_to(memory.guid, await behind(services, second))
    (fact,) = (one for one in await services.facts.facts_of(MIRA) if one.fact == KNOWN)

    await services.facts.forget_fact(fact.guid)
    await services.memory_lists.forget_memories(MIRA, [memory.guid])
    kept = await everything(services)
    assert KNOWN in kept
    assert "dark since May" in kept
    await services.trash.erase(await services.trash.list_items())

    kept = await everything(services)
    assert KNOWN not in kept
    assert "dark since May" not in kept
    assert all(KNOWN not in one.text for one in (await behind(services, first)).recalled)
    assert (await behind(services, again)).forgotten == 1


async def everything(services: AppServices) -> str:
    """All that is kept of turns and of the house."""
    question = "SELECT value FROM app_state UNION ALL SELECT value FROM turn_memories"
    return "\n".join(value for (value,) in await services.database.run(lambda c: c.execute(question).fetchall()))


async def test_a_fact_whose_words_are_taken_back_is_whose_it_was(talk: Talk):
    services = talk.services
    await learnt(services)
    (before,) = await services.facts.facts_of(MIRA)
    one = await only(services, await talk.say(GRANDFATHER))

    take_back = await services.reply_actions.write(one, "Tomas's grandfather kept bees.")
    (written,) = await services.facts.facts_of(MIRA)
    await services.facts.pin(written.guid, pinned=True)
    await take_back()

    (after,) = await services.facts.facts_of(MIRA)
    assert after == before.model_copy(update={"pinned": True})
    assert await services.fact_store.tombstones_of(MIRA) == []


async def test_a_memory_whose_words_are_taken_back_is_whose_it_was(talk: Talk):
    services = talk.services
    memory = await talk.add_memory(keywords_main=["lighthouse"], made_by="journal")
    one = await only(services, await talk.say(ASKED))

    take_back = await services.reply_actions.write(one, "It burns again.")
    assert (await services.memory_lists.load_memory(memory.guid)).content == "It burns again."
    await take_back()

    after = await services.memory_lists.load_memory(memory.guid)
    assert (after.content, after.made_by) == (memory.content, "journal")
