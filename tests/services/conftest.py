"""A whole house on a temporary home, with the scripted engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import use_clock
from tests.homes import write_personas
from tests.services.tasks import Clock
from tests.services.turns import Talk

MIRA = {
    "name": "Mira",
    "tagline": "ship navigator",
    "bio": "{{char}} is the navigator of the Petrel.",
    "scenario": "A harbour at night.",
    "first_messages": ["*She looks up.* “You are late, {{user}}.”", "“Come aboard.”"],
}
TOMAS = {"is_user": True, "name": "Tomas", "bio": "{{user}} is the captain."}


@pytest.fixture
async def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AppServices]:
    """Mira and Tomas live here; nothing of this machine's own models is seen."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    services = await build(write_personas(tmp_path / "home", {"mira-test": MIRA, "tomas": TOMAS}), engine="echo")
    await services.preferences.set(user_persona="tomas")
    yield services
    await services.close()


@pytest.fixture
def says(services: AppServices, echo_model: Callable[..., Path]) -> Callable[..., Awaitable[None]]:
    """Loads a model that will say these lines."""

    async def load(*replies: str, **script: object) -> None:
        await services.models.load(echo_model(*replies, **script))

    return load


@pytest.fixture
async def session(request: pytest.FixtureRequest, services: AppServices, says: Callable[..., Awaitable[None]]) -> ChatSession:
    """A new conversation. For a module with SETTINGS a model that says “Aye.” is loaded, and these are made."""
    settings = getattr(request.module, "SETTINGS", None)
    if settings is not None:
        await says(*["“Aye.”"] * 60)
        await services.preferences.set(**settings)
    return await services.sessions.new("mira-test")


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with use_clock(clock):
        yield clock


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Where the answers of a scripted model are written."""
    return tmp_path / "script.json"


@pytest.fixture
def talk(services: AppServices, session: ChatSession, says: Callable[..., Awaitable[None]]) -> Talk:
    """The session of the module, with what a test does in it."""
    return Talk(services, session, says)
