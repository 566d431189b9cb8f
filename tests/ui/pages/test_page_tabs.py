"""Pages about memory are tabs of each other, and so are those about the background."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.ui.pages.page_tabs import PageTabs
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


def tabs_of(scene: Scene) -> PageTabs:
    assert scene.page is not None
    return scene.page.findChild(PageTabs)


def shown_tab(scene: Scene) -> str:
    tabs = tabs_of(scene)
    return tabs.tabText(tabs.currentIndex())


async def choose(scene: Scene, title: str) -> None:
    """Click on a tab and wait for its page."""
    tabs = tabs_of(scene)
    index = next(number for number in range(tabs.count()) if tabs.tabText(number) == title)
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(index).center())
    await until(lambda: tabs_of(scene) is not tabs and shown_tab(scene) == title)


async def test_every_tab_opens_its_page_and_esc_leads_back_to_the_conversation(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["memories"].trigger()
        titles = [tabs_of(scene).tabText(index) for index in range(tabs_of(scene).count())]
        assert titles == ["Memories", "Facts", "Conversations", "Notebooks", "Mind"]

        for title in titles:
            if title != shown_tab(scene):
                await choose(scene, title)

        assert scene.page is not None
        QTest.keyClick(scene.page, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)


async def test_pages_that_share_a_tab_are_its_sections(tmp_path: Path):
    async with opened(tmp_path) as scene:
        for action, tab, titles in (
            ("irrelevant_memories", "Memories", ["Overview", "Memories", "Irrelevant"]),
            ("documents", "Notebooks", ["Notebooks", "Documents"]),
            ("dreams", "Mind", ["Mind", "Dreams"]),
        ):
            scene.window.window_actions[action].trigger()
            await until(lambda tab=tab: scene.page is not None and shown_tab(scene) == tab)
            _tabs, sections = scene.page.findChildren(PageTabs)
            assert [sections.tabText(index) for index in range(sections.count())] == titles

        QTest.mouseClick(sections, Qt.MouseButton.LeftButton, pos=sections.tabRect(0).center())
        await until(lambda: scene.page is not None and scene.page.accessibleName() == "Mind")


async def test_the_chosen_persona_is_kept_from_tab_to_tab(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["memories"].trigger()
        assert scene.page is not None
        assert scene.page.persona_selector is not None
        await until(lambda: scene.page.persona_selector.count() > 1)
        selector = scene.page.persona_selector
        other = next(index for index in range(selector.count()) if index != selector.currentIndex())
        chosen = selector.itemData(other)
        selector.setCurrentIndex(other)

        await choose(scene, "Facts")

        assert scene.page.persona_selector is not None
        assert scene.page.persona_selector.persona_id == chosen


async def test_an_action_of_another_tab_replaces_the_page(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["memories"].trigger()
        scene.window.window_actions["facts"].trigger()
        await until(lambda: shown_tab(scene) == "Facts")

        QTest.keyClick(scene.page, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)


async def test_tabs_are_walked_through_by_arrow_keys(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["memories"].trigger()
        tabs_of(scene).setFocus()
        QTest.keyClick(tabs_of(scene), Qt.Key.Key_Right)
        await until(lambda: shown_tab(scene) == "Facts")
        await until(lambda: tabs_of(scene).hasFocus())

        QTest.keyClick(tabs_of(scene), Qt.Key.Key_Right)
        await until(lambda: shown_tab(scene) == "Conversations")


async def test_the_title_of_the_window_names_the_page(tmp_path: Path):
    async with opened(tmp_path) as scene:
        name = scene.window.windowTitle()
        scene.window.window_actions["settings"].trigger()
        assert scene.window.windowTitle() == "Settings — Lethe"

        QTest.keyClick(scene.page, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)

        assert scene.window.windowTitle() == name


async def test_sections_are_below_the_tabs_where_there_is_no_room_beside_them(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.resize(500, 480)
        scene.window.window_actions["documents"].trigger()
        tabs, sections = scene.page.findChildren(PageTabs)
        await until(lambda: sections.y() > tabs.geometry().bottom())
        assert all(bar.width() >= bar.sizeHint().width() for bar in (tabs, sections)), "none is cut"

        scene.window.resize(1000, 480)
        await until(lambda: sections.x() > tabs.geometry().right())


async def test_a_world_whose_documents_are_shown_is_no_persona_on_the_next_tab(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["documents"].trigger()
        assert scene.page is not None
        selector = scene.page.persona_selector
        await until(lambda: selector.findText("World: ", Qt.MatchFlag.MatchStartsWith) >= 0)
        selector.setCurrentIndex(selector.findText("World: ", Qt.MatchFlag.MatchStartsWith))

        await choose(scene, "Mind")

        personas = [persona.unique_name for persona in await scene.services.library.personas()]
        selector = scene.page.persona_selector
        await until(lambda: selector.count() > 1)
        assert selector.persona_id in personas
        assert all(selector.itemData(index) in personas for index in range(selector.count()))
