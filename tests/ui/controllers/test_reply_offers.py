"""What is offered around a reply: an answer where it is missing, and the permission of a tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QFontMetrics
from PySide6.QtTest import QTest

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.tools import ToolCall, ToolResult
from lethe_app.services.prompting.tool_messages import create_tool_messages
from lethe_app.ui.core.formatting import format_tool_results
from lethe_app.ui.transcript.model.annotations import HiddenMessages
from tests.prompt.templates import HERMES
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


Script = Callable[..., Path]


async def stopped_at_once(scene: Scene, text: str) -> None:
    """Say something and end the reply while the prompt is still being read."""
    scene.send(text)
    await until(lambda: scene.window.chat.status.full_text.startswith("Mira is reading…"))
    QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
    await until(lambda: not scene.is_replying)


async def test_a_reply_stopped_before_its_first_word_is_told_and_can_be_had_after_all(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Good evening.", "Good evening.", reading_delay=2.0)) as scene:
        line = scene.controller.unanswered.line
        assert not line.isVisible()
        await stopped_at_once(scene, "Good evening?")
        await until(line.isVisible)

        assert scene.words[-1] == "Good evening?"
        assert line.text_label.text() == "Stopped before the reply began."
        assert line.retry_button.accessibleDescription() == line.text_label.text()

        QTest.mouseClick(line.retry_button, Qt.MouseButton.LeftButton)
        await until(lambda: scene.words[-1] == "Good evening." and not scene.is_replying)
        await until(lambda: not line.isVisible())
        assert scene.words.count("Good evening?") == 1


async def test_after_a_restart_it_still_says_that_there_is_no_answer(tmp_path, echo_model: Script):
    model = echo_model("Good evening.", reading_delay=2.0)
    async with opened(tmp_path, model) as scene:
        await stopped_at_once(scene, "Good evening?")
    async with opened(tmp_path, model) as scene:
        line = scene.controller.unanswered.line
        await until(line.isVisible)
        assert line.text_label.text() == "No reply yet."

        QTest.keyClick(line.retry_button, Qt.Key.Key_Space)
        await until(lambda: scene.words[-1] == "Good evening." and not scene.is_replying)
        await until(lambda: not line.isVisible())


async def test_it_belongs_to_its_own_conversation(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model("Good evening.", reading_delay=2.0)) as scene:
        line = scene.controller.unanswered.line
        await stopped_at_once(scene, "Good evening?")
        await until(line.isVisible)

        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund") and not line.isVisible())

        scene.controller.session_controller.choose_persona("mira")
        await until(lambda: scene.window.windowTitle().startswith("Mira") and line.isVisible())
        assert line.text_label.text() == "Stopped before the reply began."


def call(name: str, **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


async def with_tools(scene: Scene, **settings: object) -> None:
    await until(lambda: scene.session is not None)
    await scene.services.preferences.set(tools_enabled=True, **settings)


@asynccontextmanager
async def dice_rolled(
    home: Path, echo_model: Script, answer: str = "A good throw!", **settings: object
) -> AsyncIterator[Scene]:
    """The window after the user has asked for dice, which the persona is about to roll."""
    script = echo_model(call("dice_roll", dice="2d6"), answer, template=HERMES)
    async with opened(home / "home", script) as scene:
        await with_tools(scene, **settings)
        scene.draft.setFocus()
        scene.send("Roll!")
        yield scene


async def reply(scene: Scene) -> None:
    await until(lambda: not scene.is_replying)


async def card(scene: Scene):
    await until(
        lambda: scene.controller.tool_permissions.card is not None and scene.controller.tool_permissions.card.isVisible()
    )
    return scene.controller.tool_permissions.card


async def test_what_was_done_is_told_under_the_reply_and_unfolds(tmp_path: Path, echo_model: Script):
    async with dice_rolled(tmp_path, echo_model) as scene:
        await until(lambda: scene.words and scene.words[-1] == "A good throw!")
        await reply(scene)
        view, row = scene.controller.view, scene.controller.messages.rowCount() - 1
        sheet = view.message_layout(row)
        assert sheet.tool_list is not None
        assert format_tool_results(sheet.annotations.tool_results).startswith("Rolled 2d6: ")
        folded = sheet.height
        placed = view.placed_row(row)
        place = sheet.tools_rect.center() + QPoint(view.text_column()[0], placed.top)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert view.message_layout(row).height > folded
        assert "Rolled 2d6: " in scene.controller.messages.index(row).data(Qt.ItemDataRole.AccessibleDescriptionRole)
        view.toggle_tools(row)
        assert view.message_layout(row).height == folded


async def test_it_is_still_told_when_the_conversation_is_opened_again(tmp_path: Path, echo_model: Script):
    async with dice_rolled(tmp_path, echo_model) as scene:
        await until(lambda: scene.words and scene.words[-1] == "A good throw!")
        await reply(scene)
        session = scene.session
        await scene.controller.session_controller.show_session(await scene.services.sessions.new("mira"))
        await scene.controller.session_controller.go_to_session(session.guid)
        await until(lambda: scene.words and scene.words[-1] == "A good throw!")
        sheet = scene.controller.view.message_layout(scene.controller.messages.rowCount() - 1)
        assert [one.call.name for one in sheet.annotations.tool_results] == ["dice_roll"]


async def test_a_question_stands_above_the_composer_and_takes_no_focus(tmp_path: Path, echo_model: Script):
    async with dice_rolled(tmp_path, echo_model, tools_always_ask=True) as scene:
        question = await card(scene)
        assert "would like to roll dice" in question.title.text()
        assert question.details.text() == "dice: 2d6"
        assert question.mapTo(scene.window, QPoint(0, 0)).y() < scene.draft.mapTo(scene.window, QPoint(0, 0)).y()
        assert scene.window.focusWidget() is scene.draft
        QTest.mouseClick(question.allow_button, Qt.MouseButton.LeftButton)
        await until(lambda: scene.words and scene.words[-1] == "A good throw!")
        assert scene.controller.tool_permissions.card is None


async def test_what_is_to_be_kept_is_asked_in_words_and_can_be_read_to_its_end(tmp_path: Path, echo_model: Script):
    long = f"Tomas fears deep water, and {'very ' * 120}<b>long</b> stairs."
    script = echo_model(call("memory_save", title="Fears", content=long, filed_under="fears"), "Noted.", template=HERMES)
    async with opened(tmp_path / "home", script) as scene:
        await with_tools(scene)
        scene.send("I fear deep water.")
        question = await card(scene)
        assert question.details.text().startswith("“Fears: Tomas fears deep water")
        assert len(question.details.text()) < 420
        assert "&lt;b&gt;long&lt;/b&gt; stairs." in question.details.toolTip()
        question.refuse_button.click()
        await reply(scene)


async def test_the_keyboard_answers_it(tmp_path: Path, echo_model: Script):
    async with dice_rolled(tmp_path, echo_model, "Then not.", tools_always_ask=True) as scene:
        question = await card(scene)
        for button in (question.allow_button, question.refuse_button, question.always_button):
            assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
            assert QAccessible.queryAccessibleInterface(button).text(QAccessible.Text.Name)
            assert button.width() >= QFontMetrics(button.font()).horizontalAdvance(button.text())
        question.refuse_button.setFocus()
        QTest.keyClick(question.refuse_button, Qt.Key.Key_Space)
        await until(lambda: scene.words and scene.words[-1] == "Then not.")
        await reply(scene)
        assert scene.window.focusWidget() is scene.draft


async def test_stop_takes_the_question_away(tmp_path: Path, echo_model: Script):
    script = echo_model("Wait. " + call("dice_roll", dice="2d6"), template=HERMES)
    async with opened(tmp_path / "home", script) as scene:
        await with_tools(scene, tools_always_ask=True)
        scene.send("Roll!")
        await card(scene)
        scene.controller.replies.stop_reply()
        await reply(scene)
        await until(lambda: scene.controller.tool_permissions.card is None)
        assert scene.words[-1].strip() == "Wait."


async def test_a_question_is_seen_only_in_its_own_conversation(tmp_path: Path, echo_model: Script):
    async with dice_rolled(tmp_path, echo_model, tools_always_ask=True) as scene:
        await card(scene)
        session = scene.session
        await scene.controller.session_controller.show_session(await scene.services.sessions.new("mira"))
        assert scene.controller.tool_permissions.card is None
        await scene.controller.session_controller.go_to_session(session.guid)
        question = await card(scene)
        question.allow_button.click()
        await until(lambda: scene.words and scene.words[-1] == "A good throw!")


def test_marks_follow_a_reply_upwards_past_all_its_calls():
    session, marks = ChatSession(persona_id="mira"), HiddenMessages()
    options = [ToolCall(name="x"), ToolCall(name="y")]
    made = [
        message
        for requested in options
        for message in create_tool_messages(
            session, "Mira", [requested], [ToolResult(call=requested, text="t", shown=requested.name)]
        )
    ]
    reply_id = session.guid
    for above, message in zip([None, *made], made, strict=False):
        message.parent_id = above.id if above else None
        marks.add_inserted_message(message, reply_id)
    assert [one.shown for one in marks.results_of(reply_id)] == ["x", "y"]
