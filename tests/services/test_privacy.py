"""What the privacy settings promise: nothing recalled, nothing learnt, nothing identifying stored, nothing kept too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import ChatSession, MessageMode, Role
from lethe_app.domain.clock import now
from lethe_app.services.preferences import apply_privacy
from tests.services.past_sessions import NUTS, hold
from tests.services.turns import MIRA, Talk, add_memory, collect_turn, prompt_of, say

QUESTION = "Are there peanuts in the satay, and what about my sister Ines in Porto?"


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    """A new conversation, after one whose facts and summary are known, and with memories of every kind."""
    await says(*["“Aye.”"] * 20)
    old = await hold(services, *NUTS, at=now() - timedelta(days=3))
    await services.archive_jobs.start_archive(old.guid)
    await services.archive_queue.finish()
    await add_memory(services, content="Ines sails a boat called the Heron.", sticky=True)
    await add_memory(services, content="Porto has six bridges.", keywords_main=["Porto"])
    await services.indexing.index_all_pending()
    return await services.sessions.new(MIRA)


async def prompt_after(talk: Talk) -> str:
    return await talk.prompt_of(await talk.say(QUESTION))


@pytest.mark.parametrize("switch", ["memory_enabled", "cross_session_recall"])
async def test_nothing_of_other_conversations_is_recalled(talk: Talk, switch: str):
    await talk.services.preferences.set(**{switch: False})

    prompt = await prompt_after(talk)

    assert not any(words in prompt for words in ("Heron", "six bridges", "carpenter", "allergic"))
    assert QUESTION in prompt


async def test_nothing_new_is_learnt_without_memory_and_what_was_learnt_remains(talk: Talk):
    services = talk.services
    before = await services.facts.facts_of(MIRA)
    assert before
    await services.preferences.set(memory_enabled=False)
    later = await hold(services, "I am allergic to oysters as well.", "Noted.", at=now() - timedelta(hours=2))
    await services.archive_jobs.start_archive(later.guid)
    await services.archive_queue.finish()

    assert await services.facts.facts_of(MIRA) == before


async def test_settings_that_are_off_for_privacy_keep_their_values(services: AppServices):
    await services.preferences.set(memory_enabled=False, font_size=18)
    assert not services.preferences.current.rag_enabled
    await services.preferences.set(memory_enabled=True)

    assert services.preferences.current.rag_enabled
    assert services.preferences.current == services.preferences.stored
    assert apply_privacy(Settings()) == Settings()


async def test_identifying_data_is_neither_stored_nor_sent(services: AppServices, says: Callable[..., object]):
    await says(*["“Aye.”"] * 3)
    await services.preferences.set(redact_identifiers=True)
    session = await services.sessions.new(MIRA)

    outcome = await say(services, session, "Write to tomas@petrel.example or call +49 30 1234567.")
    await services.message_editing.edit(outcome.asked.id, "Or 4111 1111 1111 1111, tomas@petrel.example.")

    assert outcome.asked.content == "Write to [e-mail address] or call [phone number]."
    stored = await services.sessions.message(outcome.asked.id)
    assert stored.content == "Or [card number], [e-mail address]."
    assert "petrel.example" not in await prompt_of(services, session, outcome)
    home: Path = services.paths.home
    files = await asyncio.to_thread(lambda: [path for path in home.rglob("*") if path.is_file()])
    for file in files:
        assert b"petrel.example" not in await asyncio.to_thread(file.read_bytes)


async def test_old_conversations_are_deleted_for_good_except_pinned_ones(talk: Talk):
    services = talk.services
    pinned = await hold(services, "A pinned one.", "Aye.", at=now() - timedelta(days=90))
    await services.sessions.mark(pinned.guid, sticky=True)
    await services.preferences.set(retention_days=2)

    await services.retention.delete_old_sessions()

    assert {summary.guid for summary in await services.sessions.list(MIRA)} == {pinned.guid, talk.session.guid}
    assert await services.trash.list_items() == []
    assert await services.facts.facts_of(MIRA) == []


async def test_a_message_inserted_into_an_old_conversation_is_redacted_and_marked(talk: Talk):
    await talk.services.preferences.set(redact_identifiers=True)
    await talk.say("Hello there, Mira.")

    text = "Write to me at tomas@petrel.example whenever you want."
    inserted = await talk.services.session_editing.insert(talk.session.guid, text, by_user=True, above=None)

    assert inserted.content == "Write to me at [e-mail address] whenever you want."
    assert (inserted.current.is_sensitive, inserted.current.language) == (True, "en")


async def recorded(services: AppServices) -> str:
    """Everything that is recorded of what turns recalled, and of their prompts."""
    tables = ("turn_memories", "kept_prompts", "receipts")
    rows = await services.database.run(
        lambda c: [repr(row) for table in tables for row in c.execute(f"SELECT * FROM {table}").fetchall()]
    )
    return "\n".join(rows)


async def test_without_retrieved_context_only_ids_and_kinds_are_recorded(talk: Talk):
    services = talk.services
    await services.preferences.set(keep_retrieved_context=False)

    turn = await talk.say(QUESTION)

    stored = await recorded(services)
    assert not any(words in stored for words in ("Heron", "six bridges", "carpenter", "allergic", "kept_prompts"))
    assert str(turn.memory.recalled[0].memory) in stored
    assert (await services.receipt_store.get(turn.reply.id, 0)) is not None
    assert await services.receipt_store.spans(turn.reply.id, 0) == ()
    assert services.cache_state.location_of(talk.session, 0) is None


async def test_without_retrieved_context_another_wording_of_a_reply_recalls_the_same_anew(talk: Talk):
    await talk.services.preferences.set(keep_retrieved_context=False)
    turn = await talk.say(QUESTION)

    other = await talk.regenerate(turn.reply)

    assert {one.memory for one in other.memory.recalled} == {one.memory for one in turn.memory.recalled}
    assert any("Heron" in one.text for one in other.memory.recalled)
    assert "Heron" not in await recorded(talk.services)


async def test_the_memory_panel_still_names_what_was_recalled_without_retrieved_context(talk: Talk):
    await talk.services.preferences.set(keep_retrieved_context=False)
    turn = await talk.say(QUESTION)

    sources = await talk.services.reply_sources.sources_of(turn.reply.id)

    assert any(memory.text == "Ines sails a boat called the Heron." for memory in sources.recalled)


async def test_switching_retrieved_context_off_removes_what_is_recorded_already(talk: Talk):
    await talk.say(QUESTION)
    assert "Heron" in await recorded(talk.services)

    await talk.services.preferences.set(keep_retrieved_context=False)
    await talk.services.retention.delete_unwanted()

    assert "Heron" not in await recorded(talk.services)


async def test_dictated_messages_are_deleted_for_good_once_their_conversation_has_ended(talk: Talk):
    services = talk.services
    secret, typed = "Zinnober is my secret word for the harbour.", "I sail with my sister on Sundays."
    await collect_turn(services.chat.send(talk.session.guid, secret, mode=MessageMode.VOICE))
    await talk.say(typed)
    await services.preferences.set(keep_voice_transcripts=False)

    await services.retention.delete_unwanted()
    open_texts = [message.content for message in await talk.log()]
    await services.archive_queue.archive_session(talk.session.guid)
    await services.archive_queue.finish()
    await services.retention.delete_unwanted()

    assert secret in open_texts
    assert [message.content for message in await talk.log() if message.role is Role.USER] == [typed]
    files = await asyncio.to_thread(lambda: [path for path in services.paths.home.rglob("*") if path.is_file()])
    for file in files:
        assert b"Zinnober" not in await asyncio.to_thread(file.read_bytes), file
