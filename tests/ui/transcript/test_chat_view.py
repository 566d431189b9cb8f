"""The view of a conversation, with mouse and keyboard."""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar
from uuid import UUID

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QToolTip

from lethe_app.domain.chat import Alternative, Role
from lethe_app.ui.core.palette import DAY
from lethe_app.ui.transcript.chat_view import DOTS_MS, ChatView
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.model.message_pages import PAGE_SIZE
from tests.ui.chat_scene import SESSION, Pages, conversation, message, outlines, process_events, tops, view_of

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture(autouse=True)
def empty_clipboard(qapp):
    QGuiApplication.clipboard().clear()


def point_at(view: ChatView, row: int, position: int) -> QPoint:
    """Where a character of a row is in the viewport."""
    message_layout, placed = view.message_layout(row), view.placed_row(row)
    block = message_layout.document.text_document.findBlock(position)
    line = block.layout().lineForTextPosition(position - block.position())
    x, _ = line.cursorToX(position - block.position())
    top = block.layout().position().y() + line.y() + line.height() / 2
    return QPoint(round(view.text_column()[0] + x), round(placed.top + message_layout.prose_top + top))


def drag(view: ChatView, start: QPoint, end: QPoint) -> None:
    area = view.viewport()
    QTest.mousePress(area, LEFT, NONE, start)
    for point in (start + QPoint(0, 12), end):
        where = QPointF(point)
        event = QMouseEvent(QEvent.Type.MouseMove, where, area.mapToGlobal(where), Qt.MouseButton.NoButton, LEFT, NONE)
        QApplication.sendEvent(area, event)
    QTest.mouseRelease(area, LEFT, NONE, end)


async def changes_by_itself(view: ChatView) -> bool:
    """Whether another picture is painted within two steps of the dots."""
    first_picture, deadline = view.grab().toImage(), time.monotonic() + 2.5 * DOTS_MS / 1000
    while time.monotonic() < deadline:
        await process_events()
        await asyncio.sleep(0.02)
        if view.grab().toImage() != first_picture:
            return True
    return False


def copied() -> str:
    return QGuiApplication.clipboard().text()


async def test_a_long_session_opens_at_its_end_and_loads_one_page(qtbot):
    messages = conversation(5000)
    model, pages = ChatModel(), Pages(messages)
    view = ChatView(model)
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    model.show_session(outlines(messages), pages)
    await process_events()
    assert view.is_at_end
    assert view.visible_rows[-1].row == 4999
    assert pages.asked == [(4900, PAGE_SIZE)]


async def test_only_visible_messages_are_laid_out(qtbot):
    view = await view_of(qtbot, conversation(2000))
    assert len(view.visible_rows) < 12
    assert len(view.layout_cache) < 30


async def test_scrolling_up_through_unmeasured_rows_moves_by_exactly_the_distance(qtbot):
    messages = conversation(400, "Short {number}.")
    for each in messages[:300]:
        each.alternatives[0].content = "Long. " * 150
    view = await view_of(qtbot, messages)
    for _ in range(40):
        before = tops(view)
        view.scroll_by(-300)
        await process_events()
        after = tops(view)
        moved = {after[each] - before[each] for each in before.keys() & after.keys()}
        assert moved <= {300}


async def test_the_scroll_bar_reaches_both_ends(qtbot):
    view = await view_of(qtbot, conversation(900))
    bar = view.verticalScrollBar()
    bar.setValue(0)
    await process_events()
    assert (view.visible_rows[0].row, bar.value()) == (0, 0)
    bar.setValue(bar.maximum())
    await process_events()
    assert view.visible_rows[-1].row == 899
    assert view.is_at_end
    assert bar.value() == bar.maximum()


async def test_a_growing_reply_is_followed_at_the_end(qtbot):
    view = await view_of(qtbot, conversation(50))
    view.chat_model.start_reply(message(""))
    for _ in range(80):
        view.chat_model.append_content("word after word ")
    view.layout_growing_reply()
    last = view.visible_rows[-1]
    assert last.row == 50
    assert last.top + last.height <= view.viewport().height()
    assert not view.newest_button.isVisible()


async def test_a_growing_reply_below_does_not_scroll_and_shows_the_button_to_the_newest(qtbot):
    view = await view_of(qtbot, conversation(50))
    view.chat_model.start_reply(message(""))
    view.scroll_by(-900)
    before = tops(view)
    for _ in range(300):
        view.chat_model.append_content("word after word ")
    view.layout_growing_reply()
    assert tops(view) == before
    assert view.newest_button.isVisible()
    QTest.mouseClick(view.newest_button, LEFT)
    assert view.is_at_end
    assert not view.newest_button.isVisible()


