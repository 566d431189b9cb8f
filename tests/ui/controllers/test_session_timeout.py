"""A conversation that silence has ended, as the window shows it: quietly, and it can be continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.domain.clock import use_clock
from lethe_app.ui.core.formatting import format_minutes
from lethe_app.ui.shell.sidebar_model import SessionRow
from tests.services.tasks import Clock
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
Script = Callable[..., Path]


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with use_clock(clock):
        yield clock


async def say(scene: Scene, text: str) -> None:
    before = len(scene.words)
    scene.send(text)
    await until(lambda: not scene.is_replying and len(scene.words) != before and scene.words[-1])


def ended_rows(scene: Scene) -> list[str]:
    model = scene.window.sidebar.model
    rows = (model.row_at(model.index(number)) for number in range(model.rowCount()))
    return [row.guid for row in rows if isinstance(row, SessionRow) and row.is_ended]


def is_shown(scene: Scene) -> bool:
    return scene.controller.session_end.ended_line.isVisible()


async def fall_silent(scene: Scene, clock: Clock) -> str:
    """Say something, be away for two hours, and return the conversation that ended."""
    await say(scene, "I am allergic to peanuts.")
    guid = str(scene.session.guid)
    clock.go_on(hours=2)
    await scene.services.session_timeout.archive_timed_out()
    await until(lambda: is_shown(scene) and ended_rows(scene))
    return guid


async def test_the_window_shows_the_end_and_the_draft_stays(tmp_path, echo_model: Script, clock: Clock):
    async with opened(tmp_path, echo_model("Noted.", "Good morning.")) as scene:
        await say(scene, "I am allergic to peanuts.")
        QTest.keyClicks(scene.draft, "And by the way")
        before, place = list(scene.words), scene.controller.view.row_layout.position
        clock.go_on(hours=2)
        await scene.services.session_timeout.archive_timed_out()
        await until(lambda: is_shown(scene) and ended_rows(scene))

        assert scene.controller.session_end.ended_line.text().startswith(
            "This conversation ended after 60 minutes of inactivity · "
        )
        assert scene.draft.toPlainText() == "And by the way"
        assert scene.words == before
        assert scene.controller.view.row_layout.position == place
        assert ended_rows(scene) == [str(scene.session.guid)]


async def test_the_next_message_begins_the_next_conversation_in_which_nothing_has_ended(
    tmp_path, echo_model: Script, clock: Clock
):
    async with opened(tmp_path, echo_model("Noted.", "Good morning.")) as scene:
        guid = await fall_silent(scene, clock)
        assert "new conversation" in scene.draft.placeholderText()

        await say(scene, "Good morning!")

        await until(lambda: not is_shown(scene) and not ended_rows(scene))
        assert str(scene.session.guid) != guid
        assert scene.words == ["Good morning!", "Good morning."]
        assert scene.draft.placeholderText().startswith("Write to")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
async def test_one_click_continues_it_and_the_next_message_stands_in_it(tmp_path, echo_model: Script, clock: Clock, by: str):
    async with opened(tmp_path, echo_model("Noted.", "Good morning.")) as scene:
        guid = await fall_silent(scene, clock)
        line = scene.controller.session_end.ended_line
        if by == "mouse":
            link = line.fontMetrics().horizontalAdvance("Continue") // 2
            words = line.fontMetrics().horizontalAdvance("This conversation ended after 60 minutes of inactivity · Continue")
            at = line.rect().center()
            at.setX(at.x() + words // 2 - link)
            at.setY(line.height() - line.fontMetrics().height() // 2)
            QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=at)
        else:
            line.setFocus(Qt.FocusReason.TabFocusReason)
            QTest.keyClick(line, Qt.Key.Key_Tab)
            QTest.keyClick(line, Qt.Key.Key_Return)
        await until(lambda: not is_shown(scene) and not ended_rows(scene))

        await say(scene, "Good morning!")
        assert str(scene.session.guid) == guid
        assert scene.words[-2:] == ["Good morning!", "Good morning."]


async def test_after_a_restart_the_evening_is_shown_as_ended(tmp_path, echo_model: Script, clock: Clock):
    model = echo_model("Noted.")
    async with opened(tmp_path, model) as scene:
        await say(scene, "I am allergic to peanuts.")
        assert not is_shown(scene)
    clock.go_on(days=2)
    async with opened(tmp_path, model) as scene:
        await until(lambda: is_shown(scene))


async def test_keys_in_the_conversation_keep_it_open_and_those_on_a_page_do_not(tmp_path, echo_model: Script, clock: Clock):
    async with opened(tmp_path, echo_model("Noted.")) as scene:
        await say(scene, "I am allergic to peanuts.")
        for _time in range(3):
            clock.go_on(minutes=40)
            QTest.keyClick(scene.window.windowHandle(), Qt.Key.Key_Shift)
        await scene.services.session_timeout.archive_timed_out()
        while_typing = (await scene.services.sessions.open(scene.session.guid)).archived

        scene.window.window_actions["settings"].trigger()
        await until(lambda: scene.page is not None)
        for _time in range(3):
            clock.go_on(minutes=40)
            QTest.keyClick(scene.window.windowHandle(), Qt.Key.Key_Shift)
        await scene.services.session_timeout.archive_timed_out()

        assert not while_typing
        assert (await scene.services.sessions.open(scene.session.guid)).archived


async def test_nobody_is_interrupted_while_they_edit_a_message(tmp_path, echo_model: Script, clock: Clock):
    async with opened(tmp_path, echo_model("Noted.")) as scene:
        await say(scene, "I am allergic to peanuts.")
        view = scene.controller.view
        view.edit_message(scene.controller.messages.outline(1).id)
        clock.go_on(hours=3)
        await scene.services.session_timeout.archive_timed_out()
        while_editing = (await scene.services.sessions.open(scene.session.guid)).archived
        QTest.keyClick(view.editor.field, Qt.Key.Key_Escape)
        clock.go_on(hours=3)
        await scene.services.session_timeout.archive_timed_out()

        assert not while_editing
        assert (await scene.services.sessions.open(scene.session.guid)).archived


async def test_a_reader_further_up_stays_where_they_are(tmp_path, echo_model: Script, clock: Clock):
    async with opened(tmp_path, echo_model("Noted. " * 900)) as scene:
        await say(scene, "I am allergic to peanuts.")
        view = scene.controller.view
        view.scroll_by(-view.viewport().height())
        shown = list(view.visible_rows)
        clock.go_on(hours=2)
        await scene.services.session_timeout.archive_timed_out()
        await until(lambda: ended_rows(scene) and view.footer is not None)

        assert view.visible_rows == shown
        view.go_to_end()
        line = scene.controller.session_end.ended_line
        assert line.geometry().top() >= view.visible_rows[-1].top + view.visible_rows[-1].height
        assert line.geometry().bottom() < view.viewport().height()


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (60, "60 minutes"), (90, "90 minutes"), (120, "2 hours"), (1440, "24 hours"), (2880, "2 days")],
)
def test_silence_is_told_in_the_unit_in_which_it_was_set(minutes: int, words: str):
    assert format_minutes(minutes) == words
