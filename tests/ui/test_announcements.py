"""What screen readers are told besides the name of the widget with the focus."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QPushButton

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.pages.trash.page import TrashPage
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


class Reader:
    """Stands for QAccessible while a screen reader is running, and keeps what it is told."""

    Event = QAccessible.Event

    def __init__(self) -> None:
        self.announced: list[str] = []
        self.sources: list[object] = []
        self.focused_rows: list[int] = []

    def isActive(self) -> bool:  # noqa: N802 - Qt's spelling
        return True

    def updateAccessibility(self, event: QAccessibleEvent) -> None:  # noqa: N802 - Qt's spelling
        if isinstance(event, QAccessibleAnnouncementEvent):
            self.announced.append(event.message())
            self.sources.append(event.object())
        else:
            self.focused_rows.append(event.child())


@pytest.fixture
def reader(monkeypatch) -> Reader:
    made = Reader()
    monkeypatch.setattr("lethe_app.ui.core.accessibility.QAccessible", made)
    return made


async def send(scene: Scene, text: str) -> None:
    """Send a message and wait for the end of the reply."""
    rows = len(scene.words)
    scene.send(text)
    await until(lambda: len(scene.words) == rows + 2 and scene.words[-1] and not scene.is_replying)


def test_the_main_window_announces_for_every_widget_also_in_a_dialog(reader, qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    outside, dialog = QPushButton(window), QDialog(window)
    announce(outside, "Copied")
    announce(QPushButton(dialog), "Saved")

    assert reader.announced == ["Copied", "Saved"]
    assert reader.sources == [window, window]


async def test_the_chosen_command_of_the_palette_is_announced(tmp_path, reader):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        reader.announced.clear()
        QTest.keyClicks(palette.search_field, "dark mode")
        assert reader.announced[-1] == "Theme Settings › General"

        palette.search_field.clear()
        reader.announced.clear()
        QTest.keyClick(palette.search_field, Qt.Key.Key_Down)
        assert reader.announced == [palette.command_list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)]


async def test_a_swipe_is_read_with_its_number(tmp_path, echo_model, reader):
    async with opened(tmp_path, echo_model("One.", "Two.")) as scene:
        await send(scene, "Hello.")
        scene.controller.replies.swipe(scene.controller.messages.outline(2).id, 1)
        await until(lambda: scene.words[-1] == "Two." and not scene.controller.replies.is_busy)

        scene.controller.replies.swipe(scene.controller.messages.outline(2).id, -1)
        await until(lambda: "swipe 1 of 2" in reader.announced[-1])
        assert reader.announced[-1].endswith("One.")


async def test_a_rating_is_announced_and_so_is_its_removal(tmp_path, echo_model, reader):
    async with opened(tmp_path, echo_model("Indeed.")) as scene:
        await send(scene, "Hello.")
        reply = scene.controller.messages.outline(2).id
        scene.controller.view.rating_requested.emit(reply, ReplyRating.GOOD.value)
        await until(lambda: reader.announced[-1] == "rated good")

        scene.controller.view.rating_requested.emit(reply, ReplyRating.GOOD.value)
        await until(lambda: reader.announced[-1] == "rating removed")


async def test_the_end_of_a_reply_that_was_cut_off_is_announced(tmp_path, echo_model, reader):
    async with opened(tmp_path, echo_model("word " * 40)) as scene:
        await scene.services.preferences.set(max_reply=16)
        await send(scene, "Speak.")

        await until(lambda: "cut off at the maximum length" in reader.announced)


async def test_a_copied_message_and_the_memory_panel_are_announced(tmp_path, reader):
    async with opened(tmp_path) as scene:
        scene.controller.view.copy_message(0)
        assert reader.announced[-1] == "Copied"

        scene.window.window_actions["memory_panel"].trigger()
        first = reader.announced[-1]
        scene.window.window_actions["memory_panel"].trigger()
        assert {first, reader.announced[-1]} == {"Memory panel shown", "Memory panel hidden"}


async def test_the_message_with_the_focus_is_read_again_on_coming_back(tmp_path, echo_model, reader):
    async with opened(tmp_path, echo_model("Indeed.")) as scene:
        await send(scene, "Hello.")
        scene.window.activateWindow()
        view = scene.controller.view
        view.setFocus(Qt.FocusReason.TabFocusReason)
        view.focus_row(1)
        await until(lambda: reader.focused_rows[-1:] == [1])

        scene.draft.setFocus()
        reader.focused_rows.clear()
        view.setFocus(Qt.FocusReason.BacktabFocusReason)
        await until(lambda: reader.focused_rows[-1:] == [1])


async def test_the_number_of_matches_is_announced_while_one_types(tmp_path, reader):
    async with opened(tmp_path) as scene:
        scene.window.activateWindow()
        scene.window.sidebar.focus_search()
        QTest.keyClicks(scene.window.sidebar.search_field, "Edm")
        assert reader.announced[-1] == "1 match"
        QTest.keyClicks(scene.window.sidebar.search_field, "zzz")
        assert reader.announced[-1] == "No matches."

        scene.window.window_actions["trash"].trigger()
        await until(lambda: isinstance(scene.page, TrashPage))
        scene.page.search.setFocus()
        QApplication.processEvents()
        QTest.keyClicks(scene.page.search, "q")
        assert reader.announced[-1] == "0 matches"


async def test_an_opened_conversation_is_announced_by_its_newest_message(tmp_path, echo_model, reader):
    async with opened(tmp_path, echo_model("Indeed.")) as scene:
        await send(scene, "Hello.")
        answered = scene.session
        scene.controller.session_controller.start_incognito("")
        await until(lambda: reader.announced[-1].startswith("Incognito. Mira: "))

        scene.controller.session_controller.choose_session(str(answered.guid))
        await until(lambda: reader.announced[-1] == "Mira: Indeed.")


async def test_tab_leads_from_the_message_over_the_microphone_to_send(tmp_path):
    async with opened(tmp_path) as scene:
        scene.window.activateWindow()
        scene.draft.setFocus()
        composer, met = scene.window.chat.composer, []
        for _ in range(2):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            met.append(QApplication.focusWidget())
        assert met == [composer.microphone_button, composer.send_button]


async def test_a_notification_is_announced_with_its_button(tmp_path, reader):
    async with opened(tmp_path) as scene:
        scene.window.notifier.notify("The message was deleted.", button="Undo", action=lambda: None)
        assert reader.announced[-1] == "Notification: The message was deleted. Button: Undo"


async def test_the_menu_of_the_loudspeaker_opens_with_the_down_key(tmp_path):
    async with opened(tmp_path) as scene:
        button = scene.window.chat.header.speech.speak_button
        QTest.keyClick(button, Qt.Key.Key_Down)
        assert button.menu().isVisible()
        assert button.menu().activeAction() is button.menu().actions()[0]
        button.menu().close()
