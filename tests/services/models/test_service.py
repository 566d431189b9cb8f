"""Which model answers: loading, choosing, forgetting, and what is told of it all the while."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import LoadOptions
from lethe_app.errors import ModelCrashed, ModelError, ModelMissing, ModelUnreadable
from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.services.events import ModelFailed, ModelLoading, ModelReady, ModelState, NoModel


@pytest.fixture
def record_states(services: AppServices) -> list[ModelState]:
    """Every state in the order in which it was told."""
    states: list[ModelState] = []
    services.models.changed.add(states.append)
    return states


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    """Models of several names."""

    def write(name: str, **fields: object) -> Path:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(fields), encoding="utf-8")
        return path

    return write


@pytest.fixture
async def earnest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AppServices]:
    """A house with the real engine."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    services = await build(Paths.standard(tmp_path / "earnest"))
    yield services
    await services.close()


def kinds(states: list[ModelState]) -> list[str]:
    """`Loading Ready`, repeated ones once."""
    names = [type(state).__name__ for state in states]
    return [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]


async def until_it_is_loading(services: AppServices) -> None:
    begun = asyncio.Event()
    forget = services.models.changed.add(lambda state: begun.set())
    await begun.wait()
    forget()
    assert isinstance(services.models.state, ModelLoading)


def name_of(services: AppServices) -> str:
    state = services.models.state
    return state.model.file.name if isinstance(state, ModelReady) else type(state).__name__


async def test_a_model_is_loading_then_ready_and_gone_when_unloaded(
    services: AppServices, record_states: list[ModelState], script: Callable[..., Path]
):
    before = services.models.state
    await services.models.load(script("one"))
    ready = services.models.state
    await services.models.unload()

    assert isinstance(before, NoModel)
    assert (ready.model.file.name, ready.model.context) == ("one", 8192)
    assert kinds(record_states) == ["ModelLoading", "ModelReady", "NoModel"]
    assert services.models.state == NoModel()


async def test_loading_tells_the_name_and_how_far_it_is(earnest: AppServices, starter_model: Path):
    record_states: list[ModelState] = []
    earnest.models.changed.add(record_states.append)

    await earnest.models.load(starter_model)

    loading = [state for state in record_states if isinstance(state, ModelLoading)]
    fractions = [state.fraction for state in loading]
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert fractions == sorted(fractions)
    assert len({state.name for state in loading}) == 1
    assert isinstance(record_states[-1], ModelReady)
    assert record_states[-1].model.file.name == loading[0].name


async def test_the_choice_is_remembered_once_the_model_answers(services: AppServices, script: Callable[..., Path]):
    one, two = script("one"), script("two", colour="red")
    await services.models.load(one)

    with pytest.raises(ModelUnreadable):
        await services.models.load(two)

    assert services.preferences.current.model_path == str(one)


async def test_without_a_name_the_model_chosen_before_is_loaded(services: AppServices, script: Callable[..., Path]):
    await services.models.load(script("one"))
    await services.models.unload()

    await services.models.load()

    assert name_of(services) == "one"


async def test_a_choice_that_is_gone_is_told_never_replaced_and_loaded_when_it_is_back(
    services: AppServices, script: Callable[..., Path], tmp_path: Path
):
    chosen = script("chosen")
    await services.models.load(chosen)
    await services.models.unload()
    chosen.rename(tmp_path / "elsewhere")

    for ask in (services.models.load, services.models.ensure_loaded):
        with pytest.raises(ModelMissing, match=r"“chosen\.json” is no longer in") as missing:
            await ask()
        assert "move the file back" in missing.value.remedy
        assert isinstance(services.models.state, ModelFailed)
    assert services.preferences.current.model_path == str(chosen)

    (tmp_path / "elsewhere").rename(chosen)
    assert (await services.models.ensure_loaded()).file.name == "chosen"


async def test_a_starter_model_that_moved_with_the_program_is_the_same_choice(
    earnest: AppServices, tmp_path: Path, starter_model: Path
):
    await earnest.preferences.set(model_path=str(tmp_path / "old place" / starter_model.name))

    await earnest.models.load()

    assert earnest.models.state.model.file.path == starter_model


async def test_an_embedding_model_is_refused_as_chat_model_before_anything_changes(
    earnest: AppServices, tmp_path: Path, starter_model: Path
):
    await earnest.models.load(starter_model)
    disguised = tmp_path / "chat.gguf"
    shutil.copy(bundled.embedding_model(), disguised)

    for refused in (earnest.models.load(disguised), earnest.preferences.set(model_path=str(disguised))):
        with pytest.raises(ModelUnreadable, match=r"“chat\.gguf” is an embedding model") as error:
            await refused
        assert error.value.remedy == "Choose a chat model."

    assert earnest.models.loaded.file.path == starter_model
    assert earnest.preferences.stored.model_path == str(starter_model)


async def test_a_chat_model_is_refused_as_embedding_model_before_it_is_stored(earnest: AppServices, starter_model: Path):
    with pytest.raises(ModelUnreadable, match="is a chat model"):
        await earnest.preferences.set(embedder_path=str(starter_model))

    assert earnest.preferences.stored.embedder_path == ""


async def test_a_model_that_is_not_there_yet_may_be_chosen(earnest: AppServices, tmp_path: Path):
    await earnest.preferences.set(model_path=str(tmp_path / "a.gguf"), embedder_path=str(tmp_path / "b.gguf"))

    assert earnest.preferences.stored.embedder_path == str(tmp_path / "b.gguf")


