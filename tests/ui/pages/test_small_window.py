"""A small screen at twice the usual scale leaves a window of 640 × 400: no button of any page is cut off in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.routes import ACTION_ROUTES, MemoriesRoute
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.personas.page import PersonaPage
from lethe_app.ui.pages.presets.page import PresetPage
from lethe_app.ui.pages.sessions.dialogs import InsertMessage
from lethe_app.ui.pages.worlds.page import WorldPage
from lethe_app.ui.widgets.card_column import CardColumn
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
        page = scene.open_page("worlds", WorldPage)
        await until(lambda: page.rows.visible_rows)
        page.table.select_entry(page.rows.visible_rows[0].guid)
        await until(page.detail.isVisible)
        more = next(button for button in page.detail.findChildren(QPushButton) if button.text().startswith("More"))
        more.click()
        QApplication.processEvents()

        for column in page.detail.findChildren(CardColumn):
            assert column.column.minimumSize().width() <= column.viewport().width()
