"""A small screen at twice the usual scale leaves a window of 640 × 400: no button of any page is cut off in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.web import Inquiry, InquiryState
from lethe_app.ui.core.routes import ACTION_ROUTES, MemoriesRoute
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.pages.facts.page import FactPage
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.personas.page import PersonaPage
from lethe_app.ui.pages.presets.page import PresetPage
from lethe_app.ui.pages.sessions.message_actions import InsertMessage
from lethe_app.ui.pages.worlds.page import WorldPage
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from tests.ui.window_scene import Scene, opened, settled, until

pytestmark = pytest.mark.usefixtures("styled_app")
ACTIONS = sorted({*ACTION_ROUTES, "persona_editor"})
"""Actions that open a page."""

SMALL = (640, 400)


async def page_of(scene: Scene, requested: str) -> Page:
    scene.window.resize(*SMALL)
    scene.window.window_actions[requested].trigger()
    await until(lambda: scene.page is not None)
    page = scene.page
    assert page is not None
    await settled(scene, page)
    return page


@pytest.mark.parametrize("requested", ACTIONS)
async def test_no_button_of_a_page_is_cut_off(tmp_path: Path, requested: str):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, requested)

        cut = [
            f"{button.text()}: {button.width()} of {button.minimumSizeHint().width()}"
            for button in page.findChildren(QPushButton)
            if button.isVisible() and button.text() and button.width() < button.minimumSizeHint().width()
        ]

        assert cut == []
        assert scene.window.width() == SMALL[0], "the page makes the window wider than the screen"


async def test_the_list_of_sections_gives_way_to_the_fields_of_a_persona(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, "persona_editor")
        assert isinstance(page, PersonaPage)

        assert page.sheet.sections.isHidden()
        scene.window.resize(1200, 700)
        await until(lambda: not page.sheet.sections.isHidden())


def test_the_list_of_shortcuts_is_never_larger_than_the_screen(theme: Theme):
    theme.apply_choice("dark", 22)
    window = QWidget()

    dialog = ShortcutsDialog(window)
    dialog.show()
    QApplication.processEvents()

    screen = dialog.screen().availableSize()
    assert dialog.width() <= screen.width()
    assert dialog.height() <= screen.height()
    close = dialog.findChild(QPushButton)
    assert dialog.rect().contains(close.geometry())


def test_a_field_that_grows_keeps_its_distance_from_the_buttons(theme: Theme):
    theme.apply_choice("dark", 15)
    window = QWidget()
    dialog = InsertMessage(
        window, "Mira", "The message is inserted above the selected one, with the date of the one before it."
    )
    dialog.show()
    QApplication.processEvents()

    dialog.field.setPlainText("Line.\n" * 10)
    for _ in range(5):
        QApplication.processEvents()

    bottom = dialog.field.mapTo(dialog, QPoint(0, dialog.field.height())).y()
    assert dialog.primary.y() - bottom >= dialog.column.spacing() - 1


async def test_in_a_narrow_window_what_a_preset_does_is_seen_by_turns_with_its_fields(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, "presets")
        assert isinstance(page, PresetPage)
        assert page.sampler_preview.isHidden()

        page.panes.toggle_button.setFocus()
        QTest.keyClick(page.panes.toggle_button, Qt.Key.Key_Space)
        assert page.sampler_preview.isVisible()
        assert not page.sheet.isVisible()
        page.tabs.setCurrentIndex(1)
        await until(lambda: page.prompt_view.isVisible() and page.prompt_view.toPlainText())

        QTest.keyClick(page.prompt_view, Qt.Key.Key_Escape)
        assert page.sheet.isVisible()
        assert not page.prompt_view.isVisible()
        assert scene.page is page

        scene.window.resize(1200, 700)
        await until(lambda: page.prompt_view.isVisible() and page.sheet.isVisible())
        assert page.panes.toggle_button.isHidden()


async def add_notebook(scene: Scene) -> None:
    await scene.services.mind.notebooks.create("mira", "Garden", [Conclusion("The well runs dry.", now().date())])


async def add_change(scene: Scene) -> None:
    for _ in range(2):
        unit = MemoryUnit(content="The ferry leaves at nine.", made_by="journal")
        await scene.services.memory.memorize("mira", unit, check=False)
    scene.services.background_runner.request_run("mira", "dream")
    await scene.services.background_runner.run_next_task()


async def add_inquiry(scene: Scene) -> None:
    report = {"state": InquiryState.DONE, "ended": now(), "report": "It is a herb."}
    await scene.services.research.restore(Inquiry(persona_id="mira", topic="Thyme", **report))


async def add_run(scene: Scene) -> None:
    run = TaskRun(persona_id="mira", task="deep_research", ended=now(), outcome=RunOutcome.MADE, tokens=900)
    await scene.services.core.task_runs.save_run(run)


@pytest.mark.parametrize(
    ("requested", "add"),
    [("notebooks", add_notebook), ("dreams", add_change), ("research", add_inquiry), ("background_activity", add_run)],
)
async def test_on_every_page_with_a_list_the_details_take_its_place_in_a_narrow_window(
    tmp_path: Path, echo_model: Callable[..., Path], requested: str, add: Callable[[Scene], Awaitable[None]]
):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        await add(scene)
        page: Any = await page_of(scene, requested)
        await until(lambda: page.rows.visible_rows and page.detail.currentIndex() > 0)
        assert page.table.isVisible()
        await until(lambda: page.table.width() == page.width())
        assert not page.detail.isVisible()

        place = page.table.visualRect(page.table.currentIndex()).center()
        QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        await until(page.detail.isVisible)
        assert page.detail.width() == page.width()
        assert not page.table.isVisible()
        panes = page.table.window().findChild(ListDetailPanes)
        QTest.mouseClick(panes.back_button, Qt.MouseButton.LeftButton)
        assert page.table.isVisible()
        assert page.table.hasFocus()

        scene.window.resize(1200, 700)
        await until(lambda: page.table.isVisible() and page.detail.isVisible())


async def test_in_a_narrow_window_a_list_is_seen_by_turns_with_the_details(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await page_of(scene, "facts")
        assert isinstance(page, FactPage)
        fact = ExtractedFact(fact="Tomas is allergic to shellfish.", made_by=MadeBy.USER)
        await scene.services.facts.learn("mira", [fact])
        await until(lambda: page.rows.visible_rows)
        page.table.select_row(page.rows.visible_rows[0].guid)
        assert page.table.isVisible()
        await until(lambda: page.table.width() == page.width())
        assert not page.detail.isVisible()

        page.table.setFocus()
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        assert page.detail.isVisible()
        await until(lambda: page.detail.width() == page.width())
        assert not page.search.isVisible()
        assert page.detail.field.hasFocus()
        QTest.keyClick(page.detail, Qt.Key.Key_Escape)
        assert page.table.hasFocus()
        assert page.search.isVisible()
        assert scene.page is page

        place = page.table.visualRect(page.table.currentIndex()).center()
        QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert page.detail.isVisible()
        scene.window.resize(1200, 700)
        await until(lambda: page.table.isVisible() and page.detail.isVisible())
        assert not page.panes.back_button.isVisible()


async def test_a_memory_that_is_asked_for_is_seen_in_a_narrow_window(tmp_path: Path):
    async with opened(tmp_path) as scene:
        memory = MemoryUnit(name="The bell", content="It hangs in the chapel.")
        await scene.services.memory.memorize("mira", memory)
        scene.window.resize(*SMALL)
        scene.controller.pages.navigator.open(MemoriesRoute("mira", memory.guid))

        await until(lambda: isinstance(scene.page, MemoryPage) and scene.page.detail.isVisible())


async def test_all_options_of_a_world_entry_fit_into_its_panel(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.resize(1280, 800)
        scene.window.window_actions["worlds"].trigger()
        page = scene.page
        assert isinstance(page, WorldPage)
        await until(lambda: page.rows.visible_rows)
        page.table.select_entry(page.rows.visible_rows[0].guid)
        await until(page.detail.isVisible)
        more = next(button for button in page.detail.findChildren(QPushButton) if button.text().startswith("More"))
        more.click()
        QApplication.processEvents()

        for column in page.detail.findChildren(CardColumn):
            assert column.column.minimumSize().width() <= column.viewport().width()
