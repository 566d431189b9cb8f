"""The panel beside the chat says why a memory came; it can be forgotten, pinned, rewritten, sent away and called back there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.recall import RecallCounts, RecalledMemory, RecallLead, RecallWay, TurnMemory
from lethe_app.services.chat.reply_source_reader import ReplyMemory, SourceKind
from lethe_app.storage.memory.turn_memories import TurnMemories
from lethe_app.ui.chat.memory_card import MemoryCard
from lethe_app.ui.chat.memory_card_parts import CollapsibleHeading
from lethe_app.ui.chat.memory_labels import find_matching_words, format_card_text, list_matched_lines, quote_line
from lethe_app.ui.widgets.text_area import TextAreaField
from tests.ui.test_accessibility import nameless
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")

FACT = "Tomas's grandfather kept the light on Skerry Point."
QUESTION = "Did my grandfather keep the light on Skerry Point?"


@pytest.fixture
async def scene(tmp_path: Path, echo_model: Callable[..., Path]) -> AsyncIterator[Scene]:
    async with opened(tmp_path / "home", echo_model(*["Indeed."] * 40)) as opened_scene:
        settings = {
            "recall_without_match": 0,
            "core_facts_tokens": 0,
            "session_memory_system": False,
            "accumulated_memories": 0,
        }
        await opened_scene.services.preferences.set(session_handling="current_only", **settings)
        mira = await opened_scene.services.library.persona("mira")
        await opened_scene.services.library.save_persona(mira.model_copy(update={"worlds": []}))  # it would join in
        opened_scene.window.resize(1280, 800)
        yield opened_scene


async def first_night(scene: Scene) -> Message:
    """A conversation of some days ago, and the fact that is known from it; returns the message that says it."""
    chats, begun = scene.services.session_store, now() - timedelta(days=9)
    old = await chats.add_session(ChatSession(persona_id="mira", name="First night", added=begun))
    texts = ["My grandfather kept the light on Skerry Point.", "Then you know what it is to count seconds."]
    messages = [
        Message(session_id=old.guid, role=role, time=begun, alternatives=[Alternative(content=text, created=begun)])
        for role, text in zip((Role.USER, Role.ASSISTANT), texts, strict=True)
    ]
    await chats.add_messages(messages)
    fact = ExtractedFact(fact=FACT, source_memories=[old.guid], source_messages=[messages[0].id])
    await scene.services.facts.learn("mira", [fact])
    return messages[0]


async def lamp(scene: Scene, **fields: object) -> MemoryUnit:
    memory = MemoryUnit.model_validate({"name": "The lamp", "content": "It is lit.", "keywords_main": ["pharos"], **fields})
    return await scene.services.memory.memorize("mira", memory, check=False)


def panel_open(scene: Scene) -> None:
    scene.window.window_actions["memory_panel"].trigger()


def card(scene: Scene, words: str) -> MemoryCard | None:
    return next((one for one in scene.window.memory_panel.cards if words in one.accessibleName()), None)


async def shown_card(scene: Scene, words: str) -> MemoryCard:
    """The card with these words, as soon as the panel shows it."""
    await until(lambda: card(scene, words))
    found = card(scene, words)
    assert found is not None
    return found


async def lamp_card(scene: Scene) -> MemoryCard:
    """The card of the lamp, which the user has just asked about."""
    await lamp(scene)
    await scene.say("Is the pharos lit?")
    panel_open(scene)
    return await shown_card(scene, "It is lit")


def words_in(scene: Scene) -> str:
    panel = scene.window.memory_panel
    return "\n".join(one.text() for one in panel.findChildren(QLabel) if one.isVisibleTo(panel))


def press(card: MemoryCard, drawing: str) -> None:
    tool = card.tool_buttons[drawing]
    tool.setFocus()
    QTest.keyClick(tool, Qt.Key.Key_Space)


async def undo_by_toast(scene: Scene) -> None:
    def offered() -> list[QPushButton]:
        found = [button for toast in scene.toasts for button in toast.findChildren(QPushButton)]
        return [button for button in found if button.text() == "Undo"]

    await until(offered)
    QTest.mouseClick(offered()[-1], Qt.MouseButton.LeftButton)


# stories


async def test_one_sees_why_a_memory_surfaced_forgets_it_and_it_does_not_come_back(scene: Scene):
    await first_night(scene)
    await scene.say(QUESTION)
    panel_open(scene)
    fact = await shown_card(scene, "kept the light")
    assert "You mentioned" in fact.reason_text
    assert "“grandfather”" in fact.reason_text
    assert "Mira knows this" in fact.reason_text

    press(fact, "trash")
    await until(lambda: card(scene, FACT[:20]) is None)
    await scene.say(QUESTION)
    await until(
        lambda: (
            scene.window.memory_panel.reply_id == scene.controller.memory_panel.reply_id
            and scene.controller.memory_panel.shown_sources is not None
        )
    )

    behind = scene.controller.memory_panel.shown_sources
    assert not any(FACT in one.recollection.text for one in behind.recalled)
    assert FACT not in words_in(scene)


async def test_what_was_forgotten_comes_back_when_it_is_taken_back(scene: Scene):
    await lamp(scene)
    row = await scene.say("Is the pharos lit?")
    panel_open(scene)
    await until(lambda: card(scene, "It is lit"))
    assert scene.controller.messages.annotations_of(row).recalled.total == 1

    found = card(scene, "It is lit")
    press(found, "trash")
    await until(
        lambda: not scene.window.memory_panel.cards and scene.controller.messages.annotations_of(row).recalled.total == 0
    )
    assert "have been forgotten since" in words_in(scene)
    await undo_by_toast(scene)

    await until(lambda: card(scene, "It is lit") and scene.controller.messages.annotations_of(row).recalled.total == 1)


async def test_what_did_not_belong_is_kept_back_and_can_be_called_back(scene: Scene):
    found = await lamp_card(scene)
    row = scene.controller.messages.rowCount() - 1

    press(found, "lower")
    await until(lambda: "You marked it as irrelevant." in words_in(scene))
    assert scene.window.memory_panel.cards == []
    assert "You marked everything that your message recalled as irrelevant." in words_in(scene)
    assert scene.window.memory_panel.isAncestorOf(scene.window.focusWidget())
    await until(lambda: scene.controller.messages.annotations_of(row).recalled == RecallCounts(irrelevant=1))
    links = scene.window.memory_panel.findChildren(QPushButton)
    link = next(one for one in links if one.accessibleName() == "Mark “The lamp” as relevant to this reply")
    QTest.keyClick(link, Qt.Key.Key_Space)

    await until(lambda: card(scene, "It is lit"))


async def test_a_memory_is_rewritten_and_pinned_on_the_spot(scene: Scene):
    memory = await lamp(scene)
    await scene.say("Is the pharos lit?")
    panel_open(scene)
    found = await shown_card(scene, "It is lit")

    press(found, "edit")
    field = found.findChildren(TextAreaField)[0]
    assert field.hasFocus()
    field.selectAll()
    QTest.keyClicks(field, "It went out.")
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    again = await shown_card(scene, "It went out")
    press(again, "pin")
    await until(lambda: card(scene, "It went out").memory.pinned)

    (held,) = [one for one in await scene.services.memory.memories("mira") if one.guid == memory.guid]
    assert (held.content, held.sticky) == ("It went out.", True)


async def test_what_is_being_written_in_a_card_is_not_swept_away_by_a_change_elsewhere(scene: Scene):
    found = await lamp_card(scene)
    press(found, "edit")

    await scene.services.memory.memorize("mira", MemoryUnit(name="Other", content="Something else."))
    await until(lambda: True)

    assert scene.window.memory_panel.cards == [found]
    assert found.is_editing
    QTest.keyClick(found.findChildren(TextAreaField)[0], Qt.Key.Key_Escape)
    assert not found.is_editing


async def test_the_link_leads_to_the_message_that_says_it(scene: Scene):
    said = await first_night(scene)
    await scene.say(QUESTION)
    panel_open(scene)
    await until(lambda: card(scene, FACT[:20]))
    links = scene.window.memory_panel.findChildren(QPushButton)
    link = next(one for one in links if one.accessibleName().startswith("Go to message: “First night”"))

    QTest.mouseClick(link, Qt.MouseButton.LeftButton)

    view = scene.controller.view
    await until(lambda: view.focused_row is not None and view.chat_model.outline(view.focused_row).id == said.id)


# chips


async def test_a_click_on_the_chip_opens_the_panel_on_that_reply(scene: Scene):
    await lamp(scene)
    row = await scene.say("Is the pharos lit?")
    newest = await scene.say("Good.")
    view = scene.controller.view
    view.go_to_message(view.chat_model.outline(row).id)
    await until(lambda: view.placed_row(row) is not None and scene.controller.messages.annotations_of(row).recalled.total)
    sheet, placed = view.message_layout(row), view.placed_row(row)
    assert scene.controller.messages.annotations_of(newest).recalled.total == 0

    QTest.mouseClick(
        view.viewport(),
        Qt.MouseButton.LeftButton,
        pos=sheet.chip_rect.center() + QPoint(view.text_column()[0], placed.top),
    )
    await until(lambda: card(scene, "It is lit"))

    assert scene.window.panes.is_panel_open
    assert scene.window.memory_panel.reply_id == view.chat_model.outline(row).id
    scene.window.memory_panel.newest_requested.emit()
    await until(lambda: not scene.window.memory_panel.cards)
    assert scene.window.memory_panel.reply_id == view.chat_model.outline(newest).id


async def test_the_chip_is_within_reach_of_the_keyboard_and_read_aloud(scene: Scene):
    await lamp(scene)
    row = await scene.say("Is the pharos lit?")
    view, model = scene.controller.view, scene.controller.messages
    await until(lambda: model.annotations_of(row).recalled.total)
    assert "1 memory" in model.data(model.index(row), Qt.ItemDataRole.AccessibleDescriptionRole)

    view.go_to_message(model.outline(row).id)
    menu = view.build_menu(row)
    next(action for action in menu.actions() if action.text() == "Memories used").trigger()
    await until(lambda: card(scene, "It is lit"))


async def test_memory_counts_of_old_replies_are_queried_once_a_page(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    chats = scene.services.session_store
    session = await chats.add_session(ChatSession(persona_id="mira"))
    messages = [
        Message(
            session_id=session.guid,
            role=Role.USER if number % 2 else Role.ASSISTANT,
            speaker_name="Tomas" if number % 2 else "Mira",
            time=now() - timedelta(days=3),
            alternatives=[Alternative(content=f"Line {number}.")],
        )
        for number in range(1, 300)
    ]
    await chats.add_messages(messages)
    memory = await lamp(scene)
    one = (await scene.services.memory_lookup.preview_recall("mira", "the pharos")).recalled[0]
    assert one.memory == memory.guid
    turns = TurnMemories(scene.services.database)
    for message in messages[::20]:
        await turns.save_turn(message.id, TurnMemory(recalled=[one]))
    asked: list[int] = []
    model = scene.controller.messages
    counts = model.annotations.memory_counts
    query = counts._query

    async def counted(ids):
        asked.append(len(ids))
        return await query(ids)

    monkeypatch.setattr(counts, "_query", counted)
    await scene.controller.session_controller.show_session(await chats.session(session.guid))
    await until(lambda: model.rowCount() >= 299 and model.message(model.rowCount() - 1))
    await until(lambda: any(model.annotations_of(row).recalled.total for row in range(model.rowCount())))

    assert len(asked) <= 2
    assert max(asked) <= 51


async def test_the_panel_follows_the_keyboard_from_reply_to_reply(scene: Scene):
    await lamp(scene)
    row = await scene.say("Is the pharos lit?")
    await scene.say("Good.")
    panel_open(scene)
    await until(lambda: "No memories used" in words_in(scene))

    scene.controller.view.go_to_message(scene.controller.messages.outline(row).id)

    await until(lambda: card(scene, "It is lit"))


async def test_what_is_always_in_the_prompt_is_listed_and_opened(scene: Scene):
    said = await first_night(scene)
    await scene.services.session_store.change_session(said.session_id, content="They spoke of the light.")
    await scene.services.preferences.set(core_facts_tokens=512, session_memory_system=True)
    await scene.controller.session_controller.show_session(await scene.services.sessions.new("mira"))
    await scene.say("Good.")
    panel_open(scene)
    await until(lambda: "No further memories used" in words_in(scene))
    panel = scene.window.memory_panel
    (fold,) = [one for one in panel.findChildren(CollapsibleHeading) if one.isVisibleTo(panel)]
    assert fold.accessibleName() == "In every prompt now: 1 fact and 1 summary of an earlier conversation"
    assert panel.scroll_area.widget().width() <= panel.width()
    assert "No memories used" not in words_in(scene)
    assert FACT not in words_in(scene)

    QTest.keyClick(fold, Qt.Key.Key_Space)

    assert FACT in words_in(scene)
    assert "First night" in words_in(scene)
    assert "They spoke of the light." in words_in(scene)


# the panel itself


async def test_an_empty_panel_teaches_and_a_greeting_needs_no_memory(scene: Scene):
    panel_open(scene)
    await until(lambda: "Memories are recalled in reply to your messages" in words_in(scene))


async def test_numbers_lie_one_click_deeper(scene: Scene):
    await first_night(scene)
    await scene.say(QUESTION)
    panel_open(scene)
    found = await shown_card(scene, FACT[:20])
    assert "shared words" not in words_in(scene)

    QTest.keyClick(found.heading, Qt.Key.Key_Space)

    assert "shared words" in words_in(scene)
    assert "likely to be relevant" in words_in(scene)


async def test_the_panel_is_remembered_and_gives_way_in_a_narrow_window(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home") as first:
        first.window.resize(1280, 800)
        assert not first.window.panes.is_panel_open
        panel_open(first)
        await until(first.window.memory_panel.isVisible)
        assert first.window.panes.splitter.indexOf(first.window.memory_panel) == 2
    async with opened(tmp_path / "home") as again:
        panes = again.window.panes
        again.window.resize(1280, 800)
        await until(lambda: panes.is_panel_open)
        again.window.resize(900, 640)
        await until(again.window.sidebar.isHidden)  # it makes room, so that the panel covers nothing
        assert panes.is_panel_open
        send_button = again.window.chat.composer.send_button
        assert send_button.visibleRegion().boundingRect().size() == send_button.size()
        panes.toggle_sidebar()
        await until(lambda: not panes.is_panel_open and again.window.sidebar.isVisible())
        panel_open(again)
        await until(again.window.sidebar.isHidden)
        again.window.resize(700, 640)
        await until(lambda: not panes.is_panel_open)
        panel_open(again)
        await until(again.window.memory_panel.isVisible)
        assert panes.splitter.indexOf(again.window.memory_panel) == -1
        QTest.keyClick(again.window.memory_panel.close_button, Qt.Key.Key_Escape)
        await until(lambda: not panes.is_panel_open)
        panel_open(again)
        again.window.resize(1280, 800)
        await until(lambda: panes.splitter.indexOf(again.window.memory_panel) == 2 and panes.is_panel_open)


async def test_in_the_narrowest_window_drawer_and_panel_take_turns(scene: Scene):
    panes = scene.window.panes
    scene.window.resize(600, 700)
    await until(lambda: panes.is_narrow)

    panes.open_drawer()
    panes.toggle_panel()
    assert (panes.is_drawer_open, panes.is_panel_open) == (False, True)
    panes.open_drawer()

    assert (panes.is_drawer_open, panes.is_panel_open) == (True, False)


async def test_everything_in_the_panel_has_a_name_and_nothing_is_cut_off(scene: Scene):
    await first_night(scene)
    await lamp(scene)
    await scene.services.preferences.set(font_size=22)
    await scene.say(f"{QUESTION} And the pharos?")
    panel_open(scene)
    await until(lambda: len(scene.window.memory_panel.cards) >= 2)
    QTest.keyClick(scene.window.memory_panel.cards[0].heading, Qt.Key.Key_Space)
    QApplication.processEvents()

    room = scene.window.memory_panel.scroll_area.viewport().width()
    assert nameless(scene.window.memory_panel) == []
    assert all(one.x() + one.width() <= room for one in scene.window.memory_panel.cards)


def test_the_users_own_words_are_quoted_not_their_roots():
    said = "Did my grandmother walk to the lighthouse, past the lights?"
    assert find_matching_words(["light", "walked"], said) == ["walk", "lights"]
    assert find_matching_words(["Grandmother"], said) == ["grandmother"]


def test_a_card_begins_with_what_led_to_a_conversation_and_what_has_changed_since():
    leads = [
        RecallLead(kind="fact", text="Jo stays at home.", origin=uuid4()),
        RecallLead(kind="message", text='Jo said, "We go to Bev."', origin=uuid4(), is_outdated=True),
        RecallLead(kind="sentence", text="Jo has a tortoise.", origin=uuid4()),
    ]
    text = '**Plans** (Monday): Jo has a tortoise.\n- Jo stays at home.\n- Jo said, "We go to Bev."'
    recollection = RecalledMemory(
        memory=uuid4(), category=MemoryType.CHAT_SESSION, title="Plans", text=text, way=RecallWay.MEANING, leads=leads
    )
    reported = ReplyMemory(recollection, SourceKind.CONVERSATION, recollection.memory, text, ())

    lines = ["Jo stays at home.", "Jo: “We go to Bev.” (outdated)", "Jo has a tortoise."]
    assert format_card_text(reported).splitlines() == lines
    assert list_matched_lines(reported) == lines[:2]


def test_a_line_is_cited_with_who_said_it():
    assert quote_line('Tomas said, "“We heard the bell.”"') == "Tomas: “We heard the bell.”"
    assert quote_line("The bell rang.") == "“The bell rang.”"


async def test_f6_reaches_the_panel_and_esc_goes_back(scene: Scene):
    await lamp_card(scene)
    scene.draft.setFocus()

    scene.window.window_actions["next_pane"].trigger()
    focus = QApplication.focusWidget()
    assert scene.window.memory_panel.isAncestorOf(focus)
    QTest.keyClick(focus, Qt.Key.Key_Escape)

    assert scene.controller.view.hasFocus()
    assert scene.window.panes.is_panel_open


async def test_a_conversation_is_forgotten_only_after_a_question_that_names_it(scene: Scene):
    fields = {"name": "The storm", "content": "The mast broke.", "keywords_main": ["squall"], "enabled": True}
    session = ChatSession(persona_id="mira", added=now() - timedelta(days=3), **fields)
    old = await scene.services.session_store.add_session(session)
    await scene.say("Remember the squall?")
    panel_open(scene)
    found = await shown_card(scene, "The mast broke")

    press(found, "trash")
    dialog = await scene.dialog()
    button = next(one for one in dialog.findChildren(QPushButton) if one.text() == "Forget “The storm”")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    await until(lambda: not scene.window.memory_panel.cards)
    assert old.guid not in {one.guid for one in await scene.services.sessions.list("mira")}


async def test_another_wording_does_without_what_did_not_belong(scene: Scene):
    await lamp(scene)
    row = await scene.say("Is the pharos lit?")
    panel_open(scene)
    found = await shown_card(scene, "It is lit")
    press(found, "lower")
    await until(lambda: scene.controller.messages.annotations_of(row).recalled == RecallCounts(irrelevant=1))

    reply = scene.controller.messages.outline(row).id
    scene.controller.replies.regenerate(reply)
    await until(lambda: not scene.is_replying and scene.controller.messages.message(row).shown == 1)

    inspection = await scene.services.prompt_inspector.prompt_of(reply)
    assert "It is lit." not in "".join(span.text for span in inspection.spans)


async def test_a_memory_that_stays_in_the_conversation_is_shown_with_later_replies(scene: Scene):
    await scene.services.preferences.set(accumulated_memories=3)
    await lamp(scene)
    await scene.say("Is the pharos lit?")

    await scene.say("Good.")
    panel_open(scene)

    await until(lambda: card(scene, "It is lit"))
    await until(lambda: "still active" in words_in(scene))


async def test_a_passage_leaves_the_panel_with_its_document(scene: Scene, tmp_path: Path):
    path = tmp_path / "Manual.md"
    path.write_text("# Pump\n\nThe bilge pump is primed with seawater.\n", encoding="utf-8")
    document = await scene.services.documents.add("mira", path)
    await scene.say("How is the bilge pump primed?")
    panel_open(scene)
    await until(lambda: card(scene, "seawater"))

    await scene.services.documents.remove([document.guid])

    await until(lambda: not card(scene, "seawater") and "since forgotten" in words_in(scene))


async def test_an_incognito_reply_says_that_nothing_is_recorded_of_it(scene: Scene):
    scene.controller.session_controller.start_incognito("mira")
    await until(lambda: scene.session is not None and scene.session.is_incognito)
    await scene.say("Where is the zeppelin?")
    panel_open(scene)

    await until(lambda: "is not recorded in an incognito conversation" in words_in(scene))
