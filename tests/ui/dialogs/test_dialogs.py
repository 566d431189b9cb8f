"""The small dialogs."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget
from shiboken6 import isValid

from lethe_app.ui.core.actions import ACTION_SPECS
from lethe_app.ui.core.tasks import CONFIRMED_TASKS, TaskRunner
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.pages.notebooks.page import NotebookTitleDialog
from tests.ui.window_scene import process_events, until


def test_the_list_of_shortcuts_fits_a_small_screen_and_is_scrolled_in_one_direction(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = ShortcutsDialog(place)
    dialog.show()
    dialog.grab()

    (area,) = dialog.findChildren(QScrollArea)
    assert area.horizontalScrollBar().maximum() == 0
    for label in area.findChildren(QLabel):
        area.ensureWidgetVisible(label)
        assert label.height() >= label.sizeHint().height()
        assert label.width() >= label.sizeHint().width()
        assert not label.visibleRegion().isEmpty()
    assert dialog.height() <= 800
    assert dialog.width() <= 800


def test_every_action_has_its_place_in_the_list_of_shortcuts(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)

    assert sorted(ShortcutsDialog(place).shown_names) == sorted(spec.name for spec in ACTION_SPECS)


def test_shortcuts_are_found_by_usual_words(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = ShortcutsDialog(place)
    dialog.show()

    QTest.keyClicks(dialog.search, "lorebook")
    assert dialog.shown_names == ["import_files", "worlds"]
    dialog.search.setText("xylophone")
    assert dialog.shown_names == []
    assert dialog.no_match.isVisible()
    dialog.search.clear()
    assert len(dialog.shown_names) == len(ACTION_SPECS)


async def test_what_was_entered_can_be_read_until_the_task_that_asked_ends(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = NotebookTitleDialog(place, "Rename notebook", "Rename", "Garden")
    proceed = asyncio.Event()

    async def ask() -> str:
        await run_dialog(dialog)
        await proceed.wait()  # as for storage
        return dialog.entered_text

    asking = asyncio.create_task(ask())
    await until(dialog.isVisible)
    QTest.keyClicks(dialog.field, "Allotment")
    dialog.accept()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    process_events()
    proceed.set()

    assert await asking == "Allotment"
    await until(lambda: not isValid(dialog))


async def test_what_was_confirmed_is_done_though_the_next_question_is_asked_meanwhile(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    tasks, deleted = TaskRunner(lambda _error: None), []

    async def delete(name: str) -> None:
        dialog = ConfirmDialog(place, "Delete?", "It will be gone.", f"Delete {name}")
        QTimer.singleShot(0, dialog.accept)
        if await run_dialog(dialog):
            await asyncio.sleep(0.05)  # the reply in it is stopped
            deleted.append(name)

    first = tasks.start_task(delete("one"), key="delete")
    while first not in CONFIRMED_TASKS:
        await asyncio.sleep(0.01)
        QApplication.processEvents()
    tasks.start_task(delete("other"), key="delete")
    await until(lambda: len(deleted) == 2)

    assert deleted == ["one", "other"]


def test_a_button_shows_an_ampersand_of_a_name(qtbot, theme):
    place = QWidget()
    qtbot.addWidget(place)
    dialog = ConfirmDialog(place, "Delete?", "It will be gone.", "Delete “Pier & co”")

    assert dialog.primary.text() == "Delete “Pier && co”"
    assert dialog.primary.shortcut().isEmpty()
