"""A new conversation says above its first message which earlier ones are in its prompt, and can do without them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lethe_app.ui.controllers.conversation.session_lines import INCLUDE, LEAVE_OUT, SETTING
from lethe_app.ui.pages.settings.page import SettingsPage
from lethe_app.ui.transcript.painting.link_line import LinkLine
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
