"""The list of commands says so where there is nothing to choose from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages.overview.page import OverviewPage
from lethe_app.ui.pages.personas.editor import PersonaEditor
from lethe_app.ui.pages.search.page import SearchPage
from lethe_app.ui.pages.settings.page import SettingsPage
from tests.ui.form_fields import field_of
from tests.ui.window_scene import Scene, opened, process_events, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def test_words_that_no_command_is_called_by_are_answered(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        assert not palette.empty_label.isVisible()

        QTest.keyClicks(palette.search_field, "zzz")
        assert palette.empty_label.isVisible()

        palette.search_field.setText("memor")
        assert not palette.empty_label.isVisible()


async def test_a_setting_is_found_by_another_word_and_opened(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        QTest.keyClicks(palette.search_field, "dark mode")
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)

        page = scene.page
        assert isinstance(page, SettingsPage)
        await until(lambda: page.sections.currentItem() is not None)
        theme = field_of(page, "theme")
        await until(lambda: theme.isVisibleTo(page) and theme.hasFocus())


async def test_a_page_is_found_by_its_first_word_before_settings_of_its_subject(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        QTest.keyClicks(palette.search_field, "network")
        assert rows(scene)[0] == "Network log"


async def test_a_command_runs_though_the_field_that_had_the_focus_is_gone(tmp_path):
    async with opened(tmp_path) as scene:
        name_field = QLineEdit(scene.window)
        name_field.show()
        name_field.setFocus()
        palette = scene.controller.command_palette
        palette.open_palette()
        name_field.deleteLater()
        process_events()

        QTest.keyClicks(palette.search_field, "overview")
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)

        assert isinstance(scene.page, OverviewPage)


async def test_what_is_no_command_can_be_searched_for_in_everything(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        QTest.keyClicks(palette.search_field, "zzz lantern")
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)

        assert palette.isHidden()
        assert isinstance(scene.page, SearchPage)
        assert scene.page.search.text() == "zzz lantern"


def rows(scene: Scene) -> list[str]:
    model = scene.controller.command_palette.command_list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


async def test_without_words_the_commands_used_last_stand_first(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        assert rows(scene)[:2] == ["New conversation", "Settings"]

        QTest.keyClicks(palette.search_field, "keyboard")
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)
        (await scene.dialog()).close()
        await until(lambda: scene.services.preferences.stored.recent_commands == ["keyboard_shortcuts"])

        palette.open_palette()
        assert rows(scene)[:2] == ["Keyboard shortcuts", "New conversation"]
        assert rows(scene).count("Keyboard shortcuts") == 1


async def test_a_command_that_is_not_available_is_found_and_says_so(tmp_path):
    async with opened(tmp_path) as scene:
        palette = scene.controller.command_palette
        palette.open_palette()
        assert "Stop generating" not in rows(scene)

        palette.search_field.setText("stop reply")
        assert rows(scene)[0] == "Stop generating"
        accessible = palette.command_list.model().index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        assert accessible == "Stop generating not available now"
        QTest.keyClick(palette.search_field, Qt.Key.Key_Return)

        assert palette.isVisible()


def run_command(scene: Scene, words: str) -> None:
    """As the user does it: open the palette, type and press Enter."""
    palette = scene.controller.command_palette
    palette.open_palette()
    QTest.keyClicks(palette.search_field, words)
    QTest.keyClick(palette.search_field, Qt.Key.Key_Return)


async def test_messages_are_edited_copied_and_restored_by_command(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Indeed.")) as scene:
        scene.send("Hello.")
        await until(lambda: scene.words[-1] == "Indeed." and not scene.is_replying)

        run_command(scene, "copy message")
        assert QApplication.clipboard().text() == "Indeed."

        run_command(scene, "edit message")
        field = scene.controller.view.editor.field
        assert field.toPlainText() == "Hello."
        field.setPlainText("Good evening.")
        QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: "Good evening." in scene.words)

        run_command(scene, "undo")
        await until(lambda: "Hello." in scene.words)
        run_command(scene, "undo")
        await until(lambda: any(toast.text.startswith("There is nothing to undo") for toast in scene.toasts))


async def test_the_conversation_is_renamed_and_deleted_by_command(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Indeed.")) as scene:
        first = scene.session
        run_command(scene, "rename chat")
        field = scene.window.sidebar.session_list.findChild(QLineEdit)
        field.setText("The lighthouse")
        QTest.keyClick(field, Qt.Key.Key_Return)
        renamed: list[object] = []
        scene.services.sessions.changed.add(renamed.append)
        await until(lambda: "The lighthouse" in scene.titles and renamed)

        run_command(scene, "delete chat")
        dialog = await scene.dialog()
        assert isinstance(dialog, ConfirmDialog)
        dialog.accept()
        await until(lambda: "The lighthouse" not in scene.titles and scene.session.guid != first.guid)


async def test_commands_for_the_conversation_are_not_offered_on_a_page(tmp_path):
    async with opened(tmp_path) as scene:
        run_command(scene, "duplicate persona")
        await until(lambda: isinstance(scene.page, PersonaEditor))

        palette = scene.controller.command_palette
        palette.open_palette()
        listed = palette.command_list.model()
        titles = {listed.index(row, 0).data() for row in range(listed.rowCount())}

        assert {"Undo change", "Redo change", "Rename conversation"} <= titles
        assert not {"Copy last reply", "Delete conversation", "Edit last message (message box empty)"} & titles
