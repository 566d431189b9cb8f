"""Speech in the chat: replies are spoken as they stream, and the voice falls silent as soon as the user acts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.domain.clock import use_clock
from lethe_app.errors import SpeechUnavailable
from tests.services.tasks import Clock
from tests.speech.fake_engine import ADA, BEN, FakeEngine
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def switch_speech_on(scene: Scene) -> None:
    buttons = scene.window.chat.header.speech
    QTest.mouseClick(buttons.speak_button, Qt.MouseButton.LeftButton)
    await until(lambda: scene.controller.speech.mode.is_spoken)


async def test_a_reply_is_spoken_sentence_by_sentence_while_it_is_written(tmp_path, echo_model):
    engine = FakeEngine()
    model = echo_model("*She looks up.* You are late, Mr. Hale. The galley **burns**! And so on " + "and on " * 60, delay=0.01)
    async with opened(tmp_path, model, speech_engine=engine) as scene:
        await switch_speech_on(scene)
        scene.send("Good evening.")
        await until(lambda: len(engine.played) == 2)

        assert scene.is_replying
        assert engine.texts == ["You are late, Mr. Hale.", "The galley burns!"]


async def test_nothing_is_spoken_before_it_is_switched_on(tmp_path, echo_model):
    engine = FakeEngine()
    async with opened(tmp_path, echo_model("Good evening, captain."), speech_engine=engine) as scene:
        await scene.say("Good evening.")

        assert engine.prepared == []


async def test_the_voice_of_the_persona_reads_a_message_aloud(tmp_path, echo_model):
    engine = FakeEngine()
    async with opened(tmp_path, echo_model("Good evening, captain."), speech_engine=engine) as scene:
        persona = await scene.services.library.persona("mira")
        await scene.services.library.save_persona(persona.model_copy(update={"tts_voice": BEN.voice_id}))
        await scene.controller.directory.read_personas()
        await scene.say("Good evening.")

        scene.controller.view.run_action("read", 2)
        await until(lambda: engine.texts)
        QTest.keyClick(scene.draft, Qt.Key.Key_F8)
        await until(lambda: len(engine.texts) == 2)

        assert {(one.text, one.voice_id) for one in engine.played} == {("Good evening, captain.", BEN.voice_id)}


async def read_on(scene: Scene, engine: FakeEngine) -> None:
    """Have the last reply read aloud, and wait until the first sentence is playing."""
    scene.controller.view.run_action("read", scene.controller.messages.rowCount() - 1)
    await until(lambda: engine.is_playing and scene.window.chat.header.speech.stop_button.isVisible())


def type_a_letter(scene: Scene) -> None:
    QTest.keyClicks(scene.draft, "H")


def compose_a_word(scene: Scene) -> None:
    QApplication.sendEvent(scene.draft, QInputMethodEvent("ni", []))


def press_escape(scene: Scene) -> None:
    QTest.keyClick(scene.draft, Qt.Key.Key_Escape)


def press_stop(scene: Scene) -> None:
    QTest.mouseClick(scene.window.chat.header.speech.stop_button, Qt.MouseButton.LeftButton)


def press_the_shortcut(scene: Scene) -> None:
    QTest.keyClick(scene.draft, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)


def send_nothing(scene: Scene) -> None:
    QTest.keyClick(scene.draft, Qt.Key.Key_Return)


def regenerate(scene: Scene) -> None:
    scene.window.window_actions["regenerate"].trigger()


def edit_the_message(scene: Scene) -> None:
    scene.controller.view.run_action("edit", 2)


def delete_the_message(scene: Scene) -> None:
    scene.controller.view.run_action("delete", 2)


def begin_another_session(scene: Scene) -> None:
    scene.window.window_actions["new"].trigger()


@pytest.mark.parametrize(
    "act",
    [
        type_a_letter,
        compose_a_word,
        press_escape,
        press_stop,
        press_the_shortcut,
        send_nothing,
        regenerate,
        edit_the_message,
        delete_the_message,
        begin_another_session,
    ],
)
async def test_the_voice_stops_as_soon_as_the_user_acts(tmp_path, echo_model, act):
    engine = FakeEngine(is_instant=False)
    async with opened(tmp_path, echo_model("One. Two. Three."), speech_engine=engine) as scene:
        await scene.say("Good evening.")
        await read_on(scene, engine)
        changes: list[bool] = []
        scene.controller.speech_output.speaking_changed.add(changes.append)

        act(scene)
        await until(lambda: changes)

        assert engine.cut_off == ["One."]
        assert engine.texts == ["One."]
        assert changes == [False]
        assert not scene.window.chat.header.speech.stop_button.isVisible()
        await until(lambda: not scene.is_replying)


async def test_escape_stops_reply_and_voice(tmp_path, echo_model):
    engine = FakeEngine(is_instant=False)
    async with opened(tmp_path, echo_model("One. Two. " + "word " * 2000, delay=0.01), speech_engine=engine) as scene:
        await switch_speech_on(scene)
        scene.send("Good evening.")
        await until(lambda: engine.is_playing)

        press_escape(scene)
        await until(lambda: not scene.is_replying)

        assert engine.texts == engine.cut_off == ["One."]


async def test_closing_the_window_silences_the_voice_and_ends_its_engine(tmp_path, echo_model):
    engine = FakeEngine(is_instant=False)
    async with opened(tmp_path, echo_model("One. Two."), speech_engine=engine) as scene:
        await scene.say("Good evening.")
        await read_on(scene, engine)

    assert engine.cut_off == ["One."]
    assert engine.is_closed


async def test_each_session_remembers_whether_it_is_spoken(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("One."), speech_engine=FakeEngine()) as scene:
        button = scene.window.chat.header.speech.speak_button
        first = scene.session
        await switch_speech_on(scene)
        await scene.say("Good evening.")
        scene.window.window_actions["new"].trigger()
        await until(lambda: scene.session.guid != first.guid and not scene.controller.speech.mode.is_spoken)
        assert not button.isChecked()

        await scene.controller.session_controller.go_to_session(first.guid)
        await until(lambda: scene.controller.speech.mode.is_spoken)

        assert button.isChecked()
        assert scene.window.chat.header.speech.style_action.isChecked()


async def test_the_session_that_follows_one_that_timed_out_is_spoken_as_well(tmp_path, echo_model):
    engine, clock = FakeEngine(), Clock()
    with use_clock(clock):
        async with opened(tmp_path, echo_model("Noted.", "Good morning."), speech_engine=engine) as scene:
            await switch_speech_on(scene)
            scene.send("I am allergic to peanuts.")
            await until(lambda: not scene.is_replying and engine.texts == ["Noted."])
            old = scene.session
            clock.go_on(hours=2)
            await scene.services.session_timeout.archive_timed_out()
            await until(scene.controller.session_end.ended_line.isVisible)

            scene.send("Good morning.")
            await until(lambda: not scene.is_replying and engine.texts[1:] == ["Good morning."])

            assert scene.session.guid != old.guid
            await until(scene.window.chat.header.speech.speak_button.isChecked)
            assert (await scene.services.session_speech.mode_of(scene.session.guid)).is_spoken


async def test_the_setting_applies_to_sessions_for_which_nothing_was_chosen(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("One."), speech_engine=FakeEngine()) as scene:
        await scene.services.preferences.set(speak_replies=True, spoken_style=False)
        await until(lambda: scene.controller.speech.mode.is_spoken)
        assert not scene.controller.speech.mode.has_spoken_style

        QTest.keyClick(scene.draft, Qt.Key.Key_F7)
        await until(lambda: not scene.controller.speech.mode.is_spoken)
        QTest.keyClick(scene.draft, Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
        await until(lambda: scene.controller.speech.mode.has_spoken_style)


async def test_the_replies_of_a_group_are_spoken_one_after_the_other(tmp_path, echo_model):
    engine = FakeEngine(is_instant=False)
    async with opened(tmp_path, echo_model("I am here. ", "So am I. "), speech_engine=engine) as scene:
        await scene.services.preferences.set(group_turns="everyone")
        others = [one.unique_name for one in await scene.services.library.personas() if one.unique_name != "mira"]
        await scene.services.sessions.set_guests(scene.session.guid, others[:1])
        await until(lambda: scene.session.guests)
        await switch_speech_on(scene)
        scene.send("Good evening.")
        await until(lambda: not scene.is_replying and len(scene.words) == 4)
        assert engine.texts == ["I am here."]

        engine.end_sentence()
        await until(lambda: len(engine.texts) == 2 and engine.is_playing)

        assert engine.texts == ["I am here.", "So am I."]


async def test_what_is_missing_is_said_when_speech_is_switched_on(tmp_path, echo_model):
    problem = SpeechUnavailable("Speech needs the system library libpulse.so.0, which is missing.", "Install it.")
    async with opened(tmp_path, echo_model("One."), speech_engine=FakeEngine(problem=problem)) as scene:
        await switch_speech_on(scene)
        await until(lambda: scene.toasts)

        assert "libpulse.so.0" in scene.toasts[0].text
        await scene.say("Good evening.")
        assert scene.words[2] == "One."


async def test_the_voice_of_a_persona_is_chosen_and_tried_in_its_editor(tmp_path, echo_model):
    engine = FakeEngine()
    async with opened(tmp_path, echo_model("One."), speech_engine=engine) as scene:
        scene.window.window_actions["persona_editor"].trigger()
        await until(lambda: scene.page is not None and scene.page.is_loaded)
        field, voices = scene.page.sheet.field("tts_voice"), scene.page.voices
        field.setFocus()
        await until(lambda: field.count() == 3)
        assert [field.itemText(index) for index in range(3)] == ["Voice from the settings", "Ada · English", "Ben · German"]

        field.setCurrentIndex(2)
        QTest.mouseClick(voices.try_buttons["tts_voice"], Qt.MouseButton.LeftButton)
        await until(lambda: engine.played)
        QTest.keyClick(scene.page, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: not scene.page.is_dirty)

        assert engine.played[0].voice_id == BEN.voice_id
        assert (await scene.services.library.persona("mira")).tts_voice == BEN.voice_id


async def test_the_voices_are_chosen_in_the_settings(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("One."), speech_engine=FakeEngine()) as scene:
        scene.window.chat.header.speech.settings_action.trigger()
        await until(lambda: scene.page is not None and hasattr(scene.page, "voices"))
        field = scene.page.form.field_widget("speech_voice")
        await until(lambda: field.count() == 3)

        field.setCurrentIndex(1)
        await until(lambda: scene.services.preferences.stored.speech_voice == ADA.voice_id)
