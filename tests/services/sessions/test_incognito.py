"""An incognito session reaches no file, nothing is learnt from it, and it is gone when it is closed, also by a crash."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.services.maintenance.backups import make_daily_backup
from lethe_app.services.personas.bundles import BundleScope
from lethe_app.storage.database import Database
from tests.services.maintenance.test_traces import CANARY, FILLER, files_with
from tests.services.turns import MIRA, Talk, collect_turn, dump


@pytest.fixture
async def session(services: AppServices, says: Callable[..., object]) -> ChatSession:
    await says(*[f"“I see, {CANARY}, then.”"] * 20)
    return await services.sessions.start_incognito(MIRA)


async def hold(talk: Talk) -> None:
    turn = await talk.say(f"My sister collects {CANARY.title()}. I am allergic to {CANARY}.")
    await talk.say(FILLER)
    await collect_turn(talk.services.chat.regenerate(talk.session.guid, (await talk.log())[-1].id))
    await talk.services.message_editing.edit(turn.asked.id, f"She collects {CANARY}s, and I am allergic.")


async def test_nothing_of_it_reaches_a_file_while_it_goes_on(talk: Talk, tmp_path: Path):
    services = talk.services
    await hold(talk)
    await services.archive_queue.archive_session(talk.session.guid)
    await services.archive_queue.finish()
    await services.sessions.languages.finish()
    await services.indexing.index_all_pending()
    await talk.add_memory()
    await make_daily_backup(services.paths.home)
    await services.bundles.export(MIRA, BundleScope.EVERYTHING, services.paths.home / "Mira.lethe")

    assert [message.content for message in await talk.log()][1:4:2] == [
        f"She collects {CANARY}s, and I am allergic.",
        FILLER,
    ]
    assert await files_with(services) == []
    assert not any(CANARY in row.lower() for row in await dump(services))
    assert await services.facts.facts_of(MIRA) == []
    assert services.cache_state.location_of(talk.session, 0) is None


async def test_it_is_listed_only_where_it_is_asked_for(talk: Talk):
    services = talk.services
    await hold(talk)

    assert talk.session.guid not in {summary.guid for summary in await services.sessions.list(MIRA)}
    (shown,) = await services.sessions.list(MIRA, with_incognito=True)
    assert (shown.guid, shown.is_incognito, shown.title) == (talk.session.guid, True, "")
    assert await services.session_editing.list_sessions(MIRA) == []
    assert (await services.days.count_messages(MIRA)) == {}
    assert (await services.sessions.resume(MIRA)).guid != talk.session.guid


async def test_it_goes_on_however_long_the_user_was_away(talk: Talk):
    await talk.say("Hello there, Mira.")
    later = (now() - timedelta(days=1)).isoformat()
    await talk.services.database.run(lambda c: c.execute("UPDATE sessions SET last_activity = ?", (later,)).rowcount)

    await talk.say("Are you still there?")

    assert len(await talk.log()) == 5


async def test_what_was_remembered_before_is_known_and_stays_as_it_was(talk: Talk):
    memory = await talk.add_memory(content="Porto has six bridges.", keywords_main=["Porto"])

    turn = await talk.say("How many bridges has Porto?")

    assert [one.memory for one in turn.memory.recalled] == [memory.guid]
    (after,) = await talk.services.memory.memories(MIRA)
    assert after.trigger_count == 0


async def test_closed_it_is_gone(talk: Talk):
    services = talk.services
    await hold(talk)

    await services.sessions.delete(talk.session.guid)

    with pytest.raises(StorageError):
        await services.sessions.open(talk.session.guid)
    assert await services.trash.list_items() == []
    assert await services.sessions.list(MIRA, with_incognito=True) == []
    tables = ("messages", "incognito_texts", "incognito_state")
    counts = await services.database.run(lambda c: [c.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables])
    assert counts == [0, 0, 0]


async def test_no_reason_of_a_rating_is_stored(talk: Talk):
    reply = (await talk.say("Hello there, Mira.")).reply
    await talk.services.feedback.rate_reply(reply.id, ReplyRating.BAD)

    with pytest.raises(StorageError, match="incognito"):
        await talk.services.feedback.save_reason(reply.id, 0, f"too much {CANARY}")

    assert not any("too much" in row for row in await dump(talk.services))


CRASH = """
import asyncio, os, sys
from pathlib import Path
from lethe_app.app import build
from lethe_app.paths import Paths
from tests.services.turns import MIRA, say

async def main():
    services = await build(Paths.standard(Path(sys.argv[1])), engine="echo")
    await services.models.load(Path(sys.argv[2]))
    session = await services.sessions.start_incognito(MIRA)
    await say(services, session, "I am allergic to zanzibarite.")
    print(session.guid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_crash_leaves_no_text_and_the_next_start_no_trace(
    services: AppServices, says: Callable[..., object], echo_model: Callable[..., Path]
):
    home, model = services.paths.home, echo_model(f"“{CANARY}, I see.”")
    await services.close()
    arguments = (sys.executable, "-c", CRASH, str(home), str(model))
    process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE, env=os.environ)
    guid = (await process.stdout.readline()).decode().strip()
    assert guid
    process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    await process.wait()

    assert await files_with(services) == []
    database = await Database.open(services.paths.database)
    assert await database.run(lambda c: c.execute("SELECT count(*) FROM messages").fetchone()) == (0,)
    await database.close()
