"""Every check of the set-up can fail, says what is wrong and what to do, and one failure hides no other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lethe_app.app import build, check_window
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.model import EngineCheck
from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady
from lethe_app.services.maintenance.doctor import Doctor, describe_memory_profile
from tests.llm.damaged_weights import write_damaged

Says = Callable[..., object]


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of the starter models is installed, so that none has to be read for the other checks."""
    monkeypatch.setattr("lethe_app.llm.models.bundled.chat_model", lambda: None)
    monkeypatch.setattr("lethe_app.llm.models.bundled.embedder_folder", lambda *_: None)


async def checked(services: AppServices) -> dict[str, EngineCheck]:
    return {check.title: check for check in await services.doctor.run_checks()}


def failed(checks: dict[str, EngineCheck]) -> list[str]:
    return [title for title, check in checks.items() if not check.passed]


async def test_a_whole_set_up_passes_and_the_model_is_ready_afterwards(services: AppServices, says: Says):
    await says("Yes.")
    await services.models.unload()

    checks = await checked(services)

    assert failed(checks) == []
    assert "echo loaded: 8192 tokens" in checks["Engine"].detail
    assert checks["Your data"].detail == str(services.paths.home)
    assert isinstance(services.models.state, ModelReady)


@pytest.mark.parametrize(
    ("folder", "what"),
    [
        ("personas", "personas"),
        ("worldinfo", "worlds"),
        ("resources/presets/instruct", "instruct formats"),
        ("resources/presets/samplers", "samplers"),
        ("resources/presets/system", "system prompts"),
        ("resources/icons", "icons"),
    ],
)
@pytest.mark.usefixtures("no_models")
async def test_what_did_not_travel_with_the_program_is_missed_even_if_the_user_has_their_own(
    services: AppServices, tmp_path: Path, folder: str, what: str
):
    shipped = tmp_path / "shipped"
    for part in ("personas", "worldinfo", "resources"):
        shutil.copytree(services.paths.shipped / part, shipped / part)
    shutil.rmtree(shipped / folder)
    paths = replace(services.paths, shipped=shipped)
    models = (services.models, services.probe_client, services.calibration)
    doctor = Doctor(paths, services.library, *models, check_window, services.preferences)

    (check,) = [one for one in await doctor.run_checks() if one.title == "Bundled files"]

    assert not check.passed
    assert check.remedy == f"No {what} found in {shipped}: reinstall Lethe."
    assert f"0 {what}" in check.detail


async def test_a_file_of_the_user_that_cannot_be_read_is_named_with_its_field(services: AppServices, says: Says):
    await says("Yes.")
    (services.paths.personas / "bad.json").write_text('{"name": "Ada", "tags": "x"}', encoding="utf-8")
    (services.paths.personas / "worse.json").write_bytes(b"\xff\xfe")

    checks = await checked(services)

    assert failed(checks) == ["Your files"]
    assert "bad.json, field “tags”" in checks["Your files"].detail
    assert "worse.json" in checks["Your files"].detail
    assert checks["Your files"].remedy


@pytest.mark.usefixtures("no_models")
async def test_settings_that_cannot_be_used_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = Paths.standard(tmp_path / "home")
    paths.home.mkdir()
    paths.settings.write_text(json.dumps({"font_size": "huge", "theme": 7}), encoding="utf-8")
    services = await build(paths, engine="echo")

    check = (await checked(services))["Your files"]
    await services.close()

    assert not check.passed
    assert "field “font_size”" in check.detail
    assert "field “theme”" in check.detail


@pytest.mark.usefixtures("no_models")
async def test_without_the_starter_models_both_are_missed_with_the_packages_named(services: AppServices, says: Says):
    await says("Yes.")

    checks = await checked(services)

    assert "Starter models" in failed(checks)
    assert "Engine" not in failed(checks)
    assert checks["Starter models"].detail.count("missing") == 2
    assert "models.lock" in checks["Starter models"].remedy


@pytest.mark.usefixtures("no_models")
async def test_without_any_model_one_is_told_where_to_put_one(services: AppServices):
    checks = await checked(services)

    assert {"Models", "Engine"} <= set(failed(checks))
    assert str(services.paths.models) in checks["Models"].remedy
    assert "No model was found" in checks["Engine"].detail


