"""The first start."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.domain.clock import now
from lethe_app.domain.model import ModelFile
from lethe_app.ui.shell.sidebar_model import PersonaRow
from lethe_app.ui.shell.welcome import Welcome
from tests.ui.window_scene import opened, until

OWN = ModelFile(Path("/models/nemo.gguf"), "Nemo 12B", 7_500_000_000, "llama", source="LM Studio", quantization="Q4_K_M")
STARTER = ModelFile(Path("/starter.gguf"), "SmolLM2 135M", 98_000_000, "llama", source="Starter model")
EMBEDDER = ModelFile(Path("/embed.gguf"), "MiniLM", 20_000_000, "bert", is_embedding=True)


@pytest.fixture
def welcome(qtbot, theme) -> Welcome:
    made = Welcome(theme)
    qtbot.addWidget(made)
    made.set_personas([PersonaRow("aiko", "Aiko", "piano tuner"), PersonaRow("mira", "Mira", "ship navigator")])
    made.set_models([OWN, EMBEDDER, STARTER])
    made.apply_theme()
    made.resize(1000, 800)
    made.show()
    return made


def test_enter_alone_begins_with_what_is_recommended(welcome, qtbot):
    with qtbot.waitSignal(welcome.start_requested) as begun:
        QTest.keyClick(welcome.name_field, Qt.Key.Key_Return)

    assert begun.args == ["", OWN.path, "aiko"]


def test_name_persona_and_model_are_taken_as_chosen(welcome, qtbot):
    QTest.keyClicks(welcome.name_field, " Tomas ")
    QTest.mouseClick(welcome.persona_cards[1], Qt.MouseButton.LeftButton)
    QTest.mouseClick(welcome.model_cards[1], Qt.MouseButton.LeftButton)

    with qtbot.waitSignal(welcome.start_requested) as begun:
        QTest.mouseClick(welcome.start_button, Qt.MouseButton.LeftButton)

    assert begun.args == ["Tomas", STARTER.path, "mira"]


def test_letters_typed_after_a_click_on_a_card_are_the_name(welcome, qtbot):
    QTest.mouseClick(welcome.persona_cards[1], Qt.MouseButton.LeftButton)
    QTest.keyClicks(welcome.persona_cards[1], "T")
    QTest.keyClicks(welcome.name_field, "omas")
    with qtbot.waitSignal(welcome.start_requested) as begun:
        QTest.keyClick(welcome.name_field, Qt.Key.Key_Return)

    assert (begun.args[0], begun.args[2]) == ("Tomas", "mira")


def test_begin_cannot_be_pressed_twice(welcome, qtbot):
    QTest.mouseClick(welcome.start_button, Qt.MouseButton.LeftButton)
    with qtbot.assertNotEmitted(welcome.start_requested):
        QTest.keyClick(welcome, Qt.Key.Key_Return)

    welcome.enable_retry()
    assert welcome.start_button.isEnabled()


def test_every_model_says_where_it_is_from_and_why(welcome):
    own, starter = (card.accessibleDescription() for card in welcome.model_cards)

    assert "LM Studio · 7.5 GB · Q4_K_M" in own
    assert "Recommended" in own
    assert "good for a first try" in starter


def test_what_does_not_fit_is_said_and_not_recommended(welcome):
    welcome.set_models([STARTER, OWN], too_large={OWN.path})

    starter, own = (card.accessibleDescription() for card in welcome.model_cards)
    assert "Needs more memory" in own
    assert "good for a first try" in starter
    assert welcome.model_cards[0].isChecked()


def test_without_any_model_one_may_still_look_around(welcome, qtbot):
    welcome.set_models([])
    assert "No model was found" in welcome.search_label.text()

    with qtbot.waitSignal(welcome.start_requested) as begun:
        QTest.mouseClick(welcome.start_button, Qt.MouseButton.LeftButton)

    assert begun.args[1] is None


def test_with_a_model_one_may_look_around_first(welcome, qtbot):
    with qtbot.waitSignal(welcome.start_requested) as begun:
        QTest.mouseClick(welcome.skip_button, Qt.MouseButton.LeftButton)

    assert begun.args[1] is None
    assert begun.args[2]


@pytest.mark.parametrize(("width", "columns"), [(1000, 2), (430, 1)])
def test_cards_find_room_in_any_width(welcome, qtbot, width, columns):
    welcome.resize(width, 700)
    qtbot.waitUntil(lambda: len({card.y() for card in welcome.persona_cards}) == 3 - columns)

    assert all(card.mapTo(welcome, card.rect().topRight()).x() <= width for card in welcome.persona_cards)
    assert welcome.start_button.isVisible()


@pytest.mark.parametrize("size", [(800, 600), (1280, 800)])
def test_the_whole_page_is_visible_without_scrolling(welcome, qtbot, size):
    welcome.set_personas([PersonaRow(f"p{number}", f"Persona {number}", "piano tuner, one floor up") for number in range(6)])
    welcome.set_models([OWN, STARTER], speeds={OWN.path: 2.0})
    welcome.resize(*size)
    qtbot.waitUntil(lambda: welcome.persona_cards[0].y() < welcome.persona_cards[-1].y())

    scroll_area = welcome.findChild(QScrollArea)
    qtbot.waitUntil(lambda: scroll_area.verticalScrollBar().maximum() == 0)
    assert welcome.model_cards[0].mapTo(welcome, QPoint()).x() > welcome.persona_cards[1].mapTo(welcome, QPoint()).x()


def test_a_model_that_writes_slower_than_people_read_is_not_called_recommended(welcome):
    welcome.set_models([OWN, STARTER], speeds={OWN.path: 2.0})

    own = welcome.model_cards[0].accessibleDescription()
    assert "slower than you read (2 words/s)" in own
    assert "Recommended" not in own


def test_arrows_move_the_choice(welcome):
    welcome.persona_cards[0].setFocus()
    QTest.keyClick(welcome.persona_cards[0], Qt.Key.Key_Right)

    assert welcome.persona_cards[1].isChecked()
    assert not welcome.persona_cards[0].isChecked()


def test_tab_leads_to_the_chosen_card_of_each_question(welcome):
    welcome.set_models([OWN, STARTER], STARTER.path)
    reached = [card for card in welcome.persona_cards + welcome.model_cards if card.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert reached == [welcome.persona_cards[0], welcome.model_cards[1]]


async def test_the_first_start_leads_into_a_conversation(tmp_path, echo_model, styled_app, starter_model):
    async with opened(tmp_path, welcomed=False) as scene:
        window = scene.window
        await until(lambda: isinstance(window.pages.currentWidget(), Welcome))
        page = window.pages.currentWidget()
        await until(lambda: len(page.persona_cards) > 1 and page.model_cards)
        page.set_models([])  # so that the scripted model is the one that answers
        await scene.services.preferences.set(model_path=str(echo_model("Welcome, Tomas.")))
        assert QApplication.focusWidget() in {page.name_field, None}

        QTest.keyClicks(page.name_field, "Tomas")
        QTest.keyClick(page.name_field, Qt.Key.Key_Return)
        await until(lambda: window.pages.currentWidget() is window.panes and scene.words)

        (own,) = await scene.services.library.user_personas()
        settings = scene.services.preferences.current
        assert (own.name, settings.user_persona, settings.welcomed) == ("Tomas", own.unique_name, True)
        await scene.say("Hello.")
        assert scene.words[2] == "Welcome, Tomas."


async def test_who_gives_no_name_can_be_remembered_all_the_same(tmp_path, echo_model, styled_app):
    async with opened(tmp_path, welcomed=False) as scene:
        page = scene.window.pages
        await until(lambda: isinstance(page.currentWidget(), Welcome) and page.currentWidget().persona_cards)

        QTest.keyClick(page.currentWidget().name_field, Qt.Key.Key_Return)
        await until(lambda: page.currentWidget() is scene.window.panes and scene.words)

        (own,) = await scene.services.library.user_personas()
        line = Utterance(uuid4(), Role.USER, own.name, "I have a dog called Rex.", now())
        assert [one.text for one in extract_statements([line])] == [f"{own.name} has a dog called Rex."]
