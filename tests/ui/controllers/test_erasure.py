"""Conversations and memories are erased by command: of one persona, or of all."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.ui.controllers.erasure import ErasureDialog
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_a_persona_begins_anew(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        sessions = scene.services.sessions
        first = scene.session
        assert first is not None
        QTest.keyClicks(scene.draft, "I am Tomas, and I keep bees.")
        QTest.keyClick(scene.draft, Qt.Key.Key_Return)
        await until(lambda: not scene.is_replying and len(scene.words) == 3)

        scene.window.window_actions["erase_history"].trigger()
        dialog = await scene.dialog()
        assert isinstance(dialog, ErasureDialog)
        assert (dialog.one_button.isChecked(), dialog.backup_box.isChecked()) == (True, True)
        dialog.accept()

        await until(lambda: [toast.text for toast in scene.toasts] == ["Conversations and memories were deleted."])
        await until(lambda: scene.session is not None and scene.session.guid != first.guid)
        assert [summary.guid for summary in await sessions.list(first.persona_id)] == [scene.session.guid]


async def test_esc_erases_nothing(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        before = scene.session
        scene.window.window_actions["erase_history"].trigger()
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Escape)
        await until(lambda: True)

        assert scene.session == before
        assert scene.toasts == []
