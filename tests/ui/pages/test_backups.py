"""The page of backups shows what is in each and what differs, and restores one after a question."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from lethe_app.app import build
from lethe_app.domain.bundle import BackupKind
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import back_up, read_backups, read_contents
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.backups.page import BackupsPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def page_of(scene: Scene, count: int) -> BackupsPage:
    page = scene.open_page("backups", BackupsPage)
    await until(lambda: page.rows.row_total == count and page.loader.is_loaded)
    return page


async def write(scene: Scene, text: str) -> None:
    """Store a message in a conversation of its own."""
    store = scene.services.session_store
    session = await store.add_session(ChatSession(persona_id="mira", name=text))
    await store.add_message(Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content=text)]))


def press(page: BackupsPage, title: str) -> None:
    page._detail_buttons[0].button(title).click()


async def test_a_backup_is_made_and_compared_with_what_was_written_since(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await write(scene, "Do you know me?")
        page = await page_of(scene, 0)

        page.button("Back up now").click()
        await until(lambda: page.rows.row_total == 1)
        before = page.text_label.text()
        await scene.controller.pages.navigator.leave_all_pages()
        await write(scene, "And now?")
        page = await page_of(scene, 1)
        await until(page.title_label.text)

        assert "Compared with now: Same numbers." in before
        text = page.text_label.text()
        assert "Compared with now: 1 conversation fewer, 1 message fewer." in text
        assert "It contains 2 conversations and 2 messages." in text
        assert "On request" in page.kind_label.text()
        assert "Do you know me?\nMira · " in page.conversations_label.text()


async def test_a_damaged_backup_is_listed_and_cannot_be_restored(tmp_path: Path):
    async with opened(tmp_path) as scene:
        (tmp_path / "backups").mkdir(parents=True)
        (tmp_path / "backups" / "lethe-20260501T120000000000Z.lethebackup").write_text("x")
        page = await page_of(scene, 1)
        await until(lambda: "is not a backup" in page.text_label.text())

        assert not page._detail_buttons[0].button("Restore…").isEnabled()


async def test_a_backup_is_made_elsewhere_and_one_is_deleted_after_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home, stick = tmp_path / "home", tmp_path / "stick"
    stick.mkdir()
    async with opened(home) as scene:
        await back_up(home)
        page = await page_of(scene, 1)
        await until(page.title_label.text)

        page.button("Back up to folder…").click()
        chooser = await scene.dialog()
        assert isinstance(chooser, QFileDialog)
        monkeypatch.setattr(chooser, "selectedFiles", lambda: [str(stick)])
        chooser.done(QFileDialog.DialogCode.Accepted)
        await until(lambda: scene.toasts)
        (file,) = stick.iterdir()
        assert "personas" in read_contents(file).counts

        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        question = await scene.dialog()
        assert isinstance(question, ConfirmDialog)
        question.accept()
        await until(lambda: page.rows.row_total == 0)
        assert list((home / "backups").iterdir()) == []


async def test_restoring_asks_closes_the_window_and_puts_the_backup_in_place(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await write(scene, "Do you know me?")
        scene.window.chat.composer.draft_field.setPlainText("What I wanted to say")
    async with opened(tmp_path) as scene:
        await back_up(tmp_path)
        await write(scene, "Never mind.")
        scene.window.chat.composer.draft_field.clear()
        page = await page_of(scene, 1)
        await until(page.title_label.text)
        press(page, "Restore…")
        question = await scene.dialog()
        question.reject()
        assert not scene.window.restarts
        await until(lambda: not question.isVisible())
        press(page, "Restore…")
        question = await scene.dialog()
        question.accept()
        await until(lambda: scene.window.restarts and not scene.window.isVisible())

    async with opened(tmp_path) as scene:
        await until(lambda: scene.toasts)
        notice, draft = scene.toasts[0], scene.window.chat.composer.draft_field.toPlainText()
        current = read_contents(tmp_path).counts
        replaced, restored = read_backups(tmp_path)
    assert replaced.backup.kind is BackupKind.REPLACED
    assert current["messages"] == restored.contents.counts["messages"] == replaced.contents.counts["messages"] - 1
    assert draft == "What I wanted to say"
    assert restored.backup.path.name in notice.text
    assert str(replaced.backup.path) in notice.detail
    services = await build(Paths.standard(tmp_path), engine="echo")
    await services.close()
    assert not services.notices


async def test_a_backup_from_elsewhere_is_chosen_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other, home = tmp_path / "other", tmp_path / "home"
    async with opened(other) as scene:
        await write(scene, "On the other computer.")
    await back_up(other, tmp_path / "all.lethebackup")
    shutil.rmtree(other)
    async with opened(home) as scene:
        page = await page_of(scene, 0)
        page.button("Restore from file…").click()
        chooser = await scene.dialog()
        monkeypatch.setattr(chooser, "selectedFiles", lambda: [str(tmp_path / "all.lethebackup")])
        chooser.done(QFileDialog.DialogCode.Accepted)
        await until(lambda: any(dialog.isVisible() for dialog in scene.window.findChildren(ConfirmDialog)))
        next(dialog for dialog in scene.window.findChildren(ConfirmDialog) if dialog.isVisible()).accept()
        await until(lambda: scene.window.restarts)

    services = await build(Paths.standard(home), engine="echo")
    said = [one.preview for one in await services.session_store.sessions()]
    await services.close()
    assert "On the other computer." in said
