"""The editor of personas, driven as a user would: written from nothing, undone, tried out, pictured, copied, and let go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QImage, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QSpinBox

from lethe_app.domain.persona import Persona, Weekday
from lethe_app.errors import FileError
from lethe_app.services.events import ModelReady
from lethe_app.services.speech.voices import Voice
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.dialogs.image_crop import SAVED_SIDE, CropDialog, CropFrame
from lethe_app.ui.pages.personas.draft import Draft
from lethe_app.ui.pages.personas.editor import UnsavedChangesDialog
from lethe_app.ui.pages.personas.fields import VOICE
from lethe_app.ui.pages.personas.list import UserPersonasPage
from lethe_app.ui.pages.personas.page import PersonaPage
from lethe_app.ui.pages.personas.pictures import read_picture
from lethe_app.ui.pages.settings.page import SettingsPage
from lethe_app.ui.pages.trash.page import TrashPage
from lethe_app.ui.pages.undo_commands import FieldChange
from tests.speech.fake_engine import ADA, FakeEngine
from tests.ui.form_fields import error_below, field_of, note_beside
from tests.ui.test_accessibility import nameless
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def press(scene: Scene, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or scene.window, key, held)
    QApplication.processEvents()


def write(text: str) -> None:
    """Where the focus is, as a keyboard does."""
    focus = QApplication.focusWidget()
    assert focus is not None
    for line, part in enumerate(text.split("\n")):
        if line:
            QTest.keyClick(focus, Qt.Key.Key_Return)
        QTest.keyClicks(focus, part)


def tab_to(scene: Scene, name: str) -> None:
    """Press Tab until the focus is in what a screen reader calls `name`."""
    for _ in range(60):
        focus = QApplication.focusWidget()
        reported = QAccessible.queryAccessibleInterface(focus) if focus is not None else None
        if reported is not None and reported.text(QAccessible.Text.Name) == name:
            return
        press(scene, Qt.Key.Key_Tab)
    raise AssertionError(f"Tab never came to {name}")


def page_of(scene: Scene) -> PersonaPage:
    page = scene.page
    assert isinstance(page, PersonaPage)
    return page


async def editor(scene: Scene, persona_id: str) -> PersonaPage:
    scene.window.activateWindow()
    scene.controller.pages.navigator.open(PersonaRoute(persona_id))
    page = page_of(scene)
    await until(lambda: page.is_loaded and page.sheet.field("name").hasFocus())
    return page


async def new_page(scene: Scene) -> PersonaPage:
    scene.window.activateWindow()
    press(scene, Qt.Key.Key_N, CTRL | SHIFT)
    page = page_of(scene)
    await until(lambda: page.is_loaded and page.sheet.field("name").hasFocus())
    return page


def bio_of(page: PersonaPage) -> QPlainTextEdit:
    field = page.sheet.field("bio")
    assert isinstance(field, QPlainTextEdit)
    return field


# the story


async def test_a_persona_is_written_by_keyboard_from_nothing_and_answers(tmp_path: Path, echo_model):
    async with opened(tmp_path, echo_model("“One hundred and four.”")) as scene:
        page = await new_page(scene)

        write("Ada")
        press(scene, Qt.Key.Key_Tab)
        write("lamp keeper")
        tab_to(scene, "Bio")
        write("{{char}} counts the lamps of Velm.\n\nShe talks to {{user}} in numbers.")
        tab_to(scene, "Add greeting")
        press(scene, Qt.Key.Key_Space)
        write("You are late, {{user}}.")
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: page.saved is not None)
        press(scene, Qt.Key.Key_Return, CTRL)
        await until(lambda: scene.window.windowTitle().startswith("Ada") and scene.draft.hasFocus() and scene.words)
        write("How many lamps?")
        press(scene, Qt.Key.Key_Return)
        await until(lambda: not scene.is_replying and len(scene.words) == 3)

        ada = await scene.services.library.persona("ada")
        assert scene.words == ["You are late, Guest.", "How many lamps?", "“One hundred and four.”"]
        assert (ada.name, ada.tagline) == ("Ada", "lamp keeper")
        assert ada.bio == "{{char}} counts the lamps of Velm.\n\nShe talks to {{user}} in numbers."
        assert ada.first_messages == ["You are late, {{user}}."]
        assert "Ada" in scene.titles


async def test_ten_edits_in_different_fields_are_undone_and_done_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        before = dict(page.draft.values)

        write("!")
        press(scene, Qt.Key.Key_Tab)
        write("?")
        press(scene, Qt.Key.Key_Tab)
        tab_to(scene, "Tags")
        write("tide,")
        tab_to(scene, "Bio")
        write("First. Second...")
        page.sheet.field("worlds").box_for("quarr").click()
        for name in ("mood", "sense_of_time", "disable_bot_guidance"):
            page.sheet.field(name).setFocus()
            press(scene, Qt.Key.Key_Space)
        page.sheet.field("schedule.monday").setFocus()
        write("S")
        assert page.undo_stack.count() == 10
        after = dict(page.draft.values)
        for _ in range(10):
            press(scene, Qt.Key.Key_Z, CTRL)
        undone = dict(page.draft.values)
        for _ in range(10):
            press(scene, Qt.Key.Key_Z, CTRL | SHIFT)

        assert undone == before
        assert after != before
        assert page.draft.values == after
        assert page.draft.values["bio"].startswith("First. Second...")


async def test_undo_brings_the_field_into_sight(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        write("!")
        page.sheet.sections.setCurrentRow(7)
        page.sheet.field("tools").setFocus()

        press(scene, Qt.Key.Key_Z, CTRL)

        assert page.sheet.field("name").hasFocus()
        assert page.sheet.sheet.verticalScrollBar().value() < page.sheet.sheet.verticalScrollBar().maximum() / 2


def test_typing_is_undone_by_the_sentence_and_deleting_apart_from_it(theme):
    def stroke(old: object, new: object) -> FieldChange:
        return FieldChange("bio", "bio", old, new, lambda _name, _value: None)

    assert stroke("", "A").mergeWith(stroke("A", "Ab"))
    assert stroke("A. Old.", "AB. Old.").mergeWith(stroke("AB. Old.", "ABC. Old."))
    assert stroke("A", "A.").mergeWith(stroke("A.", "A.."))
    sentence = stroke("A", "A.")
    assert sentence.mergeWith(stroke("A.", "A. "))
    assert not sentence.mergeWith(stroke("A. ", "A. B"))
    assert not stroke("A", "Ab").mergeWith(stroke("Ab", "A"))
    assert stroke(["A", "B"], ["A", "Bc"]).mergeWith(stroke(["A", "Bc"], ["A", "Bcd"]))
    assert not stroke(["A", "B"], ["A", "Bc"]).mergeWith(stroke(["A", "Bc"], ["Ad", "Bc"]))


# what is told while one writes


async def test_every_field_tells_its_tokens_and_flags_what_means_nothing(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        await until(lambda: note_beside(page, "bio").endswith("tokens"))
        before = note_beside(page, "bio")

        bio_of(page).setFocus()
        write("{{char}} wears a {{hat}}. ")
        await until(lambda: error_below(page, "bio"))

        assert "{{hat}}" in error_below(page, "bio")
        assert "{{char}}" not in error_below(page, "bio")
        assert note_beside(page, "bio") != before
        assert note_beside(page, "tagline") == ""


async def test_the_preview_is_what_the_model_would_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lethe_app.llm.models.bundled.chat_model", lambda: None)
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        bio_of(page).setFocus()
        write("{{char}} owes {{user}} a hat. ")

        await until(lambda: "Mira owes Guest a hat." in page.preview.prompt_view.toPlainText())

        assert "{{" not in page.preview.prompt_view.toPlainText()
        assert "% of the 8k context" in page.preview.total_label.text()
        assert page.preview.warning_label.isHidden()
        assert page.preview.source_label.text().startswith("No model is loaded, so this is the plain text")


async def test_the_preview_is_in_the_format_of_the_loaded_model_and_names_it(tmp_path: Path, echo_model: Callable[..., Path]):
    model = echo_model("Yes.")
    async with opened(tmp_path, model) as scene:
        await until(lambda: isinstance(scene.services.models.state, ModelReady))
        page = await editor(scene, "mira")
        bio_of(page).setFocus()
        write("{{char}} owes {{user}} a hat. ")

        await until(lambda: "Mira owes Guest a hat." in page.preview.prompt_view.toPlainText())

        assert page.preview.prompt_view.toPlainText().startswith("<|im_start|>system")
        assert page.preview.source_label.text().startswith(f"Prompt for {model.stem} at the start")
        assert "ChatML" in page.preview.source_label.text()


async def test_more_than_a_third_of_the_context_is_warned_of(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        page.change_field("bio", "A very long story. " * 1200)

        await until(lambda: not page.preview.warning_label.isHidden())
        page.undo_stack.undo()
        await until(page.preview.warning_label.isHidden)


# saving and leaving


async def test_leaving_asks_and_each_answer_is_taken_at_its_word(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        write(" of Harrow")

        press(scene, Qt.Key.Key_Escape)
        dialog = await scene.dialog()
        assert isinstance(dialog, UnsavedChangesDialog)
        QTest.mouseClick(dialog.stay_button, Qt.MouseButton.LeftButton)
        await until(lambda: not dialog.isVisible())
        assert page_of(scene) is page
        assert page.persona_name == "Mira of Harrow"

        page.back_requested.emit()
        dialog = await scene.dialog()
        assert isinstance(dialog, UnsavedChangesDialog)
        QTest.mouseClick(dialog.discard_button, Qt.MouseButton.LeftButton)
        await until(lambda: scene.page is None)
        assert (await scene.services.library.persona("mira")).name == "Mira"

        page = await editor(scene, "mira")
        write(" of Harrow")
        page.back_requested.emit()
        dialog = await scene.dialog()
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await until(lambda: scene.page is None)
        assert (await scene.services.library.persona("mira")).name == "Mira of Harrow"
        await until(lambda: scene.window.windowTitle().startswith("Mira of Harrow"))


async def test_the_title_of_the_window_names_who_is_edited(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await editor(scene, "mira")
        assert scene.window.windowTitle().startswith("Edit Mira")

        write(" of Harrow")
        assert scene.window.windowTitle().startswith("Edit Mira of Harrow")


async def test_nobody_can_be_saved_without_a_name(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await new_page(scene)
        bio_of(page).setFocus()
        write("Nobody knows.")

        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: error_below(page, "name"))

        assert page.saved is None
        assert page.sheet.field("name").hasFocus()
        page.discard_unsaved()


async def test_a_shipped_persona_is_saved_beside_ours_and_can_become_ours_again(tmp_path: Path):
    async with opened(tmp_path) as scene:
        ours = await scene.services.library.persona("mira")
        page = await editor(scene, "mira")
        write("!")
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: page.saved is not None and page.saved.name == "Mira!")
        assert scene.services.library.is_own("mira")

        page.fill_menu()
        actions = {action.text(): action for action in page.menu.actions()}
        actions["Delete…"].trigger()
        await until(lambda: any("comes with Lethe and cannot be deleted" in toast.text for toast in scene.toasts))
        actions["Reset to default"].trigger()
        assert page.persona_name == "Mira"
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)

        assert not scene.services.library.is_own("mira")
        assert await scene.services.library.persona("mira") == ours
        trash = scene.open_page("trash", TrashPage)
        await until(lambda: trash.origin_label.text().startswith("Earlier version"))
        assert trash.table.model().index(0, 1).data() == "Earlier version"


async def test_going_back_to_what_is_saved_is_one_step_that_can_be_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        write("!")
        bio_of(page).setFocus()
        write("More. ")

        page.fill_menu()
        next(action for action in page.menu.actions() if action.text() == "Revert to saved").trigger()
        assert not page.is_dirty
        press(scene, Qt.Key.Key_Z, CTRL)

        assert page.persona_name == "Mira!"
        assert page.draft.values["bio"].startswith("More. ")
        page.discard_unsaved()


def test_a_draft_comes_back_as_the_persona_it_was_made_of():
    persona = Persona(
        name="Ada", schedule={Weekday.FRIDAY: "Oil."}, plugins=["kept"], tts_voice="low", first_messages=["Hm."], worlds=["w"]
    )
    draft = Draft(persona)
    draft.values["first_messages"] = ["Hm.", "  "]

    assert draft.build_persona() == persona
    assert draft.is_equivalent_to(persona)


# what is half typed, and what others write meanwhile


async def test_what_is_typed_and_not_ended_by_enter_is_saved_too(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        tags = page.sheet.field("tags").focusProxy()
        assert isinstance(tags, QLineEdit)
        tags.setFocus()
        write("tide")
        (save_button,) = (button for button in page.findChildren(QPushButton) if button.text() == "Save")
        assert save_button.isEnabled()
        assert page.subtitle.accessibleName() == "unsaved changes"
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: page.saved is not None and "tide" in page.saved.tags)

        limit = page.sheet.field("self_edit_tokens")
        assert isinstance(limit, QSpinBox)
        limit.setFocus()
        limit.selectAll()
        write("250")
        press(scene, Qt.Key.Key_Escape)
        dialog = await scene.dialog()
        assert isinstance(dialog, UnsavedChangesDialog)
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await until(lambda: scene.page is None)

        kept = await scene.services.library.persona("mira")
        assert kept.tags[-1] == "tide"
        assert kept.self_edit_tokens == 250


async def test_saving_takes_nothing_back_that_others_wrote_meanwhile(tmp_path: Path):
    async with opened(tmp_path) as scene:
        library = scene.services.library
        page = await editor(scene, "mira")
        write("!")
        ours = await library.persona("mira")
        await library.save_persona(ours.model_copy(update={"worlds": ["quarr"], "schedule": {Weekday.MONDAY: "Soundings."}}))
        await until(lambda: page.draft.values["worlds"] == ["quarr"])
        assert page.sheet.field("worlds").box_for("quarr").isChecked()
        assert page.persona_name == "Mira!"

        file = scene.services.paths.personas / "mira.json"  # and another program, which tells nobody
        file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "self_edit_field": "I like him."}), "utf-8")
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)

        kept = await library.persona("mira")
        assert (kept.name, kept.worlds, kept.self_edit_field) == ("Mira!", ["quarr"], "I like him.")
        assert kept.schedule == {Weekday.MONDAY: "Soundings."}
        assert page.banner.isHidden()
        assert await scene.services.trash.list_items() == []


async def test_where_both_wrote_the_users_words_stay_and_the_others_lie_in_the_trash(tmp_path: Path):
    async with opened(tmp_path) as scene:
        library = scene.services.library
        page = await editor(scene, "mira")
        page.change_field("self_edit_field", "I trust him.")
        ours = await library.persona("mira")
        await library.save_persona(ours.model_copy(update={"self_edit_field": "I fear him."}))
        await until(page.banner.isVisible)
        assert "“Personal thoughts”" in page.banner.accessibleName()

        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)

        assert (await library.persona("mira")).self_edit_field == "I trust him."
        (other,) = scene.services.paths.trash.rglob("mira.*.json")
        assert json.loads(other.read_text("utf-8"))["self_edit_field"] == "I fear him."


async def test_a_file_that_was_broken_meanwhile_is_told_of_and_kept(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        write("!")
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)
        file = scene.services.paths.personas / "mira.json"
        file.write_text("{broken", "utf-8")
        write("?")
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)

        assert json.loads(file.read_text("utf-8"))["name"] == "Mira!?"
        reported = [label.text() for toast in scene.toasts for label in toast.findChildren(QLabel)]
        assert any("could not be read" in words for words in reported)
        (broken,) = scene.services.paths.trash.rglob("mira.*.json")
        assert broken.read_text("utf-8") == "{broken"


async def test_each_draft_is_kept_for_the_next_time_even_if_the_program_ends_at_once(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        write("!")
        file = QSettings(str(scene.services.paths.window), QSettings.Format.IniFormat)

        def kept() -> str:
            file.sync()
            return str(file.value("persona_drafts", ""))

        await until(lambda: "Mira!" in kept())
        page.fill_menu()
        next(action for action in page.menu.actions() if action.text() == "Duplicate").trigger()
        await until(lambda: page_of(scene) is not page and page_of(scene).is_loaded)
        write("Anna")
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        assert page.persona_name == "Mira!"
        assert page.banner.isVisible()
        press(scene, Qt.Key.Key_Z, CTRL)
        assert not page.is_dirty
        await until(lambda: 'Mira!"' not in kept())
        await scene.controller.pages.navigator.leave_all_pages()
        page = await editor(scene, "mira-copy")
        assert page.persona_name == "Mira! (copy)Anna"
        page.discard_unsaved()
    assert "Anna" not in kept()


async def test_a_long_bio_in_many_scripts_is_written_on_and_undone_where_the_cursor_is(tmp_path: Path):
    long = "The sea was grey. 🦀 البحر 海\n" * 4000
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        page.change_field("bio", long)
        bio_of(page).setFocus()
        bio_of(page).moveCursor(QTextCursor.MoveOperation.End)
        end = bio_of(page).textCursor().position()
        write("ab")
        assert page.draft.values["bio"] == f"{long}ab"
        press(scene, Qt.Key.Key_Z, CTRL)

        assert page.draft.values["bio"] == long
        assert bio_of(page).textCursor().position() == end
        page.discard_unsaved()


# a conversation with the draft


async def test_the_draft_is_talked_with_and_comes_back_unsaved(tmp_path: Path):
    async with opened(tmp_path) as scene:
        saved = await scene.services.library.persona("mira")
        page = await editor(scene, "mira")
        page.change_field("first_messages", ["“A new hat!”"])

        press(scene, Qt.Key.Key_Return, CTRL)
        await until(lambda: scene.page is None and scene.words == ["“A new hat!”"])
        copy = scene.session
        assert copy is not None
        assert copy.persona_id != "mira"
        assert await scene.services.library.persona("mira") == saved
        press(scene, Qt.Key.Key_E, CTRL)
        page = page_of(scene)
        await until(page.banner.isVisible)

        assert page.saved == saved
        assert page.draft.values["first_messages"] == ["“A new hat!”"]
        assert page.is_dirty
        throw = next(button for button in page.banner.findChildren(QPushButton) if button.text() == "Delete copy")
        QTest.mouseClick(throw, Qt.MouseButton.LeftButton)
        await until(lambda: not scene.services.library.is_own(copy.persona_id))
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)
        page.back_requested.emit()
        await until(lambda: scene.page is None and scene.session.persona_id == "mira")
        assert (await scene.services.library.persona("mira")).first_messages == ["“A new hat!”"]


async def test_a_persona_that_was_never_saved_can_be_tried_out_too(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await new_page(scene)
        write("Ada")
        page.change_field("first_messages", ["Good day, {{user}}."])

        press(scene, Qt.Key.Key_Return, CTRL)
        await until(lambda: scene.page is None and scene.words == ["Good day, Guest."])
        press(scene, Qt.Key.Key_E, CTRL)
        page = page_of(scene)
        await until(lambda: page.is_loaded and page.banner.isVisible())

        assert page.saved is None
        assert page.persona_name == "Ada"
        page.discard_unsaved()


# the picture


def picture_in(folder: Path, name: str = "face.png", size: tuple[int, int] = (300, 200)) -> Path:
    """Red on its left half, blue on its right."""
    image = QImage(QSize(*size), QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    for x in range(size[0] // 2, size[0]):
        for y in range(size[1]):
            image.setPixelColor(x, y, QColor("blue"))
    assert image.save(str(folder / name))
    return folder / name


async def test_a_picture_is_chosen_cropped_by_keyboard_saved_and_removed(tmp_path: Path):
    async with opened(tmp_path / "home") as scene:
        file = picture_in(tmp_path)
        page = await editor(scene, "mira")
        shipped = page.draft.values["avatar"]

        page.sheet.avatar.choose_button.click()
        chooser = await scene.dialog()
        assert isinstance(chooser, QFileDialog)
        name = chooser.findChild(QLineEdit)
        assert name is not None
        QTest.keyClicks(name, str(file))
        QTest.keyClick(name, Qt.Key.Key_Return)
        await until(lambda: any(dialog.isVisible() for dialog in scene.window.findChildren(CropDialog)))
        crop = next(dialog for dialog in scene.window.findChildren(CropDialog) if dialog.isVisible())
        for _ in range(30):
            QTest.keyClick(crop.view, Qt.Key.Key_Right, SHIFT)
        QTest.keyClick(crop, Qt.Key.Key_Return)
        await until(lambda: page.draft.values["avatar"] != shipped)
        scene.window.activateWindow()
        await until(page.sheet.avatar.choose_button.hasFocus)
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: not page.is_dirty)

        path = scene.services.library.avatar(await scene.services.library.persona("mira"))
        assert path is not None
        kept = QImage(str(path))
        assert (path.suffix, kept.width(), kept.height()) == (".png", SAVED_SIDE, SAVED_SIDE)
        assert kept.pixelColor(10, SAVED_SIDE // 2) == QColor("red")
        assert kept.pixelColor(SAVED_SIDE // 2, 10) == QColor("blue")  # the frame went to the right end
        assert kept.pixelColor(SAVED_SIDE - 10, SAVED_SIDE // 2) == QColor("blue")

        page.sheet.avatar.remove_button.click()
        assert page.draft.values["avatar"] == ""
        page.undo_stack.undo()
        assert page.draft.values["avatar"] == path.name
        assert not page.is_dirty


def test_the_frame_never_leaves_the_picture_also_of_a_tiny_one():
    frame = CropFrame(QSize(300, 200))
    assert frame.rect == QRect(50, 0, 200, 200)

    frame.move(QPoint(999, 999))
    assert frame.rect == QRect(100, 0, 200, 200)
    frame.zoom = 100
    assert frame.rect.width() == frame.min_side
    frame.move(QPoint(-999, 999))
    frame.zoom = 0
    assert QRect(0, 0, 300, 200).contains(frame.rect)
    assert frame.rect.width() == 200

    frame = CropFrame(QSize(10, 7))
    frame.zoom = 100

    assert frame.rect == QRect(1, 0, 7, 7)
    assert frame.zoom == 0


VECTOR = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><image href='file:///etc/passwd'/></svg>"
HALF = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
HUGE = bytes.fromhex("89504e470d0a1a0a0000000d49484452000186a0000186a008020000003b8ac4e0")
"""The beginning of a PNG of 100,000 by 100,000 pixels."""


@pytest.mark.parametrize("content", [b"<html>", VECTOR, HALF, HUGE, b""])
def test_a_picture_that_is_none_is_refused_in_words(tmp_path: Path, qapp, content: bytes):
    (tmp_path / "face.png").write_bytes(content)

    with pytest.raises(FileError, match="is "):
        read_picture(tmp_path / "face.png")


def test_a_picture_too_large_for_any_avatar_is_not_even_decoded(tmp_path: Path, qapp):
    with (tmp_path / "film.png").open("wb") as file:
        file.truncate(26 * 1024 * 1024)

    with pytest.raises(FileError, match="is larger than 25 MB"):
        read_picture(tmp_path / "film.png")
    with pytest.raises(FileError, match="cannot be opened"):
        read_picture(tmp_path / "nowhere.png")


def test_a_picture_is_only_as_large_as_is_needed(tmp_path: Path, qapp):
    image = QImage(QSize(4000, 3000), QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    assert image.save(str(tmp_path / "large.jpg"))

    shrunk = read_picture(tmp_path / "large.jpg")

    assert (shrunk.width(), shrunk.height()) == (1600, 1200)


# another one, and away


async def test_the_sidebar_leads_to_the_editor_and_to_a_second_one(tmp_path: Path):
    async with opened(tmp_path) as scene:
        sidebar = scene.window.sidebar
        menu = sidebar.build_menu(sidebar.model.index_of("persona edmund"))
        next(action for action in menu.actions() if action.text() == "Edit…").trigger()
        page = page_of(scene)
        await until(lambda: page.is_loaded)
        assert page.persona_name == "Edmund"

        await scene.controller.pages.navigator.leave_all_pages()
        next(action for action in menu.actions() if action.text() == "Duplicate").trigger()
        await until(lambda: scene.page is not None and page_of(scene).is_loaded)
        assert page_of(scene).persona_name == "Edmund (copy)"
        await until(lambda: "Edmund (copy)" in scene.titles)

        await scene.controller.pages.navigator.leave_all_pages()
        QTest.mouseClick(sidebar.new_persona_button, Qt.MouseButton.LeftButton)
        page = page_of(scene)
        await until(lambda: page.is_loaded)
        assert page.saved is None


async def test_advanced_fields_are_shown_on_request_and_counted_where_they_are_filled_in(tmp_path: Path):
    async with opened(tmp_path) as scene:
        ada = await scene.services.library.save_persona(Persona(name="Ada", depth_prompt="Ada is tired."))
        page = await editor(scene, ada.unique_name)
        titles = [page.sheet.sections.item(row).text() for row in range(page.sheet.sections.count())]
        shown = [title for row, title in enumerate(titles) if not page.sheet.sections.isRowHidden(row)]
        assert "Bio" in shown
        assert "Character's note" not in shown
        assert not page.sheet.field("depth_prompt").isVisible()
        assert page.advanced_chip.text() == "Advanced (1)"
        assert "Character's note" in page.advanced_chip.toolTip()

        page.advanced_chip.click()

        assert page.sheet.field("depth_prompt").isVisible()
        assert not any(page.sheet.sections.isRowHidden(row) for row in range(len(titles)))
        await until(lambda: scene.services.preferences.stored.advanced_pages == ["persona"])


async def test_what_is_in_view_stays_there_when_advanced_fields_come_and_go(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        form, bar = page.sheet, page.sheet.sheet.verticalScrollBar()
        titles = [form.sections.item(row).text() for row in range(form.sections.count())]
        last = max(row for row in range(len(titles)) if not form.sections.isRowHidden(row))
        await until(lambda: bar.maximum() > 0)
        form.sections.setCurrentRow(last)
        field = next(one for spec in form._cards[last][1].specs if (one := form.field(spec.name)).isVisible())

        def place() -> int:
            return field.mapTo(form.sheet.viewport(), QPoint()).y()

        before = place()
        for _step in range(2):
            page.advanced_chip.click()
            await until(lambda: abs(place() - before) <= 2)
            assert form.sections.currentRow() == last


async def test_undo_shows_the_advanced_field_it_changes(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        page.change_field("system_prompt", "Be brief.")

        page.undo_stack.undo()

        assert page.sheet.field("system_prompt").isVisible()
        assert not page.sheet.field("depth_prompt").isVisible()
        assert not page.is_dirty


async def test_what_cannot_be_done_with_a_persona_says_why(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        page.menu.aboutToShow.emit()
        actions = {action.text(): action for action in page.menu.actions() if action.text()}

        assert actions["Delete…"].isEnabled()
        assert {title: action.toolTip() for title, action in actions.items() if not action.isEnabled()} == {
            "Revert to saved": "There are no unsaved changes",
            "Reset to default": "The built-in persona has not been changed",
        }


async def test_who_is_deleted_gives_way_to_somebody_else_and_can_be_taken_back(tmp_path: Path):
    async with opened(tmp_path) as scene:
        ada = await scene.services.library.save_persona(Persona(name="Ada", first_messages=["Good day."]))
        session = await scene.services.sessions.new(ada.unique_name)
        await scene.controller.session_controller.go_to_session(session.guid)
        page = await editor(scene, ada.unique_name)

        page.context.tasks.start_task(page.delete_persona())
        question = await scene.dialog()
        assert isinstance(question, ConfirmDialog)
        assert question.primary.text() == "Delete “Ada” (1 conversation)"
        QTest.keyClick(question, Qt.Key.Key_Return)
        await until(lambda: scene.page is None and not scene.window.windowTitle().startswith("Ada"))
        await until(lambda: "Ada" not in scene.titles and scene.toasts)
        buttons = [button for toast in scene.toasts for button in toast.findChildren(QPushButton)]
        QTest.mouseClick(next(one for one in buttons if one.text() == "Undo"), Qt.MouseButton.LeftButton)
        await until(lambda: scene.window.windowTitle().startswith("Ada") and scene.words == ["Good day."])

        assert "Ada" in scene.titles


async def test_an_example_dialogue_is_begun_with_both_names(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await editor(scene, "mira")
        field = page.sheet.field("example_dialogs")
        before = list(page.sheet.field("example_dialogs").texts)
        (button,) = [one for one in field.findChildren(QPushButton) if one.text() == "Add dialogue"]

        button.click()
        write("Where are we?")

        assert field.texts == [*before, "{{user}}: Where are we?\n{{char}}: "]


# who the user is


async def test_the_user_becomes_somebody_new_and_the_next_conversation_knows(tmp_path: Path):
    async with opened(tmp_path) as scene:
        await scene.services.library.save_persona(Persona(name="Tomas", is_user=True))
        await scene.services.preferences.set(user_persona="tomas")
        scene.window.activateWindow()
        press(scene, Qt.Key.Key_Y, CTRL | SHIFT)
        selves = scene.page
        assert isinstance(selves, UserPersonasPage)
        await until(lambda: [card.persona.name for card in selves.cards] == ["Tomas"])
        assert selves.second_hint.isVisible()

        QTest.mouseClick(selves.new_button, Qt.MouseButton.LeftButton)
        page = page_of(scene)
        await until(lambda: page.is_loaded and page.sheet.field("name").hasFocus())
        write("Lena")
        bio_of(page).setFocus()
        write("{{user}} collects stamps.")
        press(scene, Qt.Key.Key_S, CTRL)
        await until(lambda: page.saved is not None)
        press(scene, Qt.Key.Key_Escape)
        await until(lambda: scene.page is selves and len(selves.cards) == 2)
        assert selves.second_hint.isHidden()
        assert scene.services.preferences.current.user_persona == "tomas"
        selves.select_persona("lena")
        selves.use_selected()
        await until(lambda: scene.services.preferences.current.user_persona == "lena")

        session = await scene.services.sessions.new("edmund")
        assert session.user_id == "lena"
        assert (await scene.services.library.persona("lena")).is_user
        assert "Lena" not in scene.titles
        selves.undo_stack.undo()
        await until(lambda: scene.services.preferences.current.user_persona == "tomas")


# for everybody


@pytest.mark.parametrize("is_user", [False, True])
async def test_everything_in_the_editor_has_a_name(tmp_path: Path, is_user: bool):
    async with opened(tmp_path) as scene:
        await scene.services.library.save_persona(Persona(name="Tomas", is_user=True))
        scene.controller.pages.navigator.open(PersonaRoute("tomas" if is_user else "mira", is_user))
        page = page_of(scene)
        await until(lambda: page.is_loaded)
        page.banner.show_message("Something to decide.", ("Keep", lambda: None))
        QApplication.processEvents()

        assert nameless(page) == []


@pytest.mark.parametrize(("width", "size"), [(900, 15), (1280, 22), (1280, 15), (640, 15)])
async def test_nothing_is_cut_off(tmp_path: Path, width: int, size: int):
    async with opened(tmp_path) as scene:
        await scene.services.preferences.set(font_size=size)
        scene.window.resize(width, 640)
        page = await editor(scene, "mira")
        write("!")
        await until(lambda: any(button.toolTip().startswith("Chat with draft") for button in page.findChildren(QPushButton)))
        QApplication.processEvents()

        for button in page.findChildren(QPushButton):
            if button.isVisible() and not button.property("chip"):
                assert button.width() >= button.sizeHint().width(), button.text()
        page.discard_unsaved()


class SlowEngine(FakeEngine):
    """Engine that lists its voices once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_list = asyncio.Event()

    async def list_voices(self) -> Sequence[Voice]:
        await self.may_list.wait()
        return await super().list_voices()


async def test_voices_are_listed_on_the_persona_page_if_the_settings_list_them_at_the_same_time(tmp_path: Path):
    engine = SlowEngine()
    async with opened(tmp_path, speech_engine=engine) as scene:
        page = await editor(scene, "mira")
        page.voices.start_loading()
        scene.window.window_actions["settings"].trigger()
        settings = scene.page
        assert isinstance(settings, SettingsPage)
        await until(lambda: settings.sections.count() > 1)
        settings.voices.start_loading()
        engine.may_list.set()

        for field in (page.sheet.field(VOICE), field_of(settings, "speech_voice")):
            assert isinstance(field, QComboBox)
            await until(lambda field=field: field.findData(ADA.voice_id) >= 0, seconds=10)
