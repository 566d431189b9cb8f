"""Settings are checked, written before they are told, and none is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.config.settings import Settings
from lethe_app.errors import LetheError, StorageError
from lethe_app.paths import Paths
from lethe_app.services.preferences import SMALL_MEMORY


def on_disk(services: AppServices) -> dict[str, object]:
    found = json.loads(services.paths.settings.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


async def test_a_change_is_on_disk_before_it_is_told(services: AppServices):
    reported: list[tuple[Settings, object]] = []
    services.preferences.changed.add(lambda settings: reported.append((settings, on_disk(services)["font_size"])))

    await services.preferences.set(font_size=20, theme="dark")

    assert [(settings.font_size, settings.theme, written) for settings, written in reported] == [(20, "dark", 20)]
    assert services.preferences.current is reported[0][0]


async def test_settings_are_there_after_reopening(tmp_path: Path):
    first = await build(Paths.standard(tmp_path / "home"), engine="echo")
    await first.preferences.set(font_size=21, model_folders=["/somewhere"])
    await first.close()

    again = await build(first.paths, engine="echo")
    await again.close()

    assert again.preferences.current == first.preferences.current
    assert (again.preferences.current.font_size, again.preferences.current.model_folders) == (21, ["/somewhere"])


async def test_what_changes_nothing_is_not_told(services: AppServices):
    reported: list[Settings] = []
    services.preferences.changed.add(reported.append)

    await services.preferences.set(font_size=services.preferences.current.font_size)

    assert reported == []


@pytest.mark.parametrize(
    ("values", "title"),
    [
        ({"font_size": 11}, "Text size"),
        ({"font_size": 25}, "Text size"),
        ({"font_size": "huge"}, "Text size"),
        ({"theme": "pink"}, "Theme"),
        ({"kv_type": "f16; rm"}, "KV cache type"),
        ({"temperature_override": float("nan")}, "Temperature override"),
        ({"max_reply": 15}, "Max response tokens"),
        ({"model_folders": [7]}, "Model folders"),
        ({"model_folders": ["x"] * 51}, "Model folders"),
        ({"welcomed": None}, "Welcomed"),
    ],
    ids=str,
)
async def test_a_value_out_of_bounds_is_refused_by_title_and_changes_nothing(
    services: AppServices, values: dict[str, object], title: str
):
    before, written = services.preferences.current, on_disk(services)

    with pytest.raises(LetheError, match=f"“{title}” cannot be set to"):
        await services.preferences.set(last_persona="mira-test", **values)

    assert services.preferences.current is before
    assert on_disk(services) == written


async def test_changes_made_at_once_are_all_kept(services: AppServices):
    await asyncio.gather(
        *(services.preferences.set(**{name: True}) for name in ("add_names", "show_hidden", "mlock", "welcomed"))
    )

    found = services.preferences.current
    assert (found.add_names, found.show_hidden, found.mlock, found.welcomed) == (True,) * 4
    assert [on_disk(services)[name] for name in ("add_names", "show_hidden", "mlock", "welcomed")] == [True] * 4


async def test_a_value_in_another_form_is_answered_with_an_example(services: AppServices):
    with pytest.raises(LetheError, match="“Quiet hours from” cannot be set to “ten”") as raised:
        await services.preferences.set(agent_quiet_from="ten")

    assert "for example 22:00" in raised.value.remedy


async def test_a_change_that_cannot_be_written_is_told_and_not_made(services: AppServices):
    (services.paths.home / "occupied").touch()
    services.paths.settings.unlink()
    services.paths.settings.symlink_to(
        services.paths.home / "occupied" / "settings.json"
    )  # a file stands where a folder must be
    reported: list[Settings] = []
    services.preferences.changed.add(reported.append)

    with pytest.raises(StorageError, match=r"settings\.json could not be"):
        await services.preferences.set(font_size=20)

    assert services.preferences.current.font_size != 20
    assert reported == []


async def test_a_computer_with_little_memory_gets_a_modest_context_and_batch(tmp_path: Path):
    services = await build(Paths.standard(tmp_path / "home"), engine="echo", memory=SMALL_MEMORY - 1)
    await services.close()
    preferences = services.preferences

    assert preferences.is_small_computer
    assert (preferences.current.context, preferences.current.batch) == (4096, 128)
    assert (preferences.stored.context, preferences.stored.batch) == (0, 512)  # as the user left them


@pytest.mark.parametrize("memory", [SMALL_MEMORY, 0], ids=["enough", "unknown"])
async def test_enough_memory_changes_no_setting(tmp_path: Path, memory: int):
    services = await build(Paths.standard(tmp_path / "home"), engine="echo", memory=memory)
    await services.close()

    assert not services.preferences.is_small_computer
    assert services.preferences.current == services.preferences.stored


async def test_what_the_user_chooses_comes_before_the_memory_profile(tmp_path: Path):
    services = await build(Paths.standard(tmp_path / "home"), engine="echo", memory=2 << 30)
    preferences = services.preferences

    await preferences.set(context=6000, batch=64)
    assert (preferences.current.context, preferences.current.batch) == (6000, 64)
    await preferences.set(memory_profile="normal", context=0, batch=512)
    assert (preferences.current.context, preferences.current.batch) == (0, 512)
    await preferences.set(memory_profile="small")
    assert (preferences.current.context, preferences.current.batch) == (4096, 128)
    await services.close()