async def test_a_chosen_model_that_cannot_be_read_fails_the_engine_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but no more")
    paths = Paths.standard(tmp_path / "home")
    paths.home.mkdir()
    paths.settings.write_text(json.dumps({"model_path": str(broken)}), encoding="utf-8")
    services = await build(paths)

    checks = await checked(services)
    await services.close()

    assert failed(checks) == ["Engine"]
    assert "broken.gguf" in checks["Engine"].detail


async def test_it_tests_the_embedding_model_that_is_chosen(services: AppServices, says: Says, tmp_path: Path):
    await says("Yes.")
    chosen = tmp_path / "mine.gguf"
    shutil.copy(bundled.embedding_model(), chosen)
    await services.preferences.set(embedder_path=str(chosen))
    whole = (await checked(services))["Embedding model"]
    write_damaged(chosen, bundled.embedding_model(), "output_norm", float("nan"))
    damaged = (await checked(services))["Embedding model"]
    chosen.unlink()
    gone = (await checked(services))["Embedding model"]

    assert (whole.passed, damaged.passed, gone.passed) == (True, False, False)
    assert "mine.gguf: 384 dimensions" in whole.detail
    assert "weights of “mine.gguf” are damaged" in damaged.detail
    assert "“mine.gguf” is no longer in" in gone.detail


@pytest.mark.parametrize(
    ("setting", "title", "reason"),
    [("model_path", "Engine", "is an embedding model"), ("embedder_path", "Embedding model", "is a chat model")],
)
async def test_a_model_of_the_wrong_kind_written_into_the_settings_by_hand_fails_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path, setting: str, title: str, reason: str
):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    paths = Paths.standard(tmp_path / "home")
    paths.home.mkdir()
    wrong = bundled.embedding_model() if setting == "model_path" else starter_model
    paths.settings.write_text(json.dumps({setting: str(wrong)}), encoding="utf-8")
    services = await build(paths)

    checks = await checked(services)
    await services.close()

    assert failed(checks) == [title]
    assert reason in checks[title].detail
    assert checks[title].remedy


async def test_weights_that_are_no_numbers_fail_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    damaged = write_damaged(tmp_path / "damaged.gguf", tiny_model, "output_norm", float("nan"))
    services = await build(Paths.standard(tmp_path / "home"))
    await services.preferences.set(model_path=str(damaged))

    checks = await checked(services)
    await services.close()

    assert failed(checks) == ["Engine"]
    assert "damaged" in checks["Engine"].detail


async def test_a_window_that_cannot_open_is_one_failure_among_checks(services: AppServices, says: Says):
    await says("Yes.")
    no_window = EngineCheck("Window", passed=False, detail="libEGL.so.1 is missing", remedy="Install it.")
    doctor = Doctor(
        services.paths,
        services.library,
        services.models,
        services.probe_client,
        services.calibration,
        lambda: no_window,
        services.preferences,
    )

    checks = await doctor.run_checks()

    assert [check for check in checks if not check.passed] == [no_window]


@pytest.mark.usefixtures("no_models")
async def test_an_old_python_is_told(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lethe_app.services.maintenance.doctor.sys.version_info", (3, 10, 1))

    check = (await checked(services))["Python"]

    assert not check.passed
    assert "3.11" in check.remedy


@pytest.mark.parametrize(
    ("memory", "chosen", "expected"),
    [
        (8 << 30, "automatic", "8.0 GB, normal profile"),
        (2 << 30, "normal", "2.0 GB, normal profile"),
        (2 << 30, "automatic", "2.0 GB, small profile because that is less than 3 GB: 4096 tokens of context, batches of 128"),
        (8 << 30, "small", "8.0 GB, small profile because it is chosen in the settings: 4096 tokens of context"),
    ],
)
async def test_the_memory_profile_is_told_with_its_reason(tmp_path: Path, memory: int, chosen: str, expected: str):
    services = await build(Paths.standard(tmp_path / "home"), engine="echo", memory=memory)
    await services.preferences.set(memory_profile=chosen)

    detail = describe_memory_profile(services.preferences)
    await services.close()

    assert detail.startswith(expected)
