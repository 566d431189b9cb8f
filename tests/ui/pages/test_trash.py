"""What was deleted is seen in the Trash, comes back from it, or goes for good when the user says so by name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.maintenance.backups import back_up, list_backups
from lethe_app.ui.core.formatting import format_bytes
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.trash.page import TrashPage, format_kind, format_time_left
from tests.ui.pages.test_sessions import add_conversation
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def trash_page(scene: Scene, count: int) -> TrashPage:
    page = scene.open_page("trash", TrashPage)
    await until(lambda: page.rows.row_total == count)
    return page


async def test_a_conversation_is_deleted_in_the_sidebar_and_restored_from_the_trash(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", "The hatch gave way.", "Jonas held it.")
        await scene.controller.sidebar.refresh_sessions("mira")
        scene.window.sidebar.command_chosen.emit("delete", str(session.guid))
        (await scene.dialog()).accept()
        await until(lambda: "The storm" not in scene.titles)

    async with opened(tmp_path) as scene:
        page = await trash_page(scene, 1)
        assert page.table.current_row.title == "The storm"
        assert "30 days" in page.hint.text()

        QTest.keyClick(page.table, Qt.Key.Key_Return)
        await until(lambda: page.rows.row_total == 0 and "The storm" in scene.titles)

        words = [message.content for message in await scene.services.sessions.page(session.guid, 0, 9)]
        assert words == ["The hatch gave way.", "Jonas held it."]


async def test_only_what_was_restored_from_the_trash_is_no_longer_offered_for_undo(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", "The hatch gave way.")
        await scene.controller.sidebar.refresh_sessions("mira")
        scene.window.notifier.notify_undoable("“The calm” was deleted.", lambda: None)
        scene.window.sidebar.command_chosen.emit("delete", str(session.guid))
        (await scene.dialog()).accept()
        await until(lambda: any("“The storm” was deleted" in toast.text for toast in scene.toasts))
        page = await trash_page(scene, 1)

        page.button("Restore").click()
        await until(lambda: any("was restored" in toast.text for toast in scene.toasts))

        assert [toast.text for toast in scene.toasts if "was deleted" in toast.text] == ["“The calm” was deleted."]


async def test_what_goes_for_good_is_asked_for_by_name(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", "One.")
        await scene.services.sessions.delete(session.guid)
        page = await trash_page(scene, 1)

        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        assert dialog.primary.text() == "Delete “The storm” permanently"
        dialog.reject()
        await until(lambda: not dialog.isVisible())
        assert len(await scene.services.trash.list_items()) == 1
        page.button("Delete permanently…").click()
        (await scene.dialog()).accept()

        await until(lambda: page.rows.row_total == 0)
        assert not page.button("Empty Trash…").isVisible()


async def test_emptying_takes_everything_and_says_how_much(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await scene.services.sessions.delete((await add_conversation(scene, "The storm", "One.")).guid)
        kept = await scene.services.memory.memorize("mira", MemoryUnit(name="The lamp", content="Dark."), check=False)
        await scene.services.memory.forget_memory(kept.guid)
        page = await trash_page(scene, 2)

        chip = next(each for each in page.findChildren(QPushButton) if each.text() == format_kind(TrashKind.MEMORY))
        chip.click()
        assert [item.title for item in page.rows.visible_rows] == ["The lamp"]
        page.button("Empty Trash…").click()
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        assert dialog.primary.text() == "Empty Trash (2 items)"
        dialog.accept()

        await until(lambda: page.rows.row_total == 0)


@pytest.mark.parametrize("with_backups", [True, False])
async def test_backups_are_offered_for_deletion_with_what_they_contain(tmp_path: Path, with_backups: bool):
    async with opened(tmp_path) as scene:
        await scene.services.sessions.delete((await add_conversation(scene, "The storm", "One.")).guid)
        await back_up(scene.services.paths.home)
        page = await trash_page(scene, 1)

        page.button("Empty Trash…").click()
        dialog = await scene.dialog()
        (box,) = dialog.findChildren(QCheckBox)
        assert (box.text(), box.isChecked()) == ("Also delete 1 backup, which may still contain it", False)
        box.setChecked(with_backups)
        dialog.accept()

        await until(lambda: page.rows.row_total == 0)
        assert len(list_backups(scene.services.paths.home)) == (0 if with_backups else 1)


async def test_what_is_erased_is_no_longer_offered_to_be_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await scene.services.sessions.delete((await add_conversation(scene, "The storm", "One.")).guid)
        undone = list[str]()
        scene.window.notifier.notify_undoable("“The storm” was deleted.", lambda: undone.append("storm"))
        page = await trash_page(scene, 1)
        page.button("Empty Trash…").click()
        (await scene.dialog()).accept()
        await until(lambda: page.rows.row_total == 0)
        await until(lambda: not scene.window.notifier.undo_last())
        assert undone == []


async def test_a_restored_message_is_back_in_the_open_conversation(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", "One.", "Two.", "Three.")
        await scene.controller.session_controller.go_to_session(session.guid)
        await until(lambda: scene.words == ["One.", "Two.", "Three."])
        middle = scene.controller.messages.outline(1).id
        await scene.controller.replies.delete_message(session.guid, middle)
        await until(lambda: scene.controller.messages.rowCount() == 2)
        page = await trash_page(scene, 1)

        page.button("Restore").click()

        await until(lambda: scene.words == ["One.", "Two.", "Three."])


def test_days_and_sizes_are_said_as_a_person_would(qapp):
    present = now()
    item = Trashed(TrashKind.WORLD, "x", "The Petrel", present - timedelta(days=29, hours=1), 312)

    assert format_time_left(item, 30, present) == "in 1 day"
    assert format_time_left(item, 29, present) == "today"
    assert format_time_left(item, 0, present) == ""
    assert (format_bytes(1), format_bytes(312), format_bytes(4200)) == ("1 byte", "312 bytes", "4 kB")


async def test_the_item_of_the_preview_can_be_restored_without_a_selection(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", "*waves* Hello there.")
        await scene.services.sessions.delete(session.guid)
        page = await trash_page(scene, 1)
        await until(lambda: "waves Hello there." in page.text_label.text())
        assert "*" not in page.text_label.text()
        assert page.title_label.text() == "The storm"
        assert "Conversation" in page.origin_label.text()

        page.table.clearSelection()

        assert page.button("Restore").isEnabled()
        page.button("Restore").click()
        await until(lambda: page.rows.row_total == 0)
        assert not page.text_label.isVisible()
        assert (await scene.services.sessions.open(session.guid)).guid == session.guid
