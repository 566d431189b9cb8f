"""Conversations are ended, exported and closed by menu and command; an incognito one leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.shell.sidebar_model import SessionRow
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


def menu_of(scene: Scene) -> dict[str, QAction]:
    """The entries of the menu of the conversation on display, by title."""
    sidebar = scene.window.sidebar
    menu = sidebar.build_menu(sidebar.model.index_of(f"session {scene.session.guid}"))
    return {action.text(): action for action in menu.actions()}


def is_listed(scene: Scene) -> bool:
    return scene.window.sidebar.model.find_session(str(scene.session.guid)) is not None


async def test_a_conversation_is_ended_from_its_menu_and_the_next_one_offered(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path, echo_model("Noted.", "Yes.")) as scene:
        await until(lambda: is_listed(scene))
        assert not menu_of(scene)["End now"].isEnabled()
        await scene.say("I am allergic to peanuts.")
        await until(lambda: menu_of(scene)["End now"].isEnabled() is True)

        guid = scene.session.guid
        menu_of(scene)["End now"].trigger()
        await until(lambda: any("has ended; what is worth remembering is kept" in toast.text for toast in scene.toasts))

        ended = await scene.services.sessions.open(guid)
        assert ended.archived
        assert ended.name != "I am allergic to peanuts."
        assert any(f"“{ended.name}”" in toast.text for toast in scene.toasts), "the title that it has got"
        assert scene.session.guid == guid
        await until(lambda: not menu_of(scene)["End now"].isEnabled())


async def test_ending_and_restoring_show_that_they_work(tmp_path: Path, echo_model: Callable[..., Path], monkeypatch):
    async with opened(tmp_path, echo_model("Noted.")) as scene:
        await scene.say("I am allergic to peanuts.")
        await until(lambda: is_listed(scene))
        guid, sessions, may_go_on = scene.session.guid, scene.services.sessions, asyncio.Event()

        async def wait(*_arguments: object, **_options: object) -> bool:
            await may_go_on.wait()
            return True

        monkeypatch.setattr(sessions._session_timeout, "archive", wait)
        scene.window.window_actions["end_session"].trigger()
        await until(lambda: scene.window.chat.status.full_text == "Ending the conversation…", 5)
        may_go_on.set()
        await until(lambda: scene.window.chat.status.full_text != "Ending the conversation…", 5)

        await sessions.delete(guid)
        await until(lambda: scene.window.sidebar.model.find_session(str(guid)) is None, 5)
        may_go_on.clear()
        monkeypatch.setattr(sessions._archive_queue, "renew", wait)
        restoring = asyncio.ensure_future(sessions.restore(guid))
        await until(lambda: scene.window.sidebar.model.find_session(str(guid)) is not None, 5)
        assert not restoring.done()
        may_go_on.set()
        await restoring


async def test_a_conversation_is_exported_from_its_menu(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Noted.")) as scene:
        await scene.say("I am allergic to peanuts.")
        await until(lambda: is_listed(scene))

        menu_of(scene)["Export…"].trigger()
        dialog = await scene.dialog()
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.accept()
        file = tmp_path / "I am allergic to peanuts.md"
        await until(lambda: any(file.name in toast.text for toast in scene.toasts))

        assert "I am allergic to peanuts." in file.read_text(encoding="utf-8")


async def test_an_incognito_conversation_is_closed_and_neither_renamed_nor_exported(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path, echo_model("Noted.")) as scene:
        scene.window.window_actions["incognito"].trigger()
        await until(lambda: scene.session.is_incognito and is_listed(scene))

        assert list(menu_of(scene)) == ["Open", "Close…"]

        actions = scene.window.window_actions
        actions["export_session"].trigger()
        await until(lambda: any("leaves nothing behind" in toast.text for toast in scene.toasts))
        guid = scene.session.guid
        actions["end_session"].trigger()
        (await scene.dialog()).accept()
        await until(lambda: scene.session.guid != guid)


async def test_a_conversation_is_ended_and_exported_by_command(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Noted.", "Yes.")) as scene:
        await scene.say("I am allergic to peanuts.")
        await until(lambda: is_listed(scene))

        scene.window.window_actions["export_session"].trigger()
        dialog = await scene.dialog()
        assert isinstance(dialog, QFileDialog)
        dialog.reject()
        scene.window.window_actions["end_session"].trigger()
        await until(lambda: any("has ended; what is worth remembering is kept" in toast.text for toast in scene.toasts))
        assert (await scene.services.sessions.open(scene.session.guid)).archived


async def test_a_command_on_a_conversation_says_that_it_needs_one(tmp_path: Path):
    async with opened(tmp_path, welcomed=False) as scene:
        scene.window.window_actions["persona_editor"].trigger()

        await until(lambda: [toast.text for toast in scene.toasts] == ["Open a conversation first."])


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
