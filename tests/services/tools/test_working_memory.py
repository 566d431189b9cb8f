"""The workbench: what lies there, for how long, and who has to make room."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lethe_app.domain.clock import use_clock
from lethe_app.errors import LetheError
from lethe_app.services.tools.working_memory import MAX_ENTRIES, WorkingMemory
from lethe_app.storage.database import Database
from lethe_app.storage.memory.working_memory import WorkingMemoryRows

START = datetime(2026, 3, 4, 12, tzinfo=UTC)
HERE, THERE = "session/a", "task/dream"


class Clock:
    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with use_clock(clock):
        yield clock


async def keys(bench: WorkingMemory, namespace: str = HERE) -> list[str]:
    return [entry.key for entry in await bench.entries_of(namespace)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "lethe.db"


async def opened(path: Path) -> tuple[Database, WorkingMemory]:
    database = await Database.open(path)
    return database, WorkingMemory(WorkingMemoryRows(database))


async def test_things_lie_there_for_five_minutes_or_as_long_as_is_said(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(HERE, "short", "a")
    await bench.save_entry(HERE, "long", "b", lifetime=timedelta(hours=2))
    clock.moment = START + timedelta(minutes=4, seconds=59)
    assert await keys(bench) == ["long", "short"]
    clock.moment = START + timedelta(minutes=5)
    assert await keys(bench) == ["long"]
    assert await bench.get(HERE, "short") is None
    await database.close()


async def test_a_namespace_is_two_segments_and_sees_only_itself(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(HERE, "key", "mine")
    await bench.save_entry(THERE, "key", "another's")
    entry = await bench.get(HERE, f"{HERE}/key")
    assert entry is not None
    assert entry.value == "mine"
    for wrong in ("session", "session/a/b", "elsewhere/a", ""):
        with pytest.raises(LetheError):
            await bench.save_entry(wrong, "key", "x")
    with pytest.raises(LetheError):
        await bench.save_entry(HERE, "  ", "x")
    await database.close()


async def test_of_too_many_those_that_expire_first_go_out(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(THERE, "untouched", "x")
    for number in range(MAX_ENTRIES + 3):
        await bench.save_entry(HERE, f"{number:02}", "x", lifetime=timedelta(minutes=1 + (number * 7) % (MAX_ENTRIES + 3)))
    left = await bench.entries_of(HERE)
    assert len(left) == MAX_ENTRIES
    assert "52" in [entry.key for entry in left]
    assert await keys(bench, THERE) == ["untouched"]
    shortest = min(entry.expires for entry in left)
    assert shortest >= START + timedelta(minutes=3)
    await database.close()


async def test_it_survives_a_restart_without_what_has_expired(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(HERE, "short", "a")
    await bench.save_entry(HERE, "long", "b", lifetime=timedelta(hours=2), category="web", tags=["one", "two"])
    await database.close()
    clock.moment = START + timedelta(minutes=30)
    database, bench = await opened(home)
    (entry,) = await bench.entries_of(HERE)
    assert (entry.value, entry.category, entry.tags) == ("b", "web", ["one", "two"])
    assert await WorkingMemoryRows(database).delete_expired(clock.moment) == 1
    await database.close()


async def test_it_is_searched_by_words(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(HERE, "tea", "Green tea from the hills.")
    await bench.save_entry(HERE, "ships", "A green ship with white sails.")
    assert [one.key for one in await bench.search(HERE, "green SHIP")] == ["ships", "tea"]
    assert await bench.search(HERE, "zebra") == []
    await database.close()


async def test_the_inventory_tells_keys_and_time_but_never_what_is_said(home: Path, clock: Clock):
    database, bench = await opened(home)
    assert await bench.build_inventory(HERE) == ""
    await bench.save_entry(HERE, "page", "The secret word is swordfish.", category="web", tags=["news"])
    clock.moment = START + timedelta(minutes=2)
    reported = await bench.build_inventory(HERE)
    assert "page (3 min left; web; news)" in reported
    assert "swordfish" not in reported
    await database.close()
