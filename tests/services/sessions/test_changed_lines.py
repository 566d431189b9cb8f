"""What was made of an archived conversation follows its lines at once: deleted, changed, displayed differently, and undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType
from tests.services.past_sessions import archive, hold
from tests.services.turns import MIRA, add_memory, learnt_from, say

SECRET = "My sister Ana lives in Braga with her girlfriend Rosalind."
FILLER = "I work as a carpenter in Porto and my workshop smells of cedar."


async def told(services: AppServices, session: ChatSession) -> str:
    """Everything that was made of the conversation, as one text."""
    stored = await services.sessions.open(session.guid)
    facts = [fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded]
    moments = [memory.content for memory in await services.memory_store.memories_of(MIRA)]
    return " ".join([stored.name, stored.content, *stored.keywords_main, *stored.future_goals, *facts, *moments])


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 20)
    session = await services.sessions.new(MIRA)
    await say(services, session, FILLER)
    await say(services, session, SECRET)
    await archive(services, session)
    assert "Rosalind" in await told(services, session)
    return session


async def secret_of(services: AppServices, session: ChatSession) -> Message:
    outline = await services.sessions.outline(session.guid)
    messages = [await services.session_store.message(entry.id) for entry in outline]
    return next(message for message in messages if message.current.content == SECRET)


async def test_nothing_tells_of_a_line_once_it_is_deleted_and_all_does_when_it_is_restored(
    services: AppServices, session: ChatSession
):
    secret = await secret_of(services, session)

    await services.message_editing.delete(session.guid, secret.id)
    assert "Rosalind" not in await told(services, session)
    await services.archive_queue.finish()
    assert "Rosalind" not in (text := await told(services, session))
    assert "Porto" in text

    await services.session_editing.restore_message(secret.id)
    await services.archive_queue.finish()
    assert "Rosalind" in await told(services, session)


async def test_nothing_tells_of_a_line_once_it_says_something_else_until_that_is_undone(
    services: AppServices, session: ChatSession
):
    secret = await secret_of(services, session)

    await services.message_editing.edit(secret.id, "My sister Ana lives in Lisbon.")
    assert "Rosalind" not in await told(services, session)
    await services.archive_queue.finish()
    assert "Rosalind" not in (text := await told(services, session))
    assert "Lisbon" in text

    await services.message_editing.undo_edit(secret)
    await services.archive_queue.finish()
    assert "Rosalind" in (text := await told(services, session))
    assert "Lisbon" not in text


async def test_a_conversation_of_which_nothing_is_left_has_no_title_and_summary(
    services: AppServices, says: Callable[..., object]
):
    await says(*["“Aye.”"] * 3)
    session = await services.sessions.new(MIRA)
    await say(services, session, SECRET)
    await archive(services, session)
    secret = await secret_of(services, session)

    await services.message_editing.delete(session.guid, secret.id)
    await services.archive_queue.finish()

    assert "Rosalind" not in await told(services, session)


@pytest.mark.parametrize("change", ["delete", "edit"])
async def test_notebooks_follow_a_line_though_the_conversation_was_read_again_before_they_were(
    services: AppServices, change: str
):
    lines = [line for said in (FILLER, SECRET, "My aunt is called Greta.") for line in (said, "The tide was slow.")]
    session = await hold(services, *lines, at=now() - timedelta(days=5))
    await archive(services, session)

    async def noted() -> str:
        await services.archive_queue.finish()
        await services.notebook_writer.write_all_pending()
        return str(await services.notebooks.notebooks_of(MIRA))

    secret = await secret_of(services, session)
    assert "Rosalind" in await noted()
    if change == "delete":
        await services.message_editing.delete(session.guid, secret.id)
    else:
        await services.message_editing.edit(secret.id, "The tide was slow.")
    assert "Rosalind" not in (text := await noted())
    assert "carpenter" in text

    if change == "delete":
        await services.session_editing.restore_message(secret.id)
    else:
        await services.message_editing.undo_edit(secret)
    assert "Rosalind" in await noted()


async def add_journal(services: AppServices, session: ChatSession, content: str) -> UUID:
    """A memory that a task made of the whole conversation."""
    sources = [f"session:{session.guid}"]
    return (await add_memory(services, content, made_by="journal", category=MemoryType.JOURNAL, sources=sources)).guid


async def journal(services: AppServices) -> set[UUID]:
    return {memory.guid for memory in await services.memory.memories(MIRA) if memory.category is MemoryType.JOURNAL}


async def test_a_task_s_memory_of_a_deleted_line_goes_with_it_and_comes_back_with_it(
    services: AppServices, session: ChatSession
):
    of_secret = await add_journal(services, session, "He told me of Rosalind. I was surprised.")
    of_work = await add_journal(services, session, "He smelled of cedar from his workshop today.")
    secret = await secret_of(services, session)

    await services.message_editing.delete(session.guid, secret.id)
    assert await journal(services) == {of_work}
    assert [item.kind for item in await services.trash.list_items()] == [TrashKind.MESSAGE]

    await services.session_editing.restore_message(secret.id)
    assert await journal(services) == {of_secret, of_work}


async def test_a_task_s_memory_of_a_reworded_line_goes_until_that_is_undone(services: AppServices, session: ChatSession):
    of_secret = await add_journal(services, session, "He told me of Rosalind.")
    secret = await secret_of(services, session)

    await services.message_editing.edit(secret.id, "My sister Ana lives in Braga.")
    assert await journal(services) == set()

    await services.message_editing.undo_edit(secret)
    assert await journal(services) == {of_secret}


async def test_all_that_tasks_made_of_a_conversation_goes_with_it(services: AppServices, session: ChatSession):
    of_work = await add_journal(services, session, "A quiet evening.")

    await services.session_editing.delete(session.guid)
    assert await journal(services) == set()
    await services.sessions.restore(session.guid)
    assert await journal(services) == {of_work}

    await services.session_editing.delete(session.guid)
    await services.trash.erase(await services.trash.list_items())
    assert await services.memory_store.memories_of(MIRA, deleted=True) == []


async def test_what_the_user_has_edited_stays(services: AppServices, session: ChatSession):
    guid = await add_journal(services, session, "He told me of Rosalind.")
    await services.memory.edit((await services.memory_store.get(guid)).model_copy(update={"content": "Rosalind is nice."}))

    await services.message_editing.delete(session.guid, (await secret_of(services, session)).id)

    assert await journal(services) == {guid}


async def test_a_reminder_goes_with_the_message_that_asked_for_it(services: AppServices, says: Callable[..., object]):
    await says(*["“Aye.”"] * 3)
    session = await services.sessions.new(MIRA)
    asked = (await say(services, session, "Remind me to feed the cat in 3 days.")).asked
    assert len(await services.reminders.reminders_of(MIRA)) == 1

    await services.message_editing.delete(session.guid, asked.id)
    assert await services.reminders.reminders_of(MIRA) == []

    await services.session_editing.restore_message(asked.id)
    assert len(await services.reminders.reminders_of(MIRA)) == 1


async def test_a_day_is_looked_through_for_key_moments_again_after_an_edit(services: AppServices):
    session = await hold(services, SECRET, "Aye.", at=now() - timedelta(days=2))
    secret = await secret_of(services, session)
    await services.key_moments.look_through_days()
    assert "Rosalind" in await told(services, session)

    await services.message_editing.edit(secret.id, "My brother Tim lives in Faro with his wife Gwendolyn.")
    await services.key_moments.look_through_days()
    assert "Gwendolyn" in (text := await told(services, session))
    assert "Rosalind" not in text

    await services.message_editing.undo_edit(secret)
    assert "Rosalind" in (text := await told(services, session))
    assert "Gwendolyn" not in text


async def test_a_fact_said_twice_in_a_conversation_stays_known_until_the_last_line_goes(
    services: AppServices, says: Callable[..., object]
):
    await says(*["“Aye.”"] * 20)
    session = await services.sessions.new(MIRA)
    await say(services, session, "My sister Ana lives in Braga.")
    await say(services, session, FILLER)
    await say(services, session, "My sister Ana lives in Braga.")
    await archive(services, session)
    first, again = [entry.id for entry in await services.sessions.outline(session.guid) if entry.role is Role.USER][::2]

    async def knows() -> bool:
        await services.archive_queue.finish()
        return any("Braga" in fact.fact for fact in await services.facts.facts_of(MIRA) if not fact.superseded)

    assert await knows()
    await services.message_editing.delete(session.guid, first)
    assert await knows()
    await services.message_editing.delete(session.guid, again)
    assert not await knows()
    await services.session_editing.restore_message(first)
    assert await knows()


async def test_a_memory_of_two_deleted_lines_comes_back_with_the_last_of_them_only(services: AppServices):
    session = await hold(services, "Ana has a boat in Braga.", "Aye.", "Her lover is Rosalind.", "Aye.", "Rain today.", "Aye.")
    guid = await add_journal(services, session, "Rosalind is on the boat in Braga.")
    boat, _aye, lover, *_rest = [entry.id for entry in await services.sessions.outline(session.guid)]
    for line in (boat, lover):
        await services.message_editing.delete(session.guid, line)

    await services.session_editing.restore_message(boat)
    assert await journal(services) == set()
    await services.session_editing.restore_message(lover)
    assert await journal(services) == {guid}


async def test_a_memory_that_shares_common_words_with_a_deleted_line_stays(services: AppServices):
    session = await hold(services, "I play the violin.", "Aye.", "It rained on Monday and there was no bus.", "Aye.")
    guid = await add_journal(services, session, "Tomas plays the violin, and there was joy in it.")
    rain = (await services.sessions.outline(session.guid))[2].id

    await services.message_editing.delete(session.guid, rain)

    assert await journal(services) == {guid}


async def test_a_fact_in_the_user_s_words_survives_the_correction_of_a_typing_error(services: AppServices):
    session = await hold(services, "I am allergic to peanuts and slwo.", "Aye.", "I am allergic to milk.", "Aye.")
    messages = [message for message in await services.sessions.page(session.guid, 0, 9) if message.role is Role.USER]
    facts = [learnt_from(message, message.content.replace("I am", "Tomas is")) for message in messages]
    await services.facts.learn(MIRA, facts)
    merged = await services.facts.merge([fact.guid for fact in await services.facts.facts_of(MIRA)], "No peanuts, no milk.")

    await services.message_editing.edit(messages[0].id, "I am allergic to peanuts and slow.")
    assert merged.guid in {fact.guid for fact in await services.facts.facts_of(MIRA) if not fact.superseded}
    await services.message_editing.edit(messages[0].id, "I am slow.")
    assert merged.guid not in {fact.guid for fact in await services.facts.facts_of(MIRA)}


async def test_an_edit_is_undone_whole_though_something_else_was_erased(services: AppServices, session: ChatSession):
    guid = await add_journal(services, session, "He told me of Rosalind.")
    secret = await secret_of(services, session)
    other, kept = [await add_memory(services, content) for content in ("A lamp.", "A door.")]
    await services.message_editing.edit(secret.id, "My sister Ana lives in Braga.")
    for memory in (other, kept):
        await services.memory.forget_memory(memory.guid)

    await services.trash.erase([item for item in await services.trash.list_items() if item.id == str(other.guid)])

    await services.message_editing.undo_edit(secret)
    assert await journal(services) == {guid}