async def test_tokens_are_laid_out_at_most_thirty_times_a_second(qtbot):
    view = await view_of(qtbot, conversation(20))
    drawn = []
    view.at_end_changed.connect(drawn.append)
    settled = view.update_layout
    view.update_layout = lambda: (drawn.append(1), settled())  # type: ignore[method-assign]
    view.chat_model.start_reply(message(""))
    drawn.clear()
    for _ in range(200):
        view.chat_model.append_content("x ")
    assert drawn == []
    qtbot.waitUntil(lambda: drawn != [], timeout=60_000)
    assert len(drawn) == 1


async def test_a_message_of_the_user_scrolls_to_the_end(qtbot):
    view = await view_of(qtbot, conversation(50))
    view.scroll_by(-900)
    view.chat_model.append_message(message("Mine.", Role.USER))
    assert view.is_at_end
    view.scroll_by(-900)
    view.chat_model.append_message(message("Theirs."))
    assert not view.is_at_end


async def test_a_narrower_window_keeps_the_scroll_position(qtbot):
    view = await view_of(qtbot, conversation(300, "Words and words. " * 30))
    view.scroll_by(-4000)
    await process_events()
    first = view.visible_rows[0].row
    view.resize(420, 600)
    await process_events()
    assert abs(view.visible_rows[0].row - first) <= 1
    assert view.message_layout(first).width == view.text_column()[1] < 400


async def test_text_is_selected_within_a_message(qtbot):
    view = await view_of(qtbot, [message("The lamp swings over the chart.")])
    drag(view, point_at(view, 0, 4), point_at(view, 0, 8))
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied() == "lamp"


async def test_text_is_selected_across_messages_with_the_names(qtbot):
    view = await view_of(qtbot, [message("First words."), message("*Second* words.", Role.USER), message("Third words.")])
    drag(view, point_at(view, 0, 6), point_at(view, 2, 5))
    view.copy_selection()
    assert copied() == "Mira: words.\n\nTomas: Second words.\n\nMira: Third"


async def test_shift_click_extends_the_selection(qtbot):
    view = await view_of(qtbot, [message("one two three four")])
    QTest.mouseClick(view.viewport(), LEFT, NONE, point_at(view, 0, 4))
    QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.ShiftModifier, point_at(view, 0, 13))
    view.copy_selection()
    assert copied() == "two three"


async def test_double_click_selects_a_word_and_triple_click_a_paragraph(qtbot):
    view = await view_of(qtbot, [message("one two three\n\nfour five")])
    where = point_at(view, 0, 5)
    QTest.mouseClick(view.viewport(), LEFT, NONE, where)
    QTest.mouseDClick(view.viewport(), LEFT, NONE, where)
    view.copy_selection()
    assert copied() == "two"
    QTest.mousePress(view.viewport(), LEFT, NONE, where)
    view.copy_selection()
    assert copied() == "one two three"


async def test_a_click_on_a_link_activates_it(qtbot):
    view = await view_of(qtbot, [message("[the log](https://example.org/log) is here")])
    opened = []
    view.link_activated.connect(lambda url: opened.append(url.toString()))
    QTest.mouseClick(view.viewport(), LEFT, NONE, point_at(view, 0, 3))
    QTest.mouseClick(view.viewport(), LEFT, NONE, point_at(view, 0, 12))
    assert opened == ["https://example.org/log"]


async def test_a_click_expands_and_collapses_the_thinking(qtbot):
    view = await view_of(qtbot, [message("Said.", thinking="Thought of.")])
    message_layout, placed = view.message_layout(0), view.placed_row(0)
    folded = message_layout.height
    where = QPoint(view.text_column()[0], placed.top) + message_layout.thoughts_rect.center()
    QTest.mouseClick(view.viewport(), LEFT, NONE, where)
    assert view.message_layout(0).height > folded
    assert view.message_layout(0).thoughts_document.extract_text(0, 99) == "Thought of."
    QTest.mouseClick(view.viewport(), LEFT, NONE, where)
    assert view.message_layout(0).height == folded


