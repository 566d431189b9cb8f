"""Thumbs: given with the mouse or a key, seen and heard, there again when the conversation is opened anew, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from lethe_app.domain.agent_runs import ReplyRating
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


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
