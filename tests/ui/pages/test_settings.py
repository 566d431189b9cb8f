"""Settings are found, changed, undone and set back; the palette does what its list says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QComboBox, QFileDialog, QLabel, QLineEdit

from lethe_app.config.form_field import SettingSection
from lethe_app.config.settings import Settings
from lethe_app.ui.pages.settings.fields import MOST_USED, PATH_KINDS, visible_settings
from lethe_app.ui.pages.settings.page import SettingsPage
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.multi_select import MultiSelect
from tests.llm.gguf_factory import chat_settings, write_model
from tests.ui.form_fields import button_named, error_below, field_of
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def settings_page(scene: Scene) -> SettingsPage:
    scene.window.window_actions["settings"].trigger()
    page = scene.page
    assert isinstance(page, SettingsPage)
    await until(lambda: page.sections.currentRow() == 0)
    return page


def visible(page: SettingsPage) -> set[str]:
    forms = page.findChildren(Form)
    return {name for form in forms for name in form.field_names if form.field_widget(name).isVisibleTo(page)}


def texts(page: SettingsPage) -> set[str]:
    return {label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(page)}


def reset_button(page: SettingsPage, name: str) -> QAbstractButton:
    return button_named(page, f"Reset “{Settings.model_fields[name].title}”")


def test_every_setting_has_a_place_on_the_page():
    shown = {name for section in SettingSection for name in visible_settings(section)}

    assert shown == set(Settings.visible_names())
    hidden = {"welcomed", "last_persona", "last_session", "model_choices", "advanced_pages"}
    hidden |= {"awaited_download", "has_seen_starter_notice", "recent_commands"}
    assert shown == set(Settings.model_fields) - hidden


async def test_a_switch_is_kept_marked_and_undone(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, preferences = await settings_page(scene), scene.services.preferences
        page.show_setting("thinking")
        box = field_of(page, "thinking")
        assert isinstance(box, QCheckBox)

        QTest.keyClick(box, Qt.Key.Key_Space)
        await until(lambda: not preferences.current.thinking)
        assert not reset_button(page, "thinking").isHidden()
        page.undo_stack.undo()
        await until(lambda: preferences.current.thinking)
        assert reset_button(page, "thinking").isHidden()
        assert box.isChecked()

        await preferences.set(thinking=False)
        QTest.mouseClick(reset_button(page, "thinking"), Qt.MouseButton.LeftButton)
        await until(lambda: preferences.current.thinking and box.isChecked())


async def test_searching_looks_in_all_sections(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)

        QTest.keyClicks(page.search, "core facts")
        assert visible(page) == {"core_facts_tokens"}
        QTest.keyClick(page.search, Qt.Key.Key_Escape)

        assert "user_persona" in visible(page)
        assert "core_facts_tokens" not in visible(page)
        hint = next(label for label in page.findChildren(QLabel) if label.text().startswith("No matches."))
        assert hint.isHidden()
        QTest.keyClicks(page.search, "zzzz")
        assert hint.isVisible()
        assert not visible(page)


async def test_what_cannot_be_kept_is_told_below_its_field(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.show_setting("proxy")
        field = field_of(page, "proxy")

        QTest.keyClicks(field, "elsewhere")

        await until(lambda: error_below(page, "proxy"))
        assert field.text() == "elsewhere"
        assert scene.services.preferences.current.proxy == ""
        page.show_setting("hub_mirror")
        for letter in "https://mirror.example":
            QTest.keyClicks(field_of(page, "hub_mirror"), letter)
            await asyncio.sleep(0.01)
        await until(lambda: scene.services.preferences.current.hub_mirror == "https://mirror.example")
        assert not error_below(page, "hub_mirror")


async def test_what_there_is_to_choose_from_is_ticked_and_not_typed(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, preferences = await settings_page(scene), scene.services.preferences
        page.show_setting("decaying_types")
        kinds = field_of(page, "decaying_types")
        assert isinstance(kinds, MultiSelect)

        QTest.mouseClick(kinds.box_for("person"), Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
        await until(lambda: "person" in preferences.current.decaying_types)
        page.undo_stack.undo()
        await until(lambda: "person" not in preferences.current.decaying_types)

        assert not kinds.box_for("person").isChecked()
        assert kinds.box_for("goal").isChecked()
        for name in ("silent_types", "global_worlds", "tasks_off", "default_tools"):
            assert isinstance(field_of(page, name), MultiSelect), name


async def test_esc_closes_the_palette_before_it_stops_a_reply(tmp_path: Path):
    async with opened(tmp_path) as scene:
        stop = scene.window.window_actions["stop"]
        stop.setEnabled(True)
        stopped: list[bool] = []
        stop.triggered.connect(lambda: stopped.append(True))
        scene.window.window_actions["palette"].trigger()
        QTest.keyClick(scene.controller.command_palette.search_field, Qt.Key.Key_Escape)

        assert scene.controller.command_palette.isHidden()
        assert not stopped


async def test_intervals_of_tasks_are_typed_as_names_and_numbers(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, preferences = await settings_page(scene), scene.services.preferences
        page.show_setting("agent_hours")
        field = field_of(page, "agent_hours")
        assert isinstance(field, QLineEdit)
        QTest.keyClicks(field, "journal: 6, dream: 24.5")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: preferences.current.agent_hours == {"journal": 6, "dream": 24.5})

        page.undo_stack.undo()
        await until(lambda: preferences.current.agent_hours == {})
        assert not field.text()

        QTest.keyClicks(field, "often")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: error_below(page, "agent_hours"))


async def test_advanced_settings_are_shown_on_request_and_the_choice_is_remembered(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page, preferences = await settings_page(scene), scene.services.preferences
        page.show_setting("max_reply")
        assert "threads" not in visible(page)

        QTest.mouseClick(page.advanced_chip, Qt.MouseButton.LeftButton)
        assert "threads" in visible(page)
        await until(lambda: preferences.current.advanced_pages == ["settings"])
        QTest.keyClick(page, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)

        page = await settings_page(scene)
        assert page.advanced_chip.isChecked()
        QTest.mouseClick(page.advanced_chip, Qt.MouseButton.LeftButton)
        await until(lambda: preferences.current.advanced_pages == [])


async def test_the_first_page_shows_the_most_used_settings_of_all_sections(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)

        assert visible(page) == set(MOST_USED)
        page.sections.setCurrentRow(1)
        assert visible(page) < set(visible_settings(SettingSection.GENERAL))


async def test_an_advanced_setting_that_was_asked_for_is_shown_until_something_else_is(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.show_setting("threads")
        assert "threads" in visible(page)
        assert "batch" not in visible(page)
        assert not page.advanced_chip.isChecked()

        page.search.setText("threads")
        page.search.clear()
        assert "threads" not in visible(page)

        page.show_setting("threads")
        page.sections.setCurrentRow(1)
        page.show_setting("max_reply")
        assert "threads" not in visible(page)


async def test_the_key_of_a_search_engine_is_asked_for_when_it_is_chosen(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.show_setting("web_provider")
        assert not {"web_brave_key", "web_searxng_url"} & visible(page)

        await scene.services.preferences.set(web_provider="brave")

        await until(lambda: "web_brave_key" in visible(page))
        assert "web_searxng_url" not in visible(page)


async def test_the_model_is_chosen_by_its_name(tmp_path: Path):
    model = tmp_path / "models" / "Sparrow.gguf"
    write_model(model, settings=chat_settings(general__name="Sparrow 3B"))
    async with opened(tmp_path / "home") as scene:
        await scene.services.preferences.set(model_folders=[str(model.parent)])
        page = await settings_page(scene)
        field = field_of(page, "model_path")
        assert isinstance(field, QComboBox)
        await until(lambda: field.findText("Sparrow", Qt.MatchFlag.MatchContains) >= 0)

        field.setCurrentIndex(field.findText("Sparrow", Qt.MatchFlag.MatchContains))

        await until(lambda: scene.services.preferences.stored.model_path == str(model))


async def test_the_switch_for_background_activity_says_for_how_many_personas_it_is_on(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.show_setting("agents")
        assert "on for no persona" in texts(page)

        mira = await scene.services.library.persona("mira")
        await scene.services.library.save_persona(mira.model_copy(update={"agent_mode": True}))

        await until(lambda: "on for 1 persona" in texts(page))


async def test_a_search_shows_the_best_section_first_and_what_is_no_setting_below(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.search.setText("lorebook")
        await until(lambda: bool(page.action_buttons))

        assert page.action_buttons[0].objectName() == "worlds"
        QTest.mouseClick(page.action_buttons[0], Qt.MouseButton.LeftButton)
        await until(lambda: scene.page is not page)

        assert type(scene.page).__name__ == "WorldPage"


async def test_matches_in_descriptions_are_shown_when_asked_for(tmp_path: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.search.setText("tokens")
        before = visible(page)
        assert not page.more_button.isHidden()

        QTest.mouseClick(page.more_button, Qt.MouseButton.LeftButton)

        assert visible(page) > before
        assert page.more_button.isHidden()


async def test_the_memory_profile_says_why_it_is_in_use(tmp_path: Path):
    async with opened(tmp_path, memory=2_000_000_000) as scene:
        page = await settings_page(scene)
        page.show_setting("memory_profile")
        await until(lambda: field_of(page, "memory_profile").isVisibleTo(page))

        texts = {label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(page)}

        assert "Small computer, because it has 2.0 GB of memory." in texts


def path_button(page: SettingsPage, name: str) -> QAbstractButton:
    return button_named(page, f"{Settings.model_fields[name].title}: choose a ")


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
        page.undo_stack.undo()
        await until(lambda: preferences.current.model_folders == [str(first)])


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
        assert all(path_button(page, name) for name in PATH_KINDS)


async def test_a_model_of_the_other_kind_is_refused_below_its_field_and_not_stored(tmp_path: Path, starter_model: Path):
    async with opened(tmp_path) as scene:
        page = await settings_page(scene)
        page.show_setting("embedder_path")

        QTest.keyClicks(field_of(page, "embedder_path"), str(starter_model))
        await until(lambda: "is a chat model" in error_below(page, "embedder_path"))

        assert scene.services.preferences.stored.embedder_path != str(starter_model)
