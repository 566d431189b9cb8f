"""Whoever has clicked somewhere in the conversation and writes finds the words in the draft."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_letters_typed_at_the_messages_go_to_the_draft_with_the_focus(tmp_path):
    async with opened(tmp_path) as scene:
        scene.controller.view.setFocus()
        await until(scene.controller.view.hasFocus)

        QTest.keyClick(scene.controller.view, "A")
        await until(scene.draft.hasFocus)
        QTest.keyClicks(scene.draft, "nd you?")

        assert scene.draft.toPlainText() == "And you?"


async def test_what_is_pasted_there_goes_to_the_draft(tmp_path):
    async with opened(tmp_path) as scene:
        QApplication.clipboard().setText("two\r\nlines")
        scene.controller.view.setFocus()

        QTest.keyClick(scene.controller.view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)

        assert scene.draft.toPlainText() == "two\nlines"


@pytest.mark.parametrize(
    ("key", "held"),
    [
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Tab, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_J, Qt.KeyboardModifier.AltModifier),
    ],
)
async def test_keys_that_mean_something_else_write_nothing(tmp_path, key, held):
    async with opened(tmp_path) as scene:
        scene.controller.view.setFocus()

        QTest.keyClick(scene.controller.view, key, held)

        assert scene.draft.toPlainText() == ""


async def test_plus_praises_the_message_that_has_the_focus_and_is_a_letter_elsewhere(tmp_path):
    async with opened(tmp_path) as scene:
        view = scene.controller.view
        view.setFocus()
        view.focus_row(0)
        QTest.keyClick(view, "+")
        assert scene.draft.toPlainText() == ""

        view.clear_focused_row()
        QTest.keyClick(view, "+")
        assert scene.draft.toPlainText() == "+"
