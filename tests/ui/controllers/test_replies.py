"""What the header says while an answer comes, and what a conversation that is open already does when it is chosen again."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from uuid import UUID

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtTest import QTest

from lethe_app.services.events import Emit, ModelLoading, TurnEvent, stream_events
from lethe_app.ui.chat.status_line import StatusLine
from lethe_app.ui.controllers.conversation import replies as replies_module
from lethe_app.ui.controllers.conversation import reply_state
from tests.ui.other_reply import LONG, writing_elsewhere
from tests.ui.window_scene import opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


class StatusRecorder(QObject):
    """Records each text of the status line, whose tooltip changes with it."""

    def __init__(self, status: StatusLine) -> None:
        super().__init__(status)
        self.texts: list[str] = []
        self._status = status
        status.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt calls it so
        if event.type() == QEvent.Type.ToolTipChange and self._status.full_text not in self.texts[-1:]:
            self.texts.append(self._status.full_text)
        return False


def said_by(status: StatusLine) -> list[str]:
    """Everything the status line says from now on."""
    return StatusRecorder(status).texts


async def test_the_header_tells_the_way_of_an_answer_and_then_what_the_model_is(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Good evening, captain.", delay=0.02)) as scene:
        status = scene.window.chat.status
        await until(lambda: status.full_text.startswith("●"))
        said = said_by(status)
        scene.send("Good evening.")
        await until(lambda: not scene.is_replying and len(scene.words) == 3)

        assert said[0] == "Preparing…"
        assert "Mira is writing…" in said
        assert any(words.startswith("Mira is reading… ") for words in said)
        assert re.match(r"\d+ words?/s", said[-1])
        assert re.search(r"\d+ tokens/s, reused [\d,]+ of [\d,]+ tokens of the prompt", status.toolTip())

        status.show_activity("")  # as after a while
        assert status.full_text.startswith("●")
        assert " / " in status.full_text


async def test_after_stop_the_header_says_what_the_model_is(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.01)) as scene:
        scene.send("Speak.")
        await until(
            lambda: (
                scene.window.chat.status.full_text == "Mira is writing…" and len(scene.words) == 3 and len(scene.words[2]) > 50
            )
        )

        QTest.keyClick(scene.draft, Qt.Key.Key_Escape)
        await until(lambda: not scene.is_replying)
        assert scene.window.chat.status.full_text.startswith("●")


async def test_after_an_error_the_header_does_not_go_on_preparing(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"nothing of the kind")
    async with opened(tmp_path, broken) as scene:
        scene.send("Hello?")
        await until(lambda: scene.toasts and not scene.is_replying)
        assert "choose" in scene.window.chat.status.full_text


async def test_continue_on_a_finished_reply_says_that_it_is_finished(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Good evening, captain.", "")) as scene:
        scene.send("Good evening.")
        await until(lambda: not scene.is_replying and len(scene.words) == 3)

        scene.window.window_actions["continue_reply"].trigger()
        await until(lambda: scene.toasts and not scene.is_replying)

        assert [toast.text for toast in scene.toasts] == ["This reply is finished: the model has nothing to add."]
        assert scene.words[2] == "Good evening, captain."


async def test_who_comes_back_to_an_answer_reads_in_the_header_that_it_goes_on(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.05)) as scene:
        scene.send("Speak.")
        await until(lambda: scene.window.chat.status.full_text == "Mira is writing…")
        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund"))
        assert scene.window.chat.status.full_text.startswith("●")

        said = said_by(scene.window.chat.status)
        scene.controller.session_controller.choose_persona("mira")
        await until(lambda: scene.window.windowTitle().startswith("Mira"))
        assert "Mira is writing…" in said


async def test_loading_ends_every_other_word(tmp_path, echo_model, qtbot):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        status = scene.window.chat.status
        status.show_timed_activity("Thinking…", time.monotonic())
        scene.services.models.changed.notify(ModelLoading("Mistral", 0.4))
        assert status.full_text == "Loading Mistral… 40 %"
        qtbot.wait(1_200)
        assert "Thinking" not in status.full_text


async def test_an_untouched_conversation_is_taken_again_without_a_jump(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("Yes.")) as scene:
        QTest.keyClicks(scene.draft, "Half a sentence")
        resets = []
        scene.controller.messages.modelReset.connect(lambda: resets.append(1))
        before = list(scene.titles)
        for _ in range(3):
            scene.window.sidebar.session_list.setFocus()
            scene.window.window_actions["new"].trigger()
            await until(lambda: scene.draft.hasFocus() or scene.window.focusWidget() is scene.draft)

        assert resets == []
        assert scene.titles == before
        assert scene.draft.toPlainText() == "Half a sentence"


async def test_who_is_renamed_while_an_answer_is_awaited_answers_under_the_new_name(tmp_path, echo_model):
    async with opened(tmp_path, echo_model(LONG, "Good evening.", delay=0.01)) as scene:
        await until(lambda: scene.window.chat.status.full_text.startswith("●"))
        messages, library = scene.controller.messages, scene.services.library
        async with writing_elsewhere(scene):
            scene.send("Good evening.")
            await until(lambda: messages.rowCount() == 3)
            assert messages.message(2).speaker_name == "Mira"
            mira = await library.persona("mira")

            await library.save_persona(mira.model_copy(update={"name": "Mirabel"}))

            await until(lambda: messages.rowCount() == 3 and messages.message(2).speaker_name == "Mirabel")
        await until(lambda: not scene.is_replying)
        stored = await scene.services.sessions.message(messages.outline(2).id)

    assert (stored.speaker_name, stored.content) == ("Mirabel", "Good evening.")


async def test_a_new_conversation_stops_the_reply_and_says_so(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.05)) as scene:
        scene.send("Speak.")
        await until(lambda: len(scene.words) == 3 and scene.words[-1].count("word") > 3)
        before = scene.session.guid

        scene.window.window_actions["new"].trigger()
        await until(lambda: scene.session.guid != before and not scene.is_replying)

        assert any("was stopped" in toast.text for toast in scene.toasts)
        kept = (await scene.services.sessions.page(before, 0, 9))[-1]
        assert kept.content.startswith("word word word")
        assert not kept.current.complete


async def test_a_message_that_waits_for_another_conversation_says_so(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.05)) as scene:
        scene.send("Speak.")
        await until(lambda: scene.window.chat.status.full_text == "Mira is writing…")
        scene.controller.session_controller.choose_persona("edmund")
        await until(lambda: scene.window.windowTitle().startswith("Edmund"))
        scene.send("And you?")

        await until(lambda: scene.window.chat.status.full_text == "Waiting for the reply in another conversation…")
        sidebar = scene.window.sidebar.model
        mira, edmund = (sidebar.row_at(sidebar.index_of(f"persona {name}")) for name in ("mira", "edmund"))
        assert (mira.is_replying, edmund.is_replying) == (True, False)  # Edmund's are listed below him
        await scene.controller.replies.stop_all_replies()
        await until(lambda: not sidebar.row_at(sidebar.index_of("persona mira")).is_replying)


async def test_a_reply_at_its_maximum_length_says_so_and_is_continued_with_a_click(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 40)) as scene:
        await scene.services.preferences.set(max_reply=16)
        scene.send("Speak.")
        await until(lambda: len(scene.words) == 3 and scene.words[-1] and not scene.is_replying)
        view, cut = scene.controller.view, scene.words[-1]
        assert view.message_layout(2).end_mark == "Cut off at the maximum length"
        assert (await scene.services.sessions.page(scene.session.guid, 0, 9))[-1].current.is_cut

        where = QPoint(view.text_column()[0], view.placed_row(2).top) + view.message_layout(2).continue_rect.center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
        await until(lambda: len(scene.words[-1]) > len(cut) and not scene.is_replying)


async def test_an_edited_reply_is_no_longer_marked_as_cut_off(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 40)) as scene:
        await scene.services.preferences.set(max_reply=16)
        scene.send("Speak.")
        await until(lambda: len(scene.words) == 3 and scene.words[-1] and not scene.is_replying)

        await scene.controller.message_changes.edit_message(scene.controller.messages.outline(2).id, "All of it.")
        await until(lambda: scene.words[-1] == "All of it.")

        assert scene.controller.view.message_layout(2).end_mark == ""


async def test_a_reply_that_fails_and_is_stopped_meanwhile_leaves_no_dots(tmp_path, echo_model):
    (broken := tmp_path / "broken.gguf").write_bytes(b"GGUF")
    async with opened(tmp_path, broken) as scene:
        replies, outline = scene.controller.replies, scene.services.sessions.outline

        async def stop_and_read(session_id: UUID) -> object:
            entries = await outline(session_id)
            if scene.is_replying and len(entries) > 1:  # not before the message is stored
                replies.stop_reply()
                await asyncio.sleep(0)
            return entries

        await until(scene.window.isVisible)
        replies._sessions.outline = stop_and_read
        scene.send("Speak.")
        await until(lambda: not scene.is_replying and "Speak." in scene.words)
        await asyncio.sleep(0.1)

        assert scene.words[-1] == "Speak."


async def test_a_reply_that_is_stopped_twice_is_shown_as_far_as_it_came(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, delay=0.01)) as scene:
        replies, stops = scene.controller.replies, []

        async def stop_until_it_ends() -> None:
            while scene.is_replying:
                replies.stop_reply()
                await asyncio.sleep(0)

        def stop_after_some_words() -> None:  # of which only the first are stored yet
            if not stops and len("".join(scene.words[2:])) > 40:
                stops.append(asyncio.ensure_future(stop_until_it_ends()))

        scene.controller.messages.reply_grew.connect(stop_after_some_words)
        scene.send("Speak.")
        await until(lambda: stops and stops[0].done())

        assert len(scene.words[2]) > 40
        stored = await scene.services.sessions.page(scene.session.guid, 0, 9)
        assert [message.content for message in stored] == scene.words


@pytest.mark.parametrize("engine_hangs", [True, False], ids=["engine", "turn"])
async def test_a_reply_that_does_not_stop_holds_nobody_up(tmp_path, monkeypatch, *, engine_hangs: bool):
    monkeypatch.setattr(reply_state, "STOP_SECONDS", 0.1)
    monkeypatch.setattr(replies_module, "STOP_SECONDS", 0.1)
    may_end = asyncio.Event()

    async def hang(_emit: Emit) -> None:
        while not may_end.is_set():
            with suppress(asyncio.CancelledError):
                await may_end.wait()

    async def send(*_values: object, **_options: object) -> AsyncGenerator[TurnEvent]:
        if not engine_hangs:
            await hang(None)
        async for event in stream_events(hang):
            yield event

    async with opened(tmp_path) as scene:
        monkeypatch.setattr(scene.services.chat, "send", send)
        scene.send("Speak.")
        await until(lambda: scene.is_replying)
        await asyncio.sleep(0.05)
        if engine_hangs:
            scene.controller.replies.stop_reply()
            await until(lambda: not scene.is_replying)
        else:
            await asyncio.wait_for(scene.controller.replies.stop_all_replies(), 2)
            assert scene.is_replying
        may_end.set()
        await until(lambda: not scene.is_replying)


async def test_what_is_entered_while_a_reply_stops_is_sent_when_it_has(tmp_path, echo_model):
    async with opened(tmp_path, echo_model("word " * 2000, "Yes.", delay=0.02)) as scene:
        scene.send("Speak.")
        await until(lambda: scene.window.chat.status.full_text == "Mira is writing…")
        scene.controller.replies.stop_reply()
        assert scene.is_replying
        scene.send("No, wait.")
        await until(lambda: "No, wait." in scene.words and not scene.is_replying)
        assert scene.words[-1] == "Yes."
        assert scene.draft.toPlainText() == ""
