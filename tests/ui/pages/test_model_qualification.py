"""The page of models says what a model may write into memory, and lets another one find memories."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady
from lethe_app.services.extraction.qualification import QualificationResult, key_of
from lethe_app.services.indexing.embedder import embedder_id_of
from lethe_app.ui.core.labels.models import format_trust
from lethe_app.ui.pages.models.card import ModelEntry
from lethe_app.ui.pages.models.downloads import DownloadOffer
from lethe_app.ui.pages.models.page import ModelPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


def verdict(facts: float, *, may_write_facts: bool, may_write_summaries: bool) -> QualificationResult:
    return QualificationResult(
        model="Echo",
        facts=facts,
        may_write_facts=may_write_facts,
        may_write_summaries=may_write_summaries,
        checked=datetime(2026, 5, 1, tzinfo=UTC),
        detail="1 of 3 facts were right.",
    )


async def model_page(scene: Scene) -> ModelPage:
    scene.window.window_actions["model_manager"].trigger()
    page = scene.page
    assert isinstance(page, ModelPage)
    await until(lambda: page.rows.visible_rows and page.findChildren(DownloadOffer))
    await until(lambda: any(row.speed for row in page.rows.visible_rows))  # fills the list anew, too
    return page


def show_loaded(scene: Scene, page: ModelPage) -> None:
    """Show the loaded model; it is a script, so the page does not list it."""
    page.card.show_model(ModelEntry(scene.services.models.state.model.file, page.rows.visible_rows[0].fit))


async def test_the_verdict_on_the_loaded_model_is_told_as_soon_as_it_is_known(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        models, qualification = scene.services.models, scene.services.qualification
        page = await model_page(scene)
        await until(lambda: isinstance(models.state, ModelReady))
        show_loaded(scene, page)
        assert "Not tested yet" in page.card.memory_label.text()
        poor = verdict(0.33, may_write_facts=False, may_write_summaries=False)
        qualification._known[key_of(models.state.model)] = poor

        qualification.changed.notify(poor)

        assert not page.card.memory_label.isHidden()
        assert "built from your own words" in page.card.memory_label.text()
        assert "33 %" in page.card.memory_label.text()


async def test_a_model_that_did_not_pass_is_trusted_by_a_click_and_no_longer_when_that_is_undone(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        models, qualification = scene.services.models, scene.services.qualification
        page = await model_page(scene)
        await until(lambda: isinstance(models.state, ModelReady))
        poor = verdict(0.33, may_write_facts=False, may_write_summaries=False)
        qualification._known[key_of(models.state.model)] = poor
        show_loaded(scene, page)
        assert not page.card.trust_check.isHidden()
        assert not page.card.trust_check.isChecked()

        page.card.trust_check.click()
        await until(lambda: qualification.verdict != poor)

        assert qualification.verdict == poor.model_copy(
            update={"may_write_facts": True, "may_write_summaries": True, "trusted_anyway": True}
        )
        assert page.card.trust_check.isChecked()
        assert "Trusted by you" in page.card.memory_label.text()
        page.undo_stack.undo()
        await until(lambda: qualification.verdict == poor)
        assert not page.card.trust_check.isChecked()
        assert not page.card.trust_check.isHidden()


async def test_a_model_that_passed_needs_no_switch(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        models, qualification = scene.services.models, scene.services.qualification
        page = await model_page(scene)
        await until(lambda: isinstance(models.state, ModelReady))
        qualification._known[key_of(models.state.model)] = verdict(0.9, may_write_facts=True, may_write_summaries=True)

        show_loaded(scene, page)

        assert page.card.trust_check.isHidden()


@pytest.mark.parametrize(
    ("facts", "summaries", "words"),
    [(True, True, "facts and summaries of"), (True, False, "Writes facts."), (False, True, "Writes summaries.")],
)
def test_each_verdict_has_its_own_words(facts: bool, summaries: bool, words: str):
    assert words in format_trust(verdict(0.9, may_write_facts=facts, may_write_summaries=summaries))


async def test_memories_are_found_with_the_embedding_model_that_is_chosen_here(tmp_path: Path):
    path = Paths.standard(tmp_path).models / bundled.EMBEDDER_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(bundled.embedding_model(), path)
    async with opened(tmp_path) as scene:
        services, page = scene.services, await model_page(scene)
        services.embedding.enabled = True  # a house with scripted models does without
        await until(lambda: any(one.model.path == path for one in page.rows.visible_rows))
        page.table.select_row(path)
        await until(
            lambda: (
                page.card.load_button.text() == "Use for memory search"
                and "re-indexes all memories" in page.card.memory_label.text()
            )
        )
        model = page.table.current_row.model

        QTest.mouseClick(page.card.load_button, Qt.MouseButton.LeftButton)
        await until(lambda: services.embedding.id == embedder_id_of(model))

        assert services.preferences.current.embedder_path == str(path)
        await until(lambda: "In use for memory search" in page.card.memory_label.text())
        assert not page.card.load_button.isEnabled()
        assert page.card.unload_button.isHidden()
        page.undo_stack.undo()
        await until(lambda: not services.preferences.current.embedder_path)


async def test_the_format_is_tried_with_one_click(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Good evening to you.")) as scene:
        models, page = scene.services.models, await model_page(scene)
        await until(lambda: isinstance(models.state, ModelReady))
        show_loaded(scene, page)
        await until(lambda: page.card.format_label.text().startswith("Prompt format: "))
        assert page.card.test_button.isHidden()
        page.advanced_chip.click()
        await until(lambda: "models" in scene.services.preferences.current.advanced_pages)  # the list is filled anew
        show_loaded(scene, page)
        await until(lambda: page.card.format_label.text().startswith("Prompt format: "))

        QTest.mouseClick(page.card.test_button, Qt.MouseButton.LeftButton)
        await until(lambda: "Good evening to you." in page.card.format_label.text())

        assert "The model replied and stopped correctly" in page.card.format_label.text()
