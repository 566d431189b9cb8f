"""The window with real services: what a user does, by mouse and keyboard."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QPushButton

from lethe_app.paths import Paths
from lethe_app.ui.chat.chat_panel import ChatPanel
from lethe_app.ui.core.routes import ACTION_ROUTES, PAGES, TabGroup
from lethe_app.ui.shell.main_window import MainWindow
from lethe_app.ui.transcript.message_editor import MessageEditor
from lethe_app.ui.widgets.labels import ElidedLabel
from tests.ui.window_scene import opened, settled, until

pytestmark = pytest.mark.usefixtures("styled_app")


def test_the_skeleton_loads_nothing_but_qt():
    heavy = "pydantic asyncio lethe_app.services.events lethe_app.domain.chat markdown_it"
    code = (
        f"import sys; import lethe_app.ui.shell.main_window; print([name for name in '{heavy}'.split() if name in sys.modules])"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


async def test_a_message_is_answered_word_by_word(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Good evening, captain.")) as scene:
        scene.send("Good evening.")
        await until(lambda: not scene.is_replying and len(scene.words) == 3)

        assert scene.words[1:] == ["Good evening.", "Good evening, captain."]
        assert re.match(r"\d+ words?/s", scene.window.chat.status.full_text)
        assert scene.toasts == []


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
async def test_a_button_outside_a_dialog_is_pressed_once_by_enter_and_space(tmp_path, echo_model, key: Qt.Key):
    async with opened(tmp_path, echo_model("Good evening.")) as scene:
        scene.window.window_actions["memories"].trigger()
        await until(lambda: scene.page is not None)
        chip = next(button for button in scene.page.findChildren(QPushButton) if button.text() == "By meaning")
        pressed: list[bool] = []
        chip.toggled.connect(pressed.append)
        chip.setFocus()

        QTest.keyClick(chip, key)

        assert pressed == [True]
        assert chip.isChecked()
        assert scene.draft.toPlainText() == ""


async def test_esc_stops_a_reply_and_keeps_the_half(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.01)) as scene:
        scene.send("Speak.")
        await until(lambda: len(scene.words) == 3 and len(scene.words[2]) > 20)
        assert scene.window.chat.composer.send_button.accessibleName().startswith("Stop")

        QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)

        stored = await scene.services.sessions.page(scene.session.guid, 2, 1)
        assert 0 < len(stored[0].content) < 9000
        assert scene.words[2].strip() == stored[0].content.strip()


async def test_a_message_stopped_before_it_was_sent_comes_back(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.send("Wait, no.")
        QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)

        assert scene.draft.toPlainText() == "Wait, no."
        assert len(scene.words) == 1


async def test_a_reply_goes_on_while_the_reader_looks_elsewhere(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 60, delay=0.02)) as scene:
        scene.send("Speak.")
        await until(lambda: len(scene.words) == 3 and len(scene.words[2]) > 20)

        scene.window.sidebar.persona_chosen.emit("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund") and len(scene.words) == 1)
        assert scene.draft.toPlainText() == ""
        assert scene.is_replying
        scene.window.sidebar.persona_chosen.emit("mira")
        await until(lambda: not scene.is_replying and len(scene.words) == 3)

        assert scene.words[2].split() == ["word"] * 60


async def test_another_reply_becomes_a_second_wording(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("First.", "Second.")) as scene:
        await scene.say("Again?")
        QTest.keyClick(scene.draft, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: not scene.is_replying and scene.words[2] == "Second.")

        QTest.keyClick(scene.draft, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        await until(lambda: scene.words[2] == "First.")


async def test_a_dead_model_is_told_with_a_button_and_never_as_a_message(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("one two three four five six", crash_after=3)) as scene:
        scene.send("Speak.")
        await until(lambda: scene.toasts and not scene.is_replying)

        assert len(scene.toasts) == 1
        assert "Restart" in [button.text() for button in scene.toasts[0].findChildren(QPushButton)]
        assert scene.words[1] == "Speak."
        assert all("process" not in words for words in scene.words[1:])


async def test_a_model_that_cannot_be_read_is_told_and_the_message_is_kept(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"this is no model")
    async with opened(tmp_path, broken) as scene:
        await until(lambda: scene.toasts)
        scene.send("Anyone?")
        await until(lambda: not scene.is_replying and len(scene.words) == 2)

        assert scene.words[1:] == ["Anyone?"]
        assert "broken.gguf" in scene.toasts[0].text
        assert "Choose model" in [button.text() for button in scene.toasts[0].findChildren(QPushButton)]
        assert "not running" in scene.window.chat.status.full_text


async def test_new_rename_and_delete_with_a_way_back(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Hello.")
        first = str(scene.session.guid)
        scene.window.sidebar.rename_requested.emit(first, "First night")
        await until(lambda: "First night" in scene.titles)

        scene.window.sidebar.command_chosen.emit("delete", first)
        question = await scene.dialog()
        assert question.primary.text() == "Delete “First night” (3 messages)"
        QTest.keyClick(question, Qt.Key.Key_Return)
        await until(lambda: "First night" not in scene.titles and scene.toasts)

        scene.toasts[0].findChildren(QPushButton)[0].click()
        await until(lambda: "First night" in scene.titles and len(scene.words) == 3)


async def test_f2_in_the_message_box_renames_the_conversation_and_sends_nothing(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Hello.")
        await until(lambda: scene.window.sidebar.model.find_session(str(scene.session.guid)))
        scene.draft.setFocus()

        QTest.keyClick(scene.draft, Qt.Key.Key_F2)
        field = scene.window.sidebar.session_list.findChild(QLineEdit)
        field.selectAll()
        QTest.keyClicks(field, "First night")
        QTest.keyClick(field, Qt.Key.Key_Return)

        renamed: list[object] = []
        scene.services.sessions.changed.add(renamed.append)
        await until(lambda: "First night" in scene.titles and renamed)
        assert (await scene.services.sessions.open(scene.session.guid)).name == "First night"
        assert len(scene.words) == 3


async def test_esc_in_the_question_deletes_nothing(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        guid = str(scene.session.guid)
        await until(lambda: scene.window.sidebar.model.find_session(guid))
        scene.window.sidebar.command_chosen.emit("delete", guid)
        QTest.keyClick(await scene.dialog(), Qt.Key.Key_Escape)
        await until(lambda: True)

        assert len(await scene.services.sessions.list("mira")) == 1


async def test_ctrl_n_begins_a_new_conversation(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Hello.")

        QTest.keyClick(scene.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: len(scene.words) == 1)

        assert len(await scene.services.sessions.list("mira")) == 2


async def test_up_in_an_empty_field_edits_the_last_own_message(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.say("Helo.")

        QTest.keyClick(scene.draft, Qt.Key.Key_Up)
        await until(lambda: scene.controller.view.findChild(MessageEditor) is not None)
        editor = scene.controller.view.findChild(MessageEditor).findChild(QPlainTextEdit)
        assert editor.toPlainText() == "Helo."
        QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(editor, "Hello.")
        QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: scene.words[1] == "Hello.")


async def test_closing_and_opening_shows_the_conversation_again(tmp_path, echo_model):
    model = echo_model("I remember.")
    async with opened(tmp_path, model) as scene:
        await scene.say("Remember me.")

    async with opened(tmp_path, model) as scene:
        await until(lambda: len(scene.words) == 3 and scene.words[2])

        assert scene.words[1:] == ["Remember me.", "I remember."]


async def test_the_theme_and_the_text_size_follow_the_settings(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await scene.services.preferences.set(theme="light")
        assert scene.window.theme.palette.name == "day"

        QTest.keyClick(scene.window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: scene.window.theme.prose_size == 16)

    again = MainWindow(Paths.standard(tmp_path))
    assert (again.theme.palette.name, again.theme.prose_size) == ("day", 16)
    again.deleteLater()


async def test_a_narrow_window_keeps_the_sidebar_in_a_drawer(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        window = scene.window
        window.resize(640, 700)
        await until(lambda: window.panes.is_narrow)
        assert not window.sidebar.isVisible()
        assert window.chat.header.sidebar_button.isVisible()

        QTest.mouseClick(window.chat.header.sidebar_button, Qt.MouseButton.LeftButton)
        assert window.sidebar.isVisible()
        window.sidebar.persona_chosen.emit("edmund")
        await until(lambda: window.windowTitle().startswith("Edmund"))
        assert not window.sidebar.isVisible()

        window.resize(1100, 700)
        await until(window.sidebar.isVisible)
        assert not window.chat.header.sidebar_button.isVisible()


async def test_f6_goes_round_the_panes(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        window = scene.window
        window.activateWindow()
        scene.draft.setFocus()
        stops = []
        for _press in range(3):
            QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_F6)
            stops.append(QApplication.focusWidget())

        assert stops == [window.sidebar.session_list, scene.controller.view, scene.draft]


async def test_every_control_has_a_name_to_be_read_out(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        window = scene.window
        for control in (
            window.sidebar.search_field,
            window.sidebar.session_list,
            window.sidebar.gear_button,
            window.chat.header.sidebar_button,
            window.chat.status,
            window.chat.composer.draft_field,
            window.chat.composer.send_button,
            scene.controller.view,
        ):
            assert control.accessibleName(), control
        assert window.sidebar.new_session_button.text() == "New conversation"


async def test_tab_goes_through_everything_in_the_order_it_is_seen(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        window, panel = scene.window, scene.window.chat
        expected = [
            window.sidebar.search_field,
            window.sidebar.new_session_button,
            window.sidebar.session_list,
            window.sidebar.gear_button,
            panel.status,
            scene.controller.view,
            panel.composer.draft_field,
            panel.composer.send_button,
        ]
        order, widget = [], window.sidebar.search_field
        for _step in range(200):
            if widget in expected:
                order.append(widget)
            widget = widget.nextInFocusChain()
            if widget is window.sidebar.search_field:
                break

        assert order == expected


async def test_notifications_hide_neither_the_memory_panel_nor_the_head_of_a_page(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.resize(1280, 800)
        scene.window.panes.open_panel()
        scene.window.notifier.notify("The first of them.", "With a detail.")
        await settled(scene, scene.window)
        (toast,) = scene.toasts
        panel = scene.window.memory_panel
        assert not QRect(panel.mapTo(scene.window.pages, QPoint()), panel.size()).intersects(toast.geometry())
        assert toast.y() >= scene.window.chat.header.height()

        scene.window.resize(700, 600)  # where the panel lies over the conversation
        scene.window.panes.open_panel()
        await settled(scene, scene.window)
        assert toast.y() > scene.window.height() // 2

        scene.window.window_actions["memories"].trigger()
        await until(lambda: scene.page is not None)
        await settled(scene, scene.window)
        assert toast.y() > scene.window.height() // 2


async def test_the_send_button_is_visible_in_the_lowest_window(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.resize(640, 1)
        scene.draft.setPlainText("\n".join(["a line"] * 30))
        await settled(scene, scene.window)

        assert scene.window.height() <= 340  # a screen of 1280 × 800 at twice the scale, less frame and task bar
        button = scene.window.chat.composer.send_button
        assert scene.window.rect().contains(QRect(button.mapTo(scene.window, QPoint()), button.size()))


async def test_the_model_menu_ticks_the_one_that_answers(tmp_path, echo_model):
    model = echo_model("Yes.")
    async with opened(tmp_path, model) as scene:
        await until(lambda: scene.window.chat.status.full_text.startswith("●"))
        state = scene.services.models.state
        menu = scene.controller.model_controller.build_menu([state.model.file])

        assert [action.isChecked() for action in menu.actions() if action.isCheckable()] == [True]
        assert "Choose a GGUF file…" in [action.text() for action in menu.actions()]


async def test_the_gear_menu_tells_the_truth_and_changes_it(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.controller.gear_menu.rebuild_menu()
        hidden = next(action for action in scene.controller.gear_menu.menu.actions() if action.text() == "Show hidden messages")
        assert not hidden.isChecked()

        hidden.trigger()
        await until(lambda: scene.services.preferences.current.show_hidden)

        assert scene.controller.messages.show_hidden


async def test_the_mouse_alone_leads_from_the_gear_to_every_page_and_to_the_list_of_commands(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.controller.gear_menu.rebuild_menu()
        menus = [
            scene.controller.gear_menu.menu,
            *(one.menu() for one in scene.controller.gear_menu.menu.actions() if one.menu() is not None),
        ]
        names = {action.objectName() for menu in menus for action in menu.actions()}
        groups = [[page.name for page in PAGES.values() if page.tabs is group] for group in TabGroup]
        tabs = {name for group in groups if group[0] in names for name in group}  # one click more

        elsewhere = {"new_persona", "persona_editor", "inspector"}  # buttons beside the conversation lead there
        assert {*ACTION_ROUTES, "persona_editor"} - elsewhere <= names | tabs
        assert "palette" in names


async def test_a_notification_lies_where_a_conversation_is_empty(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 900)) as scene:
        view = scene.window.chat.view
        await until(lambda: scene.words and view.visible_rows)
        scene.window.notifier.notify("Imported: 1 chat.")
        (toast,) = scene.toasts
        assert toast.geometry().top() > view.visible_rows[-1].top + view.visible_rows[-1].height

        scene.controller.replies.send_message("Tell me everything.")
        await until(lambda: not scene.is_replying and view.verticalScrollBar().maximum() > 0)
        await until(lambda: toast.geometry().bottom() < scene.window.height() // 2)


async def test_a_notification_covers_the_beginning_only_if_the_end_has_no_room_for_it(tmp_path, echo_model, monkeypatch):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.notifier.notify_undoable("Deleted.", lambda: None)
        (toast,) = scene.toasts
        for free_height, is_end in ((toast.height() + 24, True), (toast.height() - 24, False)):
            monkeypatch.setattr(ChatPanel, "free_height", free_height)
            scene.window.notifier.arrange_toasts()
            assert (toast.geometry().top() > scene.window.height() // 2) is is_end


async def test_a_tagline_that_does_not_fit_is_left_out(qtbot):
    label = ElidedLabel(min_share=0.6)
    qtbot.addWidget(label)
    label.set_full_text("quiet keeper of the lighthouse")
    label.resize(label.sizeHint().width(), 20)
    label.show()
    assert label.text() == "quiet keeper of the lighthouse"

    label.resize(label.sizeHint().width() * 4 // 5, 20)
    assert label.text().startswith("quiet keeper of")
    label.resize(label.sizeHint().width() // 3, 20)
    assert label.text() == ""
    assert label.toolTip() == label.accessibleName() == "quiet keeper of the lighthouse"
