"""A message that asks for a reminder says so in a notification, whose Undo removes the reminder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lethe_app.services.events import ModelReady
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_the_reminder_of_a_message_can_be_undone(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("I will.")) as scene:
        reminders = scene.services.reminders
        await until(lambda: isinstance(scene.services.models.state, ModelReady))

        scene.controller.replies.send_message("Remind me to call my mum tomorrow.")
        await until(lambda: any(toast.text == "Reminder set: Tomorrow" for toast in scene.toasts))
        toast = next(toast for toast in scene.toasts if toast.text == "Reminder set: Tomorrow")
        persona_id = "mira"
        assert [memory.content for memory in await reminders.reminders_of(persona_id)] == ["Call my mum"]

        undo = next(button for button in toast.findChildren(QPushButton) if button.text() == "Undo")
        QTest.mouseClick(undo, Qt.MouseButton.LeftButton)
        await until(lambda: any(toast.text == "The reminder was removed" for toast in scene.toasts))
        assert await reminders.reminders_of(persona_id) == []
