"""Above the messages stands what the persona still has in mind, and below them that the conversation has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.domain.clock import use_clock
from lethe_app.ui.controllers.conversation.session_lines import INCLUDE, LEAVE_OUT, SETTING
from lethe_app.ui.core.formatting import format_minutes
from lethe_app.ui.pages.settings.page import SettingsPage
from lethe_app.ui.shell.sidebar_model import SessionRow
from lethe_app.ui.transcript.painting.link_line import LinkLine
from tests.services.tasks import Clock
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


@pytest.fixture
async def scene(tmp_path: Path, echo_model: Callable[..., Path]) -> AsyncIterator[Scene]:
    async with opened(tmp_path / "home", echo_model(*[f"Reply {number}." for number in range(9)])) as opened_scene:
        opened_scene.window.resize(1280, 800)
        yield opened_scene


async def begin_next(scene: Scene) -> LinkLine:
    """Say something, name the conversation and begin the next one; return the line above its first message."""
    await scene.say("Is the pharos lit?")
    before = scene.session
    await scene.services.sessions.rename(before.guid, "The pharos")
    scene.window.window_actions["new"].trigger()
    await until(lambda: scene.session.guid != before.guid and scene.controller.view.heading is not None)
    return scene.controller.earlier_sessions.line


async def test_the_first_conversation_has_no_such_line(scene: Scene):
    await scene.say("Is the pharos lit?")

    assert scene.controller.view.heading is None


async def test_the_line_names_the_earlier_conversation_and_opens_it(scene: Scene):
    line = await begin_next(scene)
    first = scene.controller.view.placed_row(0)

    assert line.plain_text == "Mira still has “The pharos” in mind · Start without it · Setting"
    assert line.isVisible()
    assert 0 <= line.geometry().top() < line.geometry().bottom() < first.top

    line.linkActivated.emit(next(address for text, address in line._pieces if text == "“The pharos”"))
    await until(lambda: "Is the pharos lit?" in scene.words)


async def test_the_line_is_in_view_even_if_the_greeting_is_longer_than_the_window(scene: Scene):
    mira = await scene.services.library.persona("mira")
    await scene.services.library.save_persona(mira.model_copy(update={"first_messages": ["The tide is out. " * 400]}))

    line = await begin_next(scene)

    await until(lambda: scene.words and scene.words[0].startswith("The tide") and line.geometry().top() >= 0)
    view = scene.controller.view
    assert line.geometry().bottom() < view.viewport().height()
    await scene.say("Good evening.")
    assert view.is_at_end


async def test_left_out_it_is_in_no_prompt_until_it_is_brought_back(scene: Scene):
    async def prompt() -> str:
        message = scene.controller.messages.outline(scene.controller.messages.rowCount() - 1).id
        found = await scene.services.prompt_inspector.prompt_of(message)
        return "".join(span.text for span in found.spans)

    line = await begin_next(scene)
    line.linkActivated.emit(LEAVE_OUT)
    await until(lambda: line.plain_text.endswith("only facts and memories · Bring them back"))
    await scene.say("Good evening.")
    without = await prompt()
    line.linkActivated.emit(INCLUDE)
    await until(lambda: line.plain_text == "Mira still has “The pharos” in mind · Leave it out · Setting")
    await scene.say("Are you there?")

    assert "Is the pharos lit?" not in without
    assert "Is the pharos lit?" in await prompt()


async def test_the_setting_that_governs_it_is_one_click_away(scene: Scene):
    line = await begin_next(scene)

    line.linkActivated.emit(SETTING)

    assert isinstance(scene.page, SettingsPage)


async def test_the_line_goes_with_the_conversation_it_names(scene: Scene):
    await begin_next(scene)
    (earlier,) = [one for one in await scene.services.sessions.list("mira") if one.title == "The pharos"]

    await scene.services.sessions.delete(earlier.guid)

    await until(lambda: scene.controller.view.heading is None)
    assert not scene.controller.earlier_sessions.line.isVisible()


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
