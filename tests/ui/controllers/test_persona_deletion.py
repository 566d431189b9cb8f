"""A persona is deleted by command or from the sidebar, after a question, and comes back by undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lethe_app.domain.persona import Persona
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_a_persona_is_deleted_by_command_and_comes_back(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        library = scene.services.library
        nerys = await library.save_persona(Persona(name="Nerys", first_messages=["Hello."]))
        scene.controller.session_controller.choose_persona(nerys.unique_name)
        await until(lambda: scene.session is not None and scene.session.persona_id == nerys.unique_name)

        scene.window.window_actions["delete_persona"].trigger()
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Return)

        await until(lambda: scene.session is not None and scene.session.persona_id != nerys.unique_name)
        assert nerys.unique_name not in {one.unique_name for one in await library.personas()}
        await until(lambda: [toast.text for toast in scene.toasts] == ["Nerys was deleted."])
        scene.toasts[0].findChild(QPushButton).click()
        await until(lambda: scene.session is not None and scene.session.persona_id == nerys.unique_name)
        assert nerys.unique_name in {one.unique_name for one in await library.personas()}


async def test_a_persona_that_comes_with_lethe_stays_and_says_why(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.sidebar.command_chosen.emit("delete_persona", "edmund")

        await until(lambda: any("comes with Lethe and cannot be deleted" in toast.text for toast in scene.toasts))
        assert "edmund" in {one.unique_name for one in await scene.services.library.personas()}


async def test_ctrl_z_does_what_the_notification_offers(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        library = scene.services.library
        nerys = await library.save_persona(Persona(name="Nerys", first_messages=["Hello."]))
        scene.window.sidebar.command_chosen.emit("delete_persona", nerys.unique_name)
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Return)
        row = f"persona {nerys.unique_name}"
        await until(lambda: [toast.text for toast in scene.toasts] == ["Nerys was deleted."])
        await until(lambda: not scene.window.sidebar.model.index_of(row).isValid())

        scene.window.window_actions["undo"].trigger()  # what Ctrl+Z does

        await until(lambda: scene.window.sidebar.model.index_of(row).isValid())
        assert nerys.unique_name in {one.unique_name for one in await library.personas()}
