"""Messages are edited, deleted and rated in the transcript, and each change is taken back by notification or key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from lethe_app.domain.agent_runs import ReplyRating
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
        assert scene.toasts[0].detail.startswith("Taken back: ")
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


def row_of_reply(scene: Scene) -> int:
    return scene.controller.messages.rowCount() - 1


def verdict(scene: Scene) -> ReplyRating | None:
    return scene.controller.messages.annotations_of(row_of_reply(scene)).rating


async def answer(scene: Scene) -> UUID:
    """A reply of Mira's to something said."""
    return scene.controller.messages.outline(await scene.say("Hello.")).id


def good_button(scene: Scene) -> QToolButton:
    """The thumb that says the reply with the focus was good."""
    buttons = scene.controller.view.action_buttons.findChildren(QToolButton)
    return next(button for button in buttons if button.accessibleName() == "Good reply")


async def test_a_click_says_it_was_good_and_a_second_one_takes_that_back(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        reply = await answer(scene)
        view = scene.controller.view
        view.setFocus()
        view.focus_row(row_of_reply(scene))
        button = good_button(scene)
        assert button.isVisible()

        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: verdict(scene) is ReplyRating.GOOD)
        assert button.isChecked()
        index = scene.controller.messages.index(row_of_reply(scene))
        assert "rated good" in index.data(Qt.ItemDataRole.AccessibleDescriptionRole)
        assert await scene.services.feedback.ratings_of([reply]) == {reply: {0: ReplyRating.GOOD}}

        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await until(lambda: verdict(scene) is None)
        assert not button.isChecked()
        assert await scene.services.feedback.ratings_of([reply]) == {}


async def test_a_key_does_it_too_and_it_is_there_again_tomorrow(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        await answer(scene)
        scene.controller.view.setFocus()
        scene.controller.view.focus_row(row_of_reply(scene))
        QTest.keyClicks(scene.controller.view, "-")
        await until(lambda: verdict(scene) is ReplyRating.BAD)

    async with opened(tmp_path / "home") as scene:
        await until(lambda: "Indeed." in scene.words)
        await until(lambda: verdict(scene) is ReplyRating.BAD)


async def test_what_the_user_said_has_no_thumbs(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        await answer(scene)
        mine = row_of_reply(scene) - 1
        scene.controller.view.setFocus()
        scene.controller.view.focus_row(mine)
        QTest.keyClicks(scene.controller.view, "+")

        assert not good_button(scene).isVisible()
        assert await scene.services.feedback.list_feedback("mira") == []
