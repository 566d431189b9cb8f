"""Models are shown with whether they fit, loaded and unloaded, given choices of their own, and fetched when asked for."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSpinBox

from lethe_app.agents.task import TaskRequirement
from lethe_app.config.options import ModelChoices
from lethe_app.domain.agent_runs import PlannedTask
from lethe_app.domain.model import ModelFile, RemoteModel
from lethe_app.llm.models import bundled
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady, NoModel
from lethe_app.services.extraction.qualification import QualificationResult, key_of
from lethe_app.services.indexing.embedder import embedder_id_of
from lethe_app.services.models.recommendation import DownloadAssessment, FitLevel
from lethe_app.ui.core.labels.models import format_trust
from lethe_app.ui.pages.activity.labels import format_due
from lethe_app.ui.pages.models.card import ModelEntry
from lethe_app.ui.pages.models.downloads import DownloadOffer
from lethe_app.ui.pages.models.labels import format_prompt_format, format_qualification
from lethe_app.ui.pages.models.page import ModelPage
from lethe_app.ui.widgets.form import Form
from tests.llm.gguf_factory import chat_settings, write_model
from tests.llm.hub_server import HubServer, serving
from tests.speech.recognition.tiny_whisper import write_tiny_whisper
from tests.ui.form_fields import field_of
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app", "starter_model")
HM = ModelChoices(thinking_start="<hm>\n", thinking_end="</hm>")
TINY = RemoteModel(name="Tiny", repository="somebody/tiny-GGUF", file="tiny.gguf", size=3_000_000, why="For tests.")


async def model_page(scene: Scene) -> ModelPage:
    scene.window.window_actions["model_manager"].trigger()
    page = scene.page
    assert isinstance(page, ModelPage)
    await until(lambda: page.rows.visible_rows and page.table.current_row and page.findChildren(DownloadOffer))
    await until(lambda: any(row.speed for row in page.rows.visible_rows))  # fills the list anew
    await until(lambda: page.card.findChildren(Form) or page.table.current_row.model.is_embedding)
    return page


def cell(page: ModelPage, entry: ModelEntry, title: str) -> object:
    column = next(number for number, column in enumerate(page.rows.columns) if column.title == title)
    return page.rows.data(page.rows.index(page.rows.visible_rows.index(entry), column))


async def test_every_model_is_there_with_what_it_would_take(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await model_page(scene)

        starter = next(one for one in page.rows.visible_rows if one.model.name.startswith("SmolLM2"))

        assert starter.fit.needed > starter.model.size
        assert cell(page, starter, "Memory") == "fits"
        assert "Needs" in page.card.fit_label.text()


async def test_choices_for_one_model_are_kept_used_and_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, preferences = await model_page(scene), scene.services.preferences
        file = page.table.current_row.model.path.name
        before = page.table.current_row.fit.cache
        context = field_of(page.card, "context")
        assert isinstance(context, QSpinBox)
        context.selectAll()
        QTest.keyClicks(context, "2048")
        QTest.keyClick(context, Qt.Key.Key_Return)
        await until(lambda: preferences.current.model_choices.get(file) == ModelChoices(context=2048))

        assert preferences.current.for_model(file).context == 2048
        assert page.table.current_row.fit.cache < before
        page.undo_stack.undo()
        await until(lambda: file not in preferences.current.model_choices)


@pytest.mark.parametrize("by_button", [True, False])
async def test_what_was_just_typed_is_loaded_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_button: bool):
    async with opened(tmp_path) as scene:
        page, preferences = await model_page(scene), scene.services.preferences
        contexts: list[int] = []

        async def load(path: Path) -> None:
            contexts.append(preferences.current.for_model(path.name).context)

        await until(page.card.load_button.isEnabled)
        monkeypatch.setattr(scene.services.models, "load", load)
        context = field_of(page.card, "context")
        assert isinstance(context, QSpinBox)
        context.selectAll()
        QTest.keyClicks(context, "2048")
        QTest.keyClick(context, Qt.Key.Key_Return)
        if by_button:
            page.card.load_button.click()
        else:
            QTest.keyClick(page.table, Qt.Key.Key_Return)

        await until(lambda: contexts)
        assert contexts == [2048]


async def test_marks_of_thinking_are_written_as_code_and_left_to_the_format_when_emptied(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, preferences = await model_page(scene), scene.services.preferences
        file = page.table.current_row.model.path.name
        page.advanced_chip.click()
        start, end = field_of(page.card, "thinking_start"), field_of(page.card, "thinking_end")
        QTest.keyClicks(start, "<hm>\\n")
        QTest.keyClicks(end, "</hm>")
        await until(lambda: preferences.current.model_choices.get(file) == HM)

        end.selectAll()
        QTest.keyClick(end, Qt.Key.Key_Delete)
        start.selectAll()
        QTest.keyClick(start, Qt.Key.Key_Delete)

        await until(lambda: file not in preferences.current.model_choices)


def metadata(page: ModelPage) -> set[str]:
    return {label.text() for label in page.card.findChildren(QLabel) if label.isVisible()}


async def test_what_few_people_need_is_behind_advanced_unless_it_was_changed(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await model_page(scene)
        assert field_of(page.card, "context").isVisible()
        assert not field_of(page.card, "gpu_layers").isVisible()
        assert "Architecture" not in metadata(page)
        assert "for the model" not in page.card.fit_label.text()

        page.advanced_chip.click()
        assert field_of(page.card, "gpu_layers").isVisible()
        assert "Architecture" in metadata(page)
        assert "for the model" in page.card.fit_label.text()
        await until(lambda: scene.services.preferences.current.advanced_pages == ["models"])

        file = page.table.current_row.model.path.name
        await scene.services.preferences.set(model_choices={file: ModelChoices(threads=2)}, advanced_pages=[])
        scene.controller.pages.navigator.close_all_pages()
        page = await model_page(scene)
        assert field_of(page.card, "threads").isVisible()
        assert not field_of(page.card, "gpu_layers").isVisible()


async def test_the_recommended_download_comes_first_and_looking_at_it_connects_to_nobody(tmp_path: Path):
    async with serving(HubServer()) as server, opened(tmp_path) as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        best = await scene.services.downloads.find_better([])
        page = await model_page(scene)

        offers = page.download_sheet.findChildren(DownloadOffer)

        assert best is not None
        assert min(offers, key=lambda one: one.y()).model == best.model
        assert offers[0].model == best.model
    assert server.asked == []


async def test_the_list_says_which_model_is_in_use(loaded: tuple[Scene, ModelPage]):
    scene, page = loaded
    models = scene.services.models
    starter = next(one for one in page.rows.visible_rows if one.model.name.startswith("SmolLM2"))
    assert cell(page, starter, "Model") == starter.model.name

    models.state = ModelReady(replace(models.state.model, file=starter.model))
    models.changed.notify(models.state)

    assert f"✓ {starter.model.name}" in [cell(page, one, "Model") for one in page.rows.visible_rows]


async def test_a_loaded_model_is_unloaded_from_its_card(loaded: tuple[Scene, ModelPage]):
    scene, page = loaded
    assert not page.card.unload_button.isHidden()

    QTest.mouseClick(page.card.unload_button, Qt.MouseButton.LeftButton)

    await until(lambda: isinstance(scene.services.models.state, NoModel))


async def test_a_download_shows_how_far_it_is_and_can_be_used_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def offered() -> list[RemoteModel]:
        return [TINY]

    write_model(tmp_path / "made.gguf", settings=chat_settings())
    content = (tmp_path / "made.gguf").read_bytes()
    async with serving(HubServer(content=content, etag="")) as server, opened(tmp_path / "home") as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        monkeypatch.setattr(scene.services.downloads, "list_offers", offered)
        page = await model_page(scene)
        (offer,) = page.download_sheet.findChildren(DownloadOffer)
        assert offer.action_button.text() == "Download"

        QTest.mouseClick(offer.action_button, Qt.MouseButton.LeftButton)
        await until(lambda: offer.action_button.text() == "Use model")

        await until(lambda: any(one.model.path.name == "tiny.gguf" for one in page.rows.visible_rows))
        page.tabs.setCurrentIndex(1)
        QTest.mouseClick(offer.action_button, Qt.MouseButton.LeftButton)
        assert page.tabs.currentIndex() == 0
        assert page.table.current_row.model.path.name == "tiny.gguf"


async def test_a_speech_recognition_model_is_downloaded_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    content = write_tiny_whisper(tmp_path / "made.bin").read_bytes()
    whisper = RemoteModel(
        name="Whisper", repository="somebody/whisper", file="ggml-tiny.bin", sha256=hashlib.sha256(content).hexdigest()
    )

    async def offered() -> list[DownloadAssessment]:
        return [DownloadAssessment(whisper, FitLevel.FITS, 0.0)]

    async with serving(HubServer(content=content, etag="")) as server, opened(tmp_path / "home") as scene:
        await scene.services.preferences.set(hub_mirror=server.url)
        monkeypatch.setattr(scene.services.downloads, "assess_speech_offers", offered)
        page = await model_page(scene)
        page.tabs.setCurrentIndex(2)
        await until(lambda: page.speech_sheet.model_label.text().endswith("Download one below, or choose a file."))
        (offer,) = page.speech_sheet.findChildren(DownloadOffer)

        QTest.mouseClick(offer.action_button, Qt.MouseButton.LeftButton)
        await until(lambda: offer.action_button.text() == "Use model")
        await until(lambda: page.speech_sheet.model_label.text().startswith("In use: ggml-tiny.bin · many languages"))
        QTest.mouseClick(offer.action_button, Qt.MouseButton.LeftButton)

        path = scene.services.paths.models / "ggml-tiny.bin"
        await until(lambda: scene.services.preferences.current.dictation_model == str(path))
        assert not any(one.model.path == path for one in page.rows.visible_rows)


async def test_what_came_of_a_download_is_thrown_away_when_asked(tmp_path: Path):
    async with opened(tmp_path) as scene:
        model = (await scene.services.downloads.list_offers())[0]
        part = scene.services.paths.models / f"{model.file}.part"
        part.parent.mkdir(exist_ok=True)
        part.write_bytes(b"GGUF" * 1000)
        page = await model_page(scene)
        page.tabs.setCurrentIndex(1)
        offer = next(one for one in page.findChildren(DownloadOffer) if one.model == model)
        await until(offer.action_button.text)
        assert offer.action_button.text() == "Resume"

        QTest.mouseClick(offer.discard_button, Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert part.exists()
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await until(lambda: offer.action_button.text() == "Download")

        assert not part.exists()
        assert offer.discard_button.isHidden()


def verdict(facts: float, *, may_write_facts: bool, may_write_summaries: bool) -> QualificationResult:
    return QualificationResult(
        model="Echo",
        facts=facts,
        may_write_facts=may_write_facts,
        may_write_summaries=may_write_summaries,
        checked=datetime(2026, 5, 1, tzinfo=UTC),
        detail="1 of 3 facts were right.",
    )


async def show_loaded(scene: Scene, page: ModelPage) -> None:
    """Show the loaded model; it is a script, which is in no list of models by itself."""
    models = scene.services.models
    files = [models.state.model.file, *await models.list_all_models()]

    async def list_all_models() -> list[ModelFile]:
        return files

    models.list_all_models = list_all_models
    page.reload()
    await until(lambda: page.table.select_row(files[0].path))


@pytest.fixture
async def loaded(tmp_path: Path, echo_model: Callable[..., Path]) -> AsyncIterator[tuple[Scene, ModelPage]]:
    async with opened(tmp_path, echo_model("Good evening to you.")) as scene:
        page = await model_page(scene)
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        await show_loaded(scene, page)
        yield scene, page


def judge(scene: Scene, result: QualificationResult) -> None:
    qualification = scene.services.qualification
    qualification._known[key_of(scene.services.models.state.model)] = result
    qualification.changed.notify(result)


async def test_a_model_that_did_not_pass_is_trusted_by_a_click_and_no_longer_when_that_is_undone(
    loaded: tuple[Scene, ModelPage],
):
    scene, page = loaded
    card, qualification = page.card, scene.services.qualification
    assert "Not tested yet" in card.memory_label.text()
    poor = verdict(0.33, may_write_facts=False, may_write_summaries=False)
    judge(scene, poor)
    assert "built from your own words" in card.memory_label.text()
    assert "33 %" in card.memory_label.text()
    assert not card.trust_check.isHidden()
    assert not card.trust_check.isChecked()

    card.trust_check.click()
    await until(lambda: qualification.verdict != poor)
    trusted = {"may_write_facts": True, "may_write_summaries": True, "trusted_anyway": True}
    assert qualification.verdict == poor.model_copy(update=trusted)
    assert card.trust_check.isChecked()
    assert "Trusted by you" in card.memory_label.text()
    page.undo_stack.undo()
    await until(lambda: qualification.verdict == poor)
    assert not card.trust_check.isChecked()
    assert not card.trust_check.isHidden()

    judge(scene, verdict(0.9, may_write_facts=True, may_write_summaries=True))
    assert card.trust_check.isHidden()


@pytest.mark.parametrize(
    ("facts", "summaries", "words"),
    [(True, True, "facts and summaries of"), (True, False, "Writes facts."), (False, True, "Writes summaries.")],
)
def test_each_verdict_has_its_own_words(facts: bool, summaries: bool, words: str):
    assert words in format_trust(verdict(0.9, may_write_facts=facts, may_write_summaries=summaries))


def test_the_plan_of_tasks_speaks_of_the_same_test():
    waiting = PlannedTask("week", "Week", "", None, missing=TaskRequirement.MODEL)
    for words in (format_qualification(None), format_due(waiting, is_on=True)):
        assert "quality test" in words


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


async def test_the_format_is_tried_with_one_click(loaded: tuple[Scene, ModelPage]):
    scene, page = loaded
    await until(lambda: page.card.format_label.text().startswith("Prompt format: "))
    assert page.card.test_button.isHidden()
    page.advanced_chip.click()
    await until(lambda: "models" in scene.services.preferences.current.advanced_pages)
    await until(lambda: page.card.format_label.text().startswith("Prompt format: "))

    QTest.mouseClick(page.card.test_button, Qt.MouseButton.LeftButton)
    await until(lambda: "Good evening to you." in page.card.format_label.text())

    assert "The model replied and stopped correctly" in page.card.format_label.text()
    assert format_prompt_format("chosen: ChatML") == "Prompt format: ChatML, chosen by you."
