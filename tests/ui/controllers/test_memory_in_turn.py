"""What memory does in a turn is seen in the window: a conversation that begins by itself, lines that stay hidden, a count."""

from __future__ import annotations

from datetime import timedelta

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.services.indexing.service import IndexingProgress
from lethe_app.services.sessions.archive_queue import ArchiveProgress
from lethe_app.ui.shell.activity_list import ActivityRow
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")


async def talk_of_yesterday(scene: Scene) -> ChatSession:
    """A conversation that lies a day back, on display."""
    chats, begun = scene.services.session_store, now() - timedelta(days=1)
    session = await chats.add_session(ChatSession(persona_id="mira", added=begun))
    lines = [("user", "I saw the lighthouse."), ("assistant", "Which one?"), ("user", "Skerry Point."), ("assistant", "Ah.")]
    messages = [
        Message(session_id=session.guid, role=Role(role), time=begun, alternatives=[Alternative(content=text)])
        for role, text in lines
    ]
    await chats.add_messages(messages)
    for other in await scene.services.sessions.list("mira"):
        if other.guid != session.guid:
            await scene.services.sessions.delete(other.guid)
    await scene.controller.session_controller.show_session(await chats.session(session.guid))
    await until(lambda: len(scene.words) == 4)
    return session


async def test_words_after_a_long_silence_begin_a_new_conversation_before_the_readers_eyes(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Welcome back.")) as scene:
        old = await talk_of_yesterday(scene)

        scene.controller.replies.send_message("Good morning.")
        await until(lambda: scene.words == ["Good morning.", "Welcome back."] and not scene.is_replying)

        fresh = scene.session
        assert fresh.guid != old.guid
        assert scene.services.preferences.current.last_session == str(fresh.guid)
        assert (await scene.services.sessions.open(old.guid)).archived
        assert [message.content for message in await scene.services.sessions.page(old.guid, 0, 9)][-1] == "Ah."


async def test_a_line_above_the_text_is_hidden_and_shown_on_request(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        waiting = MemoryUnit(
            name="The letter", content="It came today.", insertion=MemoryInsertion.NATURAL, keywords_main=["letter"]
        )
        await scene.services.memory.memorize("mira", waiting)
        before = len(scene.words)

        scene.controller.replies.send_message("A letter?")
        await until(lambda: scene.words[before:] == ["A letter?", "Indeed."] and not scene.is_replying)
        scene.controller.messages.set_show_hidden(True)
        await until(lambda: len(scene.words) == before + 3 and scene.words[before])

        assert "It came today." in scene.words[before]
        assert scene.words[before + 1] == "A letter?"


async def test_the_header_counts_the_recalled_memories(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        await scene.services.memory.memorize("mira", MemoryUnit(name="Lamp", content="It is lit.", keywords_main=["pharos"]))
        scene.controller.replies.send_message("Is the pharos lit?")
        await until(lambda: scene.words[-1] == "Indeed." and not scene.is_replying)
        assert "sources used" in scene.window.chat.status.full_text


async def test_the_header_tells_what_goes_on_behind(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        status, archive_queue, indexing = scene.window.chat.status, scene.services.archive_queue, scene.services.indexing
        archive_queue.progress = ArchiveProgress(now_id(scene), "First night", None, 2, 7)
        archive_queue.changed.notify(archive_queue.progress)
        assert "archiving First night, 3 of 7" in status.full_text
        archive_queue.progress = ArchiveProgress()
        indexing.progress = IndexingProgress(changes=500, without_meaning=1)
        indexing.changed.notify(indexing.progress)
        assert "preparing search, 501 texts left" in status.full_text
        indexing.progress = IndexingProgress(without_meaning=45)  # the worlds of a first start
        indexing.changed.notify(indexing.progress)
        assert "left" not in status.full_text
        indexing.progress = IndexingProgress()
        indexing.changed.notify(indexing.progress)
        assert "search" not in status.full_text


def now_id(scene: Scene):
    assert scene.session is not None
    return scene.session.guid


async def test_a_long_conversation_is_told_once_with_a_way_to_begin_anew(tmp_path, echo_model):
    long = "so on and so forth " * 30
    async with opened(tmp_path / "home", echo_model(*[long] * 9)) as scene:
        await scene.services.preferences.set(context=1024, max_reply=64)
        await scene.services.models.load()
        for turn in range(6):
            scene.controller.replies.send_message(f"Turn {turn}. {long}")
            await until(lambda: not scene.is_replying and scene.words[-1].startswith("so on"))
        offers = [toast for toast in scene.toasts if any("grown long" in label.text() for label in toast.findChildren(QLabel))]
        assert len(offers) == 1
        assert [button.text() for button in offers[0].findChildren(QPushButton)] == ["New conversation"]


async def test_many_conversations_are_counted_and_those_of_another_day_can_be_continued_now(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        queue = scene.services.archive_queue
        activities = scene.window.sidebar.activity_button.activity_list

        def row() -> ActivityRow:
            rows = activities.findChildren(ActivityRow)
            return next(row for row in rows if "onversations" in row.title.text() or "“First night”" in row.title.text())

        for progress, expected in [
            (ArchiveProgress(waiting=87), ("Archiving conversations", "87 remaining")),
            (
                ArchiveProgress(now_id(scene), "First night", None, 2, 7, 86),
                ("Archiving “First night”", "3 of 7 · 86 more conversations"),
            ),
        ]:
            queue.progress = progress
            queue.changed.notify(progress)
            assert (row().title.text(), row().detail.text()) == expected

        queue.progress = ArchiveProgress(is_limited=True)
        queue.changed.notify(queue.progress)
        assert row().title.text() == "Older conversations continue tomorrow"
        row().button.click()
        assert scene.services.archive_budget.lifted_on is not None
        await queue.finish()
        assert queue.progress == ArchiveProgress()


async def test_the_number_of_memories_follows_objections_also_those_withdrawn_on_their_page(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        await scene.services.memory.memorize("mira", MemoryUnit(name="Lamp", content="It is lit.", keywords_main=["pharos"]))
        scene.controller.replies.send_message("Is the pharos lit?")
        await until(lambda: scene.words[-1] == "Indeed." and not scene.is_replying)
        asked = (await scene.services.sessions.page(now_id(scene), 1, 1))[0]
        counts = scene.controller.messages.annotations.memory_counts
        await until(lambda: counts.value_of(asked.id))
        before = counts.value_of(asked.id)
        lamp = next(one for one in await scene.services.memory.memories("mira") if one.name == "Lamp")

        await scene.services.objections.add_objection("mira", lamp.guid, asked)
        await until(lambda: counts.value_of(asked.id).memories == before.memories - 1)
        await scene.services.objections.withdraw_objection("mira", lamp.guid, asked.id)
        await until(lambda: counts.value_of(asked.id) == before)


async def test_a_reply_without_recorded_memories_is_called_old_only_once_it_is_written(tmp_path, echo_model, monkeypatch):
    async with opened(tmp_path, echo_model("word " * 200, delay=0.05)) as scene:

        async def find_nothing(*_arguments: object) -> None:
            return None

        def is_shown(text: str) -> bool:
            labels = scene.controller.memory_panel.panel.findChildren(QLabel)
            return any(text in label.text() for label in labels if label.isVisible())

        monkeypatch.setattr(type(scene.services.reply_sources._recall), "stored_recall", find_nothing)
        scene.window.window_actions["memory_panel"].trigger()
        scene.send("Speak.")
        await until(lambda: is_shown("This reply is being written."), 10)
        assert not is_shown("was written before")

        await until(lambda: scene.words[-1].count("word") > 3, 10)
        scene.controller.replies.stop_reply()
        await until(lambda: is_shown("was written before"), 10)


async def test_the_panel_shows_no_memories_of_the_last_reply_while_the_next_is_prepared(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.", "And more.", delay=0.02)) as scene:
        note = MemoryUnit(name="Letter", content="It came today.", insertion=MemoryInsertion.TRIGGER, keywords_main=["letter"])
        await scene.services.memory.memorize("mira", note)
        panel = scene.controller.memory_panel.panel
        scene.window.panes.open_panel()
        await scene.say("Did you read the letter?")
        await until(lambda: panel.cards and panel.subtitle.text() != "being written")

        scene.controller.replies.send_message("What is for supper?")
        assert panel.subtitle.text() == "being written"
        assert not panel.cards
        await until(lambda: not scene.is_replying and len(scene.words) >= 5 and panel.subtitle.text() != "being written")


async def test_the_panel_returns_to_the_last_reply_if_the_next_is_stopped_at_once(tmp_path, echo_model):
    async with opened(tmp_path / "home", echo_model("Indeed.", "And more.", delay=0.02)) as scene:
        panel = scene.controller.memory_panel.panel
        scene.window.panes.open_panel()
        await scene.say("Good evening.")
        await until(lambda: panel.subtitle.text() not in {"", "being written"})

        scene.controller.replies.send_message("What is for supper?")
        assert panel.subtitle.text() == "being written"
        scene.controller.replies.stop_reply()
        await until(lambda: not scene.is_replying and panel.subtitle.text() != "being written")
