"""The workbench: what lies there, for how long, and who has to make room."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lethe_app.domain.clock import use_clock
from lethe_app.errors import LetheError
from lethe_app.services.memory.working_memory import MAX_ENTRIES, WorkingMemory
from lethe_app.storage.database import Database
from lethe_app.storage.memory.working_memory import WorkingMemoryRows
from tests.services.tasks import Clock

START = datetime(2026, 3, 4, 12, tzinfo=UTC)
HERE, THERE = "session/a", "task/dream"
MIRA, EDMUND = "mira", "edmund"


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock(START)
    with use_clock(clock):
        yield clock


async def keys(bench: WorkingMemory, namespace: str = HERE) -> list[str]:
    return [entry.key for entry in await bench.entries_below(MIRA, namespace)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "lethe.db"


async def opened(path: Path) -> tuple[Database, WorkingMemory]:
    database = await Database.open(path)
    return database, WorkingMemory(WorkingMemoryRows(database))


async def test_things_lie_there_for_five_minutes_or_as_long_as_is_said(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(MIRA, HERE, "short", "a")
    await bench.save_entry(MIRA, HERE, "long", "b", lifetime=timedelta(hours=2))
    clock.shown = START + timedelta(minutes=4, seconds=59)
    assert await keys(bench) == ["long", "short"]
    clock.shown = START + timedelta(minutes=5)
    assert await keys(bench) == ["long"]
    assert await bench.get(MIRA, HERE, "short") is None
    await database.close()


async def test_a_namespace_is_two_segments_and_an_entry_is_read_by_its_key_or_its_path(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(MIRA, HERE, "key", "mine")
    await bench.save_entry(MIRA, THERE, "key", "another's")
    entry = await bench.get(MIRA, HERE, f"{HERE}/key")
    assert entry.value == "mine"
    other = await bench.get(MIRA, HERE, f"{THERE}/key")
    assert other.value == "another's"
    for wrong in ("session", "session/a/b", "elsewhere/a", ""):
        with pytest.raises(LetheError):
            await bench.save_entry(MIRA, wrong, "key", "x")
    with pytest.raises(LetheError):
        await bench.save_entry(MIRA, HERE, "  ", "x")
    await database.close()


async def test_of_too_many_those_that_expire_first_go_out(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(MIRA, THERE, "untouched", "x")
    for number in range(MAX_ENTRIES + 3):
        await bench.save_entry(
            MIRA, HERE, f"{number:02}", "x", lifetime=timedelta(minutes=1 + (number * 7) % (MAX_ENTRIES + 3))
        )
    left = await bench.entries_below(MIRA, HERE)
    assert len(left) == MAX_ENTRIES
    assert "52" in [entry.key for entry in left]
    assert await keys(bench, THERE) == ["untouched"]
    shortest = min(entry.expires for entry in left)
    assert shortest >= START + timedelta(minutes=3)
    await database.close()


async def test_it_survives_a_restart_without_what_has_expired(home: Path, clock: Clock):
    database, bench = await opened(home)
    await bench.save_entry(MIRA, HERE, "short", "a")
    await bench.save_entry(MIRA, HERE, "long", "b", lifetime=timedelta(hours=2), category="web", tags=["one", "two"])
    await database.close()
    clock.shown = START + timedelta(minutes=30)
    database, bench = await opened(home)
    (entry,) = await bench.entries_below(MIRA, HERE)
    assert (entry.value, entry.category, entry.tags) == ("b", "web", ["one", "two"])
    assert await WorkingMemoryRows(database).delete_expired(clock.shown) == 1
    await database.close()


async def test_all_namespaces_of_a_persona_are_listed_by_their_beginning_and_none_of_another(home: Path, clock: Clock):
    database, memory = await opened(home)
    for namespace, key in ((HERE, "note"), ("task/dream", "night/one"), ("task/dreamer", "two"), ("task/research", "tides")):
        await memory.save_entry(MIRA, namespace, key, "Hers.")
    await memory.save_entry(EDMUND, "task/research", "tides", "His.")

    listed = {
        prefix: [entry.path for entry in await memory.entries_below(MIRA, prefix)]
        for prefix in ("task", "task/dream", "task/dream/night", "task/research/tides", "tas", "%", "session/a")
    }

    assert listed["task"] == ["task/dream/night/one", "task/dreamer/two", "task/research/tides"]
    assert listed["task/dream"] == listed["task/dream/night"] == ["task/dream/night/one"]
    assert listed["task/research/tides"] == ["task/research/tides"]
    assert listed["tas"] == listed["%"] == []
    assert listed["session/a"] == ["session/a/note"]
    assert len(await memory.entries_below(MIRA, "")) == 4
    his = await memory.get(EDMUND, HERE, "task/research/tides")
    assert his.value == "His."
    await database.close()


async def test_a_search_is_narrowed_by_category_tags_and_namespace(home: Path, clock: Clock):
    database, memory = await opened(home)
    await memory.save_entry(MIRA, HERE, "tea", "Green tea.", category="note", tags=["Drinks", "hills"])
    await memory.save_entry(MIRA, HERE, "ships", "A green ship.", category="draft")
    await memory.save_entry(MIRA, "task/research", "moss", "Green moss.", category="finding")

    async def found(words: str, prefix: str = HERE, category: str = "", tags: tuple[str, ...] = ()) -> list[str]:
        return [one.key for one in await memory.search(MIRA, prefix, words, category=category, tags=tags)]

    assert await found("green", category="Draft") == ["ships"]
    assert await found("green", tags=("drinks",)) == ["tea"]
    assert await found("", tags=("drinks", "valley")) == []
    assert await found("", category="note") == ["tea"]
    assert await found("green", "task") == ["moss"]
    assert sorted(await found("green", "")) == ["moss", "ships", "tea"]
    assert await found("", "") == []
    await database.close()


async def test_the_inventory_lists_what_tasks_found_by_full_key_and_without_its_text(home: Path, clock: Clock):
    database, memory = await opened(home)
    await memory.save_entry(
        MIRA, "task/research", "tides", "Springs follow the moon.", lifetime=timedelta(hours=9), category="web"
    )
    await memory.save_entry(MIRA, "session/b", "draft", "Of another conversation.")
    await memory.save_entry(EDMUND, "task/research", "secret", "His.")

    listed = await memory.build_inventory(MIRA, HERE)

    assert "- task/research/tides (9 h left; web)" in listed
    assert listed.startswith("Found by background tasks")
    assert not {"Springs", "draft", "secret"} & set(listed.replace("/", " ").split())
    await database.close()
