"""From wherever one is, Esc leads back by one step; what belongs to the conversation happens where it can be seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.ui.core.actions import ACTION_SPECS, RETURN_TO_SESSION, SESSION_ONLY
from lethe_app.ui.pages.presets.page import PresetPage
from lethe_app.ui.pages.settings.page import SettingsPage
from lethe_app.ui.shell.welcome import Welcome
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


def press(scene: Scene, key: Qt.Key, how: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Where the keyboard is, as the user would."""
    scene.window.activateWindow()
    QApplication.processEvents()
    QTest.keyClick(QApplication.focusWidget() or scene.window, key, how)
    QApplication.processEvents()


async def test_the_greeting_is_still_there_after_a_look_at_the_settings(tmp_path: Path):
    async with opened(tmp_path, welcomed=False) as scene:
        await until(lambda: isinstance(scene.window.pages.currentWidget(), Welcome))
        greeting = scene.window.pages.currentWidget()
        scene.window.window_actions["settings"].trigger()
        assert isinstance(scene.page, SettingsPage)

        press(scene, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)

        assert scene.window.pages.currentWidget() is greeting
        assert greeting.name_field.hasFocus()


async def test_at_the_greeting_no_key_reaches_the_conversation_that_is_not_there(tmp_path: Path):
    async with opened(tmp_path, welcomed=False) as scene:
        await until(lambda: isinstance(scene.window.pages.currentWidget(), Welcome))
        off = {name for name in RETURN_TO_SESSION | SESSION_ONLY if not scene.window.window_actions[name].isEnabled()}
        assert off == RETURN_TO_SESSION | SESSION_ONLY

        scene.window.pages.currentWidget().start_button.click()
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes and scene.words)

        assert all(
            scene.window.window_actions[name].isEnabled()
            for name in (RETURN_TO_SESSION | SESSION_ONLY) - {"stop", "choose_speaker"}
        )


async def test_a_page_that_was_opened_while_the_greeting_ended_stays(tmp_path: Path):
    async with opened(tmp_path, welcomed=False) as scene:
        await until(lambda: isinstance(scene.window.pages.currentWidget(), Welcome))
        scene.window.pages.currentWidget().start_button.click()
        scene.window.window_actions["settings"].trigger()
        await until(lambda: scene.words)
        page = scene.window.pages.currentWidget()
        assert isinstance(page, SettingsPage)
        assert page.isAncestorOf(QApplication.focusWidget())  # and what is typed does not go to the hidden field

        press(scene, Qt.Key.Key_Escape)
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes)


async def test_esc_on_a_page_leaves_the_page_and_not_the_reply(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.01)) as scene:
        await until(lambda: scene.window.chat.status.full_text.startswith("●"))
        scene.controller.replies.send_message("Hello")
        await until(lambda: len(scene.words) == 3 and len(scene.words[2]) > 20)
        scene.window.window_actions["settings"].trigger()

        press(scene, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)
        assert scene.is_replying

        press(scene, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)
        assert len(scene.words[2]) < 9000


async def test_on_a_page_no_reply_is_asked_for_unseen(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Once more.")) as scene:
        scene.window.window_actions["settings"].trigger()

        press(scene, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)

        assert not scene.is_replying
        assert isinstance(scene.page, SettingsPage)


async def test_a_new_conversation_is_begun_where_it_can_be_seen(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Hm.")) as scene:
        before = scene.session
        scene.controller.replies.send_message("Hello")  # one that is empty would be gone on with
        await until(lambda: not scene.is_replying and scene.words[-1] == "Hm.")
        scene.window.window_actions["settings"].trigger()

        press(scene, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: scene.session is not before)

        assert scene.page is None
        assert scene.window.pages.currentWidget() is scene.window.panes


async def test_a_page_that_lies_under_others_is_gone_back_to(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["settings"].trigger()
        settings = scene.page
        scene.window.window_actions["presets"].trigger()
        assert isinstance(scene.page, PresetPage)

        scene.window.window_actions["settings"].trigger()
        await until(lambda: scene.page is settings)

        press(scene, Qt.Key.Key_Escape)
        await until(lambda: scene.window.pages.currentWidget() is scene.window.panes)


async def test_back_on_a_page_the_keyboard_is_where_it_was(tmp_path: Path):
    async with opened(tmp_path) as scene:
        scene.window.window_actions["presets"].trigger()
        page = scene.page
        assert isinstance(page, PresetPage)
        page.tabs.setFocus()
        scene.window.window_actions["settings"].trigger()

        press(scene, Qt.Key.Key_Escape)
        await until(lambda: scene.page is page)

        assert page.tabs.hasFocus()


def test_every_action_that_needs_the_conversation_is_an_action():
    assert {requested.name for requested in ACTION_SPECS} >= RETURN_TO_SESSION | SESSION_ONLY
    assert not RETURN_TO_SESSION & SESSION_ONLY


@pytest.mark.parametrize("action", ["focus_chat", "next_pane"])
async def test_by_key_the_newest_message_shows_that_the_messages_have_the_focus(tmp_path: Path, action: str):
    async with opened(tmp_path) as scene:
        scene.window.activateWindow()
        scene.window.sidebar.focus_list()
        await until(scene.window.sidebar.session_list.hasFocus)

        scene.window.window_actions[action].trigger()

        await until(lambda: scene.controller.view.focused_row == scene.controller.messages.rowCount() - 1)
