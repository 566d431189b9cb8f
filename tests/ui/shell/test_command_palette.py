"""The list of commands says so where there is nothing to choose from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.window_scene import opened

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_words_that_no_command_is_called_by_are_answered(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        assert not palette.empty_label.isVisible()

        QTest.keyClicks(palette.search_field, "zzz")
        assert palette.empty_label.isVisible()

        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)
        assert palette.isVisible()

        palette.search_field.setText("memor")
        assert not palette.empty_label.isVisible()