async def test_action_buttons_appear_below_the_hovered_message_and_act_on_it(qtbot):
    messages = [
        message("Hello.", Role.USER),
        message(alternatives=[Alternative(content="a"), Alternative(content="b")], shown=0),
    ]
    view = await view_of(qtbot, messages)
    reported: list[tuple[str, UUID]] = []
    view.regenerate_requested.connect(lambda each: reported.append(("regenerate", each)))
    view.continue_requested.connect(lambda each: reported.append(("continue", each)))
    view.delete_requested.connect(lambda each: reported.append(("delete", each)))
    view.alternative_requested.connect(lambda each, index: reported.append((f"alternative {index}", each)))
    view.read_requested.connect(lambda each: reported.append(("read", each)))
    QTest.mouseMove(view.viewport(), point_at(view, 1, 0))
    await process_events()
    bar = view.action_buttons
    assert bar.isVisible()
    buttons = {button.accessibleName(): button for button in bar.findChildren(QToolButton)}
    shown = {title for title, button in buttons.items() if button.isVisible()}
    assert shown == {
        "Previous swipe", "Next swipe", "Good reply", "Bad reply", "Read aloud", "Copy", "Edit", "Regenerate", "Continue",
        "Delete message",
    }  # fmt: skip
    assert not buttons["Previous swipe"].isEnabled()
    for title in ("Next swipe", "Regenerate", "Continue", "Read aloud", "Delete message", "Copy"):
        QTest.mouseClick(buttons[title], LEFT)
    reply = messages[1].id
    assert reported == [
        ("alternative 1", reply),
        ("regenerate", reply),
        ("continue", reply),
        ("read", reply),
        ("delete", reply),
    ]
    assert copied() == "a"
    assert QToolTip.text() == "Copied"


async def test_only_the_last_reply_can_be_regenerated(qtbot):
    view = await view_of(qtbot, [message("One."), message("Two.", Role.USER)])
    for row in (0, 1):
        titles = [action.text() for action in view.build_menu(row).actions()]
        assert "Edit" in titles
        assert "Regenerate" not in titles


async def test_nothing_can_be_changed_while_a_reply_grows(qtbot):
    view = await view_of(qtbot, [message("One.", Role.USER)])
    view.chat_model.start_reply(message(""))
    assert [action.text() for action in view.build_menu(0).actions()] == ["Copy"]


