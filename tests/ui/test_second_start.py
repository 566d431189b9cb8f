"""The second start: the last conversation is there while the model still loads, and the window is where it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.services.events import Ready
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("wardrobe")


async def test_what_is_sent_while_the_model_still_loads_waits_for_it(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Here I am."), ready=False) as scene:
        models = scene.house.models
        await models._one_at_a_time.acquire()  # a model that takes its time
        await until(lambda: scene.words and scene.words[0])
        assert not isinstance(models.state, Ready)
        assert scene.draft.isEnabled()

        QTest.keyClicks(scene.draft, "Are you there?")
        QTest.keyClick(scene.draft, Qt.Key.Key_Return)
        await until(lambda: "Are you there?" in scene.words)
        assert "Here I am." not in scene.words
        models._one_at_a_time.release()

        await until(lambda: not scene.is_replying and scene.words[-1] == "Here I am.")


async def test_the_window_is_as_large_as_it_was(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.resize(770, 650)  # the screen of these tests is no larger than 800 × 800

    async with opened(tmp_path) as again:
        assert (again.window.width(), again.window.height()) == (770, 650)
