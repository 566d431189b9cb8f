"""A home, a bundle and a saved KV state that version 0.1 wrote before its modules were renamed still open, word for word."""

from __future__ import annotations

import os
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.clock import use_clock
from lethe_app.paths import Paths
from tests.services.past_sessions import NUTS, chats_of
from tests.services.turns import MIRA, say

EVENING = datetime(2026, 11, 23, 23, 30, tzinfo=UTC)
"""Half an hour after the home was left: on another day the prompt says so and is read anew."""
WRITTEN = 10**18
"""When the script of the model was written, in nanoseconds since 1970."""
ARCHIVE = Path(__file__).parent / "data" / "home_0_1.zip"
FACTS = {
    "Tomas is allergic to peanuts.",
    "Tomas works as a carpenter at the old shipyard.",
    "Tomas's sister Ines lives in Porto.",
    "Tomas's sister Ines lives in Porto, and Tomas wants to visit her in May 2027.",
}


@pytest.fixture
async def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive: a home, the script of its model, and a bundle."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    os.utime(tmp_path / "echo.json", ns=(WRITTEN, WRITTEN))  # a state belongs to one very file
    return tmp_path


@pytest.fixture
async def services(unpacked: Path) -> AsyncIterator[AppServices]:
    with use_clock(lambda: EVENING):
        opened = await build(Paths.standard(unpacked / "home"), engine="echo")
        yield opened
        await opened.close()


async def test_every_message_fact_memory_notebook_and_setting_is_there(services: AppServices):
    sessions = await chats_of(services).sessions(MIRA)
    messages = [message.content for one in sessions for message in await services.sessions.page(one.guid, 0, 100)]

    assert services.preferences.current.core_facts_tokens == 300
    assert services.preferences.current.user_persona == "tomas"
    assert set(NUTS) <= set(messages)
    assert len(messages) == 11
    assert {fact.fact for fact in await services.facts.facts_of(MIRA)} == FACTS
    assert "The lamp has been dark since May." in [one.content for one in await services.memory.memories(MIRA)]
    assert "bomba" in (services.paths.notebooks / MIRA / "cooking.md").read_text(encoding="utf-8")
    archived = next(one for one in sessions if one.archived)
    assert "Ines" in (await services.sessions.open(archived.guid)).content


async def test_what_was_known_is_found(services: AppServices):
    found = await services.memory_lookup.search(MIRA, "Where does my sister Ines live?", 3)

    assert any("Porto" in one.text for one in found)


async def test_the_saved_state_of_the_model_is_taken_up(services: AppServices, unpacked: Path):
    await services.models.load(unpacked / "echo.json")
    session = next(one for one in await chats_of(services).sessions(MIRA) if not one.archived)

    outcome = await say(services, await services.sessions.open(session.guid), "And now?")

    usage = next(event.usage for event in outcome.events if hasattr(event, "usage"))
    assert usage.prompt_tokens > 900
    assert usage.evaluated_tokens < 64


async def test_a_bundle_is_received_with_every_message(unpacked: Path):
    services = await build(Paths.standard(unpacked / "another"), engine="echo")
    try:
        bundle = await services.bundles.read_bundle(unpacked / "Mira.lethe")
        received = await services.bundles.import_bundle(bundle)
        sessions = await chats_of(services).sessions(received.persona.unique_name)
        messages = [message.content for one in sessions for message in await services.sessions.page(one.guid, 0, 100)]
        assert set(NUTS) <= set(messages)
        assert {fact.fact for fact in await services.facts.facts_of(received.persona.unique_name)} == FACTS
    finally:
        await services.close()
