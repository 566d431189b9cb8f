"""Messages carry their mode and language, replies their latency and what was left out, sessions their switches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from lethe_app.brain.languages.identifier import is_loaded
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, DegradationKind, MessageMode, SessionEventKind, SwitchTrigger
from lethe_app.domain.clock import now, use_clock
from lethe_app.errors import ModelCrashed
from lethe_app.services.events import ReplyStarted
from lethe_app.services.sessions import languages
from tests.services.turns import MIRA, Talk, TurnOutcome, collect_turn, until

ENGLISH, GERMAN = "What do you see on the horizon?", "Ich sehe das Schiff und du siehst es nicht."


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“I see the harbour and the storm.”"] * 9)
    return await services.sessions.new(MIRA)


async def speak(talk: Talk, text: str) -> TurnOutcome:
    return await collect_turn(talk.services.chat.send(talk.session.guid, text, mode=MessageMode.VOICE))


async def switches(talk: Talk) -> list[tuple[SessionEventKind, str, str, SwitchTrigger]]:
    await talk.services.sessions.languages.finish()
    events = await talk.services.sessions.languages.events_of(talk.session.guid)
    return [(event.kind, event.before, event.after, event.trigger) for event in events]


async def test_a_message_carries_its_mode_and_its_language(talk: Talk):
    await talk.say(ENGLISH)
    await speak(talk, GERMAN)

    stored = [message for message in await talk.log() if not message.hidden][1:]

    assert [message.mode for message in stored] == [MessageMode.TEXT, MessageMode.TEXT, MessageMode.VOICE, MessageMode.TEXT]
    assert [message.current.language for message in stored] == ["en", "en", "de", "en"]


async def test_switches_of_mode_and_language_are_recorded_with_their_message(talk: Talk):
    await talk.say(ENGLISH)
    spoken = await speak(talk, GERMAN)
    await speak(talk, "haha ok, Petrel")
    await talk.say(GERMAN)

    events = await talk.services.sessions.languages.events_of(talk.session.guid)

    assert await switches(talk) == [
        (SessionEventKind.LANGUAGE_SWITCH, "en", "de", SwitchTrigger.AUTO_DETECTED),
        (SessionEventKind.MODE_SWITCH, "text", "voice", SwitchTrigger.USER_REQUEST),
        (SessionEventKind.MODE_SWITCH, "voice", "text", SwitchTrigger.USER_REQUEST),
    ]
    assert [event.message_id for event in events[:2]] == [spoken.asked.id] * 2


async def test_a_language_that_only_the_model_of_the_detector_knows_is_a_switch_too(talk: Talk):
    await talk.say(ENGLISH)
    await talk.say("Dziękuję bardzo za wszystko dzisiaj, do jutra.")

    assert await switches(talk) == [(SessionEventKind.LANGUAGE_SWITCH, "en", "pl", SwitchTrigger.AUTO_DETECTED)]
    assert [message.current.language for message in await talk.log()][3] == "pl"


async def test_the_model_of_the_detector_is_freed_when_nothing_more_is_asked(talk: Talk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(languages, "RELEASE_AFTER", 0.05)
    await talk.say("Dziękuję bardzo za wszystko dzisiaj, do jutra.")
    await talk.services.sessions.languages.finish()

    async def is_freed() -> bool:
        await asyncio.sleep(0.02)
        return not is_loaded()

    await until(is_freed)
    assert [message.current.language for message in await talk.log()][1] == "pl"


async def test_a_language_asked_for_stays_until_the_user_writes_in_another(talk: Talk):
    for text in (ENGLISH, "Please speak French with me.", "And what do you think about the storm?", GERMAN):
        await talk.say(text)

    assert await switches(talk) == [
        (SessionEventKind.LANGUAGE_SWITCH, "en", "fr", SwitchTrigger.USER_REQUEST),
        (SessionEventKind.LANGUAGE_SWITCH, "fr", "de", SwitchTrigger.AUTO_DETECTED),
    ]


async def test_a_deleted_message_takes_its_switch_along(talk: Talk):
    await talk.say(ENGLISH)
    spoken = await speak(talk, ENGLISH)
    await talk.services.message_editing.delete(talk.session.guid, spoken.asked.id)

    assert await switches(talk) == []


async def test_an_edited_message_is_examined_again(talk: Talk):
    turn = await talk.say("You can write to me at tomas@petrel.example whenever you want.")
    assert turn.asked.current.is_sensitive

    edited = await talk.services.message_editing.edit(turn.asked.id, GERMAN)

    assert (edited.current.language, edited.current.is_sensitive) == ("de", False)


async def test_a_redacted_message_is_marked_as_sensitive(talk: Talk):
    await talk.services.preferences.set(redact_identifiers=True)

    turn = await talk.say("You can write to me at tomas@petrel.example whenever you want.")

    assert "[e-mail address]" in turn.asked.content
    assert turn.asked.current.is_sensitive


async def test_a_reply_carries_its_latency(talk: Talk):
    await talk.says("one two three four", delay=0.02)

    reply = (await talk.say(ENGLISH)).reply.current

    assert reply.first_token_ms is not None
    assert reply.total_ms is not None
    assert 0 <= reply.first_token_ms < reply.total_ms


async def test_a_reply_carries_the_time_of_its_first_words(talk: Talk):
    await talk.says("one two", " three")
    asked_at = now()
    moments = [asked_at]
    with use_clock(lambda: moments[-1]):
        async for event in talk.services.chat.send(talk.session.guid, ENGLISH):
            if isinstance(event, ReplyStarted):
                moments.append(asked_at + timedelta(minutes=6))
        asked, reply = (message for message in (await talk.log())[-2:])
        moments.append(asked_at + timedelta(minutes=12))
        async for _event in talk.services.chat.continue_reply(talk.session.guid, reply.id):
            pass
        continued = (await talk.log())[-1]

    assert (asked.time, reply.time) == (asked_at, asked_at + timedelta(minutes=6))
    assert continued.content == "one two three"
    assert continued.time == reply.time


async def test_a_reply_of_a_model_that_was_started_again_says_so(talk: Talk):
    await talk.says("one two", crash_after=1)
    for _attempt in range(2):
        with pytest.raises(ModelCrashed):
            await talk.say(ENGLISH)

    replies = [message.current for message in await talk.log() if message.content == "one"]

    assert [[one.kind for one in reply.degradations] for reply in replies] == [[], [DegradationKind.MODEL_RESTARTED]]


async def test_a_reply_says_how_many_messages_its_prompt_had_to_leave_out(talk: Talk):
    await talk.services.preferences.set(turn_cap=2)
    for _message in range(3):
        await talk.say(ENGLISH)

    degradations = (await talk.say(ENGLISH)).reply.current.degradations

    cut = next(one for one in degradations if one.kind is DegradationKind.HISTORY_CUT)
    assert cut.values == {"count": 5}  # the greeting, and two turns


async def test_a_search_without_an_embedding_model_is_part_of_the_reply_and_of_its_alternatives(talk: Talk):
    await talk.say(ENGLISH)
    await talk.services.indexing.index_all_pending()

    reply = (await talk.say(ENGLISH)).reply
    other = (await talk.regenerate(reply)).reply

    assert [one.kind for one in reply.current.degradations] == [DegradationKind.NO_EMBEDDINGS]
    assert other.current.degradations == reply.current.degradations
