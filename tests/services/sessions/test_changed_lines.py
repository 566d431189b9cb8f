"""What was made of an archived conversation follows its lines at once: deleted, changed, displayed differently, and undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, Message
from tests.services.past_sessions import archive
from tests.services.turns import MIRA, say

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