async def test_without_any_model_the_error_says_what_to_do(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lethe_app.llm.models.bundled.chat_model", lambda: None)

    with pytest.raises(ModelMissing) as missing:
        await services.models.load()

    assert await services.models.list_chat_models() == []
    assert missing.value.remedy
    assert not isinstance(services.models.state, ModelLoading | ModelReady)


async def test_a_file_that_cannot_be_read_is_named_and_leaves_the_model_that_answers(
    earnest: AppServices, tmp_path: Path, starter_model: Path
):
    await earnest.models.load(starter_model)
    record_states: list[ModelState] = []
    earnest.models.changed.add(record_states.append)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")

    with pytest.raises(ModelError, match=r"broken\.gguf"):
        await earnest.models.load(broken)

    assert isinstance(earnest.models.state, ModelReady)
    assert record_states == []
    assert earnest.preferences.current.model_path == str(starter_model)


async def test_a_model_that_could_not_be_loaded_is_not_tried_with_every_message(
    services: AppServices, script: Callable[..., Path]
):
    with pytest.raises(ModelUnreadable):
        await services.models.load(script("bad", colour="red"))
    record_states: list[ModelState] = []
    services.models.changed.add(record_states.append)

    with pytest.raises(ModelUnreadable, match="bad"):
        await services.models.ensure_loaded()

    assert record_states == []


async def test_two_loads_at_once_come_one_after_the_other(
    services: AppServices, record_states: list[ModelState], script: Callable[..., Path]
):
    await asyncio.gather(services.models.load(script("one")), services.models.load(script("two")))

    assert kinds(record_states) == ["ModelLoading", "ModelReady", "ModelLoading", "ModelReady"]
    assert name_of(services) == "two"
    assert services.preferences.current.model_path.endswith("two.json")
    assert [process.name for process in multiprocessing.active_children()] == ["lethe-model"]


async def test_whoever_needs_the_model_waits_while_it_is_loading(
    services: AppServices, record_states: list[ModelState], script: Callable[..., Path]
):
    loading = asyncio.ensure_future(services.models.load(script("one")))
    await until_it_is_loading(services)

    models = await asyncio.gather(services.models.ensure_loaded(), services.models.ensure_loaded())
    await loading

    assert [model.file.name for model in models] == ["one", "one"]
    assert kinds(record_states) == ["ModelLoading", "ModelReady"]


async def test_the_user_stops_a_model_that_takes_too_long_and_whoever_waits_is_told(
    services: AppServices, script: Callable[..., Path]
):
    loading = asyncio.ensure_future(services.models.load(script("one")))
    await until_it_is_loading(services)

    services.models.cancel_loading()

    with pytest.raises(ModelMissing, match="was cancelled"):
        await loading
    assert services.models.state == NoModel()
    services.models.cancel_loading()  # nothing is being loaded, so nothing happens
    await services.models.load(script("two"))
    assert name_of(services) == "two"


def kill_model() -> None:
    (process,) = multiprocessing.active_children()
    process.kill()


async def test_a_process_that_is_killed_is_told_at_once_and_comes_back_when_needed(
    services: AppServices, script: Callable[..., Path]
):
    await services.models.load(script("one"))
    received = asyncio.Event()
    services.models.changed.add(lambda state: received.set())

    kill_model()
    await received.wait()
    died = services.models.state
    model = await services.models.ensure_loaded()

    assert isinstance(died, ModelFailed)
    assert isinstance(died.error, ModelCrashed)
    assert model.file.name == "one"


async def test_the_users_own_models_come_first_and_the_starter_last(earnest: AppServices, tmp_path: Path, starter_model: Path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    earnest.paths.models.mkdir(exist_ok=True)
    shutil.copy(starter_model, earnest.paths.models / "mine.gguf")
    (folder / "second.gguf").symlink_to(earnest.paths.models / "mine.gguf")
    (folder / "notes.txt").write_text("no model")
    await earnest.preferences.set(model_folders=[str(folder), str(tmp_path / "gone")])

    found = await earnest.models.list_chat_models()

    assert [model.path.name for model in found] == ["mine.gguf", starter_model.name]
    assert [model.source for model in found] == ["Your models", "Starter model"]


async def test_settings_become_the_options_of_the_next_load(services: AppServices, script: Callable[..., Path]):
    await services.preferences.set(context=4096, threads=3, batch=64, kv_type="q8_0", flash_attention=True, mmap=False)

    await services.models.load(script("one"))

    options = services.models.state.model.options
    assert (options.context, options.threads, options.batch) == (4096, 3, 64)
    assert (str(options.kv_type), options.flash_attention, options.mmap) == ("q8_0", True, False)


async def test_on_a_small_computer_background_jobs_get_a_shorter_context_which_is_freed_at_once(
    services: AppServices, script: Callable[..., Path]
):
    await services.models.load(script("one"))
    assert services.models.state.model.options == LoadOptions()

    await services.preferences.set(memory_profile="small")
    await services.models.load(script("one"))

    options = services.models.state.model.options
    assert (options.context, options.background_context, options.batch, options.saves_memory) == (4096, 2048, 128, True)


async def test_a_folder_is_added_once_and_its_models_are_found(services: AppServices, tmp_path: Path, starter_model: Path):
    folder = tmp_path / "more models"
    folder.mkdir()
    shutil.copy(starter_model, folder / "more.gguf")

    found = await services.models.add_folder(folder)
    again = await services.models.add_folder(folder)

    assert [model.path for model in found] == [folder / "more.gguf"]
    assert again == found
    assert services.preferences.current.model_folders == [str(folder)]
