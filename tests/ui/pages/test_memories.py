"""All memories in one list, driven as a user would: found by word and by meaning, changed, undone, forgotten, brought back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.recall import TurnMemory
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.ui.pages import field_saver
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.pages.memories.recall_preview import RecallPreview
from lethe_app.ui.pages.memories.table_model import SIMILARITY, memory_title
from lethe_app.ui.pages.page import Page
from lethe_app.ui.shell.toast import Toast
from tests.retrieval.conftest import embed
from tests.ui.window_scene import Scene, opened, settled, until

pytestmark = pytest.mark.usefixtures("styled_app")

BOAT = MemoryUnit(name="The boat", content="A white boat in the harbour", protected=True, priority=3)
INES = MemoryUnit(category=MemoryType.PERSON, name="Ines", content="His sister in Porto", keywords_main=["sister"])
LATER = now() + timedelta(days=2)
FERRY = MemoryUnit(name="Ferry", content="It leaves at nine", insertion=MemoryInsertion.NATURAL, added=LATER)
FAIR = MemoryUnit(category=MemoryType.EVENT, name="The fair", content="On Sunday", end_time=now() - timedelta(days=1))
ALL = (BOAT, INES, FERRY, FAIR)


@asynccontextmanager
async def browsing(home: Path, script: Path, *memories: MemoryUnit) -> AsyncIterator[tuple[Scene, MemoryPage]]:
    """The page of Mira's memories, open and read."""
    async with opened(home, script) as scene:
        for memory in memories:
            await scene.services.memory.memorize("mira", memory, check=False)
        page = scene.open_page("memories", MemoryPage)
        await until(lambda: len(names(page)) == len(memories) and page.persona_selector.persona_name == "Mira")
        yield scene, page


