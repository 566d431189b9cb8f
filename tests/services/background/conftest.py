"""What the tests of dreams and of feedback share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from lethe_app.agents.dream import Dream
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RecordedChange
from tests.services.tasks import Clock, employ
from tests.services.turns import MIRA


@pytest.fixture
async def dream(services: AppServices, clock: Clock) -> Callable[[], Awaitable[list[RecordedChange]]]:
    """Mira dreams, now."""
    task = services.background_runner.registry.get("dream")
    assert isinstance(task.task, Dream)
    await employ(services, task.task)

    async def now_done() -> list[RecordedChange]:
        services.background_runner.request_run(MIRA, "dream")
        await services.background_runner.run_next_task()
        return await services.dreams.changes_of(MIRA)

    return now_done
