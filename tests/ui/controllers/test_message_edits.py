"""A message that was edited can be had back as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
Script = Callable[..., Path]
CTRL = Qt.KeyboardModifier.ControlModifier


async def edit(scene: Scene, row: int, words: str) -> None:
    """As the user does it: open the editor over the message, write, and save."""
    view = scene.controller.view
    view.edit_message(scene.controller.messages.outline(row).id)
    field = view.editor.field
    field.setPlainText(words)
    QTest.keyClick(field, Qt.Key.Key_Return, CTRL)
    await until(lambda: scene.words[row] == words)


async def test_ctrl_z_takes_back_one_edit_after_the_other(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        before = scene.words[0]
        await edit(scene, 0, "Once.")
        await edit(scene, 0, "Twice.")

        QTest.keyClick(scene.controller.view, Qt.Key.Key_Z, CTRL)
        await until(lambda: scene.words[0] == "Once.")
        await until(lambda: [toast.text for toast in scene.toasts] == ["Undone"])
        QTest.keyClick(scene.controller.view, Qt.Key.Key_Z, CTRL)
        await until(lambda: scene.words[0] == before)

        QTest.keyClick(scene.controller.view, Qt.Key.Key_Z, CTRL)
        stored = await scene.services.sessions.page(scene.session.guid, 0, 9)
        assert [message.content for message in stored] == [before]


async def test_what_was_taken_back_is_done_again_until_something_else_is_edited(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        before = scene.words[0]
        await edit(scene, 0, "Once.")
        view = scene.controller.view

        QTest.keyClick(view, Qt.Key.Key_Z, CTRL)
        await until(lambda: scene.words[0] == before)
        QTest.keyClick(view, Qt.Key.Key_Z, CTRL | Qt.KeyboardModifier.ShiftModifier)
        await until(lambda: scene.words[0] == "Once.")
        await until(lambda: "Redone" in [toast.text for toast in scene.toasts])
        scene.window.window_actions["undo"].trigger()
        await until(lambda: scene.words[0] == before)
        await edit(scene, 0, "Something else.")
        scene.window.window_actions["redo"].trigger()
        await until(lambda: "There is nothing to redo in this conversation." in [toast.text for toast in scene.toasts])

        assert scene.words[0] == "Something else."


async def test_the_toast_takes_the_edit_back(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        before = scene.words[0]
        await edit(scene, 0, "Once.")
        (toast,) = scene.toasts
        assert toast.text == "Message edited"

        toast.findChild(QPushButton).click()

        await until(lambda: scene.words[0] == before)
        await until(lambda: [toast.text for toast in scene.toasts] == ["Undone"])


async def test_in_the_writing_field_ctrl_z_takes_back_what_was_typed_there(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await edit(scene, 0, "Once.")
        scene.draft.setFocus()
        QTest.keyClicks(scene.draft, "Hello")
        QTest.keyClick(scene.draft, Qt.Key.Key_Z, CTRL)

        assert scene.draft.toPlainText() == ""
        assert scene.words[0] == "Once."


async def test_ctrl_z_leaves_other_conversations_alone(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await edit(scene, 0, "Once.")
        session = scene.session.guid
        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund") and scene.words and scene.words[0])
        scene.controller.view.setFocus()
        QTest.keyClick(scene.controller.view, Qt.Key.Key_Z, CTRL)

        assert [message.content for message in await scene.services.sessions.page(session, 0, 9)] == ["Once."]


async def test_saving_the_same_words_is_no_edit(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await edit(scene, 0, scene.words[0])

        assert scene.toasts == []