@pytest.fixture
def no_autosave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes wait until the page is left or `save` is called."""
    monkeypatch.setattr(field_saver, "SAVE_DELAY_S", 10**6)


@pytest.fixture
def script(echo_model) -> Path:
    return echo_model("Indeed.")


def names(page: MemoryPage) -> list[str]:
    """Of the memories on display, without the conversations."""
    return [line.name for line in page.rows.visible_rows if not line.is_session]


def pressed(page: Page, words: str) -> None:
    button = next(button for button in page.findChildren(QPushButton) if button.text() == words and button.isVisible())
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


async def delete_all(page: MemoryPage) -> None:
    page.table.selectAll()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    await until(lambda: len(names(page)) == 0)


def take_back(scene: Scene) -> None:
    (button,) = [button for toast in scene.toasts for button in toast.findChildren(QPushButton)]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


async def chosen(page: MemoryPage, memory: MemoryUnit) -> None:
    assert page.table.select_row(str(memory.guid))
    await until(lambda: page.detail.memory is not None and page.detail.memory.guid == memory.guid)


async def write_new(page: MemoryPage, name: str) -> None:
    """Add a memory and type its name."""
    pressed(page, "New memory")
    await until(lambda: page.focusWidget() is page.detail.form.field_widget("content"))
    QTest.keyClicks(page.detail.form.field_widget("name"), name)


async def test_words_and_chips_narrow_the_list(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (_scene, page):
        await until(page.kind_menu.isVisible)
        QTest.keyClicks(page.search, "SISTER")
        assert names(page) == ["Ines"]
        assert "1 of 4" in page.subtitle.accessibleName()
        page.search.clear()

        for state, left in (
            ("waiting", ["Ferry"]),
            ("over", ["The fair"]),
            ("protected", ["The boat"]),
        ):
            QTest.mouseClick(page.filters.chips[state], Qt.MouseButton.LeftButton)
            assert names(page) == left
            QTest.keyClick(page.filters.chips[state], Qt.Key.Key_Space)
        assert len(names(page)) == 4


async def test_what_is_typed_into_a_memory_is_kept_and_taken_back_with_undo(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await chosen(page, INES)
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        field = page.detail.form.field_widget("name")
        assert isinstance(field, QLineEdit)
        assert scene.window.focusWidget() is field

        QTest.keyClick(field, Qt.Key.Key_End)  # the name is selected, so that typing replaces it
        QTest.keyClicks(field, " of Porto")
        assert "Ines of Porto" in names(page)
        assert await scene.controller.pages.navigator.leave_all_pages()
        kept = await scene.services.memory_lists.load_memory(INES.guid)
        assert (kept.name, kept.trigger_count) == ("Ines of Porto", 0)


async def test_the_row_that_the_arrow_key_goes_to_from_the_search_is_marked(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (_scene, page):
        page.search.setFocus()
        assert page.table.selected_rows == []

        QTest.keyClick(page.search, Qt.Key.Key_Down)

        await until(lambda: [row.title for row in page.table.selected_rows] == names(page)[:1])


async def test_every_change_is_undone_one_by_one(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await chosen(page, INES)
        form = page.detail.form
        sticky, way = form.field_widget("sticky"), form.field_widget("insertion")
        assert isinstance(sticky, QCheckBox)
        assert isinstance(way, QComboBox)

        QTest.keyClick(sticky, Qt.Key.Key_Space)
        way.setFocus()
        QTest.keyClick(way, Qt.Key.Key_End)
        form.field_widget("end_time").box.click()
        await page.saver.save()
        changed = await scene.services.memory_lists.load_memory(INES.guid)
        assert (changed.sticky, changed.insertion) == (True, MemoryInsertion.NONE)
        assert changed.end_time is not None
        assert changed.end_time.utcoffset() is not None

        await chosen(page, BOAT)
        for _change in range(3):
            page.undo_stack.undo()
        await page.saver.save()

        assert await scene.services.memory_lists.load_memory(INES.guid) == INES
        assert page.undo_stack.count() == 3


async def test_a_copy_begins_its_own_life(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (_scene, page):
        await chosen(page, INES)
        pressed(page, "Duplicate")
        await until(lambda: names(page).count("Ines") == 2)
        await until(lambda: page.detail.memory is not None and page.detail.memory.guid != INES.guid)
        assert page.detail.memory is not None
        assert page.detail.memory.keywords_main == ["sister"]


async def test_forgetting_is_undone_and_can_be_taken_back_from_the_note(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await chosen(page, INES)
        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        await until(lambda: len(names(page)) == 3)
        assert not any(memory.name == "Ines" for memory in await scene.services.memory.memories("mira"))
        take_back(scene)
        await until(lambda: len(names(page)) == 4)

        await delete_all(page)
        page.undo_stack.undo()
        await until(lambda: len(names(page)) == 4)


@pytest.mark.parametrize("elsewhere", ["mind", ""])
async def test_what_was_forgotten_is_undone_by_key_on_another_page_and_in_the_conversation(
    tmp_path: Path, script: Path, elsewhere: str
):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await delete_all(page)
        navigator = scene.controller.pages.navigator
        await navigator.leave_all_pages()
        if elsewhere:
            scene.window.window_actions[elsewhere].trigger()
        for toast in scene.toasts:
            toast.dismiss()

        scene.window.window_actions["undo"].trigger()

        await until(lambda: [toast.text for toast in scene.toasts] == ["Undone"])
        scene.window.window_actions["memories"].trigger()
        await until(lambda: isinstance(scene.page, MemoryPage))
        again = scene.page
        assert isinstance(again, MemoryPage)
        await until(lambda: sorted(names(again)) == ["Ferry", "Ines", "The boat", "The fair"])


async def test_the_keys_of_undo_and_redo_in_the_empty_search_field_are_the_pages(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (_scene, page):
        await delete_all(page)
        page.search.setFocus()

        QTest.keyClick(page.search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: len(names(page)) == 4)

        QTest.keyClicks(page.search, "boat")
        QTest.keyClick(page.search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert page.search.text() == ""
        QTest.keyClick(page.search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        assert page.search.text() == "boat"


async def test_by_meaning_the_nearest_comes_first_with_its_similarity(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        scene.services.memory_index.set_embedder(embed, "words")
        await scene.services.indexing.index_changes()
        pressed(page, "By meaning")
        QTest.keyClicks(page.search, "white vessel in the harbour")
        await until(lambda: names(page) and names(page)[0] == "The boat")

        def similarity() -> int:
            return int(page.rows.index(page.rows.find_visible_row(str(BOAT.guid)), SIMILARITY).data().rstrip("%"))

        shown = [page.rows.index(row, SIMILARITY).data() for row in range(page.rows.rowCount())]
        percentages = [int(text.rstrip("%")) for text in shown]
        assert percentages == sorted(percentages, reverse=True)
        reported = similarity()
        assert 50 < reported <= 100
        boat = await scene.services.memory_lists.load_memory(BOAT.guid)
        await scene.services.memory.edit(boat.model_copy(update={"content": "It leaks, and nobody knows where."}))
        await until(lambda: similarity() < reported)
        assert not page.table.isColumnHidden(SIMILARITY)
        pressed(page, "By meaning")
        page.search.clear()
        assert len(names(page)) == 4
        assert page.table.isColumnHidden(SIMILARITY)


async def test_without_an_embedder_the_page_says_so(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (_scene, page):
        pressed(page, "By meaning")
        QTest.keyClicks(page.search, "boat")
        await until(page.hint.isVisible)
        assert "embedding model" in page.hint.text()
        assert names(page) == []


async def test_where_no_memory_has_a_meaning_the_page_says_how_they_are_found(tmp_path: Path, script: Path):
    reminder = BOAT.model_copy(update={"insertion": MemoryInsertion.USER_RETURN})
    async with browsing(tmp_path / "home", script, reminder) as (scene, page):
        scene.services.memory_index.set_embedder(embed, "words")
        await scene.services.indexing.index_changes()
        pressed(page, "By meaning")
        QTest.keyClicks(page.search, "boat")
        await until(page.hint.isVisible)
        assert "reminders" in page.hint.text()
        page.search.clear()
        await until(page.hint.isHidden)


async def test_a_message_for_a_recall_test_is_tested_by_enter(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        pressed(page, "Test recall")
        first_hint = page.hint.text()
        QTest.keyClicks(page.search, "How is your sister?")
        assert page.hint.text() != first_hint
        assert len(names(page)) == len(ALL), "a message to be tested is no search"

        QTest.keyClick(page.search, Qt.Key.Key_Return)

        await until(page.detail.recall_view.isVisible)
        assert page.hint.isHidden()
        assert scene.window.focusWidget() is page.search, "for the next message"
        labels = page.detail.recall_view.findChildren(type(page.hint))
        assert not any("score" in label.text().lower() for label in labels)
        assert any("Score" in label.toolTip() for label in labels)

        page.search.selectAll()
        QTest.keyClicks(page.search, "Where is the boat?")
        QTest.keyClick(page.search, Qt.Key.Key_Return)
        await until(lambda: any("Where is the boat?" in label.text() for label in page.detail.recall_view.findChildren(QLabel)))
        assert len(names(page)) == len(ALL)

        QTest.mouseClick(page.detail.recall_view.close_button, Qt.MouseButton.LeftButton)
        assert page.search.text() == "", "the message does not become a search"
        assert page.hint.isHidden()
        assert len(names(page)) == len(ALL)
        QTest.keyClicks(page.search, "boat")
        assert names(page) == ["The boat"]
        pressed(page, "Test recall")
        await until(page.detail.recall_view.isVisible)
        assert len(names(page)) == len(ALL)
        page.table.selectRow(0)
        await until(lambda: not page.detail.recall_view.isVisible())
        assert len(names(page)) == len(ALL)


async def test_enter_tests_nothing_while_memories_are_searched(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (_scene, page):
        pressed(page, "Test recall")
        QTest.keyClicks(page.search, "a")
        page.search.clear()
        assert page.hint.isHidden()
        QTest.keyClicks(page.search, "boat")
        assert names(page) == ["The boat"]
        QTest.keyClick(page.search, Qt.Key.Key_Return)
        assert page.hint.isHidden()
        assert not page.detail.recall_view.isVisible()


async def test_a_sentence_shows_what_it_would_bring_up_and_leads_there(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        pressed(page, "Test recall")
        await until(page.hint.isVisible)
        QTest.keyClicks(page.search, "How is your sister?")
        pressed(page, "Test recall")
        await until(page.detail.recall_view.isVisible)
        assert page.hint.isHidden()
        shown = next(button for button in page.findChildren(QPushButton) if button.text() == "Show in list")
        assert "Ines" in shown.accessibleName()
        assert "keyword" in " ".join(label.text() for label in page.detail.recall_view.findChildren(type(page.hint)))

        QTest.mouseClick(shown, Qt.MouseButton.LeftButton)
        await until(lambda: page.detail.memory is not None and page.detail.memory.guid == INES.guid)
        assert page.table.current_row is not None
        assert (await scene.services.memory_lists.load_memory(INES.guid)).trigger_count == 0


async def test_a_conversation_is_shown_but_changed_elsewhere(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        session = ChatSession(persona_id="mira", name="First night", content="They met.")
        await scene.services.session_store.add_session(session)
        scene.services.sessions.changed.notify("mira")
        await until(lambda: page.rows.row_total == 5)
        assert page.table.select_row(str(session.guid))
        await until(lambda: page.detail.memory is not None and page.detail.memory.guid == session.guid)
        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        assert "Conversations page" in scene.window.findChildren(Toast)[0].text

        pressed(page, "Go to conversation")
        await until(lambda: scene.page is None)
        await until(lambda: (current := scene.session) is not None and current.guid == session.guid)


async def test_outside_changes_are_shown_and_another_persona_has_its_own(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await scene.services.memory.memorize("mira", MemoryUnit(name="Learnt meanwhile"), check=False)
        await until(lambda: "Learnt meanwhile" in names(page))

        other = page.persona_selector.findData("edmund")
        assert other >= 0
        page.persona_selector.setCurrentIndex(other)
        await until(lambda: "Ines" not in names(page))
        await write_new(page, "The glove")
        await until(lambda: not page.saver.unsaved_values(page.detail.memory.guid))
        assert [memory.name for memory in await scene.services.memory.memories("edmund")] == ["The glove"]


def test_a_conversation_that_nobody_summed_up_yet_is_not_called_empty():
    memory = MemoryUnit(name="", content="", category=MemoryType.CHAT_SESSION)

    assert memory_title(MemoryLine.from_memory(memory)) == "New conversation"


async def test_categories_and_tags_are_found_by_their_words_too(tmp_path: Path, script: Path):
    filed = MemoryUnit(name="Rosa", content="She sails.", filed_under="family/sister", tags=["Heron"])
    async with browsing(tmp_path / "home", script, *ALL, filed) as (_scene, page):
        for words in ("family", "heron"):
            page.search.setText(words)
            assert names(page) == ["Rosa"]
        await chosen(page, filed)
        page.detail.changed.emit("tags", ["Skiff"])
        page.search.setText("skiff")
        assert names(page) == ["Rosa"]


@pytest.mark.usefixtures("no_autosave")
async def test_who_types_on_while_a_memory_is_read_anew_loses_no_letter(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await chosen(page, INES)
        field = page.detail.form.field_widget("name")
        assert isinstance(field, QLineEdit)
        read, go = scene.services.memory_lists.load_memory, asyncio.Event()

        async def slow(guid: UUID) -> MemoryUnit:
            memory = await read(guid)
            await go.wait()
            return memory

        monkeypatch.setattr(scene.services.memory_lists, "load_memory", slow)
        page.reload()
        await until(lambda: True)
        field.setFocus()
        field.end(False)
        QTest.keyClicks(field, " of Porto")
        go.set()
        await settled(scene, page)

        assert field.text() == "Ines of Porto"
        monkeypatch.undo()
        await page.saver.save()
        assert (await scene.services.memory_lists.load_memory(INES.guid)).name == "Ines of Porto"


async def test_a_word_of_no_end_widens_nothing(tmp_path: Path, script: Path):
    address = "https://example.org/" + "a-very-long-path/" * 12
    endless = MemoryUnit(name="NoSpaces" * 30, content=f"See {address}", keywords_main=["xylophone"])
    async with browsing(tmp_path / "home", script, endless) as (_scene, page):
        page.search.setText("Where is the xylophone?")
        pressed(page, "Test recall")
        await until(page.detail.recall_view.isVisible)

        assert page.detail.recall_view.width() <= page.detail.width()
        assert (
            page.detail.recall_view.close_button.visibleRegion().boundingRect().width()
            == page.detail.recall_view.close_button.width()
        )


async def test_a_new_memory_in_which_nothing_was_entered_does_not_stay(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        before = len(await scene.services.memory.memories("mira"))
        await write_new(page, "")
        assert names(page)[0] == ""
        QTest.keyClick(page.table, Qt.Key.Key_Delete)
        await until(lambda: "" not in names(page))
        take_back(scene)
        await until(lambda: "" in names(page))

        QTest.keyClick(page, Qt.Key.Key_Escape)
        await until(lambda: scene.page is None)

        assert len(await scene.services.memory.memories("mira")) == before
        assert await scene.services.trash.list_items() == []


async def test_a_new_memory_is_listed_by_its_first_words_undone_and_made_again(tmp_path: Path, script: Path):
    async with browsing(tmp_path / "home", script, *ALL) as (scene, page):
        await write_new(page, "")
        QTest.keyClicks(page.detail.form.field_widget("content"), "Cow on the pier")
        assert memory_title(page.rows.visible_rows[0]) == "Cow on the pier"
        new = page.detail.memory
        await until(lambda: not page.saver.unsaved_values(new.guid))
        assert (await scene.services.memory_lists.load_memory(new.guid)).content == "Cow on the pier"
        page.reload()
        await until(lambda: len(page.rows.all_rows) == len(ALL) + 1)

        page.undo_stack.undo()
        page.undo_stack.undo()
        await until(lambda: len(page.rows.all_rows) == len(ALL))
        page.undo_stack.redo()
        await until(lambda: page.detail.memory is not None and page.detail.memory.guid == new.guid)
        page.undo_stack.redo()
        await until(lambda: [memory_title(row) for row in page.rows.visible_rows].count("Cow on the pier") == 1)
        await until(lambda: not page.saver.unsaved_values(new.guid))
        assert (await scene.services.memory_lists.load_memory(new.guid)).content == "Cow on the pier"


def test_a_recall_test_names_what_is_in_the_prompt_anyway(qtbot, theme):
    view = RecallPreview()
    qtbot.addWidget(view)

    view.show_result("Where is Ines?", TurnMemory(), lambda _guid: False, ["Baker in Porto", "Cats", "Boats", "Fairs", "Rain"])

    words = " ".join(label.text() for label in view.findChildren(QLabel)).replace("\u200b", "")
    assert "“Baker in Porto”, “Cats”, “Boats”, “Fairs” and 1 more." in words


async def test_a_recall_test_of_the_persona_before_is_not_shown(tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch):
    tests, is_released = list[str](), asyncio.Event()

    async def preview(_self: MemoryLookup, persona_id: str, _text: str, _session: UUID | None) -> TurnMemory:
        tests.append(persona_id)
        await is_released.wait()
        return TurnMemory()

    monkeypatch.setattr(MemoryLookup, "preview_recall", preview)
    async with browsing(tmp_path / "home", script, BOAT, INES) as (scene, page):
        page.search.setText("How is my sister?")
        page.recall_button.click()
        await until(lambda: tests == ["mira"])

        page.persona_selector.choose_persona("edmund")
        is_released.set()

        await until(lambda: not page.rows.row_total)
        await settled(scene, page)
        assert not page.detail.is_recall_shown


async def test_no_hint_on_meaning_comes_after_it_was_switched_off(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
):
    searches, is_released = list[str](), asyncio.Event()

    async def measure(_self: MemoryLists, _persona_id: str, text: str) -> dict[str, float]:
        searches.append(text)
        await is_released.wait()
        return {}

    monkeypatch.setattr(MemoryLists, "measure_distances", measure)
    async with browsing(tmp_path / "home", script, BOAT, INES) as (scene, page):
        page.by_meaning_chip.click()
        page.search.setText("boat")
        await until(lambda: searches == ["boat"])

        page.by_meaning_chip.click()
        is_released.set()

        await settled(scene, page)
        assert not page.hint.isVisible()
        assert names(page) == ["The boat"]
