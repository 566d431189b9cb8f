"""What a mood promises: kindness shows after some days, an absence is felt and not punished, and a steady one stays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import use_clock
from lethe_app.domain.recall import TurnMemory
from lethe_app.paths import Paths
from lethe_app.services.events import MemoriesRecalled, NoteAdded

MIRA = {"name": "Mira", "bio": "{{char}} is the navigator of the Petrel.", "mood": True}
TOMAS = {"is_user": True, "name": "Tomas"}
DAY = timedelta(days=1)


class Clock:
    """Tells the time that the story has reached."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 2, 19, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, echo_model: Callable[..., Path], clock: Clock
) -> AsyncIterator[AppServices]:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = Paths.standard(tmp_path / "home")
    paths.personas.mkdir(parents=True)
    for name, persona in (("mira-test", MIRA), ("tomas", TOMAS)):
        (paths.personas / f"{name}.json").write_text(json.dumps(persona), encoding="utf-8")
    calm = {"user_persona": "tomas", "welcomed": True, "rotation_minutes": 0, "recall_without_match": 0}
    paths.settings.write_text(json.dumps(calm))
    with use_clock(clock):
        services = await build(paths, "echo", by_meaning=False)
        await services.models.load(echo_model(*["Aye."] * 100))
        yield services
        await services.close()


async def say(services: AppServices, session: ChatSession, clock: Clock, text: str) -> tuple[TurnMemory, str]:
    """What came to mind, and the hidden line above the message; a minute goes by."""
    memory, note = TurnMemory(), ""
    async with aclosing(services.chat.send(session.guid, text)) as events:
        async for event in events:
            if isinstance(event, MemoriesRecalled):
                memory = event.memory
            elif isinstance(event, NoteAdded):
                note = event.message.content
    clock.moment += timedelta(minutes=1)
    return memory, note


async def test_praise_over_several_days_makes_the_persona_cheerful_and_the_prompt_says_so_once(
    services: AppServices, clock: Clock
):
    session = await services.sessions.new("mira-test")
    reported: list[str] = []
    for _day in range(5):
        for text in ("Good evening, Mira.", "Well done with the charts.", "I love talking to you."):
            memory, note = await say(services, session, clock, text)
            reported += [memory.mood, note]
        clock.moment += DAY

    cheerful = [words for words in reported if "happy" in words or "joyful" in words]
    mood = await services.moods.load_mood("mira-test")
    history = await services.moods.load_history("mira-test")

    assert services.moods.adjectives(mood)["cheer"] in {"happy", "joyful"}
    assert [words for words in reported if "happy now" in words] == ["Mira feels happy now."]
    assert cheerful[0] == "Mira feels happy now."
    assert len(history) == 6
    assert history[-1].values["cheer"] > history[0].values["cheer"]


async def test_two_weeks_away_and_back(services: AppServices, clock: Clock):
    session = await services.sessions.new("mira-test")
    for _message in range(3):
        await say(services, session, clock, "Shut up, Mira.")
    assert services.moods.adjectives(await services.moods.load_mood("mira-test"))["cheer"] == "moody"
    days = []
    for _day in range(14):
        clock.moment += DAY
        days.append((await services.moods.load_mood("mira-test")).values["cheer"])

    memory, note = await say(services, session, clock, "I am back.")

    assert days == sorted(days)
    assert max(later - earlier for earlier, later in pairwise(days)) < 0.1
    assert days[-1] == pytest.approx(0.6, abs=0.02)
    assert note == "Mira feels energetic and inquisitive."
    assert memory.mood == ""


async def test_a_steady_mood_never_moves(services: AppServices, clock: Clock):
    await services.preferences.set(static_mood=True)
    session = await services.sessions.new("mira-test")
    before = (await services.moods.load_mood("mira-test")).values
    for text in ("Well done.", "I love it.", "Shut up.", "Thank you."):
        await say(services, session, clock, text)
        clock.moment += 4 * DAY

    assert (await services.moods.load_mood("mira-test")).values == before


async def test_it_is_the_same_mood_after_the_program_was_closed(services: AppServices, clock: Clock, tmp_path: Path):
    session = await services.sessions.new("mira-test")
    for _message in range(6):
        await say(services, session, clock, "Well done, Mira.")
    before = await services.moods.load_mood("mira-test")
    await services.close()

    again = await build(Paths.standard(tmp_path / "home"), "echo", by_meaning=False)
    after = await again.moods.load_mood("mira-test")
    await again.close()

    assert after.values == before.values
