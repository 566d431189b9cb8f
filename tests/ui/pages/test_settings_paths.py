"""A picture, a model and a folder are chosen beside their settings, and nobody has to type a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit

from lethe_app.config.settings import Settings
from lethe_app.ui.pages.settings.fields import PATH_KINDS, PathButton
from lethe_app.ui.pages.settings.page import SettingsPage
from tests.ui.form_fields import button_named, field_of
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def settings_page(scene: Scene) -> SettingsPage:
    scene.window.window_actions["settings"].trigger()
    page = scene.page
    assert isinstance(page, SettingsPage)
    await until(lambda: page.sections.currentRow() == 0)
    return page


def path_button(page: SettingsPage, name: str) -> PathButton:
    found = button_named(page, f"{Settings.model_fields[name].title}: choose a ")
    assert isinstance(found, PathButton)
    return found


async def choose(scene: Scene, page: SettingsPage, name: str, path: Path) -> None:
    """Press the button beside the setting and choose `path`."""
    page.show_setting(name)
    QTest.mouseClick(path_button(page, name), Qt.MouseButton.LeftButton)
    dialog = await scene.dialog()
    assert isinstance(dialog, QFileDialog)
    dialog.setDirectory(str(path.parent))
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(str(path))
    dialog.accept()


async def test_a_picture_is_chosen_shown_and_taken_away_again(tmp_path: Path):
    picture = tmp_path / "sea.png"
    image = QImage(16, 16, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    image.save(str(picture))
    async with opened(tmp_path / "home") as scene:
        page, preferences = await settings_page(scene), scene.services.preferences

        await choose(scene, page, "background", picture)
        await until(lambda: preferences.current.background == str(picture))

        field = field_of(page, "background")
        assert isinstance(field, QLineEdit)
        assert field.text() == str(picture)
        page.undo_stack.undo()
        await until(lambda: not preferences.current.background)


async def test_folders_of_models_are_added_to_those_there_are(tmp_path: Path):
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
    async with opened(tmp_path / "home") as scene:
        page, preferences = await settings_page(scene), scene.services.preferences
        await choose(scene, page, "model_folders", first)
        await until(lambda: preferences.current.model_folders == [str(first)])

        await choose(scene, page, "model_folders", second)

        await until(lambda: preferences.current.model_folders == [str(first), str(second)])


async def test_a_path_that_does_not_exist_is_kept_and_said_to_be_missing(tmp_path: Path):
    missing = tmp_path / "unplugged" / "background.png"
    async with opened(tmp_path / "home") as scene:
        page, preferences = await settings_page(scene), scene.services.preferences
        field = field_of(page, "background")
        assert isinstance(field, QLineEdit)
        field.setFocus()
        QTest.keyClicks(field, str(missing))
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: preferences.current.background == str(missing))
        await until(lambda: f"“{missing}” does not exist." in field.accessibleDescription())

        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        await until(lambda: not preferences.current.background)
        await until(lambda: "does not exist" not in field.accessibleDescription())


async def test_who_thinks_better_of_it_changes_nothing(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        QTest.mouseClick(path_button(page, "model_path"), Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()

        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await until(lambda: not dialog.isVisible())

        assert not page.undo_stack.canUndo()
        named = [path_button(page, name) for name in PATH_KINDS]
        assert {*named} == {*page.findChildren(PathButton)}


async def test_the_buttons_follow_the_theme(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        button = path_button(page, "background")
        before = button.icon().cacheKey()

        await scene.services.preferences.set(theme="light")

        await until(lambda: button.icon().cacheKey() != before)
