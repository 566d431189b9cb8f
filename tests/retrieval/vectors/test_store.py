"""Vectors kept in a file are believed only as far as storage agrees, and whatever happens searches find what is there."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.passage import Passage
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.vectors import persistence, store
from lethe_app.retrieval.vectors.index import HnswGraph
from lethe_app.retrieval.vectors.persistence import GraphLocation
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import embed, numbers_of, origins_of
from tests.storage.scenes import remove_passages, store_passages
from tests.sweep import examples

WHEN = datetime(2026, 5, 4, tzinfo=UTC)
FEW = 3
"""Vectors compared one by one; with more a graph is made."""


def facts(*words: str, owner: str = "mara") -> list[Passage]:
    return [fact for word in words for fact in passage_builder.fact_passages(owner, uuid4(), uuid4(), word, WHEN)]


def opened(passages: Passages, folder: Path) -> MemoryIndex:
    return MemoryIndex(passages, embed, "toy", exact_up_to=FEW, folder=folder)


async def learned(recall: MemoryIndex) -> None:
    while await recall.embed_pending():
        pass
    await recall.wait_until_idle()


async def truth(passages: Passages, owners: list[str], asked: np.ndarray) -> dict[int, float]:
    """Every stored vector of these owners with its cosine, straight from storage."""
    numbers = [number for owner in owners for number in await numbers_of(passages, owner)]
    stored = await passages.vectors("toy", numbers)
    return {number: float(np.frombuffer(vector, np.float32) @ asked) for number, vector in stored.items()}


async def agrees(recall: MemoryIndex, passages: Passages, *owners: str) -> None:
    """Does what is in memory say the same as storage?"""
    view = await recall._views.open_view(owners)
    await recall.wait_until_idle()
    meaning = (await embed(["harbour lighthouse"]))[0]
    right = await truth(passages, list(owners), np.frombuffer(meaning.vector, np.float32))
    numbers, cosines = view.nearest(meaning, 100)
    assert dict(zip(numbers.tolist(), cosines.tolist(), strict=True)) == pytest.approx(right, abs=1e-5)
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)
    columns = view.passage_columns.columns()
    stored = await passages.read(columns.number.tolist())
    assert [columns.sources[int(place)] for place in columns.source] == [stored[int(one)].source for one in columns.number]
    every = [number for owner in owners for number in await numbers_of(passages, owner)]
    assert columns.number.tolist() == sorted(every)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def place(folder: Path) -> GraphLocation:
    return GraphLocation(folder, "mara", "toy")


async def filled(passages: Passages, folder: Path, count: int = 12) -> None:
    """A memory that was closed with a graph in its file."""
    recall = opened(passages, folder)
    await recall.replace([], facts(*(f"word{number}" for number in range(count))))
    await recall.search(["mara"], "hello")
    await learned(recall)
    await recall.close()


async def test_while_a_table_turns_into_a_graph_everything_is_found(passages: Passages, folder: Path):
    recall = opened(passages, folder)
    await recall.search(["mara"], "hello")

    for number in range(10):
        await recall.replace([], facts(f"word{number}"))
        await recall.embed_pending()
        found = await recall.search(["mara"], f"word{number}")
        assert found.by_meaning
        assert found.hits[0].leads[0].cosine > 0.3, "its text has a day before it"
    await agrees(recall, passages, "mara")

    assert isinstance(recall._views._vectors._indexes["mara"].active_index, HnswGraph)
    await recall.close()


async def test_the_file_of_the_last_time_is_taken_as_it_is(passages: Passages, folder: Path, place: GraphLocation):
    await filled(passages, folder)
    written = place.graph.stat().st_mtime_ns

    graph = persistence.read(place)
    recall = opened(passages, folder)
    await agrees(recall, passages, "mara")
    await recall.close()

    assert graph is not None
    assert len(graph) == 12
    assert place.graph.stat().st_mtime_ns == written, "nothing was new, so nothing is written"


async def test_a_graph_is_written_while_it_is_built(
    passages: Passages, folder: Path, place: GraphLocation, monkeypatch: pytest.MonkeyPatch
):
    await filled(passages, folder)
    place.metadata.unlink()
    written: list[int] = []
    monkeypatch.setattr(store, "READ_SIZE", 8)
    monkeypatch.setattr(persistence, "write", lambda _place, graph: written.append(len(graph)))

    recall = opened(passages, folder)
    await agrees(recall, passages, "mara")
    await recall.close()

    assert len(written) > 1
    assert written == sorted(set(written))


def cut_short(place: GraphLocation) -> None:
    place.graph.write_bytes(place.graph.read_bytes()[:-100])


def label_of_another(place: GraphLocation) -> None:
    label = json.loads(place.metadata.read_bytes())
    place.metadata.write_text(json.dumps(label | {"owner": "tom"}), encoding="utf-8")


def graph_of_another(place: GraphLocation) -> None:
    content = bytearray(place.graph.read_bytes())
    content[len(content) // 2] ^= 255
    place.graph.write_bytes(content)


def label_of_another_kind(place: GraphLocation) -> None:
    label = json.loads(place.metadata.read_bytes())
    place.metadata.write_text(json.dumps(label | {"kind": "Cells"}), encoding="utf-8")


def folder_instead(place: GraphLocation) -> None:
    place.graph.unlink()
    place.graph.mkdir()


DAMAGE: dict[str, Callable[[GraphLocation], None]] = {
    "missing": lambda place: place.graph.unlink(),
    "without its label": lambda place: place.metadata.unlink(),
    "empty": lambda place: place.graph.write_bytes(b""),
    "no graph": lambda place: place.graph.write_bytes(b"once upon a time" * 100),
    "no label": lambda place: place.metadata.write_bytes(b"{]"),
    "cut short": cut_short,
    "of another owner": label_of_another,
    "of another kind": label_of_another_kind,
    "not the one that was labelled": graph_of_another,
    "a folder": folder_instead,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_a_file_that_cannot_be_used_is_noticed_and_made_anew(
    passages: Passages, folder: Path, place: GraphLocation, damage: Callable[[GraphLocation], None]
):
    await filled(passages, folder)
    damage(place)

    assert persistence.read(place) is None
    if place.graph.is_dir():
        place.graph.rmdir()
    recall = opened(passages, folder)
    await agrees(recall, passages, "mara")
    await recall.close()

    assert persistence.read(place) is not None, "it was written again"


async def test_a_file_older_than_storage_is_brought_up_to_date(
    passages: Passages, database: Database, folder: Path, place: GraphLocation
):
    await filled(passages, folder)
    numbers = await numbers_of(passages, "mara")
    await remove_passages(database, [numbers[2], *numbers[-2:]])
    reused = await store_passages(database, facts("lighthouse", "storm", "gale"))
    without_file = MemoryIndex(passages, embed, "toy")
    await learned(without_file)
    assert set(reused) & set(numbers), "some numbers mean something else now"

    recall = opened(passages, folder)
    await agrees(recall, passages, "mara")
    await recall.close()
    again = opened(passages, folder)
    await agrees(again, passages, "mara")
    await again.close()


async def test_a_graph_that_was_cut_short_is_finished(passages: Passages, folder: Path, place: GraphLocation):
    await filled(passages, folder)
    whole = persistence.read(place)
    part = HnswGraph(whole.size)
    part.add(whole.numbers()[:5], whole.get_vectors(whole.numbers()[:5]))
    persistence.write(place, part)

    recall = opened(passages, folder)
    await agrees(recall, passages, "mara")
    await recall.close()

    finished = persistence.read(place)
    assert finished is not None
    assert len(finished) == 12


@pytest.mark.parametrize("patience", range(0, 12, 3))
async def test_closing_while_a_graph_is_made_leaves_no_broken_file(
    passages: Passages, folder: Path, monkeypatch: pytest.MonkeyPatch, patience: int
):
    monkeypatch.setattr(store, "READ_SIZE", 8)
    await filled(passages, folder, 30)
    shutil.rmtree(folder)
    recall = opened(passages, folder)
    await recall.search(["mara"], "hello")
    for _ in range(patience):
        await passages.count_without_vectors("toy")
    await recall.close()

    again = opened(passages, folder)
    await agrees(again, passages, "mara")
    await again.close()


async def test_what_was_taken_out_while_the_file_was_written_stays_out(passages: Passages, folder: Path, place: GraphLocation):
    await filled(passages, folder)
    numbers = await numbers_of(passages, "mara")
    label = json.loads(place.metadata.read_bytes())
    place.metadata.write_text(json.dumps(label | {"gone": numbers[:1]}), encoding="utf-8")

    graph = persistence.read(place)

    assert numbers[0] not in graph.nearest(graph.get_vectors(np.array(numbers[1:2]))[0], 12)[0]
    assert len(graph) == 11


async def test_the_file_of_another_database_is_not_believed(tmp_path: Path, folder: Path):
    for name in ("one", "other"):
        database = await Database.open(tmp_path / name / "lethe.sqlite3")
        passages = Passages(database)
        recall = opened(passages, folder)
        await recall.replace([], facts(*(f"{name}{number}" for number in range(10))))
        await learned(recall)
        await agrees(recall, passages, "mara")
        await recall.close()
        await database.close()

    database = await Database.open(tmp_path / "one" / "lethe.sqlite3")
    recall = opened(Passages(database), folder)
    await agrees(recall, Passages(database), "mara")
    await recall.close()
    await database.close()


async def test_where_nothing_can_be_written_searching_goes_on(
    passages: Passages, tmp_path: Path, quiet_log: object, monkeypatch: pytest.MonkeyPatch
):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be", encoding="utf-8")
    recall = opened(passages, blocked)
    await recall.replace([], facts(*(f"word{number}" for number in range(9))))
    await learned(recall)

    await agrees(recall, passages, "mara")
    await recall.close()

    assert any("could not be kept" in record.getMessage() for record in quiet_log.records)
    quiet_log.records.clear()


async def test_what_changes_while_a_graph_is_read_is_not_lost(passages: Passages, folder: Path, place: GraphLocation):
    await filled(passages, folder)
    numbers = await numbers_of(passages, "mara")
    recall = opened(passages, folder)
    origin = (await passages.read([numbers[0]]))[numbers[0]].origin

    early = await recall.search(["mara"], "word3")
    await recall.replace([origin], [])
    await recall.replace([], facts("lighthouse"))
    await recall.embed_pending()

    assert early.hits, "words find before the vectors are there"
    await agrees(recall, passages, "mara")
    await recall.close()


async def test_a_world_is_held_once_and_owners_come_together_as_they_are_asked_for(passages: Passages, folder: Path):
    recall = opened(passages, folder)
    await recall.replace([], [*facts("harbour"), *facts("lighthouse", owner="world:sea"), *facts("gale", owner="tom")])
    await learned(recall)

    for owners in (["mara", "world:sea"], ["tom", "world:sea"], ["world:sea"], ["tom"], ["mara"]):
        await agrees(recall, passages, *owners)

    assert len(recall._views._columns_by_owners) == 4, "the one that was asked for longest ago is gone"
    assert recall._views._vectors.owners() == {"mara", "tom", "world:sea"}
    await recall.close()


async def test_a_large_memory_is_saved_now_and_then(
    passages: Passages, folder: Path, place: GraphLocation, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store, "MIN_UNSAVED", 2)
    await filled(passages, folder)
    before = persistence.read(place)
    recall = opened(passages, folder)
    await recall.search(["mara"], "hello")
    await recall.wait_until_idle()

    await recall.replace([], facts("one", "two", "three", "four", "five", "six"))
    await learned(recall)

    after = persistence.read(place)
    assert before is not None
    assert after is not None
    assert (len(before), len(after)) == (12, 18)
    await recall.close()


DEEDS = st.sampled_from(
    ["replace", "keep", "forget", "forget origin", "learn", "ask", "reload", "restart", "lose the file", "old file"]
)
STEPS = st.lists(st.tuples(DEEDS, st.integers(0, 3), st.integers(0, 4)), max_size=30)


@settings(max_examples=examples(40))
@given(steps=STEPS)
def test_memory_and_storage_agree_after_any_sequence(  # noqa: C901 - one branch per deed
    steps: list[tuple[str, int, int]],
):
    async def run(home: Path) -> None:
        database = await Database.open(home / "lethe.sqlite3")
        passages, folder, kept = Passages(database), home / "index", home / "kept"
        recall, ids = opened(passages, folder), [UUID(int=number + 1) for number in range(5)]
        for action, which, what in steps:
            owner, source, origin = ("mara", "world:sea")[which % 2], ids[which], ids[what]
            if action in ("replace", "keep"):
                texts = [f"word{which} {what}", "same"][: 1 + what % 2]
                reported = [fact for text in texts for fact in passage_builder.fact_passages(owner, source, origin, text, WHEN)]
                await recall.replace([origin] if action == "replace" else [], reported)
            elif action == "forget":
                await recall.replace(await origins_of(passages, "mara", "world:sea", source=source), [])
            elif action == "forget origin":
                await recall.replace([origin], [])
            elif action == "learn":
                await recall.embed_pending(2)
            elif action == "ask":
                await recall.search(["mara", "world:sea"][: 1 + what % 2], f"word{which}")
            elif action == "reload":
                recall.reload()
            elif action == "restart":
                await recall.close()
                recall = opened(passages, folder)
            elif action == "lose the file":
                shutil.rmtree(folder, ignore_errors=True)
            else:
                put_back(folder, kept)
        await agrees(recall, passages, "mara", "world:sea")
        await agrees(recall, passages, "mara")
        await recall.close()
        await agrees(recall := opened(passages, folder), passages, "mara", "world:sea")
        await recall.close()
        await database.close()

    with tempfile.TemporaryDirectory() as home:
        asyncio.run(run(Path(home)))


def put_back(folder: Path, kept: Path) -> None:
    """A copy of the files from some time ago, if there is one; else keep one for later."""
    if kept.exists():
        shutil.rmtree(folder, ignore_errors=True)
        kept.rename(folder)
    elif folder.exists():
        shutil.copytree(folder, kept)
