"""The embedder in a house: what only meaning finds, limits that are measured, and that nobody suffers when it dies."""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.errors import ModelCrashed, ModelMissing
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models import bundled
from lethe_app.retrieval.calibration import ORIGINAL, load_pairs
from lethe_app.services.documents.knowledge_base import DocumentQuery
from lethe_app.services.indexing.calibration import SCOPE, Calibration
from lethe_app.services.indexing.embedder import Embedding
from tests.homes import ship_without_worlds, write_personas
from tests.services.conftest import MIRA as PERSONA
from tests.services.conftest import TOMAS
from tests.services.turns import MIRA, NATURAL, add_memory, load_memory, say, unit, until, write_world

FERRY = "The ferry to the mainland leaves at dawn."
MEANT = "When does the ferry leave for the mainland?"
OTHER_WORDS = "What time does the first boat go over to the coast in the morning?"
MEASURED = {
    "same_words": 0.157,
    "same_memory": 0.157,
    "update": 0.267,
    "natural": 0.726,
    "rag_limit": 0.775,
}
"""The starter embedder's limits, so that not every test need measure them."""


@pytest.fixture(scope="module")
def embedder() -> Path:
    return bundled.embedding_model()


def embedder_id_of(path: Path) -> str:
    """Under which name its limits and vectors are kept."""
    return f"{path.name} {path.stat().st_size}"


@pytest.fixture(autouse=True)
def nobody_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No models of this machine are seen, and on a small computer a process ends as soon as it is idle."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setattr("lethe_app.services.indexing.embedder.SMALL_IDLE_SECONDS", 0.05)


@asynccontextmanager
async def app_services(folder: Path, embedder: Path, *, without: str = "") -> AsyncIterator[AppServices]:
    """A house in which texts have a meaning, without the worlds that ship with it, since to understand those takes a while,
    and without that folder of the resources.
    """
    paths = write_personas(folder / "home", {MIRA: PERSONA, "tomas": TOMAS})
    paths = replace(paths, shipped=ship_without_worlds(folder, without=without))
    services = await build(paths, engine="echo", by_meaning=True)
    await services.preferences.set(embedder_path=str(embedder), recall_without_match=0, user_persona="tomas")
    yield services
    await services.close()


@pytest.fixture
async def near(tmp_path: Path, embedder: Path) -> AsyncIterator[AppServices]:
    """Such a house with the limits measured."""
    async with app_services(tmp_path, embedder) as services:
        name = embedder_id_of(embedder)
        await services.app_state.set(SCOPE, name, {**MEASURED, "embedder": name})
        await services.indexing.catch_up()
        assert services.embedding.id == name
        yield services


def calibration_of(near: AppServices, pairs: Path) -> Calibration:
    """The limits as the next start of the program finds them."""
    return Calibration(near.app_state, near.embedding, near.preferences, pairs)


@pytest.fixture
async def session(near: AppServices, echo_model: Callable[..., Path]) -> ChatSession:
    await near.models.load(echo_model(*["“Aye.”"] * 20))
    return await near.sessions.new(MIRA)


async def test_a_memory_is_found_that_shares_no_word_with_the_question(near: AppServices):
    await add_memory(near, "She is afraid of spiders.", name="")
    ferry = await add_memory(near, FERRY, name="Ferry")
    await add_memory(near, "The baker sells rye bread on Tuesdays.", name="")
    assert (await near.memory_lookup.search(MIRA, OTHER_WORDS, 1))[0].title == "Ferry"
    await near.memory.forget_memory(ferry.guid)
    assert "Ferry" not in {one.title for one in await near.memory_lookup.search(MIRA, OTHER_WORDS)}


async def test_a_document_that_waits_is_found_by_its_words_beside_one_with_vectors(near: AppServices, tmp_path: Path):
    texts = {"Manual": "The bilge pump is primed with seawater.", "Bread": "Rye bread rests for twelve hours before it is cut."}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        assert await near.knowledge_base.count_waiting([MIRA]) == 0
        await near.documents.add(MIRA, tmp_path / f"{name}.txt")
        assert await near.knowledge_base.count_waiting([MIRA]) == 1
        if name == "Manual":
            await near.indexing.catch_up(limits=False)

    for question, text in (
        ("How long does rye bread rest?", texts["Bread"]),
        ("How do I prime the bilge pump?", texts["Manual"]),
    ):
        hits = await near.knowledge_base.search(DocumentQuery(question, [MIRA]), 2)
        assert [hit.chunk.text for hit in hits if hit.is_sure] == [text]


async def test_a_changed_memory_is_found_by_its_new_meaning_at_once(near: AppServices):
    memory = await add_memory(near, "She is afraid of spiders.", name="")
    await add_memory(near, "The baker sells rye bread on Tuesdays.", name="")
    await near.memory.edit(memory.model_copy(update={"content": FERRY}))
    assert (await near.memory_lookup.search(MIRA, OTHER_WORDS, 1))[0].text == FERRY


