"""Queue of sentences: order, voices, synthesis ahead, stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import uuid4

import pytest

from lethe_app.config.options import SpokenActions
from lethe_app.errors import SpeechUnavailable
from lethe_app.services.speech.output import SpeechOutput
from tests.speech.fake_engine import ADA, BEN, FakeEngine


@pytest.fixture
def preferences(services):
    return services.preferences


async def until(condition: Callable[[], object]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never happened")


async def test_sentences_are_spoken_in_order_while_the_reply_is_written(preferences):
    engine = FakeEngine()
    output = SpeechOutput([engine], preferences)

    output.begin_text(uuid4())
    output.add_text("You are late. The gal")
    await until(lambda: engine.texts == ["You are late."])
    output.add_text("ley burns")
    output.end_text()
    await until(lambda: not output.is_speaking)

    assert engine.texts == ["You are late.", "The galley burns"]


async def test_the_next_sentence_is_synthesised_while_one_is_playing(preferences):
    engine = FakeEngine(is_instant=False)
    output = SpeechOutput([engine], preferences)

    output.speak_text("One. Two. Three. Four. Five.")
    await until(lambda: engine.is_playing and len(engine.prepared) == 3)

    assert engine.texts == ["One."]
    await output.close()


async def test_stop_silences_the_sentence_and_drops_the_rest(preferences):
    engine = FakeEngine(is_instant=False)
    output = SpeechOutput([engine], preferences)
    changes: list[bool] = []
    output.speaking_changed.add(changes.append)
    output.begin_text(uuid4())
    output.add_text("One. Two. Three")
    await until(lambda: engine.is_playing)

    output.stop_speaking()
    output.add_text(" more. And more.")
    output.end_text()
    await until(lambda: not engine.is_playing)

    assert engine.cut_off == ["One."]
    assert engine.texts == ["One."]
    assert changes == [True, False]
    assert not output.is_speaking


async def test_a_following_text_waits_for_the_one_before(preferences):
    engine = FakeEngine(is_instant=False)
    output = SpeechOutput([engine], preferences)
    changes: list[bool] = []
    output.speaking_changed.add(changes.append)
    first, second = uuid4(), uuid4()
    output.speak_text("First.", first)
    await until(lambda: engine.is_playing)

    output.begin_text(second, BEN.voice_id, follows=True)
    output.add_text("Second. ")
    output.end_text()
    await until(lambda: len(engine.prepared) == 2)
    assert output.is_message_spoken(first)
    assert output.is_message_spoken(second)
    assert engine.texts == ["First."]
    engine.end_sentence()
    await until(lambda: engine.texts == ["First.", "Second."] and engine.is_playing)
    engine.end_sentence()
    await until(lambda: not output.is_speaking)

    assert [sentence.voice_id for sentence in engine.played] == [ADA.voice_id, BEN.voice_id]
    assert changes == [True, False]


async def test_another_text_takes_the_place_of_the_one_that_is_spoken(preferences):
    engine = FakeEngine(is_instant=False)
    output = SpeechOutput([engine], preferences)
    output.speak_text("First. And more.")
    await until(lambda: engine.is_playing)

    output.speak_text("Second.")
    await until(lambda: engine.texts == ["First.", "Second."])

    await output.close()
    assert engine.cut_off == ["First.", "Second."]
    assert engine.is_closed


@pytest.mark.parametrize(
    ("actions", "spoken"),
    [(SpokenActions.LEAVE_OUT, [("Hello.", "Ada")]), (SpokenActions.NARRATOR, [("She waves.", "Ben"), ("Hello.", "Ada")])],
)
async def test_actions_are_left_out_or_spoken_by_the_narrator(preferences, actions, spoken):
    await preferences.set(spoken_actions=actions, narrator_voice=BEN.voice_id)
    engine = FakeEngine()
    output = SpeechOutput([engine], preferences)

    output.speak_text("*She waves.* Hello.")
    await until(lambda: not output.is_speaking)

    assert [(sentence.text, sentence.voice_id.rpartition(":")[2]) for sentence in engine.played] == spoken


async def test_a_voice_that_is_not_here_is_replaced_by_the_chosen_or_the_first_one(preferences):
    engine = FakeEngine()
    output = SpeechOutput([engine], preferences)

    output.speak_text("One.", voice_id="low")
    await until(lambda: not output.is_speaking)
    await preferences.set(speech_voice=BEN.voice_id, speech_rate=1.5, speech_volume=0.4)
    output.speak_text("Two.", voice_id="system:en:Gone")
    await until(lambda: not output.is_speaking)

    first, second = engine.played
    assert first.voice_id == ADA.voice_id
    assert (second.voice_id, second.rate, second.volume) == (BEN.voice_id, 1.5, 0.4)


async def test_a_sentence_that_cannot_be_synthesised_is_left_out(preferences):
    engine = FakeEngine()
    engine.unspeakable.add("Two.")
    output = SpeechOutput([engine], preferences)

    output.speak_text("One. Two. Three.")
    await until(lambda: not output.is_speaking)

    assert engine.texts == ["One.", "Three."]


async def test_missing_speech_is_reported_once_and_never_raised(preferences):
    output = SpeechOutput([FakeEngine(problem=SpeechUnavailable("No voices.", "Install some."))], preferences)
    failures: list[str] = []
    output.failed.add(lambda error: failures.append(str(error)))

    for _ in range(2):
        output.speak_text("One. Two.")
        await until(lambda: not output.is_speaking)

    assert failures == ["No voices. Install some."]
    assert await output.list_voices() == []
    assert {str(problem) for problem in (await output.list_problems()).values()} == {"No voices. Install some."}


async def test_a_text_with_nothing_to_say_is_never_spoken(preferences):
    output = SpeechOutput([FakeEngine()], preferences)
    changes: list[bool] = []
    output.speaking_changed.add(changes.append)

    output.speak_text("```\ncode\n```\n*waves*")

    assert not output.is_speaking
    assert changes == []
