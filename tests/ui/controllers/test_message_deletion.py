"""A message goes to the trash after a question, and comes back to where it was."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_a_deleted_message_comes_back_between_its_neighbours(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Hello.")
        before = scene.words

        scene.controller.view.delete_requested.emit(scene.controller.messages.outline(1).id)
        question = await scene.dialog()
        assert any("Trash" in label.text() for label in question.findChildren(QLabel))
        QTest.keyClick(question, Qt.Key.Key_Return)
        await until(lambda: scene.words == [before[0], "Yes."] and scene.toasts)

        scene.toasts[0].findChildren(QPushButton)[0].click()
        await until(lambda: scene.words == before)


async def test_esc_keeps_the_message(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Hello.")

        scene.controller.view.delete_requested.emit(scene.controller.messages.outline(1).id)
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Escape)
        await until(lambda: True)

        assert len(scene.words) == 3
        assert not scene.toasts


async def test_ctrl_z_in_the_empty_writing_field_takes_deletions_back_one_after_the_other(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Hello.")
        before = scene.words
        for row in (2, 1):
            scene.controller.view.delete_requested.emit(scene.controller.messages.outline(row).id)
            QTest.keyClick(await scene.dialog(), Qt.Key.Key_Return)
            await until(lambda row=row: scene.words == before[:row])
        scene.window.activateWindow()
        scene.draft.setFocus()
        await until(scene.draft.hasFocus)

        QTest.keyClick(scene.draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: scene.words == before[:2])
        QTest.keyClick(scene.draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: scene.words == before)

        QTest.keyClick(scene.draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        await until(lambda: scene.words == before[:2])
        QTest.keyClick(scene.draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: scene.words == before)
