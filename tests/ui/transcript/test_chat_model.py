"""The messages as rows: fetched by the page, changed one at a time, growing at the end."""

from __future__ import annotations

from uuid import uuid4

from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from lethe_app.domain.chat import Alternative, Message, Role
from lethe_app.errors import StorageError
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.model.message_pages import MAX_CACHED_MESSAGES, PAGE_SIZE
from tests.ui.chat_scene import SESSION, Pages, conversation, message, outlines, process_events


def model_of(messages: list[Message]) -> tuple[ChatModel, Pages]:
    model, pages = ChatModel(), Pages(messages)
    model.show_session(outlines(messages), pages)
    return model, pages


async def test_only_pages_in_view_are_loaded(qtbot):
    model, pages = model_of(conversation(1000))
    model.request_rows(450, 460)
    await process_events()
    assert pages.asked == [(400, PAGE_SIZE)]
    assert model.message(455) is not None
    assert model.message(10) is None


async def test_the_message_above_the_first_row_is_loaded_for_the_day_separator(qtbot):
    model, pages = model_of(conversation(300))
    model.request_rows(100, 110)
    await process_events()
    assert sorted(pages.asked) == [(0, PAGE_SIZE), (100, PAGE_SIZE)]


async def test_pages_no_longer_in_view_are_not_loaded(qtbot):
    model, pages = model_of(conversation(2000))
    pages.open.clear()
    for row in range(50, 2000, 100):
        model.request_rows(row, row + 5)
    pages.open.set()
    await process_events(20)
    assert len(pages.asked) == 3
    assert pages.asked[-1] == (1900, PAGE_SIZE)


async def test_messages_not_viewed_for_long_are_dropped(qtbot):
    model, _ = model_of(conversation(3000))
    for row in range(50, 3000, 100):
        model.request_rows(row, row + 5)
        await process_events()
    kept = sum(model.message(row) is not None for row in range(3000))
    assert kept <= MAX_CACHED_MESSAGES
    assert model.message(2950) is not None
    assert model.separator_day(1) is None  # days are remembered, so no separator appears where none was


async def test_a_page_that_cannot_be_loaded_is_reported_once_and_again_tried_when_the_session_is_opened(qtbot):
    messages = conversation(10)
    broken = [True]

    async def loader(start: int, count: int) -> list[Message]:
        if broken[0]:
            raise StorageError("The page is gone.")
        return messages[start : start + count]

    model = ChatModel()
    model.show_session(outlines(messages), loader)
    reported = []
    model.load_failed.connect(reported.append)
    for _ in range(3):
        model.request_rows(0, 9)
        await process_events()
    assert [error.message for error in reported] == ["The page is gone."]
    broken[0] = False
    model.show_session(outlines(messages), loader)
    model.request_rows(0, 9)
    await process_events()
    assert model.message(3) is not None


async def test_a_page_without_new_messages_is_loaded_once(qtbot):
    model, pages = model_of(conversation(10))
    pages.messages = []
    for _ in range(4):
        model.request_rows(0, 9)
        await process_events()
    assert len(pages.asked) == 1


async def test_pages_of_the_previous_session_are_discarded(qtbot):
    model, pages = model_of(conversation(10))
    pages.open.clear()
    model.request_rows(0, 9)
    await process_events()
    model.show_session(outlines(conversation(5)), Pages([]))
    pages.open.set()
    await process_events()
    assert model.rowCount() == 5
    assert model.message(0) is None


async def test_hidden_messages_have_a_row_only_if_they_are_shown(qtbot):
    messages = [message("one"), message("note", Role.SYSTEM, hidden=True), message("two")]
    model, _ = model_of(messages)
    assert model.rowCount() == 2
    assert model.row_of(messages[2].id) == 1
    model.set_show_hidden(True)
    assert model.rowCount() == 3
    model.set_show_hidden(False)
    model.append_message(message("unseen", Role.SYSTEM, hidden=True))
    model.append_message(message("seen"))
    assert model.rowCount() == 3
    model.request_rows(0, 2)
    await process_events()
    assert [model.text_of(row)[0] for row in range(3)] == ["one", "two", "seen"]


