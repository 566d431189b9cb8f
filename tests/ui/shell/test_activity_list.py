"""The list of what is at work tells how far it has come and lets it be paused; the desktop calls the user back."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.domain.model import Usage
from lethe_app.services.events import ModelLoading, ModelState, NoModel, ReplyFinished
from lethe_app.services.models.service import ModelService
from lethe_app.services.sessions.archive_queue import ArchiveProgress, ArchiveQueue
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.activity_list import ActivityButton, ActivityItem
from tests.ui.activity_rows import activity_row, activity_rows
from tests.ui.chat_scene import message
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


def report(archive_queue: ArchiveQueue, progress: ArchiveProgress) -> None:
    """What the queue says when a conversation is on its way."""
    archive_queue.progress = progress
    archive_queue.changed.notify(progress)


def enter_state(models: ModelService, state: ModelState) -> None:
    """What the service says when a model comes or goes."""
    models.state = state
    models.changed.notify(state)


def test_nothing_at_work_shows_nothing(theme: Theme):
    button = ActivityButton(theme)

    button.show_activities([])

    assert button.isHidden()


def test_a_long_title_is_cut_at_its_end_and_whole_in_the_tooltip(theme: Theme):
    button, title = ActivityButton(theme), "Archiving “A very long evening on the Petrel, and what came after it”"
    button.resize(200, 30)

    button.show_activities([ActivityItem("archive", title)])

    assert button.text().startswith("Archiving “A very")
    assert button.text().endswith("…")
    assert button.toolTip() == title


def test_each_thing_has_a_row_with_a_button_that_acts(theme: Theme):
    button, stopped = ActivityButton(theme), []
    reading = ActivityItem("read", "Indexing memories", "40 remaining", 0.5, "Pause", lambda: stopped.append("read"))
    button.resize(300, 30)
    button.show_activities([reading, ActivityItem("load", "Loading a model")])

    row = activity_row(button, "Indexing memories")
    QTest.mouseClick(row.button, Qt.MouseButton.LeftButton)

    assert button.text() == "2 tasks running"
    assert (row.progress_bar.value(), row.detail.text(), stopped) == (500, "40 remaining", ["read"])
    assert activity_row(button, "Loading a model").button.isHidden()
    button.show_activities([reading])
    assert [row.title.text() for row in activity_rows(button)] == ["Indexing memories"]
    assert button.text() == "Indexing memories"


async def test_remembering_can_be_paused_and_goes_on(tmp_path: Path):
    async with opened(tmp_path) as scene:
        archive_queue, button = scene.services.archive_queue, scene.window.sidebar.activity_button
        archive_queue.background.start()
        report(archive_queue, ArchiveProgress(uuid4(), "First night", None, 1, 4))

        QTest.mouseClick(activity_row(button, "Archiving “First night”").button, Qt.MouseButton.LeftButton)
        await until(lambda: archive_queue.background.is_paused and button.text() == "Paused")
        QTest.mouseClick(activity_row(button, "Archiving conversations").button, Qt.MouseButton.LeftButton)

        assert not archive_queue.background.is_paused


async def test_a_reply_calls_the_user_back_without_words_unless_they_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with opened(tmp_path) as scene:
        notifications, reported = scene.controller.desktop_notifications, []
        monkeypatch.setattr(notifications.tray, "showMessage", lambda title, words, *_rest: reported.append((title, words)))
        scene.window.hide()
        reply = ReplyFinished(message("The tide turns."), Usage())

        notifications.notify_reply(reply)
        await scene.services.preferences.set(notify_with_words=True)
        notifications.notify_reply(reply)
        await scene.services.preferences.set(notify=False)
        notifications.notify_reply(reply)

        assert reported == [("Mira replied", ""), ("Mira replied", "The tide turns.")]


async def test_a_conversation_that_is_remembered_is_told_on_the_desktop_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with opened(tmp_path) as scene:
        archive_queue, reported = scene.services.archive_queue, []
        monkeypatch.setattr(
            scene.controller.desktop_notifications.tray,
            "showMessage",
            lambda title, words, *_rest: reported.append((title, words)),
        )
        scene.window.hide()

        for part in range(3):
            report(archive_queue, ArchiveProgress(uuid4(), "First night", None, part, 3))
        report(archive_queue, ArchiveProgress(None, "", None, 3, 3))

        assert reported == [("Conversation archived", "")]


async def test_a_model_that_is_being_loaded_can_be_stopped_from_the_list(tmp_path: Path):
    async with opened(tmp_path) as scene:
        models, button = scene.services.models, scene.window.sidebar.activity_button
        enter_state(models, ModelLoading("A very large one", 0.25))
        row = activity_row(button, "Loading A very large one")

        assert (row.progress_bar.value(), row.button.text()) == (250, "Stop")
        QTest.mouseClick(row.button, Qt.MouseButton.LeftButton)  # nothing is on the way in truth, so nothing comes of it
        enter_state(models, NoModel())
        assert "Loading A very large one" not in [one.title.text() for one in activity_rows(button)]
