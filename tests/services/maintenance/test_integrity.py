"""A damaged page anywhere is noticed; what is made from other tables is made again, and the rest leads to a repair."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.errors import DatabaseDamaged, LetheError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import back_up, read_contents
from lethe_app.services.maintenance.integrity import check_database, request_repair
from lethe_app.storage.backup import passes_integrity_check
from lethe_app.storage.damage import Damage
from tests.services.turns import say
from tests.storage.damaged_pages import damage_pages

DERIVED = ["passages", "passages_of_owner", "passage_vectors", "passage_words_data", "passage_debts", "token_counts"]
RECORDS = ["messages", "messages_by_parent", "alternatives", "memories", "facts", "app_state", "documents"]
LINES = [f"My sister Ana keeps {number} bees behind the mill in Braga." for number in range(1, 7)]


@pytest.fixture
async def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, echo_model: Callable[..., Path]) -> Paths:
    """A closed home with a conversation that is indexed."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    services = await opened(tmp_path)
    await services.models.load(echo_model(*["Tell me more."] * len(LINES)))
    session = await services.sessions.new("mira")
    for line in LINES:
        await say(services, session, line)
    await services.indexing.index_all_pending()
    await services.close()
    return services.paths


async def opened(folder: Path) -> AppServices:
    return await build(Paths.standard(folder / "home"), engine="echo")


async def recalled(services: AppServices) -> int:
    """How many memories a search finds."""
    return len((await services.memory_index.search(["mira"], "Ana's bees in Braga")).hits)


async def test_a_whole_database_is_not_called_damaged(paths: Paths):
    assert await check_database(paths) is Damage.NOTHING


@pytest.mark.parametrize("table", DERIVED)
async def test_damage_of_what_is_made_from_other_tables_is_renewed(paths: Paths, tmp_path: Path, table: str):
    damage_pages(paths.database, table)
    services = await opened(tmp_path)
    found: list[LetheError] = []
    services.integrity.found.add(found.append)

    assert await check_database(paths) is Damage.DERIVED
    assert not await services.integrity.check()
    assert await services.integrity.check()
    assert [str(one) for one in found] == ["The search index was damaged and is made again. Nothing was lost."]
    assert await recalled(services)
    await services.close()

    assert read_contents(paths.home).counts["messages"] >= 2 * len(LINES)
    assert passes_integrity_check(paths.database, threading.Event())
    assert not list((paths.home / "backups").glob("*-replaced"))
    await back_up(paths.home)


@pytest.mark.parametrize("table", RECORDS)
async def test_damage_of_what_exists_nowhere_else_is_left_to_a_repair(paths: Paths, tmp_path: Path, table: str):
    damage_pages(paths.database, table)

    assert await check_database(paths) is Damage.RECORDS

    services = await opened(tmp_path)
    found: list[LetheError] = []
    services.integrity.found.add(found.append)
    assert not await services.integrity.check()
    assert services.integrity.needs_repair
    assert isinstance(found[0], DatabaseDamaged)
    await services.close()


async def test_damage_that_is_met_later_is_noticed_at_once(paths: Paths, tmp_path: Path):
    services = await opened(tmp_path)
    found = asyncio.Event()
    services.integrity.found.add(lambda _damage: found.set())
    services.integrity.background.start()
    await asyncio.sleep(1)
    assert not found.is_set()
    damage_pages(paths.database, "passages")
    await services.database.run_in_thread(lambda connection: connection.execute("PRAGMA shrink_memory"))
    with pytest.raises(DatabaseDamaged):
        await services.database.run(lambda connection: connection.execute("SELECT * FROM passages").fetchall())

    await asyncio.wait_for(found.wait(), 60)

    assert await recalled(services)
    await services.close()


async def test_a_requested_repair_is_offered_once(paths: Paths, tmp_path: Path):
    request_repair(paths)

    with pytest.raises(DatabaseDamaged):
        await opened(tmp_path)
    await (await opened(tmp_path)).close()