async def test_the_nearest_waiting_memory_comes_and_not_the_newest(near: AppServices, session: ChatSession):
    best = await add_memory(near, FERRY, name="", insertion=NATURAL)
    await add_memory(near, "Boats in the harbour are painted blue.", name="", insertion=NATURAL)
    await add_memory(near, "She is afraid of spiders.", name="", insertion=NATURAL)
    outcome = await say(near, session, "When does the ferry to the mainland leave?")
    assert FERRY in outcome.note.content
    assert await load_memory(near, best) is None


async def test_small_talk_wakes_no_waiting_memory(near: AppServices, session: ChatSession):
    await add_memory(near, FERRY, name="", insertion=NATURAL)
    for text in ("Good.", "Haha, yes!", "I like it here."):
        assert (await say(near, session, text)).note is None


async def test_nearly_the_same_memory_is_kept_once(near: AppServices):
    old = await add_memory(near, "Tomas keeps seven hives of black bees behind the chapel.", name="", priority=3)
    kept = await near.memory.memorize(MIRA, unit("Tomas has seven hives of black bees behind the chapel.", name=""))
    assert (kept.guid, kept.priority) == (old.guid, 3)
    assert (await near.memory.memorize(MIRA, unit("Tomas is afraid of spiders.", name=""))).guid != old.guid


async def test_an_entry_of_a_world_is_found_by_its_meaning(near: AppServices, session: ChatSession):
    await near.preferences.set(global_worlds=["isles"])
    write_world(near, "isles", {"name": "Ferry", "content": FERRY}, {"name": "Baker", "content": "He sells rye bread."})
    await near.indexing.catch_up()
    assert (await say(near, session, MEANT)).ways.get("Ferry") == "meaning"


async def test_a_turn_asks_the_embedder_once(near: AppServices, session: ChatSession, monkeypatch: pytest.MonkeyPatch):
    for number in range(4):
        await add_memory(near, f"{FERRY} {number}", name="", insertion=NATURAL)
        await add_memory(near, f"The baker sells rye bread, {number}.", name="")
    await near.indexing.catch_up()
    asked: list[str] = []
    real = ModelClient.embed_tokens

    async def counted(client: ModelClient, texts: list[str]) -> object:
        asked.extend(texts)
        return await real(client, texts)

    monkeypatch.setattr(ModelClient, "embed_tokens", counted)
    await say(near, session, MEANT)
    assert asked == [MEANT]


