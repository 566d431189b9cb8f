"""What a mood promises: kindness shows after some days, an absence is felt and not punished, and a steady one stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from tests.services.past_sessions import opened
from tests.services.tasks import Clock
from tests.services.turns import change_persona, collect_turn


@pytest.fixture
async def services(home: Path, echo_model: Callable[..., Path], clock: Clock) -> AsyncIterator[AppServices]:
    clock.shown = datetime(2026, 3, 2, 19, tzinfo=UTC)
    async with opened(home) as services:
        await services.preferences.set(user_persona="tomas", welcomed=True, rotation_minutes=0, recall_without_match=0)
        await change_persona(services, mood=True)
        await services.models.load(echo_model(*["Aye."] * 100))
        yield services


async def say(services: AppServices, session: ChatSession, clock: Clock, text: str) -> tuple[str, str]:
    """The mood that was told anew, and the hidden line above the message; a minute goes by."""
    outcome = await collect_turn(services.chat.send(session.guid, text))
    clock.go_on(minutes=1)
    return outcome.memory.mood, outcome.note.content if outcome.note is not None else ""


async def test_praise_over_several_days_makes_the_persona_cheerful_and_the_prompt_says_so_once(
    services: AppServices, clock: Clock
):
    session = await services.sessions.new("mira-test")
    reported: list[str] = []
    for _day in range(5):
        for text in ("Good evening, Mira.", "Well done with the charts.", "I love talking to you."):
            reported += await say(services, session, clock, text)
        clock.go_on(days=1)

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
        clock.go_on(days=1)
        days.append((await services.moods.load_mood("mira-test")).values["cheer"])

    mood, note = await say(services, session, clock, "I am back.")

    assert days == sorted(days)
    assert max(later - earlier for earlier, later in pairwise(days)) < 0.1
    assert days[-1] == pytest.approx(0.6, abs=0.02)
    assert note == "Mira feels energetic and inquisitive."
    assert mood == ""


async def test_a_steady_mood_never_moves(services: AppServices, clock: Clock):
    await services.preferences.set(static_mood=True)
    session = await services.sessions.new("mira-test")
    before = (await services.moods.load_mood("mira-test")).values
    for text in ("Well done.", "I love it.", "Shut up.", "Thank you."):
        await say(services, session, clock, text)
        clock.go_on(days=4)

    assert (await services.moods.load_mood("mira-test")).values == before


async def test_it_is_the_same_mood_after_the_program_was_closed(services: AppServices, clock: Clock, home: Path):
    session = await services.sessions.new("mira-test")
    for _message in range(6):
        await say(services, session, clock, "Well done, Mira.")
    before = await services.moods.load_mood("mira-test")
    await services.close()

    async with opened(home) as again:
        after = await again.moods.load_mood("mira-test")

    assert after.values == before.values
