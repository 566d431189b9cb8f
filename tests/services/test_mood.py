"""Moods in a turn: moved once, told once, kept with everything else, and never where they are not wanted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession, SessionPart
from lethe_app.domain.clock import now, use_clock
from lethe_app.domain.mood import MoodCause
from lethe_app.services.background.mood_inference import QUEUE_KEY, SCOPE
from lethe_app.services.mood import MAX_SAMPLES
from lethe_app.services.sessions.archive_queue import ArchiveProgress
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from tests.services.past_sessions import answers, archive, hold, trusted
from tests.services.turns import MIRA, Talk, TurnOutcome, change_persona, collect_turn, until

LOWER, SAME, HIGHER = {"change": "lower"}, {"change": "same"}, {"change": "much higher"}


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*["“Aye.”"] * 60)
    await services.preferences.set(recall_without_match=0, rotation_minutes=0)
    await change_persona(services, mood=True)
    return await services.sessions.new(MIRA)


async def cheer(services: AppServices) -> float:
    return (await services.moods.load_mood(MIRA)).feelings["cheer"].value


async def praised(talk: Talk, times: int) -> list[TurnOutcome]:
    return [await talk.say("Well done, I love it.") for _time in range(times)]


async def test_the_mood_changes_no_stable_part_of_the_prompt(talk: Talk):
    turns = await praised(talk, 3)
    prompt, later = (
        await talk.prompt_of(turns[2]),
        await talk.prompt_of(await talk.say("Hm.")),
    )

    reported = prompt.index("Mira feels happy now.")
    assert later.startswith(prompt[: prompt.rindex("“Aye.”", 0, reported)])


async def test_a_reply_written_anew_moves_nothing_and_is_told_the_same(talk: Talk):
    turns = await praised(talk, 3)
    before = await cheer(talk.services)

    again = await collect_turn(talk.services.chat.regenerate(talk.session.guid, turns[2].reply.id))

    assert again.memory.mood == turns[2].memory.mood == "Mira feels happy now."
    assert await cheer(talk.services) == pytest.approx(before, abs=1e-4)


@pytest.mark.parametrize("switch", ["master", "persona", "guidance"])
async def test_who_has_no_moods_is_never_moved(talk: Talk, switch: str):
    if switch == "master":
        await talk.services.preferences.set(mood_handling=False)
    else:
        await change_persona(talk.services, **({"mood": False} if switch == "persona" else {"disable_bot_guidance": True}))
    before = await cheer(talk.services)

    turns = await praised(talk, 4)

    assert {outcome.memory.mood for outcome in turns} == {""}
    assert await cheer(talk.services) == pytest.approx(before, abs=1e-4)


async def test_the_note_at_a_return_says_the_mood_and_the_turn_does_not_repeat_it(talk: Talk):
    await change_persona(talk.services, sense_of_time=True)
    await talk.services.moods.set_mood(MIRA, "cheer", 0.95)
    await talk.say("Hello.")
    await talk.back_in_time(timedelta(hours=9))

    outcome = await talk.say("I am back.")

    assert "Mira feels rested and joyful." in outcome.note.content
    assert outcome.memory.mood == ""


async def test_the_user_can_put_a_mood_by_hand_and_back(services: AppServices):
    before = (await services.moods.load_mood(MIRA)).feelings["cheer"]
    heard_of: list[str] = []
    services.moods.changed.add(heard_of.append)

    old = await services.moods.set_mood(MIRA, "cheer", 0.95)
    assert await cheer(services) == pytest.approx(0.95, abs=0.001)
    assert (await services.moods.load_mood(MIRA)).feelings["cheer"].why == MoodCause.HAND
    await services.moods.restore_feeling(MIRA, "cheer", old)

    assert await cheer(services) == pytest.approx(before.value, abs=0.001)
    assert heard_of == [MIRA, MIRA]


async def test_history_has_a_sample_for_every_day_and_is_bounded(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lethe_app.services.mood.MAX_SAMPLES", 3)
    assert MAX_SAMPLES == 400
    clock = [now()]
    with use_clock(lambda: clock[0]):
        for _day in range(6):
            clock[0] += timedelta(days=1)
            await services.moods.set_mood(MIRA, "cheer", 0.7)
        history = await services.moods.load_history(MIRA)

    assert len(history) == 4
    assert [one.at for one in history] == sorted(one.at for one in history)


async def test_what_lies_there_in_another_form_counts_as_nothing(talk: Talk):
    for scope in ("moods", "mood history", "mood readings"):
        await talk.services.app_state.set(scope, MIRA, {"feelings": 7})

    assert await cheer(talk.services) == pytest.approx(0.5, abs=1e-4)
    assert len(await talk.services.moods.load_history(MIRA)) == 1
    assert await talk.services.moods.load_readings(MIRA) == []


# After a conversation


async def test_a_qualified_model_infers_the_mood_of_a_conversation_once(services: AppServices, tmp_path: Path):
    await change_persona(services, mood=True)
    conversation = await hold(services, "I am leaving.", "Oh.", "For good, Mira.", "I see.")
    await trusted(services, tmp_path / "script.json", answers=[LOWER, HIGHER, SAME])
    await ArchiveJobs(services.database).start_archive(conversation.guid)
    await services.archive_queue.write(conversation.guid, SessionPart.SUMMARY, "Tomas told Mira that he leaves.")
    before = (await services.moods.load_mood(MIRA)).values

    await services.mood_reader.read_session(conversation.guid)
    await services.mood_reader.read_session(conversation.guid)

    after = (await services.moods.load_mood(MIRA)).values
    assert after["energy"] - before["energy"] == pytest.approx(-0.1, abs=0.001)
    assert after["cheer"] - before["cheer"] == pytest.approx(0.2, abs=0.001)
    assert after["curiosity"] == pytest.approx(before["curiosity"], abs=0.001)
    (reading,) = await services.moods.load_readings(MIRA)
    assert reading.session == conversation.guid
    assert reading.model == "good"
    assert reading.steps == {"energy": -0.1, "cheer": 0.2, "curiosity": 0.0}


async def test_a_conversation_that_was_archived_is_read_by_itself(services: AppServices, tmp_path: Path):
    await change_persona(services, mood=True)
    conversation = await hold(services, "I am leaving.", "Oh.", "For good, Mira.", "I see.")
    await trusted(services, tmp_path / "script.json", answers=[*answers(), LOWER, LOWER, LOWER])
    await archive(services, conversation)

    services.mood_reader.background.start()

    await until(lambda: services.moods.load_readings(MIRA))


async def test_a_model_that_may_not_write_is_not_asked(services: AppServices, says: Callable[..., object]):
    await change_persona(services, mood=True)
    await says("“Aye.”")
    conversation = await hold(services, "I am leaving.", "Oh.", "For good, Mira.", "I see.")
    await services.archive_queue.archive_session(conversation.guid)
    for progress in (ArchiveProgress(conversation.guid), ArchiveProgress()):
        services.archive_queue.changed.notify(progress)

    await services.mood_reader.read_queue()

    assert await services.moods.load_readings(MIRA) == []
    assert await services.app_state.get(SCOPE, QUEUE_KEY) == [str(conversation.guid)]


async def test_an_old_or_an_open_conversation_leaves_no_trace(services: AppServices, tmp_path: Path):
    await change_persona(services, mood=True)
    await trusted(services, tmp_path / "script.json", answers=[LOWER] * 6)
    old = await hold(services, "I am leaving.", "Oh.", "For good.", "I see.", at=now() - timedelta(days=9))
    await services.archive_queue.archive_session(old.guid)
    still_open = await hold(services, "I am leaving.", "Oh.", "For good.", "I see.")

    for conversation in (old, still_open):
        await services.mood_reader.read_session(conversation.guid)

    assert await services.moods.load_readings(MIRA) == []


async def test_the_mood_is_shown_in_the_words_of_the_prompt(talk: Talk):
    moods, mira = talk.services.moods, await talk.services.library.persona(MIRA)
    before = await moods.describe_mood(mira, talk.session.guid)
    turns = await praised(talk, 3)
    now_felt = await moods.describe_mood(mira, talk.session.guid)
    reported = " ".join(outcome.memory.mood for outcome in turns)
    await moods.set_mood(MIRA, "energy", 0.0)  # by hand, and not told yet
    still, elsewhere = await moods.describe_mood(mira, talk.session.guid), await moods.describe_mood(mira, uuid4())
    await talk.services.preferences.set(mood_handling=False)

    assert before == turns[0].memory.mood == "Mira feels rested."
    assert now_felt == still == "Mira feels rested and happy."
    assert reported == "Mira feels rested.  Mira feels happy now."
    assert "rested" not in elsewhere
    assert await moods.describe_mood(mira, talk.session.guid) == ""
