"""An incognito conversation is marked, keeps no draft, and is gone when it is closed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtTest import QTest

from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.shell.sidebar_model import SessionRow
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
SECRET = "zanzibarite"


async def begin(scene: Scene) -> None:
    scene.window.window_actions["incognito"].trigger()
    await until(lambda: scene.session is not None and scene.session.is_incognito and len(scene.words) == 1 and scene.words[0])


def files_with(folder: Path, word: str) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes())


def row_of(scene: Scene) -> SessionRow | None:
    return scene.window.sidebar.model.find_session(str(scene.session.guid))


async def test_it_is_marked_in_the_sidebar_and_the_header(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        header = scene.window.chat.header
        assert header.incognito_label.isHidden()
        before = scene.session.guid

        await begin(scene)
        await until(lambda: row_of(scene) is not None)

        assert header.incognito_label.isVisible()
        assert (row_of(scene).title, row_of(scene).is_incognito) == ("Incognito conversation", True)
        scene.controller.session_controller.choose_session(str(before))
        await until(header.incognito_label.isHidden)


async def test_closed_it_leaves_nothing_in_the_home(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model(f"“I see, {SECRET}.”")) as scene:
        first = scene.session.guid
        await begin(scene)
        scene.send(f"I am allergic to {SECRET}.")
        await until(lambda: not scene.is_replying and len(scene.words) == 3)
        QTest.keyClicks(scene.draft, f"And not only to {SECRET}")
        scene.controller.drafts.save_drafts()
        await until(lambda: row_of(scene) is not None)

        scene.window.window_actions["delete"].trigger()
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        dialog.primary.click()

        await until(lambda: scene.session is not None and scene.session.guid == first)
        await until(lambda: [toast.text for toast in scene.toasts] == ["The incognito conversation is gone."])
    assert files_with(tmp_path, SECRET) == ["echo.json"]  # the script of the model


async def test_the_next_start_opens_another_conversation(tmp_path: Path, echo_model: Callable[..., Path]):
    model = echo_model("Yes.")
    async with opened(tmp_path / "home", model) as scene:
        first = scene.session.guid
        await begin(scene)
    async with opened(tmp_path / "home", model) as scene:
        assert scene.session.guid == first
