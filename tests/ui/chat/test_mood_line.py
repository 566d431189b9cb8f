"""Beside the conversation stands how she feels, in the words of her prompt, and a way to where it can be changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.ui.chat.memory_card_parts import MoodLine
from lethe_app.ui.pages.mind.page import MindPage
from tests.ui.test_accessibility import nameless
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


@pytest.fixture
async def scene(tmp_path: Path, echo_model: Callable[..., Path]) -> AsyncIterator[Scene]:
    async with opened(tmp_path / "home", echo_model(*["Indeed."] * 40)) as opened_scene:
        await opened_scene.services.preferences.set(recall_without_match=0)
        mira = await opened_scene.services.library.persona("mira")
        await opened_scene.services.library.save_persona(mira.model_copy(update={"worlds": [], "mood": True}))
        await opened_scene.services.moods.set_mood("mira", "energy", 0.02)
        opened_scene.window.resize(1280, 800)
        opened_scene.window.panes.open_panel()
        yield opened_scene


def line(scene: Scene) -> MoodLine:
    return scene.window.memory_panel.mood_line


async def test_it_shows_the_mood_in_the_words_of_the_prompt(scene: Scene):
    await scene.say("Good evening.")
    open_now = scene.session
    messages = await scene.services.sessions.page(open_now.guid, 0, 100)
    asked = next(one for one in messages if one.content == "Good evening.")
    memory = await scene.services.recall.stored_recall(asked.id)
    await until(line(scene).mood_label.text)

    assert line(scene).mood_label.text() == memory.mood
    assert memory.mood.startswith("Mira feels ")
    assert line(scene).isVisible()
    assert not nameless(line(scene))


async def test_it_follows_the_switches_of_moods_at_once(scene: Scene):
    await until(lambda: line(scene).isVisible())
    await scene.services.preferences.set(mood_handling=False)
    await until(lambda: not line(scene).isVisible())
    await scene.services.preferences.set(mood_handling=True)
    await until(lambda: line(scene).isVisible())

    mira = await scene.services.library.persona("mira")
    await scene.services.library.save_persona(mira.model_copy(update={"mood": False}))
    await until(lambda: not line(scene).isVisible())


async def test_it_is_about_now_and_leaves_when_an_older_reply_is_chosen(scene: Scene):
    await scene.say("Good evening.")
    await scene.say("It is late.")
    await until(lambda: line(scene).isVisible())
    older = next(row for row in range(scene.controller.messages.rowCount()) if scene.words[row] == "Indeed.")

    scene.controller.memory_panel.open_on_reply(scene.controller.messages.outline(older).id)
    await until(lambda: not line(scene).isVisible())
    scene.window.memory_panel.newest_requested.emit()
    await until(lambda: line(scene).isVisible())


@pytest.mark.parametrize("by_keyboard", [True, False])
async def test_it_opens_the_mind_page(scene: Scene, by_keyboard: bool):
    await until(line(scene).page_button.isVisible)
    if by_keyboard:
        line(scene).page_button.setFocus()
        QTest.keyClick(line(scene).page_button, Qt.Key.Key_Space)
    else:
        QTest.mouseClick(line(scene).page_button, Qt.MouseButton.LeftButton)

    await until(lambda: isinstance(scene.page, MindPage))


async def test_in_the_middle_of_everything_there_is_no_line(scene: Scene):
    await until(lambda: line(scene).isVisible())
    for side in await scene.services.moods.list_dimensions("mira"):
        await scene.services.moods.set_mood("mira", side.id, 0.5)

    await until(lambda: not line(scene).isVisible())
