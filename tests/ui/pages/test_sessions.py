"""Old conversations in the window: read, retold, split, joined, added to and deleted, and every step can be undone."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QPushButton

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role, SessionPart
from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.services.sessions.archive_queue import ArchiveProgress
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, TextDialog
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.pages.search.page import SearchPage
from lethe_app.ui.pages.sessions import transcript as transcript_module
from lethe_app.ui.pages.sessions.detail import FIELDS_BY_PART
from lethe_app.ui.pages.sessions.dialogs import InsertMessage
from lethe_app.ui.pages.sessions.page import SessionPage
from lethe_app.ui.widgets.labels import ElidedLabel
from tests.ui.form_fields import labels_around
from tests.ui.window_scene import Scene, opened, settled, until

pytestmark = pytest.mark.usefixtures("styled_app")
NEVER_S = 10**8
RELEVANCE, AUTHOR = 3, 5
"""Columns."""
LINES = ("The hatch gave way.", "Who held it?", "Jonas did.", "Then thank Jonas.", "I will, tomorrow.", "Good.")


async def add_conversation(scene: Scene, title: str, *lines: str, days: float = 1, **fields: object) -> ChatSession:
    chats, began = scene.services.session_store, now() - timedelta(days=days)
    session = await chats.add_session(ChatSession(persona_id="mira", name=title, added=began, **fields))
    for number, line in enumerate(lines):
        moment = began + timedelta(minutes=number)
        role = Role.ASSISTANT if number % 2 else Role.USER
        said = [Alternative(content=line, created=moment)]
        await chats.add_message(Message(session_id=session.guid, role=role, speaker_name="X", time=moment, alternatives=said))
    return session


async def session_page(scene: Scene, session: ChatSession) -> SessionPage:
    page = scene.open_page("conversations", SessionPage)
    await shown(page, session)
    return page


async def shown(page: SessionPage, session: ChatSession) -> None:
    await until(lambda: page.table.select_row(str(session.guid)))
    await until(lambda: page.detail.session is not None and page.detail.session.guid == session.guid)


def button(page: SessionPage, title: str) -> QPushButton:
    """The button of a command beside the conversation."""
    return page.detail._buttons.button(title)


def has_button(page: SessionPage, title: str) -> bool:
    return any(one.text() == title for one in page.detail.findChildren(QPushButton))


def author_of(page: SessionPage, part: SessionPart) -> str:
    """What stands beside the title of a part about who wrote it."""
    labels = [label for label in labels_around(page.detail, FIELDS_BY_PART[part]) if isinstance(label, ElidedLabel)]
    (name,) = filter(None, (label.accessibleName() for label in labels))  # beside the empty note of the field
    return name


async def transcript_of(page: SessionPage, count: int) -> None:
    page.detail.tabs.setCurrentIndex(1)
    await until(lambda: page.detail.transcript.chat_model.rowCount() == count)


async def said(scene: Scene, session: ChatSession) -> list[str]:
    return [message.content for message in await scene.services.sessions.page(session.guid, 0, 99)]


async def test_a_conversation_is_replayed_paused_and_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transcript_module, "MIN_SECONDS", 0.05)
    monkeypatch.setattr(transcript_module, "CHARACTERS_PER_SECOND", 10_000)
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "", *LINES)
        page = await session_page(scene, session)
        await transcript_of(page, 6)
        transcript, button = page.detail.transcript, page.detail.replay_button
        first, last = (transcript.chat_model.outline(row).id for row in (0, 5))
        seen: list[object] = []
        transcript.message_selected.connect(seen.append)
        button.click()
        assert (transcript.message, button.text()) == (first, "Pause")
        await until(lambda: not page.detail.replay.is_running)
        assert seen == [transcript.chat_model.outline(row).id for row in range(6)], "each once, in order"
        assert (transcript.message, button.text()) == (last, "Replay")

        button.click()
        assert transcript.message == first, "from the end it begins anew"
        button.click()
        assert not page.detail.replay.is_running
        paused_at = transcript.message
        button.click()
        assert transcript.message == paused_at, "from where it was paused"
        transcript.select_message(last)
        assert not page.detail.replay.is_running, "a click on another message takes over"
        button.click()
        page.detail.tabs.setCurrentIndex(0)
        await until(lambda: not page.detail.replay.is_running)


def test_reading_takes_as_long_as_the_message_is():
    assert transcript_module.reading_ms(0) == transcript_module.reading_ms(20) == 1500
    assert transcript_module.reading_ms(250) == 10_000
    assert transcript_module.reading_ms(10_000) == 20_000


async def test_a_summary_is_written_in_the_users_words_and_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "", *LINES)
        await scene.services.archive_queue.archive_session(session.guid)
        page = await session_page(scene, session)
        field = page.detail.form.field_widget("content")
        assert isinstance(field, QPlainTextEdit)
        was = field.toPlainText()
        assert was

        assert page.detail.summary_text.isVisible()
        field.selectAll()
        QTest.keyClicks(field, "Jonas held the hatch.")
        assert page.detail.summary_text.text() == "Jonas held the hatch."
        await page.saver.save()
        assert (await scene.services.sessions.open(session.guid)).content == "Jonas held the hatch."
        assert (await scene.services.archive_queue.parts(session.guid))[SessionPart.SUMMARY].made_by is MadeBy.USER
        await scene.services.archive_queue.update(session.guid)
        assert (await scene.services.sessions.open(session.guid)).content == "Jonas held the hatch."

        while page.undo_stack.canUndo():
            page.undo_stack.undo()
        await page.saver.save()
        assert field.toPlainText() == was
        assert (await scene.services.sessions.open(session.guid)).content == was
        assert (await scene.services.archive_queue.parts(session.guid))[SessionPart.SUMMARY].made_by is MadeBy.RULES


async def test_an_ended_conversation_of_which_nothing_is_kept_says_so_and_is_no_memory(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "Small talk", "Hello!", "Hello.", "How are you?", "Fine.", archived=True)
        await scene.services.archive_queue.update(session.guid)
        assert not (await scene.services.sessions.open(session.guid)).content
        page = await session_page(scene, session)
        reason = page.detail.summary_text.text()
        field = page.detail.form.field_widget("content")
        assert isinstance(field, QPlainTextEdit)
        assert reason.startswith("Nothing to summarise")
        assert field.placeholderText() == reason

        scene.window.window_actions["memories"].trigger()
        await until(lambda: isinstance(scene.page, MemoryPage))
        memories = scene.page
        assert isinstance(memories, MemoryPage)
        await settled(scene, memories)
        assert memories.rows.row_total == 0


async def test_marks_are_kept_and_filtered_by(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        await add_conversation(scene, "The calm", *LINES, days=2)
        page = await session_page(scene, session)

        page.detail.form.field_widget("sticky").click()
        await page.saver.save()
        assert (await scene.services.sessions.open(session.guid)).sticky
        await until(lambda: page.table.current_row is not None and page.table.current_row.sticky)
        page.filters.chips["sticky"].click()

        assert [line.name for line in page.rows.visible_rows] == ["The storm"]
        page.filters.chips["sticky"].click()
        QTest.keyClicks(page.search, "calm")
        assert [line.name for line in page.rows.visible_rows] == ["The calm"]


async def test_a_part_is_made_again_and_that_is_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "", *LINES)
        await scene.services.archive_queue.archive_session(session.guid)
        await scene.services.archive_queue.write(session.guid, SessionPart.SUMMARY, "Mine.")
        page = await session_page(scene, session)

        page.detail.regenerate_requested.emit(session.guid, SessionPart.SUMMARY)
        await until(lambda: page.detail.session is not None and page.detail.session.content not in {"", "Mine."})

        page.undo_stack.undo()
        await until(lambda: page.detail.session is not None and page.detail.session.content == "Mine.")
        assert (await scene.services.archive_queue.parts(session.guid))[SessionPart.SUMMARY].made_by is MadeBy.USER


async def test_a_conversation_is_split_where_the_user_points_and_made_whole_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)
        await transcript_of(page, 6)

        page.detail.transcript.focus_row(3)
        assert page.detail.message_buttons["split"].isEnabled()
        QTest.mouseClick(page.detail.message_buttons["split"], Qt.MouseButton.LeftButton)
        await until(lambda: page.rows.row_total == 3)
        await until(lambda: page.detail.transcript.chat_model.rowCount() == 3)
        assert await said(scene, session) == list(LINES[:3])

        page.undo_stack.undo()
        await until(lambda: page.rows.row_total == 2)
        assert await said(scene, session) == list(LINES)


async def test_the_first_message_cannot_be_split_off(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)
        await transcript_of(page, 6)

        assert page.detail._selection_hint.text().startswith("Select a message first")
        page.detail.transcript.focus_row(0)

        assert page.detail._selection_hint.text() == "One message selected."
        assert not page.detail.message_buttons["split"].isEnabled()
        menu = page.detail.transcript.build_menu(0)
        assert [action.isEnabled() for action in menu.actions() if "Split" in action.text()] == [False]


async def test_several_become_one_and_several_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        late, early = (
            await add_conversation(scene, "Late", "Three.", "Four."),
            await add_conversation(scene, "Early", "One.", "Two.", days=5),
        )
        scene.window.resize(1280, 800)
        page = await session_page(scene, early)

        assert not button(page, "Merge with next").isHidden()
        merge_button = page.button("Merge conversations")
        assert not merge_button.isEnabled()
        await settled(scene, page)
        page.table.selectAll()
        assert merge_button.isEnabled()
        box = merge_button.parentWidget()
        shown = [button for button in box.findChildren(QPushButton) if not button.isHidden()]
        await until(lambda: all(box.rect().contains(button.geometry()) for button in shown))
        page.table.select_row(max(page.rows.all_rows, key=lambda line: line.began).guid)
        await until(lambda: button(page, "Merge with next").isHidden())  # there is no later one
        page.table.select_row(str(early.guid))
        await until(lambda: not button(page, "Merge with next").isHidden())
        place = button(page, "Delete…").pos()
        QTest.mouseClick(button(page, "Merge with next"), Qt.MouseButton.LeftButton)
        QTest.mouseClick(button(page, "Merge with next"), Qt.MouseButton.LeftButton)
        await until(lambda: page.rows.row_total == 2)
        assert await said(scene, early) == ["One.", "Two.", "Three.", "Four."]
        await settled(scene, page)
        assert button(page, "Delete…").pos() == place, "not below the pointer"
        assert not page.undo_stack.canRedo()
        assert page.undo_stack.count() == 1
        await until(lambda: scene.toasts)

        scene.toasts[0].findChildren(type(button(page, "Merge with next")))[0].click()
        await until(lambda: page.rows.row_total == 3)
        assert await said(scene, late) == ["Three.", "Four."]


async def test_a_message_is_inserted_above_the_one_that_is_chosen(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)
        await transcript_of(page, 6)
        page.detail.transcript.focus_row(1)

        QTest.mouseClick(page.detail.message_buttons["above"], Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, InsertMessage)
        assert not dialog.primary.isEnabled()
        dialog.persona_radio.click()
        QTest.keyClicks(dialog.field, "It was dark.")
        dialog.primary.click()
        await until(lambda: page.detail.transcript.chat_model.rowCount() == 7)
        assert await said(scene, session) == [LINES[0], "It was dark.", *LINES[1:]]

        page.undo_stack.undo()
        await until(lambda: page.detail.transcript.chat_model.rowCount() == 6)
        assert await said(scene, session) == list(LINES)


async def test_deleting_names_the_conversation_and_can_be_taken_back(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)

        page.table.setFocus()
        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        assert dialog.primary.text() == "Delete “The storm” (6 messages)"
        dialog.accept()
        await until(lambda: page.rows.row_total == 1)

        page.undo_stack.undo()
        await until(lambda: page.rows.row_total == 2)
        assert await said(scene, session) == list(LINES)


async def test_the_conversation_that_is_open_follows_what_is_done_to_it(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        await scene.controller.session_controller.go_to_session(session.guid)
        await until(lambda: scene.words[:1] == [LINES[0]])
        page = await session_page(scene, session)
        await transcript_of(page, 6)

        page.detail.transcript.focus_row(4)
        page.detail.message_buttons["split"].click()
        await until(lambda: scene.controller.messages.rowCount() == 4)
        page.undo_stack.undo()
        await until(lambda: scene.controller.messages.rowCount() == 6)

        await scene.services.session_editing.delete(session.guid)
        await until(lambda: scene.session.guid != session.guid)


async def test_an_old_conversation_is_continued(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)

        QTest.mouseClick(button(page, "Continue conversation"), Qt.MouseButton.LeftButton)
        await until(lambda: scene.page is None and scene.session.guid == session.guid)

        await until(lambda: scene.words[-1:] == ["Good."])


async def test_the_list_says_when_a_part_is_being_written(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)

        scene.services.archive_queue.changed.notify(ArchiveProgress(session.guid, "The storm", SessionPart.SUMMARY, 0, 3))
        assert author_of(page, SessionPart.SUMMARY) == "generating…"
        scene.services.archive_queue.changed.notify(ArchiveProgress())
        assert author_of(page, SessionPart.SUMMARY) == "not generated yet"


async def test_a_message_is_said_in_other_words_and_in_its_own_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        await scene.controller.session_controller.go_to_session(session.guid)
        await until(lambda: scene.words[:1] == [LINES[0]])
        page = await session_page(scene, session)
        await transcript_of(page, 6)
        assert not page.detail.message_buttons["edit"].isEnabled()
        page.detail.transcript.focus_row(2)

        QTest.mouseClick(page.detail.message_buttons["edit"], Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, TextDialog)
        assert dialog.entered_text == LINES[2]
        dialog.field.set_text("Ines did.")
        dialog.primary.click()

        await until(lambda: len(scene.words) > 2 and scene.words[2] == "Ines did.")
        assert (await said(scene, session))[2] == "Ines did."
        transcript = page.detail.transcript
        await until(lambda: transcript.message is not None and transcript.chat_model.row_of(transcript.message) == 2)

        page.undo_stack.undo()
        await until(lambda: scene.words[2] == LINES[2])
        assert await said(scene, session) == list(LINES)


async def test_a_message_is_deleted_by_its_key_and_comes_back_to_its_place(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)
        await transcript_of(page, 6)
        page.detail.transcript.focus_row(3)
        following = page.detail.transcript.chat_model.outline(4).id

        QTest.keyClick(page.detail.transcript, Qt.Key.Key_Delete)
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        assert dialog.primary.text() == "Delete message by X"
        dialog.accept()
        await until(lambda: page.detail.transcript.chat_model.rowCount() == 5)
        await until(lambda: page.detail.transcript.message == following)
        assert await said(scene, session) == [*LINES[:3], *LINES[4:]]

        page.undo_stack.undo()
        await until(lambda: page.detail.transcript.chat_model.rowCount() == 6)
        assert await said(scene, session) == list(LINES)


async def test_a_conversation_is_saved_as_a_text(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        page = await session_page(scene, await add_conversation(scene, "The hatch: 1/2", *LINES[:2], archived=True))

        QTest.mouseClick(button(page, "Save as text…"), Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.accept()

        saved = tmp_path / "The hatch- 1-2.md"
        await until(saved.exists)
        heading, speaker, first, _answerer, second = saved.read_text(encoding="utf-8").strip().split("\n\n")
        assert (heading, first, second) == ("# The hatch: 1/2", *LINES[:2])
        assert speaker.startswith("**X** (")


async def test_a_conversation_is_renamed_by_its_key_and_from_its_form(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)
        await settled(scene, page)

        QTest.keyClick(page.table, Qt.Key.Key_F2)
        field = page.detail.form.field_widget("name")
        assert scene.window.focusWidget() is field
        QTest.keyClicks(field, "The gale")
        await until(lambda: page.table.current_row is not None and page.table.current_row.name == "The gale")

        page.detail.edit_button.click()
        assert not field.isVisible()
        page.detail.edit_button.click()
        assert scene.window.focusWidget() is field


async def test_an_open_conversation_is_ended_on_the_page(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        scene.services.sessions_changed.notify("mira")
        await until(lambda: scene.window.sidebar.model.find_session(str(session.guid)) is not None)
        page = await session_page(scene, session)
        assert button(page, "Extract facts now").isVisible()

        QTest.mouseClick(button(page, "End now"), Qt.MouseButton.LeftButton)

        await until(lambda: any("has ended" in toast.text for toast in scene.toasts))
        assert (await scene.services.sessions.open(session.guid)).archived
        await until(lambda: not button(page, "End now").isEnabled() and has_button(page, "Extract facts again"))


async def test_what_no_title_has_is_searched_in_the_messages(tmp_path: Path):
    async with opened(tmp_path) as scene:
        session = await add_conversation(scene, "The storm", *LINES)
        page = await session_page(scene, session)
        assert page.search_messages_button.isHidden()

        QTest.keyClicks(page.search, "hatch")
        assert page.rows.visible_rows == []
        assert "Press Enter to search the messages" in page.table.no_match_text
        assert page.search_messages_button.isVisible()
        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(lambda: isinstance(scene.page, SearchPage))
        assert isinstance(scene.page, SearchPage)
        assert scene.page.search.text() == "hatch"


async def test_conversations_ended_one_after_the_other_both_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with opened(tmp_path) as scene:
        storm, calm = await add_conversation(scene, "The storm", *LINES), await add_conversation(scene, "The calm", *LINES)
        scene.services.sessions_changed.notify("mira")
        sidebar = scene.window.sidebar
        await until(lambda: all(sidebar.model.find_session(str(one.guid)) is not None for one in (storm, calm)))
        end, begun, is_released = scene.services.sessions.end, asyncio.Event(), asyncio.Event()

        async def end_slowly(guid: UUID, **options: bool) -> object:
            if guid == storm.guid:
                begun.set()
                await is_released.wait()
            result = await end(guid, **options)
            ended.add(guid)
            return result

        ended = set[UUID]()
        monkeypatch.setattr(scene.services.sessions, "end", end_slowly)
        sidebar.command_chosen.emit("end_session", str(storm.guid))
        await until(begun.is_set)
        sidebar.command_chosen.emit("end_session", str(calm.guid))
        is_released.set()

        await until(lambda: ended == {storm.guid, calm.guid})
        for session in (storm, calm):
            assert (await scene.services.sessions.open(session.guid)).archived
