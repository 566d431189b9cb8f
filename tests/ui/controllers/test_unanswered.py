"""Words without an answer: the line above the composer says so, and leads to one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
Script = Callable[..., Path]


async def stopped_at_once(scene: Scene, text: str) -> None:
    """Say something and end the reply while the prompt is still being read."""
    scene.send(text)
    await until(lambda: scene.window.chat.status.full_text.startswith("Mira is reading…"))
    QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
    await until(lambda: not scene.is_replying)


async def test_a_reply_stopped_before_its_first_word_is_told_and_can_be_had_after_all(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Good evening.", "Good evening.", reading_delay=2.0)) as scene:
        line = scene.controller.unanswered.line
        assert not line.isVisible()
        await stopped_at_once(scene, "Good evening?")
        await until(line.isVisible)

        assert scene.words[-1] == "Good evening?"
        assert line.text_label.text() == "Stopped before the reply began."
        assert line.retry_button.accessibleDescription() == line.text_label.text()

        QTest.mouseClick(line.retry_button, Qt.MouseButton.LeftButton)
        await until(lambda: scene.words[-1] == "Good evening." and not scene.is_replying)
        await until(lambda: not line.isVisible())
        assert scene.words.count("Good evening?") == 1


async def test_after_a_restart_it_still_says_that_there_is_no_answer(tmp_path, echo_model: Script):
    model = echo_model("Good evening.", reading_delay=2.0)
    async with opened(tmp_path, model) as scene:
        await stopped_at_once(scene, "Good evening?")
    async with opened(tmp_path, model) as scene:
        line = scene.controller.unanswered.line
        await until(line.isVisible)
        assert line.text_label.text() == "No reply yet."

        QTest.keyClick(line.retry_button, Qt.Key.Key_Space)
        await until(lambda: scene.words[-1] == "Good evening." and not scene.is_replying)
        await until(lambda: not line.isVisible())


async def test_it_belongs_to_its_own_conversation(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Good evening.", reading_delay=2.0)) as scene:
        line = scene.controller.unanswered.line
        await stopped_at_once(scene, "Good evening?")
        await until(line.isVisible)

        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund") and not line.isVisible())

        scene.controller.session_controller.choose_persona("mira")
        await until(lambda: scene.window.windowTitle().startswith("Mira") and line.isVisible())
        assert line.text_label.text() == "Stopped before the reply began."
