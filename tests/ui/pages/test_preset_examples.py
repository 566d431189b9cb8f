"""Beside a sampler stands what it does: to the chances of the next word as its numbers move, and in two continuations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

from lethe_app.domain.presets import SamplerPreset
from lethe_app.services.events import ModelReady
from lethe_app.ui.pages.presets.page import PresetPage
from lethe_app.ui.pages.presets.probability_bars import display_token, format_percent
from lethe_app.ui.pages.presets.sampler_preview import format_omitted_samplers
from tests.ui.form_fields import field_of
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def samplers(scene: Scene, preset: str = "deterministic") -> PresetPage:
    scene.window.window_actions["presets"].trigger()
    page = scene.page
    assert isinstance(page, PresetPage)
    await until(lambda: page.table.select_row(preset) and page.table.current_row.key == preset)
    return page


def number(page: PresetPage, name: str) -> QDoubleSpinBox | QSpinBox:
    found = field_of(page, name)
    assert isinstance(found, QDoubleSpinBox | QSpinBox)
    return found


def chances(page: PresetPage) -> dict[str, float]:
    return {word: after for word, _before, after in page.sampler_preview.bars.rows}


async def test_without_a_model_an_example_moves_with_the_numbers_and_says_that_it_is_one(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await samplers(scene)
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
        page = await samplers(scene)
        taste = page.sampler_preview
        await until(lambda: [word for word, _before, _after in taste.bars.rows][:4] == ["The", "door", "was", "green."])

        QTest.mouseClick(taste.generate_button, Qt.MouseButton.LeftButton)

        await until(lambda: [label.text() for label in taste.continuation_labels] == ["…The door was green. …"] * 2)
        await until(taste.generate_button.isEnabled)
        assert len(scene.words) == 1, "nothing of it is kept"


async def test_who_leaves_is_written_nothing_more(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("word " * 40, delay=0.2)) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        page = await samplers(scene)
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