async def test_it_dies_and_words_go_on_until_it_is_back(
    near: AppServices, echo_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    (process,) = multiprocessing.active_children()  # the embedder's, as long as no other model is loaded
    await near.models.load(echo_model(*["“Aye.”"] * 20))
    session = await near.sessions.new(MIRA)
    await add_memory(near, "The cormorant nests beneath the broken winch.", name="Winch")
    await add_memory(near, FERRY, name="Ferry")
    process.kill()
    outcome = await say(near, session, "Where does the cormorant nest, near the broken winch?")
    assert outcome.reply.content == "“Aye.”"
    assert "Winch" in outcome.ways
    await until(lambda: not near.embedding.id)
    assert isinstance(near.embedding.state.error, ModelCrashed)
    await add_memory(near, "The tide turns at six.", name="Tide")
    await near.indexing.catch_up()
    assert not near.embedding.id  # not again at once
    monkeypatch.setattr("lethe_app.services.indexing.embedder.RETRY_DELAY", 0.0)
    await near.indexing.catch_up()
    assert near.embedding.id
    assert await near.memory_index.count_pending() == 0
    assert "Ferry" in (await say(near, session, MEANT)).ways


async def test_one_that_is_gone_is_told_and_missed_by_nobody(
    services: AppServices, says: Callable[..., object], tmp_path: Path
):
    await says("“Aye.”")
    await services.preferences.set(embedder_path=str(tmp_path / "gone.gguf"))
    services.embedding.enabled = True
    await services.indexing.catch_up()
    assert isinstance(services.embedding.state.error, ModelMissing)
    await add_memory(services, "The cormorant nests beneath the broken winch.", name="Winch")
    outcome = await say(services, await services.sessions.new(MIRA), "Where does the cormorant nest, near the broken winch?")
    assert "Winch" in outcome.ways


async def test_another_one_is_taken_and_the_vectors_of_the_first_are_of_no_use(
    near: AppServices, embedder: Path, tmp_path: Path
):
    await add_memory(near, FERRY, name="Ferry")
    copy = tmp_path / "other.gguf"
    shutil.copy(embedder, copy)
    await near.preferences.set(embedder_path=str(copy))
    name = embedder_id_of(copy)
    await near.app_state.set(SCOPE, name, {**MEASURED, "embedder": name})
    await near.indexing.catch_up()
    assert near.embedding.id == name
    assert await near.memory_index.count_pending() == 0
    assert (await near.memory_lookup.search(MIRA, MEANT, 1))[0].title == "Ferry"


# While nobody needs it


def embedding_that_ends(near: AppServices, idle_seconds: float = 0.0) -> Embedding:
    """A second embedder on the same index, whose process ends as soon as it is idle."""
    client = ModelClient(embeds_texts=True)
    return Embedding(client, near.memory_index, near.preferences, enabled=True, idle_seconds=idle_seconds)


async def is_ended(embedding: Embedding) -> bool:
    return not embedding.is_running


async def test_the_process_ends_when_idle_and_the_next_request_gets_the_same_vectors(near: AppServices):
    embedding = embedding_that_ends(near)
    assert await embedding.ensure_loaded()
    before = await embedding.embed([FERRY])
    await until(lambda: is_ended(embedding))
    assert embedding.id  # nobody else notices

    again = await embedding.embed([FERRY])

    assert again == before
    await until(lambda: is_ended(embedding))
    await embedding.close()


async def test_an_idle_embedder_is_not_started_by_looking_for_work(near: AppServices):
    await near.preferences.set(memory_profile="small")
    await near.embedding.embed([FERRY])
    await until(lambda: is_ended(near.embedding))

    await near.indexing.catch_up()

    assert near.embedding.id
    assert not near.embedding.is_running


async def test_it_starts_while_the_user_writes_and_finds_what_was_meant(near: AppServices, session: ChatSession):
    await add_memory(near, "She is afraid of spiders.", name="")
    await add_memory(near, FERRY, name="Ferry")
    await near.preferences.set(memory_profile="small")
    await near.memory_lookup.search(MIRA, OTHER_WORDS)
    await until(lambda: is_ended(near.embedding))

    near.idleness.set_composing(has_text=False)
    assert not near.embedding.is_running
    near.idleness.set_composing(has_text=True)
    await until(lambda: near.embedding.is_running)
    assert (await near.memory_lookup.search(MIRA, OTHER_WORDS, 1))[0].title == "Ferry"


async def test_requests_that_come_together_start_one_process(near: AppServices):
    embedding = embedding_that_ends(near)
    await embedding.ensure_loaded()
    await until(lambda: is_ended(embedding))
    others = set(multiprocessing.active_children())

    embedding.warm_up()
    first, second = await asyncio.gather(embedding.embed([FERRY]), embedding.embed_queries([MEANT, OTHER_WORDS]))

    assert (len(first), len(second)) == (1, 2)
    assert len(set(multiprocessing.active_children()) - others) <= 1
    await embedding.close()


# Limits


async def test_limits_are_those_of_the_embedder_and_else_pass_next_to_nothing(near: AppServices):
    calibration = near.calibration
    assert (await calibration.thresholds()).natural == MEASURED["natural"]
    await near.preferences.set(embedder_path="/nowhere.gguf")
    await near.embedding.ensure_loaded()
    assert await calibration.thresholds() == ORIGINAL


async def test_the_embedder_that_comes_along_need_not_be_measured(near: AppServices):
    await near.app_state.set(SCOPE, near.embedding.id, None)
    calibration = calibration_of(near, near.paths.calibration)

    async def nobody() -> None:
        raise AssertionError("nothing is measured")

    await calibration.measure(nobody)
    limits = await calibration.thresholds()
    assert limits.embedder == near.embedding.id
    assert limits != ORIGINAL


async def test_they_are_measured_once_with_a_pause_before_every_few_texts(
    near: AppServices, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    pairs = load_pairs(near.paths.calibration)[:40]
    monkeypatch.setattr("lethe_app.services.indexing.calibration.load_pairs", lambda _path: pairs)
    await near.app_state.set(SCOPE, near.embedding.id, None)
    calibration = calibration_of(near, tmp_path / "pairs.json")  # without measured limits beside them
    pauses: list[int] = []

    async def pause() -> None:
        pauses.append(1)

    await calibration.measure(pause)
    assert len(pauses) > 3
    fitted = await calibration.thresholds()
    assert fitted.embedder == near.embedding.id
    pauses.clear()
    await calibration.measure(pause)
    assert pauses == []
    assert await calibration_of(near, tmp_path / "pairs.json").thresholds() == fitted


async def test_without_pairs_to_measure_by_texts_get_their_meaning_all_the_same(tmp_path: Path, embedder: Path):
    async with app_services(tmp_path, embedder, without="calibration") as near:
        await add_memory(near, FERRY)
        await near.indexing.catch_up()
        assert near.embedding.id
        assert await near.calibration.thresholds() == ORIGINAL
        assert await near.memory_index.count_pending() == 0
