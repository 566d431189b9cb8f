"""A turn of conversation: what is stored, what is told, and what remains when it goes wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from lethe_app.domain.chat import Role
from lethe_app.domain.model import StopReason
from lethe_app.errors import LetheError, ModelCrashed, ModelError, ModelMissing, StorageError
from lethe_app.services.events import (
    MessageStored,
    PromptBuilt,
    ReplyFinished,
    ReplyStarted,
    ReplyText,
    ThinkingText,
    TurnEvent,
)
from tests.services.turns import Talk


async def all_of(turn: AsyncGenerator[TurnEvent]) -> list[TurnEvent]:
    async with aclosing(turn) as events:
        return [event async for event in events]


def said(events: list[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReplyText))


async def test_a_turn_stores_the_user_first_then_streams_and_stores_the_reply(talk: Talk):
    await talk.says("“Mind the step.”")

    events = await all_of(talk.services.chat.send(talk.session.guid, "Good evening."))

    kinds = [type(event) for event in events]
    assert (
        kinds.index(MessageStored)
        < kinds.index(PromptBuilt)
        < kinds.index(ReplyStarted)
        < kinds.index(ReplyText)
        < kinds.index(ReplyFinished)
    )
    assert said(events) == "“Mind the step.”"
    assert [(message.role, message.content) for message in (await talk.log())[1:]] == [
        (Role.USER, "Good evening."),
        (Role.ASSISTANT, "“Mind the step.”"),
    ]
    assert (await talk.log())[2].current.complete


async def test_the_greeting_opens_a_new_conversation_with_the_others_behind_it(talk: Talk):
    (greeting,) = await talk.log()

    assert {alternative.content for alternative in greeting.alternatives} == {
        "*She looks up.* “You are late, Tomas.”",
        "“Come aboard.”",
    }
    assert greeting.speaker_name == "Mira"


async def test_with_nothing_to_say_the_persona_speaks_again(talk: Talk):
    await talk.says("“Well?”")

    await all_of(talk.services.chat.send(talk.session.guid, "  "))

    assert [message.role for message in await talk.log()] == [Role.ASSISTANT, Role.ASSISTANT]


async def test_a_stopped_reply_is_kept_as_far_as_it_came(talk: Talk):
    await talk.says("one two three four five six seven eight", delay=0.02)

    async with aclosing(talk.services.chat.send(talk.session.guid, "Count.")) as events:
        async for event in events:
            if isinstance(event, ReplyText) and "three" in event.text:
                break

    last = (await talk.log())[-1]
    assert last.content.startswith("one two three")
    assert not last.content.endswith("eight")
    assert not last.current.complete


async def test_after_a_crash_the_next_message_starts_the_model_anew(talk: Talk):
    await talk.says("one two", crash_after=1)
    with pytest.raises(ModelCrashed):
        await all_of(talk.services.chat.send(talk.session.guid, "First."))

    with pytest.raises(ModelCrashed):  # the script crashes again, which shows that it was started again
        await all_of(talk.services.chat.send(talk.session.guid, "Second."))

    assert [message.content for message in await talk.log()][1:] == ["First.", "one", "Second.", "one"]


async def test_without_any_model_the_message_is_stored_and_the_error_says_what_to_do(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lethe_app.llm.models.bundled.chat_model", lambda: None)

    with pytest.raises(ModelMissing, match="No model was found"):
        await all_of(talk.services.chat.send(talk.session.guid, "Anyone?"))

    assert (await talk.log())[-1].content == "Anyone?"


async def test_regenerating_adds_a_wording_beside_the_old_one(talk: Talk):
    await talk.says("first", "second")
    await all_of(talk.services.chat.send(talk.session.guid, "Say something."))
    reply = (await talk.log())[-1]

    await all_of(talk.services.chat.regenerate(talk.session.guid, reply.id))

    again = await talk.services.sessions.message(reply.id)
    assert [alternative.content for alternative in again.alternatives] == ["first", "second"]
    assert again.content == "second"


async def test_a_regeneration_stopped_before_a_word_changes_nothing(talk: Talk):
    await talk.says("first", "second")
    await all_of(talk.services.chat.send(talk.session.guid, "Say something."))
    reply = (await talk.log())[-1]
    await talk.says("late", reading_delay=5)

    async with aclosing(talk.services.chat.regenerate(talk.session.guid, reply.id)) as events:
        async for event in events:
            if isinstance(event, ReplyStarted):
                break

    assert (await talk.services.sessions.message(reply.id)).alternatives == reply.alternatives


async def test_only_the_personas_words_can_be_regenerated(talk: Talk):
    await talk.says("hm")
    await all_of(talk.services.chat.send(talk.session.guid, "Mine."))
    mine = (await talk.log())[1]

    with pytest.raises(LetheError, match="Only replies of the persona"):
        await all_of(talk.services.chat.regenerate(talk.session.guid, mine.id))


async def test_continuing_appends_to_the_same_wording(talk: Talk):
    await talk.says("Once upon", " a time.")
    await all_of(talk.services.chat.send(talk.session.guid, "A story."))
    reply = (await talk.log())[-1]

    await all_of(talk.services.chat.continue_reply(talk.session.guid, reply.id))

    again = await talk.services.sessions.message(reply.id)
    assert again.content == "Once upon a time."
    assert len(again.alternatives) == 1


async def test_thinking_is_kept_apart_and_never_sent_again(talk: Talk):
    await talk.says("<think>He is tired.</think>Sleep well.", "Yes.")
    events = await all_of(talk.services.chat.send(talk.session.guid, "I am off."))
    await all_of(talk.services.chat.send(talk.session.guid, "Bye."))

    reply = (await talk.log())[2]
    assert reply.content == "Sleep well."
    assert reply.thinking == "He is tired."
    assert "".join(event.text for event in events if isinstance(event, ThinkingText)) == "He is tired."


async def test_a_model_with_nothing_to_say_is_an_error_and_no_message(talk: Talk):
    await talk.says("")

    with pytest.raises(ModelError, match="empty reply"):
        await all_of(talk.services.chat.send(talk.session.guid, "Hello?"))

    assert [message.role for message in await talk.log()] == [Role.ASSISTANT, Role.USER]


async def test_the_receipt_adds_up_and_the_second_turn_reads_only_what_is_new(talk: Talk):
    await talk.says("First answer.", "Second answer.")
    first = await all_of(talk.services.chat.send(talk.session.guid, "One."))
    second = await all_of(talk.services.chat.send(talk.session.guid, "Two."))

    receipt = next(event.receipt for event in second if isinstance(event, PromptBuilt))
    usage = next(event.usage for event in second if isinstance(event, ReplyFinished))
    before = next(event.usage for event in first if isinstance(event, ReplyFinished))
    assert sum(share.tokens for share in receipt.shares) == receipt.prompt_tokens == usage.prompt_tokens
    assert usage.reused_tokens >= before.prompt_tokens - 1
    assert usage.reason is StopReason.END


async def test_a_stop_in_the_middle_of_the_first_write_loses_no_word_and_stores_nothing_twice(talk: Talk):
    await talk.says("one two three four five six", delay=0.05)

    slow_disk: list[asyncio.Future[None]] = []

    async def conversation() -> None:
        async with aclosing(talk.services.chat.send(talk.session.guid, "Count.")) as events:
            async for event in events:
                if isinstance(event, ReplyText):  # the disk is slow just when the reply is stored for the first time
                    slow_disk.append(
                        asyncio.ensure_future(talk.services.database.run_outside_transaction(lambda: time.sleep(0.3)))
                    )
                    await asyncio.sleep(0.05)

    talking = asyncio.ensure_future(conversation())
    await asyncio.sleep(0.3)
    talking.cancel()
    await asyncio.gather(talking, return_exceptions=True)

    messages = await talk.log()
    assert [message.role for message in messages] == [Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    assert messages[-1].content.startswith("one")
    assert len(messages[-1].alternatives) == 1
    assert talking.cancelled()


async def test_a_reply_stopped_in_its_thoughts_keeps_them_as_thoughts(talk: Talk):
    await talk.says("<think>one two three four five six</think>Done.", delay=0.05)

    async with aclosing(talk.services.chat.send(talk.session.guid, "Think.")) as events:
        async for event in events:
            if isinstance(event, ThinkingText) and "two" in event.text:
                break

    last = (await talk.log())[-1]
    assert last.content == ""
    assert last.thinking.startswith("one two")


async def test_an_edit_that_is_undone_leaves_the_wording_and_the_index_as_they_were(talk: Talk):
    services = talk.services
    await talk.says("The heron stands in the reeds.", "A swan.", "An owl.")
    first = await talk.say("What do you see?")
    reply = first.reply.id
    await all_of(services.chat.regenerate(talk.session.guid, reply))
    before = await services.message_editing.show_alternative(reply, 0)

    edited = await services.message_editing.edit(reply, "The stork stands in the reeds.")
    await all_of(services.chat.regenerate(talk.session.guid, reply))
    after = await services.message_editing.undo_edit(before)
    await services.indexing.index_all_pending()
    stored = await services.database.run(lambda c: [text for (text,) in c.execute("SELECT text FROM passages")])

    assert edited.content == "The stork stands in the reeds."
    assert (after.content, after.shown) == (before.content, 0)
    assert after.alternatives[:2] == before.alternatives
    assert [wording.content for wording in after.alternatives[2:]] == ["An owl."]
    assert any("heron" in text for text in stored)
    assert not any("stork" in text for text in stored)


async def test_an_edit_of_a_message_that_was_deleted_meanwhile_cannot_be_undone(talk: Talk):
    await talk.says("Yes.")
    before = (await talk.say("What do you see?")).asked
    await talk.services.message_editing.edit(before.id, "What?")
    await talk.services.message_editing.delete(talk.session.guid, before.id)

    with pytest.raises(StorageError):
        await talk.services.message_editing.undo_edit(before)
