"""The second start: the last conversation is there while the model loads, the window is where it was, and there is only one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSize

from lethe_app import app
from lethe_app.errors import DatabaseLocked
from lethe_app.paths import Paths
from lethe_app.services.events import ModelReady
from lethe_app.ui.shell.main_window import MainWindow
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
ROOT = Path(__file__).parents[3]


async def test_what_is_sent_while_the_model_still_loads_waits_for_it(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Here I am."), ready=False) as scene:
        models = scene.services.models
        await models._lock.acquire()  # a model that takes its time
        await until(lambda: scene.words and scene.words[0])
        assert not isinstance(models.state, ModelReady)
        assert scene.draft.isEnabled()

        scene.send("Are you there?")
        await until(lambda: "Are you there?" in scene.words)
        assert "Here I am." not in scene.words
        models._lock.release()

        await until(lambda: not scene.is_replying and scene.words[-1] == "Here I am.")


async def test_the_window_is_as_large_as_it_was(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.resize(770, 650)  # the screen of these tests is no larger than 800 × 800

    async with opened(tmp_path) as again:
        assert (again.window.width(), again.window.height()) == (770, 650)


async def test_a_start_beside_an_open_window_brings_that_to_the_front_and_has_none_of_its_own(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.showMinimized()
        other = MainWindow(scene.services.paths)
        other.show()

        start = asyncio.ensure_future(app.WindowRunner(other, lambda: app.build_once(scene.services.paths)).run())
        await until(start.done)

        assert start.result() == 0
        assert not scene.window.isMinimized()
        assert not list(scene.services.paths.inbox.iterdir())


async def test_it_says_so_where_lethe_runs_without_a_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(app, "WINDOW_REQUEST_TIMEOUT_S", 0.1)
    services = await app.build(Paths.standard(tmp_path), engine="echo")
    try:
        with pytest.raises(DatabaseLocked, match="already running"):
            await app.build_once(services.paths)
        assert not list(services.paths.inbox.iterdir())
    finally:
        await services.close()


def test_the_first_window_fits_on_a_small_screen_with_its_title(tmp_path: Path, qtbot):
    window = MainWindow(Paths.standard(tmp_path))
    qtbot.addWidget(window)

    window.limit_size(QSize(1280, 800))
    assert window.height() <= 760
    assert window.width() > 1200

    window.close()
    again = MainWindow(Paths.standard(tmp_path))
    qtbot.addWidget(again)
    again.resize(700, 700)
    again.limit_size(QSize(600, 600))
    assert again.size() == QSize(700, 700)  # which is how the user left it


async def test_a_second_start_hands_over_without_a_window_of_its_own(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.showMinimized()
        command = [sys.executable, "-m", "lethe_app", "--home", str(scene.services.paths.home)]
        # With a platform that does not exist, Qt would abort the process as soon as it is asked for a window.
        environment = os.environ | {"QT_QPA_PLATFORM": "none"}
        second = await asyncio.create_subprocess_exec(*command, env=environment, cwd=ROOT)
        waiting = asyncio.ensure_future(second.wait())
        await until(waiting.done)

        assert waiting.result() == 0
        assert not scene.window.isMinimized()
