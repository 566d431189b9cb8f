"""What the user said does not belong is listed, gone to, taken back, and objected to again by undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.ui.pages.irrelevant_memories.page import IrrelevantMemoriesPage, ReasonDialog
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def add_message(scene: Scene, role: Role, words: str) -> Message:
    """Add a conversation of one message."""
    store = scene.services.session_store
    session = await store.add_session(ChatSession(persona_id="mira", name="The storm"))
    alternatives = [Alternative(content=words)]
    return await store.add_message(Message(session_id=session.guid, role=role, speaker_name="", alternatives=alternatives))


async def objected(scene: Scene, said: str, recalled: str) -> Message:
    """A memory came up at these words, and did not belong there."""
    asked = await add_message(scene, Role.USER, said)
    memory = asked.session_id
    one = RecalledMemory(memory=memory, category=MemoryType.GENERAL, text=recalled, way=RecallWay.MEANING)
    await scene.services.turn_memories.save_turn(asked.id, TurnMemory(recalled=[one]))
    await scene.services.objections.add_objection("mira", memory, asked)
    return asked


async def objection_page(scene: Scene) -> IrrelevantMemoriesPage:
    return scene.open_page("irrelevant_memories", IrrelevantMemoriesPage)


async def test_an_objection_is_taken_back_and_made_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await objected(scene, "Shall we eat?", "Tomas hates marmalade.")
        await objected(scene, "What a storm.", "The Heron had a green hull.")
        page = await objection_page(scene)
        both = ["The Heron had a green hull.", "Tomas hates marmalade."]
        await until(lambda: [one.text for one in page.rows.visible_rows] == both)

        assert page.search.isVisible()
        page.search.setText("marmalade")
        assert [one.reason for one in page.rows.visible_rows] == ["“Shall we eat?”"]
        page.search.clear()
        page.table.select_row(page.rows.key_of(page.rows.visible_rows[0]))
        QTest.keyClick(page.table, Qt.Key.Key_Delete)

        await until(lambda: [one.text for one in page.rows.visible_rows] == ["Tomas hates marmalade."])
        page.undo_stack.undo()
        await until(lambda: len(page.rows.visible_rows) == 2)
        assert len(await scene.services.objections.objections_of("mira")) == 2


async def test_it_leads_to_the_words_it_was_about(tmp_path: Path):
    async with opened(tmp_path) as scene:
        asked = await objected(scene, "Shall we eat?", "Tomas hates marmalade.")
        page = await objection_page(scene)
        await until(page.button("Go to message").isEnabled)

        QTest.keyClick(page.table, Qt.Key.Key_Return)

        await until(lambda: scene.page is None and scene.session.guid == asked.session_id)


async def disliked(scene: Scene, reply: str) -> Message:
    """A reply of Mira's with a thumb down and no word."""
    message = await add_message(scene, Role.ASSISTANT, reply)
    await scene.services.feedback.rate_reply(message.id, ReplyRating.BAD)
    return message


async def test_a_reply_not_liked_without_a_word_is_shown_as_that_and_the_reason_can_be_written(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await objection_page(scene)
        await until(lambda: page.persona_selector.persona_id == "mira")
        reply = await disliked(scene, "Well, well, well, little one.")
        await until(lambda: [one.text for one in page.rows.visible_rows] == ["“Well, well, well, little one.”"])
        assert [one.reason for one in page.rows.visible_rows] == [""]

        QTest.mouseClick(page.button("Give reason…"), Qt.MouseButton.LeftButton)
        await until(lambda: [one for one in scene.window.findChildren(ReasonDialog) if one.isVisible()])
        (dialog,) = scene.window.findChildren(ReasonDialog)
        QTest.keyClicks(dialog.field, "Don't call me little one.")
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)

        await until(lambda: [one.reason for one in page.rows.visible_rows] == ["Don't call me little one."])
        (remark,) = await scene.services.feedback.collect_remarks("mira")
        assert (remark.message, remark.unwanted) == (reply.id, "call me little one")
        page.undo_stack.undo()
        await until(lambda: [one.reason for one in page.rows.visible_rows] == [""])
        assert await scene.services.feedback.collect_remarks("mira") == []


async def test_memories_and_replies_are_listed_together_and_filtered_by_kind(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await objected(scene, "Shall we eat?", "Tomas hates marmalade.")
        reply = await disliked(scene, "Well, well.")
        page = await objection_page(scene)
        await until(lambda: page.rows.row_total == 2)

        page.filters.chips["replies"].click()
        assert [one.text for one in page.rows.visible_rows] == ["“Well, well.”"]
        page.table.select_row(page.rows.visible_rows[0].key)
        assert not page.button("Mark as relevant").isEnabled()
        assert page.button("Give reason…").isEnabled()
        page.button("Go to message").click()
        await until(lambda: scene.page is None and scene.session.guid == reply.session_id)
