"""The list of commands says so where there is nothing to choose from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.window_scene import opened

pytestmark = pytest.mark.usefixtures("wardrobe")


async def test_words_that_no_command_is_called_by_are_answered(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.host.palette
        palette.open()
        assert not palette.nothing.isVisible()

        QTest.keyClicks(palette.field, "zzz")
        assert palette.nothing.isVisible()

        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert palette.isVisible()

        palette.field.setText("memor")
        assert not palette.nothing.isVisible()