async def test_a_message_is_edited_in_its_place(qtbot):
    messages = conversation(3)
    view = await view_of(qtbot, messages)
    saved = []
    view.edited.connect(lambda each, text: saved.append((each, text)))
    before = view.message_layout(1).height
    view.edit_message(messages[1].id)
    editor = view.editor
    assert editor.isVisible()
    assert view.message_layout(1).height != before
    editor.field.setPlainText("Other *words*.")
    QTest.keyClick(editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert saved == [(messages[1].id, "Other *words*.")]
    assert view.editor is None
    assert view.message_layout(1).height == before


async def test_escape_cancels_the_edit_of_a_message(qtbot):
    messages = conversation(2)
    view = await view_of(qtbot, messages)
    saved = []
    view.edited.connect(lambda *each: saved.append(each))
    view.edit_message(messages[0].id)
    QTest.keyClick(view.editor.field, Qt.Key.Key_Escape)
    assert saved == []
    assert view.editor is None


async def test_tab_focuses_a_message_and_arrows_the_next_ones(qtbot):
    view = await view_of(qtbot, conversation(30))
    view.activateWindow()
    view.setFocus(Qt.FocusReason.OtherFocusReason)
    assert view.focused_row is None
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert view.focused_row == 29
    QTest.keyClick(view, Qt.Key.Key_Up)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.focused_row == 27
    assert view.actions_row == 27
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.focused_row is None


async def test_arrows_and_pages_scroll_when_no_message_has_the_focus(qtbot):
    view = await view_of(qtbot, conversation(100))
    view.setFocus(Qt.FocusReason.OtherFocusReason)
    before = view.verticalScrollBar().value()
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    await process_events()
    assert view.verticalScrollBar().value() < before
    QTest.keyClick(view, Qt.Key.Key_Home)
    await process_events()
    assert view.visible_rows[0].row == 0
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert view.is_at_end


async def test_enter_opens_the_menu_of_the_focused_message(qtbot):
    view = await view_of(qtbot, conversation(3))
    view.setFocus()
    view.focus_row(1)
    QTest.keyClick(view, Qt.Key.Key_Return)
    menu = QApplication.activePopupWidget()
    assert "Edit" in [action.text() for action in menu.actions()]
    menu.close()


async def test_the_context_menu_lists_links_so_that_the_keyboard_reaches_them(qtbot):
    view = await view_of(qtbot, [message("See https://example.org/a now.")])
    assert "Open https://example.org/a" in [action.text() for action in view.build_menu(0).actions()]


async def test_the_context_menu_opens_where_the_pointer_is(qtbot):
    view = await view_of(qtbot, [message("See [here](https://example.org/a).")])
    where = point_at(view, 0, 6)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, view.viewport().mapToGlobal(where))
    QApplication.sendEvent(view.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert "Copy link address" in [action.text() for action in menu.actions()]
    menu.close()


async def test_select_all_selects_the_focused_message(qtbot):
    view = await view_of(qtbot, [message("All of this."), message("Not this.", Role.USER)])
    view.setFocus()
    view.focus_row(0)
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied() == "All of this."


async def test_the_dots_of_an_awaited_reply_are_animated_unless_motion_is_reduced(qtbot):
    view = await view_of(qtbot, conversation(2))
    view.chat_model.add_placeholder("mira", "Mira", SESSION)
    await process_events()
    assert await changes_by_itself(view)
    view.set_reduced_motion(True)
    await process_events()
    assert not await changes_by_itself(view)
    view.set_reduced_motion(False)
    view.chat_model.append_content("Words.")
    view.layout_growing_reply()
    assert not await changes_by_itself(view)


async def test_another_palette_and_font_are_applied_at_once(qtbot):
    view = await view_of(qtbot, conversation(10, "words " * 60))
    before = view.message_layout(9).height
    view.set_message_palette(DAY)
    view.set_prose_font("", 22)
    await process_events()
    assert view.message_layout(9).height > before
    assert view.grab().toImage().pixelColor(4, 4).name() == DAY.background.lower()


async def test_an_empty_session_shows_its_text(qtbot):
    view = await view_of(qtbot, [])
    blank = view.grab().toImage()
    view.set_empty_texts("Nobody has spoken yet", "Write the first words below.")
    assert view.grab().toImage() != blank


async def test_visible_messages_have_a_rectangle_for_assistive_technology(qtbot):
    view = await view_of(qtbot, conversation(40))
    first = view.visible_rows[1]
    index = view.chat_model.index(first.row)
    assert view.visualRect(index).top() == first.top
    assert view.indexAt(view.visualRect(index).center()) == index
    assert not view.visualRect(view.chat_model.index(0)).isValid()
    assert view.accessibleName() == "Conversation"


async def test_a_deleted_message_leaves_the_others_in_place(qtbot):
    messages = conversation(60)
    view = await view_of(qtbot, messages)
    view.scroll_by(-1500)
    await process_events()
    middle = view.visible_rows[3].row
    before = tops(view)
    view.chat_model.remove_messages(messages[middle].id)
    await process_events()
    after = tops(view)
    above = [messages[row].id for row in range(view.visible_rows[0].row, middle)]
    assert above
    assert {each: after[each] for each in above} == {each: before[each] for each in above}


async def test_another_session_starts_without_editor_and_at_its_end(qtbot):
    view = await view_of(qtbot, conversation(60))
    view.edit_message(view.chat_model.outline(59).id)
    view.scroll_by(-500)
    fresh = [message("Only me.")]
    view.chat_model.show_session(outlines(fresh), Pages(fresh))
    await process_events()
    assert view.editor is None
    assert [placed.row for placed in view.visible_rows] == [0]
    assert view.is_at_end


async def test_each_message_is_a_list_item_for_assistive_technology(qtbot):
    view = await view_of(qtbot, conversation(40))
    reported = QAccessible.queryAccessibleInterface(view)
    assert reported.role() == QAccessible.Role.List
    assert reported.childCount() == 40
    name = reported.child(39).text(QAccessible.Text.Name)
    assert name.startswith("Tomas, ")
    assert name.endswith("She waits, and the lamp swings over the chart.")


async def test_a_growing_reply_is_announced_sentence_by_sentence(qtbot, monkeypatch):
    class Listening:
        received: ClassVar[list[str]] = []

        @staticmethod
        def isActive() -> bool:  # noqa: N802 - Qt's spelling
            return True

        @classmethod
        def updateAccessibility(cls, event: QAccessibleAnnouncementEvent) -> None:  # noqa: N802 - Qt's spelling
            cls.received.append(event.message())

    view = await view_of(qtbot, conversation(4))
    monkeypatch.setattr("lethe_app.ui.core.accessibility.QAccessible", Listening)
    reply = message("")
    view.chat_model.start_reply(reply)
    view.chat_model.append_content("*She nods.")
    await process_events()
    assert Listening.received == []
    view.chat_model.append_content("* “A fathom. And")
    await process_events()
    assert Listening.received == ["Mira: She nods. “A fathom."]
    view.chat_model.finish_reply(message("*She nods.* “A fathom. And a hand.”", id=reply.id))
    assert Listening.received == ["Mira: She nods. “A fathom.", "And a hand.”"]
