"""A card says what a message let be forgotten: it is undone, chosen from a list, or erased for good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton

from lethe_app.domain.facts import ExtractedFact
from lethe_app.services.maintenance.backups import back_up, list_backups
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")

Script = Callable[..., Path]
KRAKOW, WORK = "Sam lives in Kraków.", "Sam works as a carpenter."


async def told(scene: Scene, text: str) -> None:
    scene.send(text)
    await until(lambda: scene.words[-1] == "Aye." and not scene.is_replying)


async def facts(scene: Scene) -> list[str]:
    assert scene.session is not None
    return sorted(fact.fact for fact in await scene.services.facts.facts_of(scene.session.persona_id))


def click(scene: Scene, text: str) -> None:
    card = scene.controller.forgetting_card.card
    assert card is not None
    button = next(button for button in card.findChildren(QPushButton) if button.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


async def confirm(scene: Scene, uncheck: str = "") -> None:
    await until(lambda: any(one.isVisible() for one in scene.window.findChildren(QuestionDialog)))
    dialog = next(one for one in scene.window.findChildren(QuestionDialog) if one.isVisible())
    for box in dialog.findChildren(QCheckBox):
        box.setChecked(not uncheck or uncheck not in box.text())
    QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)


async def with_facts(scene: Scene) -> None:
    await until(lambda: scene.session is not None)
    assert scene.session is not None
    for text in (KRAKOW, WORK):
        await scene.services.fact_store.save_facts(scene.session.persona_id, ExtractedFact(fact=text, subject="Sam"))


async def test_the_card_says_what_is_forgotten_and_brings_it_back(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await with_facts(scene)
        await told(scene, "I live in Kraków.")
        await told(scene, "Forget that I live in Kraków.")

        card = scene.controller.forgetting_card.card
        assert card is not None
        assert card.isVisible()
        assert card.title.text() == "Forgotten: “I live in Kraków”"
        assert card.details.text().startswith("1 fact and 1 message")
        assert await facts(scene) == [WORK]
        click(scene, "Undo")
        await until(lambda: scene.controller.forgetting_card.card is None)
        assert await facts(scene) == [KRAKOW, WORK]


async def test_what_is_erased_for_good_leaves_the_conversation(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await with_facts(scene)
        await told(scene, "I live in Kraków. My cat is called Muse.")
        await told(scene, "Forget that I live in Kraków.")
        click(scene, "Erase for good…")
        await confirm(scene)
        await until(lambda: scene.controller.forgetting_card.card is None)
        await until(lambda: "Kraków" not in " ".join(scene.words))
        await until(lambda: "My cat is called Muse." in scene.words)
        assert await facts(scene) == [WORK]


@pytest.mark.parametrize("with_backups", [True, False])
async def test_what_is_erased_for_good_can_be_erased_from_backups_and_goes_with_the_request(
    tmp_path, echo_model: Script, with_backups: bool
):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await with_facts(scene)
        await back_up(scene.services.paths.home)
        await told(scene, "Forget that I live in Kraków.")
        assert scene.session is not None
        persona = scene.session.persona_id
        click(scene, "Erase for good…")
        await until(lambda: any(one.isVisible() for one in scene.window.findChildren(QuestionDialog)))
        dialog = next(one for one in scene.window.findChildren(QuestionDialog) if one.isVisible())
        (box,) = dialog.findChildren(QCheckBox)
        assert (box.text(), box.isChecked()) == ("Also delete 1 backup, which may still contain it", False)
        box.setChecked(with_backups)
        QTest.mouseClick(dialog.primary, Qt.MouseButton.LeftButton)
        await until(lambda: scene.controller.forgetting_card.card is None)
        await until(lambda: "Kraków" not in " ".join(scene.words))
        await until(lambda: len(list_backups(scene.services.paths.home)) == (0 if with_backups else 1))
        assert "Kraków" not in str(await scene.services.sessions.list(persona))
        shown = [one for kind in (QLabel, QPushButton) for one in scene.window.findChildren(kind) if one.isVisible()]
        assert [one.text() for one in shown if "Kraków" in one.text()] == []
        assert "Kraków" not in scene.window.windowTitle()


async def test_ctrl_z_brings_back_what_was_forgotten_last(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await with_facts(scene)
        await told(scene, "Forget that I live in Kraków.")
        assert await facts(scene) == [WORK]
        scene.window.window_actions["undo"].trigger()
        await until(lambda: scene.controller.forgetting_card.card is None)
        await until(lambda: any("Forgotten" in notice.detail for notice in scene.window.notifier.history))
        assert await facts(scene) == [KRAKOW, WORK]

        await told(scene, "Forget that I live in Kraków.")
        await told(scene, "How are you?")
        scene.window.window_actions["undo"].trigger()
        assert scene.window.notifier.history[-1].text == "There is nothing to undo in this conversation."
        assert await facts(scene) == [WORK]


async def test_of_everything_about_a_subject_the_list_is_confirmed(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await with_facts(scene)
        await told(scene, "Forget everything about me.")
        assert await facts(scene) == [KRAKOW, WORK]
        click(scene, "Choose…")
        await confirm(scene, uncheck="carpenter")
        card = scene.controller.forgetting_card
        await until(lambda: card.card is not None and card.card.title.text().startswith("Forgotten"))
        assert await facts(scene) == [WORK]


async def test_the_card_goes_with_the_next_message(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await told(scene, "I am pregnant.")
        await told(scene, "Forget that.")
        assert scene.controller.forgetting_card.card is not None
        await told(scene, "How are you?")
        assert scene.controller.forgetting_card.card is None


async def test_a_message_that_is_edited_into_a_request_shows_the_card(tmp_path, echo_model: Script):
    async with opened(tmp_path, echo_model(*["Aye."] * 9)) as scene:
        await with_facts(scene)
        await told(scene, "I sailed to Hel.")
        assert scene.session is not None
        message = next(
            one for one in await scene.services.sessions.page(scene.session.guid, 0, 9) if one.content == "I sailed to Hel."
        )
        await scene.controller.message_changes.edit_message(message.id, "Forget that I live in Kraków.")
        assert scene.controller.forgetting_card.card is not None
        assert await facts(scene) == [WORK]
        click(scene, "Undo")
        await until(lambda: scene.controller.forgetting_card.card is None)
        assert await facts(scene) == [KRAKOW, WORK]
