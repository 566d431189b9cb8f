"""Presets are changed in the form, kept by themselves, undone, tried on an example, and had back as they came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QPushButton, QSpinBox

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.errors import FileError
from lethe_app.services.events import ModelReady
from lethe_app.services.personas.presets import PresetService, StoredPreset
from lethe_app.ui.pages.presets.page import PresetPage
from lethe_app.ui.pages.presets.sampler_preview import display_token, format_omitted_samplers, format_percent
from lethe_app.ui.widgets.fields import escape_text, unescape_text
from tests.ui.form_fields import error_below, field_of
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def preset_page(scene: Scene, preset: str = "") -> PresetPage:
    """The page of presets, with a sampler preset selected if one is named."""
    page = scene.open_page("presets", PresetPage)
    await until(lambda: page.table.current_row)
    assert not preset or page.table.select_row(preset)
    return page


def field(page: PresetPage, name: str) -> QLineEdit:
    found = field_of(page, name)
    assert isinstance(found, QLineEdit)
    return found


@pytest.mark.parametrize("text", ["", "a\nb", "\\n", "\t\\", "<|im_end|>\n", "\\\\\n"])
def test_new_lines_survive_being_written_as_code(text: str):
    assert unescape_text(escape_text(text)) == text
    assert "\n" not in escape_text(text)


async def test_a_changed_preset_becomes_the_users_own_and_goes_back_to_how_it_came(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene)
        page.tabs.setCurrentIndex(1)
        await until(
            lambda: page.table.select_row("chatml") and page.table.current_row and page.table.current_row.key == "chatml"
        )

        QTest.keyClicks(field(page, "user_end"), "!")
        await until((scene.services.paths.presets / "instruct" / "chatml.json").exists)
        kept = {one.key: one.value for one in await scene.services.presets.list_presets(InstructPreset)}
        assert kept["chatml"].user_end == "<|im_end|>\n!"
        await until(lambda: "!" in page.prompt_view.toPlainText())

        QTest.mouseClick(page.delete_button, Qt.MouseButton.LeftButton)
        await until(lambda: field(page, "user_end").text() == "<|im_end|>\\n")
        assert not (scene.services.paths.presets / "instruct" / "chatml.json").exists()


async def test_a_change_is_saved_if_another_preset_is_chosen_at_once(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene, "creative")
        temperature = field_of(page, "temperature")
        assert isinstance(temperature, QDoubleSpinBox)
        temperature.setValue(1.37)
        assert page.table.select_row("roleplay")

        folder = scene.services.paths.presets / "samplers"
        await until(lambda: list(folder.glob("*.json")))
        assert [path.name for path in folder.glob("*.json")] == ["creative.json"]
        stored = {one.key: one.value for one in await scene.services.presets.list_presets(SamplerPreset)}
        assert stored["creative"].temperature == pytest.approx(1.37)


async def test_the_tab_chosen_last_is_the_one_on_display(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene)
        first = page.table.current_row.key
        temperature = field_of(page, "temperature")
        assert isinstance(temperature, QDoubleSpinBox)
        temperature.setValue(1.37)
        held: list[asyncio.Task[Any] | None] = []
        may_go_on, list_presets = asyncio.Event(), PresetService.list_presets

        async def list_slowly(service: PresetService, kind: type[Any]) -> list[StoredPreset[Any]]:
            presets = await list_presets(service, kind)
            if kind is InstructPreset:
                held.append(asyncio.current_task())
                await may_go_on.wait()
            return presets

        monkeypatch.setattr(PresetService, "list_presets", list_slowly)
        page.tabs.setCurrentIndex(1)
        page.tabs.setCurrentIndex(2)
        await until(lambda: held and page.table.current_row and isinstance(page.table.current_row.value, SystemPreset))
        may_go_on.set()
        await until(lambda: all(task.done() for task in held if task is not None))

        assert all(isinstance(row.value, SystemPreset) for row in page.rows.visible_rows)
        stored = {one.key: one.value for one in await scene.services.presets.list_presets(SamplerPreset)}
        assert stored[first].temperature == pytest.approx(1.37)


async def test_undo_takes_back_a_copy(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene, "creative")
        before = {row.key for row in page.rows.visible_rows}

        next(button for button in page.findChildren(QPushButton) if button.text() == "Duplicate").click()
        await until(lambda: any("was added to the presets" in toast.text for toast in scene.toasts))
        assert len(page.rows.visible_rows) == len(before) + 1
        scene.controller.pages.navigator.undo_last()

        await until(lambda: {row.key for row in page.rows.visible_rows} == before)


async def test_undo_takes_back_what_was_typed(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene)
        before = page.table.current_row.value.name

        QTest.keyClicks(field(page, "name"), " of mine")
        assert page.table.current_row.value.name == f"{before} of mine"
        assert "modified" in page.subtitle.accessibleName()
        page.undo_stack.undo()
        assert "built-in" in page.subtitle.accessibleName()
        assert not page.delete_button.isEnabled()

        assert page.table.current_row.value.name == before
        assert field(page, "name").text() == before


async def test_a_name_that_is_not_possible_is_told_and_not_kept(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene)
        before = page.table.current_row.value.name
        name = field(page, "name")

        name.selectAll()
        QTest.keyClick(name, Qt.Key.Key_Delete)

        assert page.table.current_row.value.name == before
        assert error_below(page, "name")
        other = next(one.key for one in page.rows.visible_rows if one.value.name != before)
        assert page.table.select_row(other)
        await until(lambda: name.text() != "")
        assert not error_below(page, "name")


async def test_the_chosen_sampler_is_the_one_in_use(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene, "roleplay")

        QTest.mouseClick(page.use_button, Qt.MouseButton.LeftButton)
        await until(lambda: scene.services.preferences.current.sampler == "roleplay")

        assert not page.use_button.isEnabled()


async def test_presets_go_out_to_a_file_and_come_back_from_one(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        page = await preset_page(scene)
        mine = SamplerPreset(name="Mine", temperature=1.5)
        await scene.services.presets.write_file(mine, tmp_path / "mine.json")
        (tmp_path / "broken.json").write_text('{"name": "Broken", "temperature": "warm"}', encoding="utf-8")

        await page.import_preset(tmp_path / "mine.json")
        assert page.table.current_row.value == mine
        with pytest.raises(FileError, match="temperature"):
            await page.import_preset(tmp_path / "broken.json")


async def test_presets_of_silly_tavern_come_in_and_return_as_they_came(tmp_path: Path):
    values = {"temp": 1.1, "top_p": 0.9, "top_k": 30, "sampler_order": [6, 0, 1]}
    (tmp_path / "Theirs.json").write_text(json.dumps(values), encoding="utf-8")
    async with opened(tmp_path / "home") as scene:
        page = await preset_page(scene)

        await page.import_preset(tmp_path / "Theirs.json")
        preset = page.table.current_row.value
        await scene.services.presets.write_external_file(preset, tmp_path / "back.json")

        assert (preset.name, preset.temperature, preset.top_k) == ("Theirs", 1.1, 30)
        assert json.loads((tmp_path / "back.json").read_text(encoding="utf-8")).items() >= values.items()


async def test_a_deleted_preset_can_be_taken_back(tmp_path: Path):
    async with opened(tmp_path) as scene:
        presets = scene.services.presets
        key = await presets.save(SamplerPreset(name="Mine"))

        trashed = await presets.delete(SamplerPreset, key)
        assert key not in {one.key for one in await presets.list_presets(SamplerPreset)}
        assert await presets.restore(trashed) == key

        assert key in {one.key for one in await presets.list_presets(SamplerPreset)}


async def test_where_nothing_was_chosen_the_preset_that_suits_the_model_is_shown_as_in_use(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        page = await preset_page(scene)
        assert page.table.current_row.key == "default"
        assert page.use_button.text() == "In use"
        assert "selected automatically for the model" in page.subtitle.accessibleName()

        assert page.table.select_row("creative")
        await until(lambda: page.table.current_row.key == "creative")
        assert page.use_button.text() == "Use preset"
        assert "suits the model" not in page.subtitle.accessibleName()


def number(page: PresetPage, name: str) -> QDoubleSpinBox | QSpinBox:
    found = field_of(page, name)
    assert isinstance(found, QDoubleSpinBox | QSpinBox)
    return found


def chances(page: PresetPage) -> dict[str, float]:
    return {word: after for word, _before, after in page.sampler_preview.bars.rows}


async def test_without_a_model_an_example_moves_with_the_numbers_and_says_that_it_is_one(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await preset_page(scene, "deterministic")
        await until(lambda: page.sampler_preview.count_label.text() == "Computing the next token…")
        await until(lambda: "Example predictions" in page.sampler_preview.source_label.text())
        await until(lambda: chances(page).get("the") == 1)
        assert not page.sampler_preview.generate_button.isEnabled()

        temperature = number(page, "temperature")
        temperature.selectAll()
        QTest.keyClicks(temperature, "1")
        QTest.keyClick(temperature, Qt.Key.Key_Return)
        top_k = number(page, "top_k")
        top_k.selectAll()
        QTest.keyClicks(top_k, "2")
        QTest.keyClick(top_k, Qt.Key.Key_Return)

        await until(lambda: [word for word, chance in chances(page).items() if chance] == ["the", "a"])
        assert page.sampler_preview.count_label.text().startswith("2 possible tokens")
        assert page.sampler_preview.steps_label.text() == "Tokens left: Top-K 2."
        assert "what –" in page.sampler_preview.bars.accessibleDescription()
        page.undo_stack.undo()
        await until(lambda: chances(page)["what"] > 0)


async def test_a_loaded_model_is_asked_for_its_own_words_and_writes_two_continuations(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    line = "The door was green."
    async with opened(tmp_path, echo_model(line, line)) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        page = await preset_page(scene, "deterministic")
        taste = page.sampler_preview
        await until(lambda: [word for word, _before, _after in taste.bars.rows][:4] == ["The", "door", "was", "green."])

        QTest.mouseClick(taste.generate_button, Qt.MouseButton.LeftButton)

        await until(lambda: [label.text() for label in taste.continuation_labels] == ["…The door was green. …"] * 2)
        await until(taste.generate_button.isEnabled)
        assert len(scene.words) == 1, "nothing of it is kept"


async def test_who_leaves_is_written_nothing_more(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("word " * 40, delay=0.2)) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        page = await preset_page(scene, "deterministic")
        await until(page.sampler_preview.generate_button.isEnabled)
        QTest.mouseClick(page.sampler_preview.generate_button, Qt.MouseButton.LeftButton)
        await until(lambda: "word" in page.sampler_preview.continuation_labels[0].text())

        QTest.keyClick(page, Qt.Key.Key_Escape)

        await until(lambda: scene.page is None)
        await until(lambda: not [task for task in asyncio.all_tasks() if "SamplerPreview" in task.get_coro().__qualname__])


def test_what_the_bars_cannot_show_is_named():
    assert format_omitted_samplers(SamplerPreset(name="x")) == ""
    assert "DRY" in format_omitted_samplers(SamplerPreset(name="x", dry_multiplier=0.8))
    assert "penalties" in format_omitted_samplers(SamplerPreset(name="x", repetition_penalty=1.1, repetition_range=512))
    assert "Mirostat" in format_omitted_samplers(SamplerPreset(name="x", mirostat=2))


def test_words_and_chances_are_written_as_people_read_them():
    assert [display_token(word) for word in (" door", "", "\n", " ")] == ["door", "(end of text)", "↵", "␣"]
    assert [format_percent(chance) for chance in (0.314, 0.004, 0)] == ["31 %", "< 1 %", "–"]
