"""The list of commands says so where there is nothing to choose from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.ui.pages.search.page import SearchPage
from lethe_app.ui.pages.settings.page import SettingsPage
from tests.ui.form_fields import field_of
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_words_that_no_command_is_called_by_are_answered(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        assert not palette.empty_label.isVisible()

        QTest.keyClicks(palette.search_field, "zzz")
        assert palette.empty_label.isVisible()

        palette.search_field.setText("memor")
        assert not palette.empty_label.isVisible()


async def test_a_setting_is_found_by_another_word_and_opened(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        QTest.keyClicks(palette.search_field, "dark mode")
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)

        page = scene.page
        assert isinstance(page, SettingsPage)
        await until(lambda: page.sections.currentItem() is not None)
        theme = field_of(page, "theme")
        await until(lambda: theme.isVisibleTo(page) and theme.hasFocus())


async def test_what_is_no_command_can_be_searched_for_in_everything(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        QTest.keyClicks(palette.search_field, "zzz lantern")
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)

        assert palette.isHidden()
        assert isinstance(scene.page, SearchPage)
        assert scene.page.search.text() == "zzz lantern"
