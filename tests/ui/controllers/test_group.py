"""Several personas in one conversation, in the window: asked in and let go by keyboard, each reply under its own name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QMenu, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.avatars import UNDECIDED_SPEAKER
from lethe_app.ui.core.formatting import join_with_and, join_with_or
from lethe_app.ui.dialogs.group import MAX_DESCRIPTION_LENGTH, GroupDialog, GroupMemberRow, describe_persona
from lethe_app.ui.shell.sidebar_model import AGE_ROLE
from tests.ui.other_reply import LONG, writing_elsewhere
from tests.ui.test_accessibility import nameless
from tests.ui.window_scene import Scene, opened, process_events, until

pytestmark = pytest.mark.usefixtures("styled_app")
Script = Callable[..., Path]


async def invitation(scene: Scene) -> GroupDialog:
    """The list of who takes part, opened by its key."""
    scene.window.activateWindow()
    await until(lambda: scene.window.isActiveWindow() and scene.window.window_actions["group"].isEnabled())
    QTest.keyClick(scene.draft, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    dialog = await scene.dialog()
    assert isinstance(dialog, GroupDialog)
    return dialog


async def tick(scene: Scene, *names: str) -> None:
    """Go down the list with Tab, tick or untick these with Space, and take it with Enter."""
    dialog = await invitation(scene)
    left = set(names)
    while left:
        box = QApplication.focusWidget()
        name = box.accessibleName().removesuffix(" takes part")
        if name in left:
            QTest.keyClick(box, Qt.Key.Key_Space)
            left.remove(name)
        QTest.keyClick(box, Qt.Key.Key_Tab)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    await until(lambda: not dialog.isVisible())
    scene.window.activateWindow()  # as the system does it when a dialog goes
    await until(scene.window.isActiveWindow)


async def set_guests(scene: Scene, *names: str) -> None:
    await tick(scene, *names)
    await until(scene.window.chat.speaker_chooser.isVisible)


def speakers(scene: Scene) -> list[str]:
    messages = scene.controller.messages
    found = [messages.message(row) for row in range(messages.rowCount())]
    return [message.speaker_name if message is not None else "" for message in found]


def menu_of(scene: Scene) -> QMenu:
    menus = [menu for menu in scene.window.findChildren(QMenu) if menu.isVisible()]
    return next(menu for menu in menus if menu.accessibleName() == "Choose next speaker")


async def choose(scene: Scene, words: str) -> None:
    """Open the choice of who answers by its key, and take one line of it."""
    scene.window.activateWindow()
    await until(scene.window.isActiveWindow)
    QTest.keyClick(scene.draft, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    menu = menu_of(scene)
    action = next(one for one in menu.actions() if one.text() == words)
    while menu.activeAction() is not action:
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    await until(lambda: not menu.isVisible())


async def test_two_are_asked_in_by_keyboard_and_both_answer_under_their_names(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("I weigh it.", "I tune it.")) as scene:
        await set_guests(scene, "Edmund", "Aiko")

        session = scene.session
        assert set(session.guests) == {"edmund", "aiko"}
        assert scene.window.windowTitle() == f"{scene.controller.shown_session.joined_names} — Lethe"
        assert scene.window.chat.header.name_label.accessibleName() == scene.controller.shown_session.joined_names
        order = " → ".join(one.name for one in scene.controller.shown_session.participants)
        assert order.startswith("Mira → ")
        assert scene.window.chat.speaker_chooser.button.accessibleName() == f"Next speaker: Auto, in turn {order}"
        assert scene.window.chat.composer.send_button.accessibleName() == "Let someone speak"

        scene.send("Edmund, Aiko: what would you do with it?")
        await until(lambda: len(scene.words) == 4 and not scene.is_replying)

        assert speakers(scene)[2:] == ["Edmund", "Aiko"]
        assert scene.words[2:] == ["I weigh it.", "I tune it."]
        spoken = [scene.controller.messages.accessible_text(row).partition(",")[0] for row in (2, 3)]
        assert spoken == ["Edmund", "Aiko"]


async def test_the_second_reply_grows_in_a_message_of_its_own(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("First.", "word " * 400, delay=0.01)) as scene:
        await set_guests(scene, "Edmund", "Aiko")
        scene.send("Edmund, Aiko?")
        await until(lambda: len(scene.words) == 4 and scene.words[3].startswith("word"))

        messages = scene.controller.messages
        assert scene.words[2] == "First."
        assert messages.growing_row == 3
        assert speakers(scene)[3] == "Aiko"
        scene.send("")
        assert scene.window.chat.composer.note_label.text() == "Aiko is still writing. Press Esc to stop."
        QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)


async def test_stop_ends_the_reply_and_nobody_behind_it_speaks(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("word " * 2000, "Never said.", delay=0.01)) as scene:
        await set_guests(scene, "Edmund", "Aiko")
        scene.send("Edmund, Aiko?")
        await until(lambda: len(scene.words) == 3 and len(scene.words[2]) > 50)

        QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)

        session = scene.session
        assert speakers(scene)[2:] == ["Edmund"]
        assert len(await scene.services.sessions.outline(session.guid)) == 3
        assert not scene.controller.unanswered.line.isVisible()


async def test_if_the_second_has_nothing_to_say_the_first_stays(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("First.", "", "Third.")) as scene:
        await set_guests(scene, "Edmund", "Aiko")
        scene.send("Edmund, Aiko?")
        await until(lambda: scene.toasts and not scene.is_replying)
        assert scene.words[2:] == ["First."]
        assert not scene.controller.unanswered.line.isVisible()
        assert scene.draft.toPlainText() == ""

        await choose(scene, "Let Aiko speak now")
        await until(lambda: len(scene.words) == 4 and not scene.is_replying)
        assert speakers(scene)[2:] == ["Edmund", "Aiko"]


async def test_words_that_begin_a_new_conversation_take_the_choice_along(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Mine.")) as scene:
        await set_guests(scene, "Edmund", "Aiko")
        await choose(scene, "Aiko")
        group_turns, before = scene.controller.shown_session, scene.session
        fresh = before.model_copy(update={"guid": uuid4()})
        group_turns.continue_in_session(fresh)
        assert group_turns.chosen_speaker_id == "aiko"
        group_turns.continue_in_session(before)
        assert group_turns.chosen_speaker_id == "aiko"


async def test_a_look_elsewhere_between_two_replies_shows_each_once(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("First.", "word " * 400, delay=0.01)) as scene:
        await set_guests(scene, "Edmund", "Aiko")
        scene.send("Edmund, Aiko?")
        await until(lambda: len(scene.words) == 4 and scene.words[3].startswith("word"))
        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle() == "Edmund — Lethe")
        assert not scene.window.chat.speaker_chooser.isVisible()
        scene.controller.session_controller.choose_persona("mira")
        await until(lambda: len(scene.words) == 4 and scene.words[2] == "First." and scene.words[3].startswith("word"))

        assert scene.window.chat.speaker_chooser.isVisible()
        assert scene.controller.messages.growing_row == 3
        QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)


async def test_whoever_is_chosen_answers_and_nobody_else(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Mine.", "And mine.", "Mine again.")) as scene:
        await set_guests(scene, "Edmund", "Aiko")
        await choose(scene, "Aiko")
        assert scene.window.chat.speaker_chooser.button.accessibleName() == "Next speaker: Aiko"
        assert scene.window.chat.composer.send_button.accessibleName() == "Let Aiko speak"

        await scene.say("Edmund, what do you say?")
        assert speakers(scene)[2:] == ["Aiko"]

        scene.send("")  # and sending nothing lets her speak once more
        await until(lambda: len(scene.words) == 4 and not scene.is_replying)
        assert speakers(scene)[2:] == ["Aiko", "Aiko"]

        await choose(scene, "Let Edmund speak now")
        await until(lambda: len(scene.words) == 5 and not scene.is_replying)
        assert speakers(scene)[4] == "Edmund"
        assert scene.controller.shown_session.chosen_speaker_id == "aiko"


async def test_the_choice_belongs_to_its_conversation(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await set_guests(scene, "Edmund")
        await choose(scene, "Edmund")
        scene.controller.session_controller.choose_persona("aiko")
        await until(lambda: scene.window.windowTitle() == "Aiko — Lethe")
        assert scene.controller.shown_session.chosen_speaker_id == ""
        assert not scene.window.window_actions["choose_speaker"].isEnabled()
        assert scene.window.chat.composer.send_button.accessibleName() == "Let Aiko speak"

        scene.controller.session_controller.choose_persona("mira")
        await until(lambda: scene.window.windowTitle() == "Mira and Edmund — Lethe")
        assert scene.controller.shown_session.chosen_speaker_id == "edmund"


async def test_a_reply_is_awaited_under_the_right_name(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model(LONG, "Yes.", LONG, "Yes.", delay=0.01)) as scene:
        await set_guests(scene, "Edmund")
        messages = scene.controller.messages
        async with writing_elsewhere(scene):
            scene.send("Well?")
            await until(lambda: messages.rowCount() == 3)
            awaited = messages.message(2)
            assert (awaited.speaker, awaited.speaker_name) == (UNDECIDED_SPEAKER, "Mira or Edmund")
        await until(lambda: not scene.is_replying)

        await choose(scene, "Edmund")
        async with writing_elsewhere(scene):
            scene.send("Well?")
            await until(lambda: messages.rowCount() == 5)
            assert speakers(scene)[4] == "Edmund"
        await until(lambda: not scene.is_replying)


async def test_one_is_let_go_and_the_conversation_is_for_two_again(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await set_guests(scene, "Edmund")
        await scene.say("Edmund?")

        await tick(scene, "Edmund")
        await until(lambda: not scene.window.chat.speaker_chooser.isVisible())

        session = scene.session
        assert session.guests == []
        assert scene.window.windowTitle() == "Mira — Lethe"
        assert scene.window.chat.header.tagline_label.accessibleName() == "ship navigator"
        assert scene.window.chat.composer.send_button.accessibleName() == "Let Mira speak"
        assert speakers(scene)[2] == "Edmund"  # what was said stays said


async def test_esc_leaves_everything_as_it_was(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        dialog = await invitation(scene)
        choices(dialog)[0].toggle()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await until(lambda: not dialog.isVisible())
        assert scene.window.windowTitle() == "Mira — Lethe"


async def test_the_button_and_the_dialog_have_names_and_a_row_is_clicked_anywhere(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        header = scene.window.chat.header
        await until(header.group_button.isVisible)
        assert header.group_button.accessibleName() == "Group chat…"
        QTest.mouseClick(header.group_button, Qt.MouseButton.LeftButton)
        dialog = await scene.dialog()
        assert isinstance(dialog, GroupDialog)
        assert nameless(dialog) == []
        assert dialog.windowTitle() == "Group chat"
        assert [row.name for row in members(dialog) if row.box is None] == ["Mira"]

        row = next(row for row in members(dialog) if row.name == "Edmund")
        QTest.mouseClick(row.findChildren(QLabel)[1], Qt.MouseButton.LeftButton)
        assert dialog.selected_names == ["edmund"]
        dialog.accept()
        await until(scene.window.chat.speaker_chooser.isVisible)
        assert nameless(scene.window) == []


async def test_a_renamed_guest_is_called_by_the_new_name(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        await set_guests(scene, "Edmund")
        edmund = await scene.services.library.persona("edmund")
        await scene.services.library.save_persona(edmund.model_copy(update={"name": "Inspector Pell"}))
        await until(lambda: scene.window.windowTitle() == "Mira and Inspector Pell — Lethe")


async def test_on_a_page_nobody_is_asked_in(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        scene.window.window_actions["settings"].trigger()
        await until(lambda: scene.page is not None)
        assert not scene.window.window_actions["group"].isVisible()


def members(dialog: GroupDialog) -> list[GroupMemberRow]:
    """The rows from top to bottom."""
    return dialog.findChildren(GroupMemberRow)


def choices(dialog: GroupDialog) -> list[QCheckBox]:
    return [row.box for row in members(dialog) if row.box is not None]


def face(_persona: Persona) -> QPixmap:
    return QPixmap(32, 32)


def people(count: int) -> list[Persona]:
    return [Persona(unique_name=f"p{number}", name=f"Person {number}") for number in range(count)]


def test_with_nobody_else_there_is_a_way_to_make_somebody(theme, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    dialog = GroupDialog(window, [], people(1), [], face)
    answers = []
    dialog.finished.connect(answers.append)
    dialog.open()

    assert dialog.is_alone
    assert dialog.primary.text() == "Create persona"
    assert nameless(dialog) == []
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert answers == [1]


def test_among_many_somebody_is_found_by_name(theme, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    everybody = people(30)
    dialog = GroupDialog(window, [], everybody[:1], everybody[1:], face)
    dialog.open()
    process_events()
    assert 600 < dialog.height() <= 640
    dialog.resize(dialog.width() + 50, 500)
    chosen = dialog.size()
    QTest.keyClicks(dialog.search_field, "person 12")
    process_events()
    assert dialog.size() == chosen

    assert [row.name for row in members(dialog) if not row.isHidden()] == ["Person 12"]


def test_whoever_cannot_be_read_stays_until_they_are_let_go(theme, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    here, lost, other = people(3)
    dialog = GroupDialog(window, [lost.unique_name], [here], [other], face)
    dialog.open()
    assert dialog.selected_names == ["p1"]

    for box in choices(dialog):
        box.toggle()
    assert dialog.selected_names == ["p2"]


def test_a_persona_is_told_of_without_the_signs_of_its_file():
    persona = Persona(name="Wren", bio="{{char}} keeps the light for {{user}}.\n\n" + "word " * 400)
    reported = describe_persona(persona)
    assert reported.startswith("Wren keeps the light for you. word")
    assert MAX_DESCRIPTION_LENGTH < len(reported) <= 600


def test_names_are_told_as_in_a_sentence():
    assert join_with_and(["Mira"]) == "Mira"
    assert join_with_and(["Mira", "Edmund", "Wren"]) == "Mira, Edmund and Wren"
    assert join_with_or(["Mira", "Edmund", "Wren"]) == "Mira, Edmund or Wren"


async def test_the_sidebar_says_who_takes_part_and_finds_the_conversation_by_their_names(tmp_path: Path, echo_model: Script):
    async with opened(tmp_path, echo_model("I weigh it.")) as scene:
        sidebar = scene.window.sidebar.model
        session = scene.session
        row = sidebar.index_of(f"session {session.guid}")
        assert str(row.data(AGE_ROLE)) == "today"

        await set_guests(scene, "Edmund", "Aiko")
        await until(lambda: str(sidebar.index_of(f"session {session.guid}").data(AGE_ROLE)) == "+2 · today")

        row = sidebar.index_of(f"session {session.guid}")
        assert "with Aiko and Edmund" in str(row.data(Qt.ItemDataRole.ToolTipRole))
        assert "with Aiko and Edmund" in str(row.data(Qt.ItemDataRole.AccessibleTextRole))
        sidebar.set_search_text("edmund")
        assert sidebar.index_of(f"session {session.guid}").isValid()
        sidebar.set_search_text("tamsin")
        assert not sidebar.index_of(f"session {session.guid}").isValid()


async def test_when_somebody_was_asked_in_the_new_beginning_is_read_before_the_user_writes(
    tmp_path: Path, echo_model: Script, monkeypatch: pytest.MonkeyPatch
):
    async with opened(tmp_path, echo_model("I weigh it.")) as scene:
        session, read = scene.session, list[object]()
        monkeypatch.setattr(scene.services.chat, "follow_session", read.append)

        await set_guests(scene, "Edmund")
        await until(lambda: bool(read))

        assert read == [session.guid]
