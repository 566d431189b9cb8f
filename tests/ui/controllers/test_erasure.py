"""Conversations and memories are erased by command: of one persona, or of all."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.ui.controllers.erasure import DayErasureDialog, ErasureDialog
from lethe_app.ui.pages.overview.page import OverviewPage
from tests.ui.other_reply import LONG
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_a_persona_begins_anew(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        sessions = scene.services.sessions
        first = scene.session
        await scene.say("I am Tomas, and I keep bees.")

        scene.window.window_actions["erase_history"].trigger()
        dialog = await scene.dialog()
        assert isinstance(dialog, ErasureDialog)
        assert (dialog.one_button.isChecked(), dialog.backup_box.isChecked()) == (True, True)
        dialog.accept()

        await until(lambda: [toast.text for toast in scene.toasts] == ["Conversations and memories were deleted."])
        await until(lambda: scene.session is not None and scene.session.guid != first.guid)
        assert [summary.guid for summary in await sessions.list(first.persona_id)] == [scene.session.guid]


async def test_a_reply_in_another_conversation_is_not_stored_afterwards(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model(LONG, delay=0.01)) as scene:
        scene.controller.replies.send_message("I am Tomas, and I keep bees.")
        await until(lambda: len(scene.words) == 3 and scene.words[2])
        written = scene.session.guid
        await scene.controller.session_controller.show_session(await scene.services.sessions.new("aiko"))

        scene.window.window_actions["erase_history"].trigger()
        dialog = await scene.dialog()
        assert isinstance(dialog, ErasureDialog)
        dialog.all_button.setChecked(True)
        dialog.accept()
        await until(lambda: [toast.text for toast in scene.toasts] == ["Conversations and memories were deleted."])

        assert not scene.is_replying
        with pytest.raises(LetheError):
            await scene.services.sessions.open(written)


async def test_esc_erases_nothing(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        before = scene.session
        scene.window.window_actions["erase_history"].trigger()
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Escape)
        await until(lambda: True)

        assert scene.session == before
        assert scene.toasts == []


async def test_a_day_is_deleted_from_the_timeline(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        first = scene.session
        await scene.say("I am Tomas, and I keep bees.")
        scene.window.window_actions["overview"].trigger()
        page = scene.page
        assert isinstance(page, OverviewPage)

        page.delete_day_button.click()
        dialog = await scene.dialog()
        assert isinstance(dialog, DayErasureDialog)
        assert (dialog.persona_id, dialog.day, dialog.backup_box.isChecked()) == ("mira", now().astimezone().date(), True)
        assert dialog.day_box.currentText().endswith("3 messages")
        dialog.accept()

        await until(lambda: [toast.text for toast in scene.toasts] == ["The day was deleted."])
        await until(lambda: scene.session is not None and scene.session.guid != first.guid)
        assert await scene.services.database.run(
            lambda connection: connection.execute(
                "SELECT count(*) FROM messages WHERE session_id = ?", (str(first.guid),)
            ).fetchone()
        ) == (0,)


async def test_without_messages_no_day_can_be_deleted(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.services.days.erase(now().astimezone().date())
        scene.window.window_actions["erase_day"].trigger()
        dialog = await scene.dialog()

        dialog.persona_box.setCurrentIndex(dialog.persona_box.findData("edmund"))

        assert (dialog.day, dialog.primary.isEnabled()) == (None, False)
        dialog.reject()
