"""The model works on years of imported history a little every day, and on what was said last at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.domain.chat import ChatSession, SessionPart
from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.services.sessions.archive_queue import ArchiveProgress
from tests.services.past_sessions import NUTS, again, answers, hold, trusted


@pytest.fixture
async def sessions(services: AppServices, tmp_path: Path) -> tuple[ChatSession, ChatSession]:
    """A conversation of last year and one of an hour ago, archived by rules, and an hour that the model worked today."""
    old = await hold(services, *NUTS, at=now() - timedelta(days=365))
    recent = await hold(services, *NUTS, at=now() - timedelta(hours=1))
    for session in (old, recent):
        await services.archive_jobs.start_archive(session.guid)  # as an import does
    await services.archive_queue.finish()
    await trusted(services, tmp_path / "script.json", answers=[*answers(), *answers()])
    moment = now()
    run = TaskRun(
        persona_id="mira-test", task="archive", began=moment, ended=moment + timedelta(hours=1), outcome=RunOutcome.MADE
    )
    await services.task_runs.save_run(run)
    return old, recent


async def makers(services: AppServices, session: ChatSession) -> set[MadeBy]:
    return {record.made_by for record in (await services.archive_queue.parts(session.guid)).values()}


async def test_the_time_of_the_day_is_for_older_conversations_only(
    services: AppServices, sessions: tuple[ChatSession, ChatSession]
):
    old, recent = sessions

    await again(services)

    assert await makers(services, recent) == {MadeBy.MODEL}
    assert await makers(services, old) == {MadeBy.RULES}
    assert services.archive_queue.progress == ArchiveProgress(is_limited=True)


async def test_it_goes_on_when_the_user_wants_it(services: AppServices, sessions: tuple[ChatSession, ChatSession]):
    old, _recent = sessions
    await again(services)
    assert await makers(services, old) == {MadeBy.RULES}

    services.archive_budget.lift_for_today()
    await services.archive_queue.finish()

    assert await makers(services, old) == {MadeBy.MODEL}
    assert services.archive_queue.progress == ArchiveProgress()


async def test_what_the_user_asks_for_is_made_at_once(services: AppServices, sessions: tuple[ChatSession, ChatSession]):
    old, _recent = sessions
    await again(services)

    await services.session_editing.remake_part(old.guid, SessionPart.SUMMARY)
    await services.archive_queue.finish()

    assert MadeBy.MODEL in await makers(services, old)


async def test_one_that_waits_holds_up_no_other(
    services: AppServices, sessions: tuple[ChatSession, ChatSession], tmp_path: Path
):
    old, _recent = sessions
    older = await hold(services, *NUTS, at=now() - timedelta(days=500))
    await services.archive_jobs.start_archive(older.guid)
    others = ChatSession(persona_id="mira", user_id="tomas", added=now() - timedelta(days=600))
    others = await hold(
        services, *NUTS, session=await services.session_store.add_session(others), at=now() - timedelta(days=600)
    )
    await services.archive_jobs.start_archive(others.guid)
    await trusted(services, tmp_path / "script.json", name="patient", answers=[*answers(), *answers(), *answers()])

    await services.session_editing.remake_part(older.guid, SessionPart.SUMMARY)  # the user asks for it
    await again(services)

    assert await makers(services, old) == {MadeBy.RULES}
    assert MadeBy.MODEL in await makers(services, older)
    assert await makers(services, others) == {MadeBy.MODEL}  # another persona's, whose time is not used
    assert services.archive_queue.progress == ArchiveProgress(is_limited=True)


@pytest.mark.parametrize("minutes", [0, 61])
async def test_the_limit_is_the_users(services: AppServices, sessions: tuple[ChatSession, ChatSession], minutes: int):
    old, _recent = sessions
    await services.preferences.set(old_session_minutes=minutes)

    await again(services)

    assert await makers(services, old) == {MadeBy.MODEL}


async def test_the_progress_counts_the_conversations_that_wait(services: AppServices, tmp_path: Path):
    held = [await hold(services, *NUTS, at=now() - timedelta(hours=hours)) for hours in range(6, 0, -1)]
    seen: list[ArchiveProgress] = []
    services.archive_queue.changed.add(seen.append)

    for session in held:
        await services.archive_jobs.start_archive(session.guid)
    await services.archive_queue.finish()

    assert [one.waiting for one in seen] == [6, 5, 4, 3, 2, 1, 0]
    assert seen[-1] == ArchiveProgress()
