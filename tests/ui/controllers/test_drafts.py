"""What was written but not sent is there again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest

from lethe_app.paths import Paths
from lethe_app.ui.chat.composer import Composer
from lethe_app.ui.controllers.conversation.drafts import MAX_CHARACTERS, MAX_DRAFTS, SETTINGS_KEY, DraftStore, limit_drafts
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


@pytest.fixture
def composer(qtbot, theme) -> Composer:
    made = Composer(theme)
    qtbot.addWidget(made)
    return made


async def test_a_draft_is_there_again_after_a_restart_in_its_conversation(tmp_path, echo_model):
    model = echo_model("Yes.")
    async with opened(tmp_path, model) as scene:
        QTest.keyClicks(scene.draft, "I wanted to say")
    async with opened(tmp_path, model) as scene:
        assert scene.draft.toPlainText() == "I wanted to say"

        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund"))
        assert scene.draft.toPlainText() == ""


async def test_a_draft_goes_with_its_conversation_once_that_is_erased(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        session = scene.controller.shown_session.session_id
        QTest.keyClicks(scene.draft, "A secret")
        await scene.services.session_editing.delete(session)
        await until(lambda: scene.controller.shown_session.session_id not in (None, session))
        assert scene.draft.toPlainText() == ""
        assert scene.controller.drafts._composer.list_drafts() == {str(session): "A secret"}

        await scene.services.trash.erase(await scene.services.trash.list_items())

        await until(lambda: scene.controller.drafts._composer.list_drafts() == {})
        assert "secret" not in scene.services.paths.window.read_text(encoding="utf-8")


async def test_a_draft_that_was_sent_does_not_come_back(tmp_path, echo_model):
    model = echo_model("Yes.")
    async with opened(tmp_path, model) as scene:
        QTest.keyClicks(scene.draft, "Good evening.")
        scene.controller.drafts.save_drafts()
        scene.draft.entered.emit()
        await until(lambda: not scene.is_replying and len(scene.words) == 3)
    async with opened(tmp_path, model) as scene:
        assert scene.draft.toPlainText() == ""


def test_a_draft_is_kept_a_moment_after_the_last_letter(tmp_path, composer, theme, qtbot):
    file = Paths.standard(tmp_path).window
    DraftStore(file, composer)
    composer.switch_session("one")
    composer.draft_field.setPlainText("Wait “for it”, *they* say; \\ = ä")

    qtbot.waitUntil(lambda: "Wait" in str(QSettings(str(file), QSettings.Format.IniFormat).value(SETTINGS_KEY)), timeout=60_000)

    again = Composer(theme)
    qtbot.addWidget(again)
    DraftStore(file, again)
    again.switch_session("one")
    assert again.draft_field.toPlainText() == "Wait “for it”, *they* say; \\ = ä"


@pytest.mark.parametrize("spoilt", ["no json", "[1, 2]", "7", '{"one": 3}'])
def test_a_spoilt_file_costs_no_more_than_the_drafts(tmp_path, composer, spoilt):
    file = Paths.standard(tmp_path).window
    stored = QSettings(str(file), QSettings.Format.IniFormat)
    stored.setValue(SETTINGS_KEY, spoilt)
    stored.sync()

    DraftStore(file, composer)
    composer.switch_session("two")

    assert composer.draft_field.toPlainText() == ""


def test_only_so_many_of_the_newest_drafts_are_kept():
    many = {str(number): "Words." for number in range(MAX_DRAFTS + 5)}
    long = {"old": "x" * (MAX_CHARACTERS - 1), "huge": "x" * (MAX_CHARACTERS + 1), "new": "xx", "blank": " \n"}

    assert list(limit_drafts(many)) == [str(number) for number in range(5, MAX_DRAFTS + 5)]
    assert list(limit_drafts(long)) == ["new"]


def test_what_is_written_before_a_conversation_is_open_goes_into_it(composer):
    composer.add_drafts({"one": "Before."})
    composer.draft_field.setPlainText("Early.")
    composer.switch_session("one")
    assert composer.draft_field.toPlainText() == "Before.\nEarly."

    composer.switch_session("two")
    assert composer.draft_field.toPlainText() == ""
    composer.switch_session("one")
    assert composer.draft_field.toPlainText() == "Before.\nEarly."
