"""What is typed while the focus is on a button reaches the input field."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.ui.chat.composer_card import ComposerCard
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_letters_typed_on_a_button_are_the_beginning_of_a_message(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        button = scene.window.sidebar.gear_button
        button.setFocus()
        QTest.keyClicks(button, "H")
        QTest.keyClicks(QApplication.focusWidget() or scene.draft, "i there")

        assert scene.draft.toPlainText() == "Hi there"


async def test_a_shortcut_typed_on_a_button_writes_nothing(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        button = scene.window.sidebar.gear_button
        QTest.keyClick(button, Qt.Key.Key_X, Qt.KeyboardModifier.AltModifier)

        assert scene.draft.toPlainText() == ""


async def test_the_input_field_has_the_focus_again_when_a_card_goes(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        card = ComposerCard("Title", "Details")
        scene.window.chat.add_card(card)
        button = card.add_button("Not now", "filled", lambda: scene.window.chat.remove_card(card))
        scene.window.activateWindow()
        button.setFocus()
        await until(button.hasFocus)
        QTest.keyClick(button, Qt.Key.Key_Space)

        await until(scene.draft.hasFocus)