async def test_every_change_satisfies_the_model_tester_of_qt(qtbot):
    messages = conversation(12)
    model, _ = model_of(messages)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.request_rows(0, 11)
    await process_events()
    model.append_message(message("new", Role.USER))
    model.remove_messages(messages[3].id, messages[4].id)
    model.add_placeholder("mira", "Mira", SESSION)
    model.remove_placeholder()
    model.add_placeholder("mira", "Mira", SESSION)
    reply = message("")
    model.start_reply(reply)
    model.append_content("Yes.")
    model.finish_reply(message("Yes.", id=reply.id))
    model.refresh_outlines(outlines(messages[:2]))
    assert model.rowCount() == 2
    assert tester.model() is model


async def test_a_day_separator_is_where_the_local_day_changes(qtbot):
    model, _ = model_of([message("one"), message("two", minutes=5), message("three", minutes=60 * 24)])
    model.request_rows(0, 2)
    await process_events()
    assert [model.separator_day(row) is not None for row in range(3)] == [True, False, True]


async def test_a_reply_grows_in_place_of_its_placeholder_and_finishes(qtbot):
    model, _ = model_of([message("Hello", Role.USER)])
    model.add_placeholder("mira", "Mira", SESSION)
    model.set_waiting_text("Reading 10 of 20 tokens")
    assert model.waiting_text == "Reading 10 of 20 tokens"
    reply = message("")
    model.start_reply(reply)
    assert model.rowCount() == 2  # the reply stands where it was awaited
    grown = []
    model.reply_grew.connect(lambda: grown.append(model.text_of(1)))
    model.append_thinking("Hm.")
    model.append_content("He")
    model.append_content("llo.")
    assert grown[-1] == ("Hello.", "Hm.")
    finished = []
    model.reply_finished.connect(finished.append)
    model.finish_reply(message("Hello.", id=reply.id))
    assert finished == [1]
    assert model.growing_row is None


async def test_a_continued_reply_keeps_its_text(qtbot):
    messages = [message("Once upon")]
    model, _ = model_of(messages)
    model.start_reply(messages[0])
    model.append_content(" a time")
    assert model.text_of(0)[0] == "Once upon a time"


async def test_a_removed_placeholder_leaves_no_row(qtbot):
    model, _ = model_of([message("Hello", Role.USER)])
    model.add_placeholder("mira", "Mira", SESSION)
    model.remove_placeholder()
    assert model.rowCount() == 1
    model.append_content("lost")
    assert model.rowCount() == 1


async def test_a_regenerated_reply_has_one_row(qtbot):
    messages = [message("Hello", Role.USER), message("First.")]
    model, _ = model_of(messages)
    model.request_rows(0, 1)
    await process_events()
    model.add_placeholder("mira", "Mira", SESSION)
    both = message(alternatives=[Alternative(content="First."), Alternative()], shown=1, id=messages[1].id)
    model.start_reply(both)
    model.append_content("Second.")
    assert (model.rowCount(), model.text_of(1)[0]) == (2, "Second.")


async def test_a_token_changes_no_rows(qtbot):
    model, _ = model_of(conversation(500))
    model.start_reply(message(""))
    changes = []
    model.dataChanged.connect(lambda *_: changes.append(1))
    model.rowsInserted.connect(lambda *_: changes.append(1))
    for _ in range(50):
        model.append_content("word ")
    assert changes == []


async def test_refreshing_the_outlines_adds_and_removes_rows_without_a_reset(qtbot):
    messages = conversation(6)
    model, _ = model_of(messages[:5])
    resets = []
    model.modelReset.connect(lambda: resets.append(1))
    model.refresh_outlines(outlines([messages[0], *messages[2:]]))
    assert [model.outline(row).id for row in range(5)] == [each.id for each in (messages[0], *messages[2:])]
    assert resets == []


async def test_the_accessible_text_has_name_time_and_plain_text(qtbot):
    model, _ = model_of([message(alternatives=[Alternative(content="*She nods.*"), Alternative(complete=False)])])
    assert "not loaded" in model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    model.request_rows(0, 0)
    await process_events()
    spoken = model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Mira, ")
    assert spoken.endswith(": She nods.")
    assert model.data(model.index(0), Qt.ItemDataRole.AccessibleDescriptionRole) == "swipe 1 of 2"


def test_an_unknown_message_changes_nothing(qtbot):
    model = ChatModel()
    model.replace_message(message("x"))
    model.remove_messages(uuid4())
    assert model.rowCount() == 0
